//! A session over another transport: a server of the official Python SDK over streamable HTTP. `scripts/servers` installs the SDK; without it the test says so, and fails where `CI` is `true`.

use std::{
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::{Value, json};
use text::environment::Environment;
use tokio::{
    net::TcpStream,
    time::{Instant, sleep},
};

use super::server::{class, codes, hooks, tool};
use crate::{
    observation::{Observation, answer::Body},
    protocol::frame::Frame,
    script::{client::ClientBehaviour, subject::Subject, template::Bindings},
    session::{Script, Session},
    transport::{
        Connection,
        clock::JobClock,
        http::{self, HttpParts, Style},
        tls::Trusted,
    },
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
    let connection = Connection::http(HttpParts {
        client: http::client(&Environment::default(), &Trusted::Usual).unwrap(),
        style: Style::Streamable,
        url: format!("http://127.0.0.1:{}/mcp", server.port),
        headers: Vec::new(),
        gone: None,
        clock: JobClock::start(),
    });
    let connection = connection.unwrap();
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
    let messages = frames
        .iter()
        .filter_map(|frame| frame.strip_prefix("HTTP 200: "));
    let messages: Vec<Value> = messages
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(messages.len(), 2, "{frames:#?}");
    let heads = frames.iter().filter(|frame| frame.starts_with("HTTP/1.1 "));
    assert!(
        heads.clone().any(|head| head.contains("mcp-session-id")),
        "{frames:#?}"
    );
    assert!(
        heads.clone().any(|head| head.starts_with("HTTP/1.1 202")),
        "{frames:#?}"
    );

    let unknown = Subject::Tool(tool("subtract", json!({})));
    let seen = perform(&mut session, &unknown).await;
    assert_ne!(class(&seen), "result", "there is no such tool");
    assert_eq!(seen.disruption.map(|it| it.message), None);
    assert!(session.is_usable());

    let remainder = session.close(Instant::now() + PATIENCE).await;
    let mut last = Observation::default();
    remainder.add_to(&mut last);
    let deleted = last.wire.last().map(Frame::text).unwrap_or_default();
    assert!(deleted.starts_with("HTTP/1.1 200 OK"), "{deleted}");
}
