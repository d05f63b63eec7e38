//! The bookkeeping of one conversation: open requests in both directions, and batches.
//!
//! Everything here is synchronous; the order of calls is the order of the wire.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rmcp::model::RequestId;
use serde_json::Value;

use crate::tap::{Emit, Forward, Frame, Kind, Tap};

/// The only revision with JSON-RPC batches.
const BATCH_REVISION: &str = "2025-03-26";

/// The event that a handler waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitsFor {
    /// Time: it goes on by itself.
    Time,
    /// An answer of the client to a request of ours.
    Answer,
    /// The end of the call or of the server.
    TheEnd,
}

/// A request whose answer is still to come.
#[derive(Debug, Clone)]
struct Open {
    method: String,
    target: Option<String>,
    batch: Option<u64>,
    /// Whether an answer comes without the client doing anything. A cancelled request is kept for
    /// the name of an answer that comes all the same.
    expected: bool,
}

/// Answers that wait for the others of their batch.
#[derive(Debug, Default)]
struct Batch {
    waiting: usize,
    answers: Vec<Vec<u8>>,
    /// Notified when they are sent.
    outs: Vec<Emit>,
}

/// Messages that follow an answer.
#[derive(Debug)]
struct After {
    messages: Vec<Value>,
    pause: Duration,
}

/// A message of the client on its way to rmcp.
#[derive(Debug)]
pub(crate) struct Arrival {
    pub(crate) message: Value,
    pub(crate) kind: Kind,
    /// The batch that its answer belongs to.
    pub(crate) batch: Option<u64>,
    /// Bytes of the line, where the message is only its outline.
    pub(crate) cut: Option<usize>,
    /// Who sends it, where that is told with each message.
    pub(crate) sender: Option<Value>,
}

/// The state of one connection.
pub(crate) struct Exchange {
    pub(crate) tap: Box<dyn Tap>,
    /// Requests of the client, by the text of their id.
    open: HashMap<String, Open>,
    /// Requests of the client whose handlers run, rather than wait.
    busy: HashSet<String>,
    /// Answers of the client that are on their way to the handlers that asked.
    arriving: usize,
    /// Jobs that the writer has not done yet.
    unwritten: usize,
    /// Whether the writer was given up on: its reader is slow. It is not waited for until it has caught up.
    behind: bool,
    /// Requests of ours.
    asked: HashMap<String, Open>,
    /// Messages that follow an answer, by the id of its request.
    after: HashMap<String, After>,
    batches: HashMap<u64, Batch>,
    next_batch: u64,
    revision: Option<String>,
}

impl Exchange {
    pub(crate) fn new(tap: Box<dyn Tap>) -> Self {
        Self {
            tap,
            open: HashMap::new(),
            busy: HashSet::new(),
            arriving: 0,
            unwritten: 0,
            behind: false,
            asked: HashMap::new(),
            after: HashMap::new(),
            batches: HashMap::new(),
            next_batch: 0,
            revision: None,
        }
    }

    /// Whether an array is a batch for this client.
    pub(crate) fn has_batches(&self) -> bool {
        self.revision.as_deref() == Some(BATCH_REVISION)
    }

    /// Opens a batch of `requests` answers.
    pub(crate) fn open_batch(&mut self, requests: usize) -> Option<u64> {
        if requests == 0 {
            return None;
        }
        self.next_batch += 1;
        self.batches.insert(
            self.next_batch,
            Batch {
                waiting: requests,
                ..Batch::default()
            },
        );
        Some(self.next_batch)
    }

    /// Shows a message of the client to the tap; says what rmcp gets and what goes out at once.
    pub(crate) fn incoming(&mut self, arrival: Arrival) -> (Option<Value>, Vec<Emit>) {
        let Arrival {
            message,
            kind,
            batch,
            cut,
            sender,
        } = arrival;
        let id = message_id(&message);
        let known = match (kind, id) {
            (Kind::Answer, Some(id)) => self.asked.remove(&key(id)),
            (Kind::Request | Kind::Notification | Kind::Answer, _) => None,
        };
        let heard = self.tap.incoming(&Frame {
            cut,
            sender: sender.as_ref(),
            ..frame(&message, kind, known.as_ref())
        });
        let mut emits = heard.emit;
        let message = match heard.forward {
            Forward::AsItCame => Some(message),
            Forward::Instead(other) => Some(other),
            Forward::Nothing => None,
        };
        if let Some(message) = &message {
            match kind {
                Kind::Request => self.opened(message, batch),
                Kind::Notification => emits.extend(self.cancelled(message)),
                Kind::Answer => self.arriving += usize::from(known.is_some()),
            }
        }
        (message, emits)
    }

    /// Shows a message for the client to the tap; says what goes out.
    pub(crate) fn outgoing(&mut self, message: &Value) -> Vec<Emit> {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        let kind = kind_of(message).unwrap_or(Kind::Answer);
        let id = message_id(message);
        let known = match (kind, id) {
            (Kind::Answer, Some(id)) => {
                self.busy.remove(&key(id));
                self.open.remove(&key(id))
            }
            (Kind::Request | Kind::Notification | Kind::Answer, _) => None,
        };
        if let Some(open) = &known
            && open.method == "initialize"
            && let Some(revision) = message.pointer("/result/protocolVersion")
        {
            self.revision = revision.as_str().map(str::to_owned);
        }
        if let (Kind::Request, Some(id)) = (kind, id) {
            self.asked.insert(key(id), open_request(message, None));
        }
        let emits = self
            .tap
            .outgoing(&frame(message, kind, known.as_ref()), line);
        let mut emits = match known.and_then(|open| open.batch) {
            Some(batch) => self.join(batch, emits),
            None => emits,
        };
        if let (Kind::Answer, Some(id)) = (kind, id)
            && let Some(after) = self.after.remove(&key(id))
        {
            for (at, message) in after.messages.iter().enumerate() {
                if at > 0 && !after.pause.is_zero() {
                    emits.push(Emit::Delay(after.pause));
                }
                emits.extend(self.outgoing(message));
            }
        }
        emits
    }

    /// The request of this id gets no answer but a status of HTTP.
    pub(crate) fn refused(&mut self, id: &Value, status: u16) {
        self.busy.remove(&key(id));
        self.open.remove(&key(id));
        self.tap.refused(id, status);
    }

    /// Keeps `messages` until the answer to `id` goes out.
    pub(super) fn after_reply(&mut self, id: &RequestId, messages: Vec<Value>, pause: Duration) {
        if let Ok(id) = serde_json::to_value(id) {
            self.after.insert(key(&id), After { messages, pause });
        }
    }

    /// The handler of `id` waits for `what`.
    pub(super) fn park(&mut self, id: &RequestId, what: WaitsFor) {
        let Ok(id) = serde_json::to_value(id) else {
            return;
        };
        self.busy.remove(&key(&id));
        if let Some(open) = self.open.get_mut(&key(&id)) {
            open.expected &= what == WaitsFor::Time;
        }
    }

    /// The handler of `id` goes on.
    pub(super) fn resume(&mut self, id: &RequestId, after: WaitsFor) {
        if after == WaitsFor::Answer {
            self.arriving = self.arriving.saturating_sub(1);
        }
        let Ok(id) = serde_json::to_value(id) else {
            return;
        };
        if let Some(open) = self.open.get_mut(&key(&id)) {
            open.expected = true;
            self.busy.insert(key(&id));
        }
    }

    /// The writer got a job.
    pub(super) fn queued(&mut self) {
        self.unwritten += 1;
    }

    /// The writer has done a job, but for what it delayed.
    pub(super) fn written(&mut self) {
        self.unwritten = self.unwritten.saturating_sub(1);
        self.behind &= self.unwritten > 0;
    }

    /// Handlers that neither answer nor wait, and a writer that cannot write, are not waited for any more.
    pub(super) fn give_up_waiting(&mut self) {
        self.busy.clear();
        self.arriving = 0;
        self.behind = self.unwritten > 0;
    }

    /// Whether no handler runs and all that they said is written.
    pub(super) fn is_settled(&self) -> bool {
        self.busy.is_empty() && self.arriving == 0 && (self.unwritten == 0 || self.behind)
    }

    /// Whether every request has its answer, or waits for the client.
    pub(super) fn is_answered(&self) -> bool {
        !self.open.values().any(|open| open.expected)
    }

    /// Whether we asked the client something under the id of `message`.
    pub(super) fn is_asked(&self, message: &Value) -> bool {
        message_id(message).is_some_and(|id| self.asked.contains_key(&key(id)))
    }

    fn opened(&mut self, message: &Value, batch: Option<u64>) {
        if let Some(id) = message_id(message) {
            self.busy.insert(key(id));
            self.open.insert(key(id), open_request(message, batch));
        }
    }

    /// A cancelled request gets no answer: rmcp drops it, and its batch goes without.
    fn cancelled(&mut self, message: &Value) -> Vec<Emit> {
        if message.get("method").and_then(Value::as_str) != Some("notifications/cancelled") {
            return Vec::new();
        }
        let Some(id) = message.pointer("/params/requestId") else {
            return Vec::new();
        };
        self.busy.remove(&key(id));
        let Some(open) = self.open.get_mut(&key(id)) else {
            return Vec::new();
        };
        open.expected = false;
        match open.batch.take() {
            Some(batch) => self.join(batch, Vec::new()),
            None => Vec::new(),
        }
    }

    /// Puts the bytes of one answer to its batch; the last one sends all as one array.
    fn join(&mut self, id: u64, emits: Vec<Emit>) -> Vec<Emit> {
        let Some(batch) = self.batches.get_mut(&id) else {
            return emits;
        };
        let mut out = Vec::new();
        for emit in emits {
            if let Emit::Bytes(bytes) = emit {
                batch.answers.push(bytes);
            } else if matches!(emit, Emit::Out(_)) {
                batch.outs.push(emit);
            } else {
                out.push(emit);
            }
        }
        batch.waiting = batch.waiting.saturating_sub(1);
        if batch.waiting == 0
            && let Some(batch) = self.batches.remove(&id)
            && !batch.answers.is_empty()
        {
            let answers: Vec<&[u8]> = batch.answers.iter().map(|a| a.trim_ascii_end()).collect();
            let mut line = vec![b'['];
            line.extend(answers.join(&b','));
            line.extend(b"]\n");
            out.push(Emit::Bytes(line));
            out.extend(batch.outs);
        }
        out
    }
}

/// The kind of a message by its members, or nothing for what is not a JSON-RPC message.
pub(crate) fn kind_of(message: &Value) -> Option<Kind> {
    let members = message.as_object()?;
    match (members.get("method"), members.get("id")) {
        (Some(Value::String(_)), Some(_)) => Some(Kind::Request),
        (Some(Value::String(_)), None) => Some(Kind::Notification),
        (None, _) if members.contains_key("result") || members.contains_key("error") => {
            Some(Kind::Answer)
        }
        (Some(_) | None, _) => None,
    }
}

/// The id of a message, if it is one that JSON-RPC allows.
pub(crate) fn message_id(message: &Value) -> Option<&Value> {
    message
        .get("id")
        .filter(|id| id.is_string() || id.is_number())
}

fn frame<'a>(message: &'a Value, kind: Kind, known: Option<&'a Open>) -> Frame<'a> {
    let (method, target) = match (kind, known) {
        (Kind::Answer, Some(open)) => (Some(open.method.as_str()), open.target.as_deref()),
        (Kind::Answer, None) => (None, None),
        (Kind::Request | Kind::Notification, _) => (
            message.get("method").and_then(Value::as_str),
            target_of(message),
        ),
    };
    Frame {
        message,
        kind,
        method,
        id: message.get("id"),
        target,
        cut: None,
        sender: None,
    }
}

fn open_request(message: &Value, batch: Option<u64>) -> Open {
    Open {
        method: message
            .get("method")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        target: target_of(message).map(str::to_owned),
        batch,
        expected: true,
    }
}

fn target_of(message: &Value) -> Option<&str> {
    let params = message.get("params")?;
    params.get("name").or_else(|| params.get("uri"))?.as_str()
}

/// Number 3 and text "3" are two ids.
fn key(id: &Value) -> String {
    id.to_string()
}
