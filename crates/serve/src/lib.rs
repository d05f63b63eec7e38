//! The embedded fixture server: `rmcp` underneath, faults on the wire, a journal beside it.
//!
//! Our own suites and tests talk to it, and `mcp-assert serve` starts it for others. Behind `mcp`, whose protocol tables it
//! uses; no other crate but the program uses it.
//!
//! - [`serve`](serve()) runs one server over any byte streams: stdio, or an in-process duplex.
//! - [`http`](mod@http) runs one over streamable HTTP or HTTP+SSE, for as many clients as come.
//! - [`Profile`] and [`Selection`] say which tools, resources and prompts it offers.
//! - [`faults`] describes how it misbehaves on request, [`layer::build`] makes that a [`Tap`] between the server and the
//!   wire; [`catalogue`] lists all faults for the docs.
//! - [`stdio::open`] takes the streams of the process.
//!
//! It does not parse the command line and does not end the process.

pub mod catalogue;
mod clock;
mod draw;
pub mod ending;
pub mod faults;
pub mod http;
mod journal;
pub mod layer;
mod line;
mod state;
pub mod stdio;
mod surface;
pub mod tap;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::serve_server_with_ct;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

pub use self::clock::{Clock, ClockMode};
use self::line::Line;
pub use self::state::State;
use self::surface::{Bench, BenchService};
pub use self::surface::{BenchTool, FileTools, Offer, Profile, Selection};
pub use self::tap::{Ending, Stop, Tap};
use self::wire::{Inbox, Limits, Wire, WireTransport};

/// The longest that a closing server waits for its last bytes and its handlers.
const CLOSE: Duration = Duration::from_secs(1);

/// Which of the two ways of talking is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferedEra {
    /// Both, on one pipe.
    Both,
    /// The revisions with a handshake.
    Legacy,
    /// Those without.
    Modern,
}

/// The revisions of `era` that are among `only`, all of the era where that is empty; the error
/// says what is wrong.
pub fn offered_revisions(era: OfferedEra, only: &[String]) -> Result<Vec<ProtocolVersion>, String> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    if let Some(unknown) = only
        .iter()
        .find(|name| !known.iter().any(|revision| revision.as_str() == **name))
    {
        let names: Vec<&str> = known.iter().map(ProtocolVersion::as_str).collect();
        return Err(format!(
            "unknown revision `{unknown}`; there are {}",
            names.join(", ")
        ));
    }
    let revisions: Vec<ProtocolVersion> = known
        .iter()
        .filter(|revision| match era {
            OfferedEra::Both => true,
            OfferedEra::Legacy => !surface::is_modern(revision),
            OfferedEra::Modern => surface::is_modern(revision),
        })
        .filter(|revision| only.is_empty() || only.iter().any(|name| name == revision.as_str()))
        .cloned()
        .collect();
    if revisions.is_empty() {
        return Err("--era and --protocol leave no revision to speak".to_owned());
    }
    Ok(revisions)
}

/// Everything that shapes one server, as plain values.
#[derive(Debug, Clone)]
pub struct ServeOptions {
    /// The named content that the offer comes from.
    pub profile: Profile,
    /// The offered tools, prompts and resources.
    pub offer: Offer,
    /// The revisions that are spoken, oldest first.
    pub revisions: Vec<ProtocolVersion>,
    /// Where every draw and every id comes from.
    pub seed: u64,
    /// The clock of every wait and every timestamp.
    pub clock: Clock,
    /// Counters of `flaky`, `counter` and the fault rules.
    pub state: State,
    /// The only folder that tools may touch.
    pub files: Option<PathBuf>,
    /// Text for stderr at start.
    pub stderr: Option<String>,
    /// Ends after so many requests.
    pub max_requests: Option<u64>,
    /// Ends when nothing came for so long.
    pub idle_exit: Option<Duration>,
    /// Ends after so long.
    pub exit_after: Option<Duration>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            offer: Offer::default(),
            revisions: ProtocolVersion::KNOWN_VERSIONS.to_vec(),
            seed: 0,
            clock: Clock::default(),
            state: State::default(),
            files: None,
            stderr: None,
            max_requests: None,
            idle_exit: None,
            exit_after: None,
        }
    }
}

/// The three streams of a server.
#[derive(Debug)]
pub struct Streams<R, W, E> {
    /// Written by the client.
    pub input: R,
    /// Read by the client.
    pub output: W,
    /// Read by people.
    pub errors: E,
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// Asked to, or nobody was left to serve.
    Clean,
    /// By a fault, which the edge performs.
    Fault(Ending),
}

/// Runs one server over `streams` until the client closes, `asked` says so, or a fault ends it.
/// `asked` may fire again when a tap chose to stay.
pub async fn serve<R, W, E>(
    options: ServeOptions,
    tap: Box<dyn Tap>,
    streams: Streams<R, W, E>,
    mut asked: tokio::sync::mpsc::Receiver<Stop>,
) -> Ended
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    E: AsyncWrite + Unpin,
{
    let limits = Limits {
        max_requests: options.max_requests,
        idle_exit: options.idle_exit,
    };
    let (wire, inbox, mut reader, mut writer) =
        wire::connect(tap, streams, options.clock.clone(), limits);
    if let Some(text) = &options.stderr {
        wire.stderr(&format!("{text}\n"));
    }
    let exit_after = options.exit_after;
    let cancel = CancellationToken::new();
    let core = run_core(
        BenchService::new(Bench::new(Arc::new(options), Line::Pipe(wire.clone()))),
        &wire,
        inbox,
        &cancel,
    );
    let until = wait_for_end(&wire, &mut asked, &mut reader, exit_after);
    let mut core = std::pin::pin!(core);
    let mut written = std::pin::pin!(writer.run());
    let (ended, serving) = tokio::select! {
        ended = &mut written => (ended, true),
        () = until => {
            wire.close();
            // A client that stopped reading loses what it did not read.
            let ended = tokio::time::timeout(CLOSE, &mut written).await;
            (ended.unwrap_or(Ended::Clean), true)
        }
        () = &mut core => (Ended::Clean, false),
    };
    cancel.cancel();
    if serving {
        // Handlers end with their token; one that does not goes down with the runtime.
        let _ = tokio::time::timeout(CLOSE, core).await;
    }
    wire.ended();
    ended
}

/// Waits for a reason to end that the tap obeys.
async fn wait_for_end<R: AsyncRead + Unpin>(
    wire: &Wire,
    asked: &mut tokio::sync::mpsc::Receiver<Stop>,
    reader: &mut wire::Reader<R>,
    exit_after: Option<Duration>,
) {
    let mut reading = true;
    let mut timed = exit_after.is_some();
    let mut asking = true;
    let limit = tokio::time::sleep(exit_after.unwrap_or_default());
    let mut limit = std::pin::pin!(limit);
    let mut read = std::pin::pin!(reader.run());
    loop {
        let why = tokio::select! {
            biased;
            why = asked.recv(), if asking => {
                let Some(why) = why else {
                    asking = false;
                    continue;
                };
                why
            }
            () = &mut limit, if timed => {
                timed = false;
                Stop::Limit
            }
            why = &mut read, if reading => {
                reading = false;
                why
            }
            else => std::future::pending().await,
        };
        if wire.stop(why) {
            return;
        }
    }
}

/// Runs rmcp. A handshake that failed leaves the pipe open for another one.
async fn run_core(desk: BenchService, wire: &Wire, inbox: Inbox, cancel: &CancellationToken) {
    while !cancel.is_cancelled() {
        let transport = WireTransport::new(wire.clone(), inbox.clone());
        if let Ok(running) =
            serve_server_with_ct(desk.clone(), transport, cancel.child_token()).await
        {
            // Its only ends are our token and a panic inside rmcp; both end the server.
            let _ = running.waiting().await;
            return;
        }
    }
}

#[cfg(test)]
mod tests;
