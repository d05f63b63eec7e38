//! Servers behind a url: one that is there already, or a process that is started for the assertion and listens on a free
//! port. Such a process is ended by SIGTERM: nobody speaks to it over its stdin.

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

/// A process that listens on a port.
#[derive(Debug)]
pub struct Launched {
    pub(super) process: Process,
    /// Reads what it writes to stdout. Holds its stdin open.
    reading: JoinHandle<()>,
}

impl Launched {
    /// Ends it and all that came of it.
    pub(super) async fn end(&mut self, patience: Patience) -> Exit {
        let patience = Patience {
            terminated: patience.terminated.min(PATIENCE.terminated),
            ..PATIENCE
        };
        let mut exit = self.process.end(patience).await;
        // SIGTERM is how it is asked.
        if exit.ending == Ending::Terminated {
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
    reached: Reached,
    start: &Start<'_>,
) -> Result<Server, Disruption> {
    let Reached {
        style,
        url,
        headers,
        trusted,
        listener,
    } = reached;
    let client = host
        .http(&trusted)
        .map_err(|reason| Disruption::new(DisruptionKind::Place, Phase::Start, reason))?;
    let peer = match listener {
        None => Peer::Remote,
        Some(listener) => Peer::Launched(Box::new(launch(host, listener, start).await?)),
    };
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
        style,
        url,
        headers,
        gone,
        clock: start.clock,
    });
    let connection = connection
        .map_err(|reason| Disruption::new(DisruptionKind::Invalid, Phase::Start, reason))?;
    Ok(Server { connection, peer })
}

/// Starts a process and waits until it listens.
async fn launch(
    host: &Host,
    listener: Listener,
    start: &Start<'_>,
) -> Result<Launched, Disruption> {
    let Listener {
        command,
        port,
        ready,
        timeout,
    } = listener;
    let timeout = timeout.unwrap_or(start.timeout).min(start.timeout);
    let deadline = Instant::now() + timeout;
    let spec = process_spec(command, &host.environment, start.lookup);
    let started = Process::start(spec, start.clock).await;
    let (process, stdout) = started.map_err(|failure| not_started(&failure))?;
    let said = Arc::new(Mutex::new(Vec::new()));
    let launched = Launched {
        process,
        reading: tokio::spawn(read(stdout, Arc::clone(&said))),
    };
    let readiness = is_ready(&launched, (&ready, port), &said, host);
    let found = tokio::select! {
        found = timeout_at(deadline, readiness) => found,
        () = host.interrupt.cancelled() => {
            let kind = DisruptionKind::Interrupted;
            return Err(ended_early(launched, kind, "interrupted".to_owned()).await);
        }
    };
    match found {
        Ok(None) => Ok(launched),
        Ok(Some(message)) => Err(ended_early(launched, DisruptionKind::Crash, message).await),
        Err(_) => {
            let awaited = match &ready {
                Ready::Log(pattern) => {
                    format!("it wrote no line that matches `{}`", pattern.written())
                }
                Ready::Port => format!("nothing listens on port {port}"),
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
    let stderr = launched.process.stderr();
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
            Inbound::TooLong { .. } | Inbound::Unanswered { .. } | Inbound::Sent(_) => {}
            Inbound::Closed => return,
        }
        // What was recorded of it is of no use.
        drop(stdout.log().take());
    }
}

/// Waits until a server is ready; otherwise how it ended.
async fn is_ready(
    launched: &Launched,
    (ready, port): (&Ready, u16),
    said: &Mutex<Vec<u8>>,
    host: &Host,
) -> Option<String> {
    loop {
        if let Some(status) = launched.process.status() {
            return Some(format!("the server ended before it was ready: {status}"));
        }
        let is_there = match ready {
            Ready::Log(pattern) => {
                let stdout = String::from_utf8_lossy(&locked(said)).into_owned();
                let stderr = launched.process.stderr().text();
                let mut lines = stdout.lines().chain(stderr.lines());
                lines.any(|line| pattern.is_match(line))
            }
            Ready::Port => TcpStream::connect((Ipv4Addr::LOCALHOST, port))
                .await
                .is_ok(),
            Ready::Http(path) => {
                let url = format!("http://127.0.0.1:{port}{}", path.text);
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
