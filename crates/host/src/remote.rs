//! Servers behind a url: one that is there already, or one that is started for the assertion, as a process or in a
//! container, and listens on a port. Such a server is ended by SIGTERM, because its stdin is not used.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, TcpListener},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{net::TcpStream, task::JoinHandle, time::sleep};

use super::{
    host::{Host, Peer, Server, Start},
    launch::{Listener, Reached},
    locked,
    process::Patience,
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        process::{Ending, Exit},
    },
    transport::{Connection, Inbound, http::HttpParts, tls::Trusted},
};
use suite::model::server::Ready;

/// How often it is looked whether a server is ready.
const LOOK: Duration = Duration::from_millis(10);

/// How much is kept of what a server writes to stdout.
const KEPT_BYTES: usize = 64 * 1024;

/// How a server that listens is ended: by SIGTERM at once.
const PATIENCE: Patience = Patience {
    closed: Duration::ZERO,
    at_work: Duration::ZERO,
    spinning: Duration::ZERO,
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

/// The ports that were given last. The system may give one again before the server that it was meant for listens there:
/// two assertions would talk to one server.
static GIVEN: Mutex<VecDeque<u16>> = Mutex::new(VecDeque::new());

/// How many ports are not given again.
const MOST_GIVEN: usize = 500;

/// A free port of this machine. Another program may take it before the server does; then that says so.
pub fn free_port() -> Result<u16, Disruption> {
    let mut given = locked(&GIVEN);
    loop {
        let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr());
        let port = bound.map(|address| address.port()).map_err(|error| {
            let message = format!("no port is free: {error}");
            Disruption::new(DisruptionKind::Place, Phase::Start, message)
        })?;
        if !given.contains(&port) {
            given.push_back(port);
            if given.len() > MOST_GIVEN {
                given.pop_front();
            }
            return Ok(port);
        }
    }
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

/// Connects to a server behind a url.
pub(super) fn connect(
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

/// Waits until a server that was started listens. In a container it is reached at the container's address.
pub(super) async fn listening(
    host: &Host,
    (peer, stdout): (Peer, Connection),
    (reached, listener): (&mut Reached, &Listener),
    start: &Start<'_>,
) -> Result<Peer, Disruption> {
    let mut address = Ipv4Addr::LOCALHOST.to_string();
    if let Some(container) = peer.container() {
        address = container.address().await.map_err(|why| {
            let message = format!("the server in the container cannot be reached: {why}");
            Disruption::new(DisruptionKind::Place, Phase::Start, message)
        })?;
        if let Some((authority, url)) = at_address(&reached.url, &address) {
            // A server that guards against foreign names is called as the suite calls it.
            reached.headers.push(("Host".to_owned(), authority));
            reached.url = url;
        }
    }
    let timeout = listener.timeout.unwrap_or(start.timeout).min(start.timeout);
    let said = Arc::new(Mutex::new(Vec::new()));
    let launched = Launched {
        peer,
        reading: tokio::spawn(read(stdout, Arc::clone(&said))),
    };
    let readiness = is_ready(&launched, (listener, &address), &said, host);
    let (kind, message) = tokio::select! {
        found = tokio::time::timeout(timeout, readiness) => match found {
            Ok(None) => return Ok(Peer::Launched(Box::new(launched))),
            Ok(Some(message)) => (DisruptionKind::Crash, message),
            Err(_) => (DisruptionKind::Timeout, not_ready(listener, timeout)),
        },
        () = host.interrupt.cancelled() => {
            (DisruptionKind::Interrupted, "interrupted".to_owned())
        }
    };
    Err(ended_early(launched, kind, message).await)
}

fn not_ready(listener: &Listener, timeout: Duration) -> String {
    let awaited = match &listener.ready {
        Ready::Log(pattern) => format!("it wrote no line that matches `{}`", pattern.written()),
        Ready::Port => format!("nothing listens on port {}", listener.port),
        Ready::Http(path) => format!("`{}` is not answered", path.text),
    };
    let timeout = text::time(timeout);
    format!("the server was not ready within {timeout}: {awaited}")
}

/// Ends a server that cannot be used.
async fn ended_early(mut launched: Launched, kind: DisruptionKind, message: String) -> Disruption {
    launched.end(Patience::HURRIED).await;
    let stderr = launched.peer.stderr().text();
    let mut lines = stderr.lines().rev().map(str::trim);
    let last = lines.find(|line| !line.is_empty());
    Disruption {
        help: last.map(|line| format!("the last line of its stderr: {line}")),
        ..Disruption::new(kind, Phase::Start, message)
    }
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
                let answer = match host.http(&Trusted::Usual) {
                    Ok(client) => client.get(url).send().await.ok(),
                    Err(_) => None,
                };
                answer.is_some_and(|it| !it.status().is_server_error())
            }
        };
        if is_there {
            return None;
        }
        sleep(LOOK).await;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::free_port;

    #[test]
    fn no_port_is_given_again_while_its_server_may_still_start() {
        let ports: BTreeSet<u16> = (0..500).map(|_| free_port().unwrap()).collect();
        assert_eq!(ports.len(), 500);
    }
}
