//! Lines of the client to messages for rmcp.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, GetExtensions, JsonRpcMessage};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::sync::mpsc;

use super::Wire;
use super::exchange::{Arrival, kind_of, message_id};
use super::outline::Outline;
use crate::surface::WITH_HEADER;
use crate::tap::{Kind, Stop};

/// A line longer than this is refused unread, as rmcp's own transport drops it.
const MAX_LINE: usize = 16 * 1024 * 1024;

/// The error for a line longer than [`MAX_LINE`].
const TOO_LONG: &str = "Invalid request: it is longer than 16 MiB";

/// The error for JSON that cannot be parsed.
const TOO_DEEP: &str = "Invalid request: it is nested too deep, or holds text that is not Unicode";

/// How long answers that only take time are waited for after the end of input.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// When a server ends by itself.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    /// After so many requests.
    pub max_requests: Option<u64>,
    /// When nothing came for so long.
    pub idle_exit: Option<Duration>,
}

/// Reads the client's lines.
pub(crate) struct Reader<R> {
    pub(super) input: BufReader<R>,
    pub(super) wire: Wire,
    pub(super) core: mpsc::Sender<ClientJsonRpcMessage>,
    pub(super) limits: Limits,
    pub(super) requests: u64,
    /// The part of the next line that was read; a cancelled read loses nothing.
    pub(super) part: Vec<u8>,
    /// The outline of that part, when it is too long to be kept.
    pub(super) too_long: Option<Outline>,
}

enum Line {
    Text(Vec<u8>),
    TooLong(Outline),
    End,
}

impl<R: AsyncRead + Unpin> Reader<R> {
    /// Reads until the client closes, or a limit is met.
    pub(crate) async fn run(&mut self) -> Stop {
        self.wire.start().await;
        loop {
            let Some(line) = self.line_in_time().await else {
                return Stop::Limit;
            };
            match line {
                Line::Text(line) => self.heard(&line).await,
                Line::TooLong(outline) => self.unreadable(&outline, TOO_LONG).await,
                Line::End => {
                    self.wire.settle().await;
                    // What answers soon is still answered; nobody asked for the rest to be cut.
                    let _ = tokio::time::timeout(LAST_ANSWERS, self.wire.answered()).await;
                    return Stop::Eof;
                }
            }
            if self
                .limits
                .max_requests
                .is_some_and(|most| self.requests >= most)
            {
                self.wire.answered().await;
                return Stop::Limit;
            }
        }
    }

    /// The next line, or nothing when the server has been idle for as long as it may.
    async fn line_in_time(&mut self) -> Option<Line> {
        let Some(idle) = self.limits.idle_exit else {
            return Some(self.line().await);
        };
        loop {
            if let Ok(line) = tokio::time::timeout(idle, self.line()).await {
                return Some(line);
            }
            if self.wire.exchange().is_answered() {
                return None;
            }
        }
    }

    /// The next line without its end. An unfinished last line counts as a line.
    async fn line(&mut self) -> Line {
        loop {
            // A stream that fails is a stream that has ended: nobody is left to be told.
            let Ok(bytes) = self.input.fill_buf().await else {
                return Line::End;
            };
            if bytes.is_empty() {
                return match self.finished() {
                    Line::Text(line) if line.is_empty() => Line::End,
                    line @ (Line::Text(_) | Line::TooLong(_) | Line::End) => line,
                };
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let part = &bytes[..end.unwrap_or(bytes.len())];
            if let Some(outline) = &mut self.too_long {
                outline.push(part);
            } else {
                self.part.extend_from_slice(part);
                if self.part.len() > MAX_LINE {
                    let mut outline = Outline::default();
                    outline.push(&std::mem::take(&mut self.part));
                    self.too_long = Some(outline);
                }
            }
            let used = end.map_or(bytes.len(), |at| at + 1);
            self.input.consume(used);
            if end.is_some() {
                return self.finished();
            }
        }
    }

    fn finished(&mut self) -> Line {
        let line = std::mem::take(&mut self.part);
        match self.too_long.take() {
            Some(outline) => Line::TooLong(outline),
            None => Line::Text(line),
        }
    }

    async fn heard(&mut self, line: &[u8]) {
        let text = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        if text.trim_ascii().is_empty() {
            return;
        }
        self.wire.settle().await;
        match serde_json::from_slice::<Value>(text) {
            Err(_) if is_json(text) => {
                let mut outline = Outline::default();
                outline.push(text);
                self.unreadable(&outline, TOO_DEEP).await;
            }
            Err(_) => self.no_json(line),
            Ok(Value::Array(members)) if !members.is_empty() && self.has_batches() => {
                self.batch(members).await;
            }
            Ok(message) => self.message(message, None, None).await,
        }
    }

    /// A frame that is broken is answered. Text that is none is not: an answer to it can start an endless exchange of
    /// errors, and the other official SDKs keep silent too.
    fn no_json(&self, line: &[u8]) {
        self.wire.exchange().tap.noise(line);
        let mark = b"\"jsonrpc\"";
        if line.windows(mark.len()).any(|part| part == mark) {
            self.refuse(&Value::Null, -32700, "Parse error: the line is not JSON");
        }
    }

    /// Refuses a line that is too long or too deep to be read, by its outline.
    async fn unreadable(&mut self, outline: &Outline, why: &'static str) {
        self.wire.settle().await;
        match outline.read() {
            Some(message) if kind_of(&message) != Some(Kind::Notification) => {
                self.message(message, None, Some((outline.size(), why)))
                    .await;
            }
            Some(_) | None => self.wire.exchange().tap.noise(&[]),
        }
    }

    async fn batch(&mut self, members: Vec<Value>) {
        let requests = members
            .iter()
            .filter(|member| kind_of(member) == Some(Kind::Request))
            .count();
        let batch = self.wire.exchange().open_batch(requests);
        for member in members {
            self.message(member, batch, None).await;
            self.wire.settle().await;
        }
    }

    /// Takes one message; `cut` has the size of a line of which only the outline was read, and why.
    async fn message(
        &mut self,
        message: Value,
        batch: Option<u64>,
        cut: Option<(usize, &'static str)>,
    ) {
        let Some(kind) = kind_of(&message) else {
            self.wrong_shape(&message);
            return;
        };
        let asked = kind == Kind::Answer && self.wire.exchange().is_asked(&message);
        let (message, emits) = self.wire.exchange().incoming(Arrival {
            message,
            kind,
            batch,
            cut: cut.map(|(size, _)| size),
            sender: None,
        });
        self.wire.emit(emits);
        let Some(message) = message else { return };
        // rmcp ends a connection that does not open with a request.
        if kind == Kind::Request {
            self.requests += 1;
        } else if self.requests == 0 {
            return;
        }
        let wrong = match (cut, typed(&message)) {
            (Some((_, why)), _) => (-32600, why),
            (None, _) if has_odd_cursor(&message) => (-32602, "the cursor has to be text"),
            // Only an rmcp that has ended does not take it, and then the server ends too.
            (None, Some(typed)) => return drop(self.core.send(typed).await),
            (None, None) => (-32602, "params have to be an object"),
        };
        match kind {
            Kind::Request if is_request(&message) => self.refuse(&message, wrong.0, wrong.1),
            Kind::Request => self.wrong_shape(&message),
            Kind::Answer if asked => self.broken_answer(&message).await,
            Kind::Notification | Kind::Answer => {}
        }
    }

    /// JSON that is not a message is answered, under its id where it has one.
    fn wrong_shape(&self, message: &Value) {
        self.wire
            .exchange()
            .tap
            .noise(message.to_string().as_bytes());
        self.refuse(message, -32600, "Invalid request");
    }

    fn refuse(&self, message: &Value, code: i32, why: &str) {
        let mut answer = json!({"jsonrpc": "2.0"});
        if let Some(id) = message_id(message) {
            answer["id"] = id.clone();
        }
        answer["error"] = json!({"code": code, "message": why});
        // It is queued by the call; the wait is for those who need the order.
        drop(self.wire.send(&answer));
    }

    /// A request of ours is closed even if its answer is invalid.
    async fn broken_answer(&self, message: &Value) {
        let error = json!({
            "jsonrpc": "2.0",
            "id": message["id"],
            "error": {"code": -32600, "message": "the client's answer is not a JSON-RPC answer"},
        });
        if let Some(typed) = typed(&error) {
            drop(self.core.send(typed).await);
        }
    }

    fn has_batches(&self) -> bool {
        self.wire.exchange().has_batches()
    }
}

/// Whether a list is asked for from a place that rmcp would take for the beginning.
pub(crate) fn has_odd_cursor(message: &Value) -> bool {
    let method = message.get("method").and_then(Value::as_str);
    let cursor = message.pointer("/params/cursor");
    method.is_some_and(|method| method.ends_with("/list"))
        && cursor.is_some_and(|cursor| !cursor.is_string() && !cursor.is_null())
}

/// Whether a text is JSON, however deep it is: what is skipped is not taken apart.
fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(text).is_ok()
}

/// Whether all but the params of a message is a request as JSON-RPC wants it.
fn is_request(message: &Value) -> bool {
    message.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
        && message_id(message).is_some_and(|id| id.is_string() || id.is_i64())
}

/// The params of a request, exactly as written.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    /// The arguments; nothing where there were none.
    pub arguments: Option<Value>,
    /// The request's `_meta`.
    pub meta: Option<Value>,
    /// Answers to what an earlier round asked.
    pub responses: Option<Value>,
}

impl Written {
    /// What came with the call of `context`: on the typed request, or on the HTTP request that carried it.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<Self>().or_else(|| {
            let parts = context.extensions.get::<http::request::Parts>()?;
            parts.extensions.get::<Self>()
        })
    }
}

/// A message as rmcp is given it, and what was taken out of a request, or is kept as it was written.
///
/// The arguments of a tool call travel beside the request: rmcp's types would lose numbers that no machine type holds, and
/// their results could not be any JSON. Their place is taken by something that is not an object, so that rmcp hands the call
/// on as a request that it does not know, once it has checked headers and metadata. Answers to what an earlier round asked
/// travel beside their request for the same reason.
pub(crate) fn for_rmcp(mut message: Value) -> (Value, Option<Written>) {
    let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
    let name = message.pointer("/params/name").and_then(Value::as_str);
    // rmcp compares the arguments of this one with headers.
    let is_compared = is_call && name == Some(WITH_HEADER);
    let is_request = kind_of(&message) == Some(Kind::Request);
    let params = message.get_mut("params").and_then(Value::as_object_mut);
    let params = params.filter(|_| is_request && !is_compared);
    let written = params.map(|params| Written {
        meta: params.get("_meta").cloned(),
        responses: params.get("inputResponses").cloned(),
        arguments: is_call
            .then(|| params.insert("arguments".to_owned(), Value::Bool(false)))
            .flatten(),
    });
    (message, written)
}

/// rmcp's type of a message. `jsonrpc` has to be there; an error and a result exclude each other.
pub(crate) fn typed(message: &Value) -> Option<ClientJsonRpcMessage> {
    let (message, written) = for_rmcp(message.clone());
    let mut typed: ClientJsonRpcMessage = serde_json::from_value(message).ok()?;
    if let (JsonRpcMessage::Request(call), Some(written)) = (&mut typed, written) {
        call.request.extensions_mut().insert(written);
    }
    Some(typed)
}
