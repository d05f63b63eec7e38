//! Which messages become which records.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::scrub::Scrubber;
use super::writer::{RecordKind, Writer};
use crate::Clock;
use crate::faults::event::Sent;
use crate::tap::{Frame, Kind, Ticket};
use text::credential::SecretKeys;

/// The most notifications that a call's end lists.
const LISTED: usize = 100;

/// The member of a request's `_meta` that names its revision where there is no handshake.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// What the first record says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header {
    /// Where every draw comes from.
    pub seed: u64,
    /// What is served.
    pub profile: String,
    /// The process; left out where two runs must write the same bytes.
    pub pid: Option<u32>,
    /// How the frames come.
    pub transport: &'static str,
    /// The fault rules as they were written.
    pub rules: Vec<String>,
}

/// Who calls, where a journal has more than one conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    /// The session, where there is one.
    pub session: Option<String>,
    /// Whose key was shown.
    pub identity: Option<String>,
    /// The revision of its handshake.
    pub protocol: Option<String>,
    /// Name, version and capabilities, as records show them.
    pub client: Value,
}

/// A call without its end.
#[derive(Debug)]
struct Open {
    seq: u64,
    since: Duration,
    bytes_in: usize,
    token: Option<Value>,
    /// A label for the journal alone, should the call fail.
    category: Option<Value>,
    cancelled_at: Option<Duration>,
    /// Whether an answer after a cancel is what was asked for.
    late: bool,
    notifications: Vec<Value>,
    /// How many there were in all.
    notified: usize,
}

/// A call whose answer is on its way, and what its end will say of the answer.
#[derive(Debug)]
struct Leaving {
    open: Open,
    /// The text of the call's id.
    key: String,
    /// Whether its end, a cancel, is on paper already.
    over: bool,
    error: Value,
    is_error: bool,
    blocks: Option<usize>,
    bytes: u64,
}

/// The journal of one server.
pub(crate) struct Journal {
    writer: Writer,
    transport: &'static str,
    /// Calls without their end, by the text of their id.
    open: HashMap<String, Open>,
    /// Calls whose end is a cancel, in case that an answer comes all the same.
    cancelled: HashMap<String, Open>,
    /// Calls whose answers are not out yet.
    leaving: HashMap<Ticket, Leaving>,
    session: Option<String>,
    identity: Option<String>,
    protocol: Option<String>,
    client: Value,
}

impl Journal {
    /// Starts a journal with its header. Secrets are taken out where `keys` say what one is.
    pub(crate) fn start(
        to: Box<dyn Write + Send>,
        clock: Clock,
        keys: Option<SecretKeys>,
        header: &Header,
    ) -> io::Result<Self> {
        let journal = Self {
            writer: Writer::new(to, clock, Scrubber::new(keys)),
            transport: header.transport,
            open: HashMap::new(),
            cancelled: HashMap::new(),
            leaving: HashMap::new(),
            session: None,
            identity: None,
            protocol: None,
            client: Value::Null,
        };
        let members = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "seed": header.seed,
            "profile": header.profile,
            "pid": header.pid,
            "transports": [header.transport],
            "level": "calls",
            "rules": header.rules,
        });
        journal.writer.write(RecordKind::Header, members)?;
        Ok(journal)
    }

    /// What is noted of one caller, in the same file and beside what others do.
    pub(crate) fn beside(&self, caller: Caller) -> Self {
        Self {
            writer: self.writer.clone(),
            transport: self.transport,
            open: HashMap::new(),
            cancelled: HashMap::new(),
            leaving: HashMap::new(),
            session: caller.session,
            identity: caller.identity,
            protocol: caller.protocol,
            client: caller.client,
        }
    }

    /// A message of the client came.
    pub(crate) fn incoming(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        match (frame.kind, frame.method) {
            (Kind::Request, Some("initialize")) => {
                self.client = client(
                    frame.message.pointer("/params/clientInfo"),
                    frame.message.pointer("/params/capabilities"),
                );
            }
            (Kind::Request, Some("tools/call")) => self.call(frame)?,
            (Kind::Notification, Some("notifications/cancelled")) => {
                let now = self.writer.clock().elapsed();
                let id = frame.message.pointer("/params/requestId");
                let key = id.map(Value::to_string).unwrap_or_default();
                let leaving = self.leaving.values_mut().filter(|one| one.key == key);
                let calls = self.open.get_mut(&key).into_iter();
                for open in calls.chain(leaving.map(|one| &mut one.open)) {
                    open.cancelled_at.get_or_insert(now);
                }
            }
            (Kind::Request | Kind::Notification | Kind::Answer, _) => {}
        }
        Ok(())
    }

    /// A message of the server that is no answer goes out.
    pub(crate) fn outgoing(&mut self, frame: &Frame<'_>) {
        if frame.kind != Kind::Notification {
            return;
        }
        let token = frame.message.pointer("/params/progressToken");
        let during = match token {
            Some(token) => self
                .open
                .values_mut()
                .find(|open| open.token.as_ref() == Some(token)),
            None => self.open.values_mut().max_by_key(|open| open.seq),
        };
        if let Some(open) = during {
            open.notified += 1;
            if open.notifications.len() < LISTED {
                let params = frame.message.get("params");
                open.notifications
                    .push(json!({"method": frame.method, "params": params}));
            }
        }
    }

    /// An answer is on its way out.
    pub(crate) fn leaves(&mut self, sent: &Sent) {
        let answer = &sent.message;
        if let Some(revision) = answer.pointer("/result/protocolVersion") {
            self.protocol = revision.as_str().map(str::to_owned);
        }
        let key = sent.id.to_string();
        let (open, over) = match (self.open.remove(&key), self.cancelled.remove(&key)) {
            (Some(open), _) => (open, false),
            (None, Some(open)) => (open, true),
            (None, None) => return,
        };
        let blocks = answer
            .pointer("/result/content")
            .and_then(Value::as_array)
            .map(Vec::len);
        let leaving = Leaving {
            key,
            over,
            error: error_of(answer, open.category.as_ref()),
            is_error: answer.pointer("/result/isError") == Some(&Value::Bool(true)),
            blocks,
            bytes: sent.bytes,
            open,
        };
        self.leaving.insert(sent.ticket, leaving);
    }

    /// The answer of this ticket is out: that is the end of its call.
    pub(crate) fn out(&mut self, ticket: Ticket) -> io::Result<()> {
        let Some(leaving) = self.leaving.remove(&ticket) else {
            return Ok(());
        };
        let open = &leaving.open;
        let now = self.writer.clock().elapsed();
        let members = json!({
            "of": open.seq,
            "ok": leaving.error.is_null(),
            "is_error": leaving.is_error,
            "error": leaving.error,
            "duration_ms": millis(now.saturating_sub(open.since)),
            "cancelled_at_ms": open.cancelled_at.map(|at| millis(at.saturating_sub(open.since))),
            "blocks": leaving.blocks,
            "bytes_in": open.bytes_in,
            "bytes_out": leaving.bytes,
        });
        self.done(open, members)
    }

    /// The call of this id was cancelled before it had an answer: that is its end, written now so that a crash does not
    /// lose it. Should an answer come all the same, a second end with the same `of` follows.
    pub(crate) fn cancelled(&mut self, id: &Value) -> io::Result<()> {
        let key = id.to_string();
        let over = |open: &mut Open| open.cancelled_at.is_some() && !open.late;
        if self.open.get_mut(&key).is_some_and(over)
            && let Some(mut open) = self.open.remove(&key)
        {
            self.unanswered(&mut open)?;
            self.cancelled.insert(key, open);
        }
        Ok(())
    }

    /// The answer of this ticket was cancelled on its way: that is the end of its call. Should it be out already, a second
    /// end follows here too.
    pub(crate) fn forgotten(&mut self, ticket: Ticket) -> io::Result<()> {
        let Some(mut leaving) = self.leaving.remove(&ticket) else {
            return Ok(());
        };
        self.unanswered(&mut leaving.open)?;
        leaving.over = true;
        self.leaving.insert(ticket, leaving);
        Ok(())
    }

    /// A fault rule fired for the request of this id, or for none.
    pub(crate) fn fault(
        &mut self,
        rule: &str,
        fault: &str,
        n: u64,
        id: Option<&Value>,
    ) -> io::Result<()> {
        let of = id.and_then(|id| self.open.get(&id.to_string()));
        let members = json!({
            "rule": rule,
            "fault": fault,
            "n": n,
            "rpc_id": id,
            "of": of.map(|open| open.seq),
        });
        self.writer.write(RecordKind::Fault, members).map(drop)
    }

    /// Closes the calls that have no end, and the journal.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.unfinished()?;
        let counts = self.writer.counts();
        self.writer
            .write(RecordKind::End, json!({"counts": counts}))
            .map(drop)
    }

    /// Closes the calls that have no end.
    pub(crate) fn unfinished(&mut self) -> io::Result<()> {
        let leaving = self.leaving.drain().map(|(_, leaving)| leaving);
        let mut left: Vec<Open> = leaving
            .filter(|leaving| !leaving.over)
            .map(|leaving| leaving.open)
            .collect();
        left.extend(self.open.drain().map(|(_, open)| open));
        left.sort_by_key(|open| open.seq);
        for open in &mut left {
            self.unanswered(open)?;
        }
        Ok(())
    }

    fn call(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let Some(id) = frame.id else { return Ok(()) };
        let params = frame.message.get("params").unwrap_or(&Value::Null);
        let meta = params.get("_meta").unwrap_or(&Value::Null);
        let token = meta.get("progressToken");
        let (era, protocol, client) = match meta.get(REVISION).and_then(Value::as_str) {
            Some(revision) => (
                "modern",
                Some(revision),
                client(meta.get(CLIENT_INFO), meta.get(CLIENT_CAPABILITIES)),
            ),
            None => ("legacy", self.protocol.as_deref(), self.client.clone()),
        };
        let members = json!({
            "tool": params.get("name").filter(|name| name.is_string()),
            "args": arguments(params.get("arguments")),
            "method": "tools/call",
            "rpc_id": id,
            "progress_token": token,
            "session": self.session,
            "identity": self.identity,
            "transport": self.transport,
            "protocol": protocol,
            "era": era,
            "client": client,
            "truncated": frame.cut.map(|size| json!({"/args": size})),
        });
        let since = self.writer.clock().elapsed();
        let seq = self.writer.write(RecordKind::Call, members)?;
        let open = Open {
            seq,
            since,
            // With the newline, as answers are counted.
            bytes_in: 1 + match frame.cut {
                Some(size) => size,
                None => frame.message.to_string().len(),
            },
            token: token.cloned(),
            category: params.pointer("/arguments/category").cloned(),
            cancelled_at: None,
            late: params.pointer("/arguments/late") == Some(&Value::Bool(true)),
            notifications: Vec::new(),
            notified: 0,
        };
        self.cancelled.remove(&id.to_string());
        self.open.insert(id.to_string(), open);
        Ok(())
    }

    /// The end of a call without an answer. Should there be one after all, its end does not say again what this one says.
    fn unanswered(&mut self, open: &mut Open) -> io::Result<()> {
        let (layer, message) = match open.cancelled_at {
            Some(_) => ("cancelled", "the client cancelled the call"),
            None => ("unfinished", "the server ended before it answered"),
        };
        let members = json!({
            "of": open.seq,
            "ok": false,
            "is_error": false,
            "error": {"layer": layer, "message": message},
            "cancelled_at_ms": open.cancelled_at.map(|at| millis(at.saturating_sub(open.since))),
            "bytes_in": open.bytes_in,
        });
        self.done(open, members)?;
        open.notifications = Vec::new();
        open.notified = 0;
        Ok(())
    }

    fn done(&mut self, open: &Open, mut members: Value) -> io::Result<()> {
        let more = open.notified - open.notifications.len();
        members["notifications"] = json!(open.notifications);
        if more > 0 {
            members["more_notifications"] = json!(more);
        }
        self.writer.write(RecordKind::Done, members).map(drop)
    }
}

/// Arguments are an object in every record; what is none is kept inside one.
fn arguments(given: Option<&Value>) -> Value {
    match given {
        None | Some(Value::Null) => json!({}),
        Some(object @ Value::Object(_)) => object.clone(),
        Some(other @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_))) => {
            json!({"_value": other})
        }
    }
}

pub(crate) fn client(info: Option<&Value>, capabilities: Option<&Value>) -> Value {
    if info.is_none() && capabilities.is_none() {
        return Value::Null;
    }
    let of = |name: &str| info.and_then(|info| info.get(name));
    json!({"name": of("name"), "version": of("version"), "capabilities": capabilities})
}

/// What went wrong in an answer, with its text; null when nothing did.
fn error_of(answer: &Value, category: Option<&Value>) -> Value {
    let mut found = if let Some(error) = answer.get("error") {
        json!({"layer": "rpc", "code": error.get("code"), "message": error.get("message")})
    } else if answer.get("result").is_none() {
        json!({"layer": "rpc", "message": "neither a result nor an error"})
    } else if answer.pointer("/result/isError") == Some(&Value::Bool(true)) {
        let blocks = answer.pointer("/result/content").and_then(Value::as_array);
        let texts: Vec<&str> = blocks
            .into_iter()
            .flatten()
            .filter_map(|block| block.get("text").and_then(Value::as_str))
            .collect();
        json!({"layer": "tool", "message": texts.join("\n")})
    } else {
        return Value::Null;
    };
    let said = ["/error/data/category", "/result/structuredContent/category"];
    let said = said.iter().find_map(|at| answer.pointer(at));
    if let (Some(category), Some(found)) = (said.or(category), found.as_object_mut()) {
        found.insert("category".to_owned(), category.clone());
    }
    found
}

fn millis(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}
