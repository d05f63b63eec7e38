//! A server that follows a script, in this process.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::{sync::oneshot, task::JoinHandle, time::Instant};

use crate::{
    observation::{Observation, answer::Body, finding::FindingCode, process::ExitStatus},
    script::{
        client::ClientBehaviour,
        subject::{Step, Subject, ToolCall},
        template::{Bindings, Template, ValueTemplate},
    },
    session::{Awaited, Hooks, Look, OnEnd, Remainder, Script, Session},
    transport::tests::duplex::{self, Peer},
};

/// The deadline of every scene.
pub(super) const DEADLINE: Duration = Duration::from_secs(3);

/// A usable answer of a tool.
pub(super) const OK: &str =
    r#"{"jsonrpc":"2.0","id":@id,"result":{"content":[{"type":"text","text":"hi"}]}}"#;

/// One thing a server does. `@id` in a line stands for the id of the request.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// A line.
    Line(String),
    /// Bytes as they are.
    Bytes(Vec<u8>),
    /// Nothing, for a while.
    Pause(Duration),
    /// Its output ends, and it lives on.
    CloseOutput,
    /// It reads no more, and lives on.
    CloseInput,
    /// It ends.
    Exit(ExitStatus),
}

pub(super) fn line(text: &str) -> Act {
    Act::Line(text.to_owned())
}

pub(super) fn bytes(bytes: &[u8]) -> Act {
    Act::Bytes(bytes.to_vec())
}

/// The answer to the request with this result.
pub(super) fn result(result: &Value) -> Act {
    Act::Line(format!(r#"{{"jsonrpc":"2.0","id":@id,"result":{result}}}"#))
}

/// A usable answer of a tool.
pub(super) fn said(text: &str) -> Act {
    result(&json!({"content": [{"type": "text", "text": text}]}))
}

/// A usable answer of the handshake.
pub(super) fn hands() -> Act {
    hands_with(&json!({
        "tools": {"listChanged": true}, "prompts": {"listChanged": true}, "logging": {}, "completions": {},
        "resources": {"subscribe": true, "listChanged": true},
    }))
}

/// The same with these capabilities.
pub(super) fn hands_with(capabilities: &Value) -> Act {
    result(&json!({
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities,
        "serverInfo": {"name": "scripted", "version": "1"},
    }))
}

/// What the server does when a method is called for the n-th time (from 0); `None`: nothing.
pub(super) type Plot = Box<dyn FnMut(&str, usize, &Value) -> Vec<Act> + Send>;

/// A plot that shakes hands and plays this on every other request.
pub(super) fn on_call(acts: Vec<Act>) -> Plot {
    Box::new(move |method, _, _| match method {
        "initialize" => vec![hands()],
        "notifications/initialized" | "notifications/cancelled" | "" => Vec::new(),
        _ => acts.clone(),
    })
}

/// A session with a scripted server behind it.
pub(super) struct Stage {
    pub(super) session: Box<Session>,
    pub(super) bindings: Bindings,
    /// What is waited for after every answer.
    pub(super) wait: Option<Waiting>,
    pub(super) on_end: OnEnd,
    /// How long a look at the files takes after a step.
    pub(super) look: Duration,
    server: JoinHandle<Vec<Value>>,
}

impl Stage {
    pub(super) fn new(plot: Plot) -> Self {
        Self::with(plot, &ClientBehaviour::default())
    }

    pub(super) fn with(plot: Plot, client: &ClientBehaviour) -> Self {
        let (tell, told) = oneshot::channel();
        let (connection, peer) = duplex::duplex();
        let exited = async move {
            match told.await {
                Ok(status) => status,
                Err(_) => std::future::pending().await,
            }
        };
        let server = tokio::spawn(serve(peer, plot, tell));
        Self {
            session: Session::open(connection, client, Some(Box::pin(exited))),
            bindings: Bindings::default(),
            wait: None,
            on_end: OnEnd::Disrupts,
            look: Duration::ZERO,
            server,
        }
    }

    pub(super) async fn perform(&mut self, subject: &Subject) -> Observation {
        self.perform_after(&[], subject).await
    }

    pub(super) async fn perform_after(&mut self, setup: &[Step], subject: &Subject) -> Observation {
        let hooks = Hooks {
            on_end: self.on_end,
            ..hooks(self.wait, self.look)
        };
        let script = Script {
            setup,
            subject,
            hooks: &hooks,
        };
        let deadline = Instant::now() + DEADLINE;
        let performed = self.session.perform(script, &mut self.bindings, deadline);
        Box::pin(performed).await
    }

    /// Waits until the server has ended by itself.
    pub(super) async fn gone(&mut self) {
        (&mut self.server).await.unwrap();
    }

    /// Closes the session; what it still saw, and all that the server received.
    pub(super) async fn close(self) -> (Remainder, Vec<Value>) {
        let closing = self.session.close(Instant::now() + DEADLINE);
        let remainder = Box::pin(closing).await;
        (remainder, self.server.await.unwrap())
    }
}

/// A wait after an answer: at least, at most, and until so many notifications have come with the answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Waiting {
    pub(super) least: Duration,
    pub(super) most: Duration,
    pub(super) until: usize,
}

/// Hooks that wait like this after every answer, and look so long at the files after a step.
pub(super) fn hooks(wait: Option<Waiting>, look: Duration) -> Hooks<'static> {
    Hooks {
        after_step: Box::new(move |_, _| {
            let look: Look<'static> = Box::new(move |_| {
                Box::pin(async move {
                    tokio::time::sleep(look).await;
                    Ok(None)
                })
            });
            Some(look)
        }),
        awaited: Box::new(move |_, _| {
            let Waiting { least, most, until } = wait?;
            Some(Awaited {
                least,
                most,
                what: "notifications",
                enough: Box::new(move |seen| {
                    let answer = seen.answer.as_ref();
                    answer.is_some_and(|answer| answer.notifications.len() >= until)
                }),
            })
        }),
        on_end: OnEnd::Disrupts,
    }
}

async fn serve(mut peer: Peer, mut plot: Plot, tell: oneshot::Sender<ExitStatus>) -> Vec<Value> {
    let mut received: Vec<Value> = Vec::new();
    while let Some(line) = peer.line().await {
        let message: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
        let method = message["method"].as_str().unwrap_or_default().to_owned();
        let before = received
            .iter()
            .filter(|known| known["method"] == message["method"])
            .count();
        let acts = plot(&method, before, &message);
        let id = message["id"].to_string();
        received.push(message);
        for act in acts {
            match act {
                Act::Line(text) => {
                    let text = text.replace("@id", &id) + "\n";
                    peer.write(text.as_bytes()).await;
                }
                Act::Bytes(bytes) => {
                    // Only text can hold the marker of an id.
                    match String::from_utf8(bytes) {
                        Ok(text) => peer.write(text.replace("@id", &id).as_bytes()).await,
                        Err(error) => peer.write(error.as_bytes()).await,
                    }
                }
                Act::Pause(time) => tokio::time::sleep(time).await,
                Act::CloseOutput => peer.end().await,
                Act::CloseInput => {
                    peer.turn_deaf();
                    tokio::time::sleep(2 * DEADLINE).await;
                }
                Act::Exit(status) => {
                    drop(peer);
                    let _ = tell.send(status);
                    return received;
                }
            }
        }
    }
    received
}

/// A call of the tool `echo`.
pub(super) fn echo() -> Subject {
    Subject::Tool(tool("echo", json!({"message": "hi"})))
}

pub(super) fn tool(name: &str, args: Value) -> ToolCall {
    ToolCall {
        tool: text(name),
        args: ValueTemplate { value: args },
    }
}

pub(super) fn text(text: &str) -> Template {
    Template { text: text.into() }
}

/// The class of what was seen, in the words of the fault catalogue.
pub(super) fn class(seen: &Observation) -> String {
    if let Some(disruption) = &seen.disruption {
        return format!("{} ({})", disruption.kind.word(), disruption.phase);
    }
    match seen.answer.as_ref().map(|answer| &answer.body) {
        None => "nothing".into(),
        Some(Body::ProtocolError(error)) => format!("protocol error {error}"),
        Some(Body::Result(reply)) if reply.is_error => "tool error".into(),
        Some(Body::Result(_)) => "result".into(),
    }
}

pub(super) fn codes(seen: &Observation) -> Vec<FindingCode> {
    seen.findings.iter().map(|finding| finding.code).collect()
}
