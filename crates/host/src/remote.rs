//! Servers behind a url: one that is there already, or one that is started for the assertion, as a process or in a
//! container, and listens on a port. Such a server is ended by SIGTERM: nobody speaks to it over its stdin.

use std::{
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    net::TcpStream,
    task::JoinHandle,
    time::{Instant, sleep, timeout_at},
};

use super::{
    host::{Host, Peer, Server, Start},
    launch::{Listener, Reached, not_started, process_spec},
    locked,
    process::{Patience, Process},
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        process::{Ending, Exit, StderrTail},
    },
    transport::{Connection, Inbound, http::HttpParts, tls::Trusted},
};
use suite::model::server::Ready;

/// How often it is looked whether a server is ready.
const LOOK: Duration = Duration::from_millis(10);

/// How much is kept of what a server writes to stdout.
const KEPT_BYTES: usize = 64 * 1024;

/// How a server that listens is ended: it is told at once.
const PATIENCE: Patience = Patience {
    closed: Duration::ZERO,
    at_work: Duration::ZERO,
    terminated: Duration::from_secs(2),
};

/// A process or a container that listens on a port.
#[derive(Debug)]
pub struct Launched {
    /// What runs.
    pub(super) peer: Peer,
    /// Reads what it writes to stdout. Holds its stdin open.
    reading: JoinHandle<()>,
}

impl Launched {
    /// Ends it and all that came of it.
    pub(super) async fn end(&mut self, patience: Patience) -> Option<Exit> {
        let patience = Patience {
            terminated: patience.terminated.min(PATIENCE.terminated),
            ..PATIENCE
        };
        let mut exit = self.peer.end_in(patience).await;
        // SIGTERM is how it is asked.
        if let Some(exit) = &mut exit
            && exit.ending == Ending::Terminated
        {
            exit.ending = Ending::Asked;
        }
        self.reading.abort();
        exit
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        self.reading.abort();
    }
}

/// A free port of this machine. Another program may take it before the server does; then that says so.
pub fn free_port() -> Result<u16, Disruption> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
    bound.map(|address| address.port()).map_err(|error| {
        let message = format!("no port is free: {error}");
        Disruption::new(DisruptionKind::Place, Phase::Start, message)
    })
}

/// Connects to a server behind a url, and starts it first where it is ours to start.
pub(super) async fn reach(
    host: &Host,
    mut reached: Reached,
    start: &Start<'_>,
) -> Result<Server, Disruption> {
    let peer = match reached.listener.take() {
        None => Peer::Remote,
        Some(listener) => {
            let spec = process_spec(listener.command.clone(), &host.environment, start.lookup);
            let started = Process::start(spec, start.clock).await;
            let (process, stdout) = started.map_err(|failure| not_started(&failure))?;
            let started = (Peer::Process(process), stdout);
            let address = Ipv4Addr::LOCALHOST.to_string();
            Box::pin(listening(host, started, (&listener, &address), start)).await?
        }
    };
    connect(host, reached, peer, start)
}

/// Connects to a server that was started in a container, once it listens.
pub(super) async fn reach_in(
    host: &Host,
    (mut reached, listener): (Reached, Listener),
    (peer, stdout): (Peer, Connection),
    start: &Start<'_>,
) -> Result<Server, Disruption> {
    let address = match peer.container() {
        Some(container) => container.address().await,
        None => Ok(Ipv4Addr::LOCALHOST.to_string()),
    };
    let address = address.map_err(|why| {
        let message = format!("the server in the container cannot be reached: {why}");
        Disruption::new(DisruptionKind::Place, Phase::Start, message)
    })?;
    if let Some((authority, url)) = at_address(&reached.url, &address) {
        // A server that guards against foreign names is called as the suite calls it.
        reached.headers.push(("Host".to_owned(), authority));
        reached.url = url;
    }
    let peer = listening(host, (peer, stdout), (&listener, &address), start).await?;
    connect(host, reached, peer, start)
}

/// The same url at another address, and what it named, where that was this machine.
fn at_address(url: &str, address: &str) -> Option<(String, String)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let (name, port) = authority.rsplit_once(':')?;
    let is_here = matches!(name, "127.0.0.1" | "localhost");
    is_here.then(|| {
        (
            authority.to_owned(),
            format!("{scheme}://{address}:{port}{path}"),
        )
    })
}

fn connect(
    host: &Host,
    reached: Reached,
    peer: Peer,
    start: &Start<'_>,
) -> Result<Server, Disruption> {
    let client = host
        .http(&reached.trusted)
        .map_err(|reason| Disruption::new(DisruptionKind::Place, Phase::Start, reason))?;
    let gone = match &peer {
        Peer::Launched(_) => {
            let ended = peer.end_watch();
            Some(Box::pin(async move {
                ended.await;
            }) as mcp::transport::stdio::Gone)
        }
        Peer::Process(_) | Peer::Container(_) | Peer::Remote => None,
    };
    let connection = Connection::http(HttpParts {
        client,
        style: reached.style,
        url: reached.url,
        headers: reached.headers,
        gone,
        clock: start.clock,
    });
    let connection = connection
        .map_err(|reason| Disruption::new(DisruptionKind::Invalid, Phase::Start, reason))?;
    Ok(Server { connection, peer })
}

/// Waits until a server that was started listens.
async fn listening(
    host: &Host,
    (peer, stdout): (Peer, Connection),
    (listener, address): (&Listener, &str),
    start: &Start<'_>,
) -> Result<Peer, Disruption> {
    let timeout = listener.timeout.unwrap_or(start.timeout).min(start.timeout);
    let deadline = Instant::now() + timeout;
    let said = Arc::new(Mutex::new(Vec::new()));
    let launched = Launched {
        peer,
        reading: tokio::spawn(read(stdout, Arc::clone(&said))),
    };
    let readiness = is_ready(&launched, (listener, address), &said, host);
    let found = tokio::select! {
        found = timeout_at(deadline, readiness) => found,
        () = host.interrupt.cancelled() => {
            let kind = DisruptionKind::Interrupted;
            return Err(ended_early(launched, kind, "interrupted".to_owned()).await);
        }
    };
    match found {
        Ok(None) => Ok(Peer::Launched(Box::new(launched))),
        Ok(Some(message)) => Err(ended_early(launched, DisruptionKind::Crash, message).await),
        Err(_) => {
            let awaited = match &listener.ready {
                Ready::Log(pattern) => {
                    format!("it wrote no line that matches `{}`", pattern.written())
                }
                Ready::Port => format!("nothing listens on port {}", listener.port),
                Ready::Http(path) => format!("`{}` is not answered", path.text),
            };
            let message = format!(
                "the server was not ready within {}: {awaited}",
                text::time(timeout)
            );
            Err(ended_early(launched, DisruptionKind::Timeout, message).await)
        }
    }
}

/// Ends a server that is of no use, and says why it is not.
async fn ended_early(mut launched: Launched, kind: DisruptionKind, message: String) -> Disruption {
    launched.end(Patience::HURRIED).await;
    let disruption = Disruption::new(kind, Phase::Start, message);
    let stderr = launched.peer.stderr();
    match last_line(&stderr) {
        Some(line) => disruption.with_help(format!("the last line of its stderr: {line}")),
        None => disruption,
    }
}

fn last_line(stderr: &StderrTail) -> Option<String> {
    let text = stderr.text();
    let mut lines = text.lines().rev().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

/// Reads what a server writes to stdout, and keeps the last of it.
async fn read(mut stdout: Connection, said: Arc<Mutex<Vec<u8>>>) {
    loop {
        match stdout.next().await {
            Inbound::Message { bytes, .. } => {
                let mut said = locked(&said);
                said.extend_from_slice(&bytes);
                said.push(b'\n');
                let over = said.len().saturating_sub(KEPT_BYTES);
                said.drain(..over);
            }
            Inbound::TooLong { .. }
            | Inbound::Noted(..)
            | Inbound::Unanswered { .. }
            | Inbound::Sent(_) => {}
            Inbound::Closed => return,
        }
        // What was recorded of it is of no use.
        drop(stdout.log().take());
    }
}

/// Waits until a server is ready; otherwise how it ended.
async fn is_ready(
    launched: &Launched,
    (listener, address): (&Listener, &str),
    said: &Mutex<Vec<u8>>,
    host: &Host,
) -> Option<String> {
    loop {
        if let Some(status) = launched.peer.status() {
            return Some(format!("the server ended before it was ready: {status}"));
        }
        let is_there = match &listener.ready {
            Ready::Log(pattern) => {
                let stdout = String::from_utf8_lossy(&locked(said)).into_owned();
                let stderr = launched.peer.stderr().text();
                let mut lines = stdout.lines().chain(stderr.lines());
                lines.any(|line| pattern.is_match(line))
            }
            Ready::Port => TcpStream::connect((address, listener.port)).await.is_ok(),
            Ready::Http(path) => {
                let url = format!("http://{address}:{}{}", listener.port, path.text);
                match host.http(&Trusted::Usual) {
                    Ok(client) => client
                        .get(url)
                        .send()
                        .await
                        .is_ok_and(|it| !it.status().is_server_error()),
                    Err(_) => false,
                }
            }
        };
        if is_there {
            return None;
        }
        sleep(LOOK).await;
    }
}
