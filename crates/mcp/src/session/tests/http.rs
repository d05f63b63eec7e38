//! A session over another transport: a server of the official Python SDK over streamable HTTP, and a client of HTTP that
//! is just enough for it. `scripts/servers` installs the SDK; without it the test says so, and fails where `CI` is `true`.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, sleep},
};

use super::server::{class, codes, hooks, tool};
use crate::{
    observation::{Observation, answer::Body},
    protocol::{
        frame::{Frame, FrameMeta},
        revision::Revision,
    },
    script::{client::ClientBehaviour, subject::Subject, template::Bindings},
    session::{Script, Session},
    transport::tests::queue::{Carrier, queue},
};

/// How long the server may take to start, and to answer.
const PATIENCE: Duration = Duration::from_secs(30);

const SERVER: &str = r#"
import sys
from mcp.server.mcpserver import MCPServer

app = MCPServer("over-http")

@app.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b

app.run(transport="streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"#;

/// A server that ends with its test.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    async fn start(python: &Path) -> Self {
        let unused = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = unused.local_addr().unwrap().port();
        drop(unused);
        let child = Command::new(python)
            .args(["-c", SERVER, &port.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let server = Self { child, port };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
            assert!(Instant::now() < deadline, "the server does not listen");
            sleep(Duration::from_millis(50)).await;
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The Python that the published servers run in.
fn python() -> Option<PathBuf> {
    let servers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/servers");
    if servers.join(".installed").exists() {
        return Some(servers.join("python/bin/python"));
    }
    let said = "the published servers are not installed: run scripts/servers";
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{said}");
    eprintln!("skipped: {said}");
    None
}

/// A response: its status, the session that it names, and its messages.
#[derive(Debug)]
struct Response {
    status: u16,
    session: Option<String>,
    messages: Vec<String>,
}

/// Makes one request on a connection of its own.
async fn request(method: &str, port: u16, session: Option<&str>, body: &[u8]) -> Response {
    let session = session.map(|id| {
        let revision = Revision::NEWEST_HANDSHAKE;
        format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: {revision}\r\n")
    });
    let session = session.unwrap_or_default();
    let head = format!(
        "{method} /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{session}\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream
        .write_all(&[head.as_bytes(), body].concat())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    response(&answer)
}

fn response(answer: &str) -> Response {
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let header = |name: &str| {
        let mut lines = head.lines().filter_map(|line| line.split_once(": "));
        lines.find_map(|(key, value)| key.eq_ignore_ascii_case(name).then(|| value.to_owned()))
    };
    let body = match header("Transfer-Encoding") {
        Some(_) => joined(body),
        None => body.to_owned(),
    };
    let is_stream =
        header("Content-Type").is_some_and(|kind| kind.starts_with("text/event-stream"));
    let messages = if is_stream {
        let data = body.lines().filter_map(|line| line.strip_prefix("data: "));
        let data = data.filter(|data| !data.is_empty());
        data.map(str::to_owned).collect()
    } else {
        Some(body)
            .filter(|body| !body.is_empty())
            .into_iter()
            .collect()
    };
    Response {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        session: header("Mcp-Session-Id"),
        messages,
    }
}

/// The chunks of a body as one text.
fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((size, rest)) = chunks.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        body.push_str(&rest[..size]);
        chunks = rest[size..].trim_start_matches("\r\n");
    }
    body
}

/// Posts what the session sends, and hands it what the responses hold; gives back the status of each response.
async fn carry(mut carrier: Carrier, port: u16) -> Vec<u16> {
    let (mut session, mut statuses) = (None, Vec::new());
    while let Some(message) = carrier.outgoing.recv().await {
        let answer = request("POST", port, session.as_deref(), &message).await;
        session = session.or(answer.session);
        let status = answer.status;
        statuses.push(status);
        for text in answer.messages {
            let meta = FrameMeta::Http { status };
            carrier.incoming.send((text.into_bytes(), meta)).unwrap();
        }
    }
    let ended = request("DELETE", port, session.as_deref(), b"").await;
    statuses.push(ended.status);
    statuses
}

async fn perform(session: &mut Session, subject: &Subject) -> Observation {
    let script = Script {
        setup: &[],
        subject,
        hooks: &hooks(None, Duration::ZERO),
    };
    let deadline = Instant::now() + PATIENCE;
    let mut bindings = Bindings::default();
    Box::pin(session.perform(script, &mut bindings, deadline)).await
}

#[tokio::test]
async fn a_session_over_http_observes_what_one_over_lines_does() {
    let Some(python) = python() else {
        return;
    };
    let server = Server::start(&python).await;
    let (connection, carrier) = queue();
    let carrying = tokio::spawn(carry(carrier, server.port));
    let mut session = Session::open(connection, &ClientBehaviour::default(), None);

    let add = Subject::Tool(tool("add", json!({"a": 2, "b": 3})));
    let seen = perform(&mut session, &add).await;
    assert_eq!(class(&seen), "result", "{:?}", seen.disruption);
    assert_eq!(codes(&seen), []);
    let facts = seen.session.as_ref().unwrap();
    assert!(
        facts.server().unwrap().starts_with("over-http"),
        "{facts:?}"
    );
    let answer = seen.answer.as_ref().unwrap();
    let Body::Result(reply) = &answer.body else {
        panic!("{answer:?}");
    };
    assert_eq!(reply.text, "5");
    assert_eq!(reply.structured, Some(json!({"result": 5})));
    let frames: Vec<String> = seen.wire.iter().map(Frame::text).collect();
    let [_, greeted, _, _, called] = frames.as_slice() else {
        panic!("{frames:#?}");
    };
    for frame in [greeted, called] {
        let message = frame.strip_prefix("HTTP 200: ").unwrap();
        let message: Value = serde_json::from_str(message).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
    }

    let unknown = Subject::Tool(tool("subtract", json!({})));
    let seen = perform(&mut session, &unknown).await;
    assert_ne!(class(&seen), "result", "there is no such tool");
    assert_eq!(seen.disruption.map(|it| it.message), None);
    assert!(session.is_usable());

    session.close(Instant::now() + PATIENCE).await;
    assert_eq!(carrying.await.unwrap(), [200, 202, 200, 200, 200]);
}
