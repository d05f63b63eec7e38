//! Which messages become which records.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use serde_json::{Value, json};

use super::scrub::Scrubber;
use super::writer::{RecordKind, Writer};
use crate::Clock;
use crate::faults::event::{Firing, Sent};
use crate::tap::{Frame, JournalLevel, Kind, Ticket};
use text::credential::SecretKeys;

/// The most notifications that a call's end lists.
const LISTED: usize = 100;

/// The member of a request's `_meta` that names its revision where there is no handshake.
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A request without its end.
#[derive(Debug)]
struct Open {
    seq: u64,
    /// The kind of record that tells its end.
    ends_as: RecordKind,
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

/// A call whose answer is on its way.
#[derive(Debug)]
struct Leaving {
    open: Open,
    /// Whether its end, a cancel, is on paper already.
    over: bool,
    sent: Sent,
}

/// The journal of one server, or of one conversation with it.
pub(crate) struct Journal {
    writer: Writer,
    transport: &'static str,
    level: JournalLevel,
    /// Who is there, where a message does not say who sends it.
    sender: Value,
    /// Calls without their end, by the text of their id.
    open: HashMap<String, Open>,
    /// Calls whose end is a cancel, in case that an answer comes all the same.
    cancelled: HashMap<String, Open>,
    /// Calls whose answers are not out yet.
    leaving: HashMap<Ticket, Leaving>,
    protocol: Option<String>,
    client: Value,
}

impl Journal {
    /// Starts a journal with what its header says. Secrets are taken out where `keys` say what one is.
    pub(crate) fn start(
        to: Box<dyn Write + Send>,
        clock: Clock,
        keys: Option<SecretKeys>,
        (transport, level): (&'static str, JournalLevel),
        header: Value,
    ) -> io::Result<Self> {
        let writer = Writer::new(to, clock, Scrubber::new(keys));
        writer.write(RecordKind::Header, header)?;
        Ok(Self::of(writer, transport, level, Value::Null))
    }

    /// What is noted of another conversation, in the same file. `sender` is an object, or null.
    pub(crate) fn beside(&self, sender: Value) -> Self {
        Self::of(self.writer.clone(), self.transport, self.level, sender)
    }

    fn of(writer: Writer, transport: &'static str, level: JournalLevel, sender: Value) -> Self {
        Self {
            writer,
            transport,
            level,
            sender,
            open: HashMap::new(),
            cancelled: HashMap::new(),
            leaving: HashMap::new(),
            protocol: None,
            client: Value::Null,
        }
    }

    /// A message of the client came.
    pub(crate) fn incoming(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        if self.level.holds(JournalLevel::Wire) {
            let bytes = frame.message.to_string();
            self.frame("in", bytes.as_bytes(), frame.cut.unwrap_or(bytes.len()))?;
        }
        if frame.kind == Kind::Request && frame.method == Some("initialize") {
            self.client = client(
                frame.message.pointer("/params/clientInfo"),
                frame.message.pointer("/params/capabilities"),
            );
        }
        match (frame.kind, frame.method) {
            (Kind::Request, Some("tools/call")) => {
                self.request(frame, (RecordKind::Call, RecordKind::Done))?;
            }
            (Kind::Request, _) if self.level.holds(JournalLevel::Rpc) => {
                self.request(frame, (RecordKind::Rpc, RecordKind::Rpc))?;
            }
            (Kind::Notification, _) if self.level.holds(JournalLevel::Rpc) => {
                self.told(frame, RecordKind::Notify, "in")?;
            }
            (Kind::Answer, _) if self.level.holds(JournalLevel::Rpc) => {
                self.told(frame, RecordKind::Reverse, "in")?;
            }
            (Kind::Request | Kind::Notification | Kind::Answer, _) => {}
        }
        match (frame.kind, frame.method) {
            (Kind::Notification, Some("notifications/cancelled")) => {
                let now = self.writer.clock().elapsed();
                let id = frame.message.pointer("/params/requestId");
                let key = id.map(Value::to_string).unwrap_or_default();
                let leaving = self.leaving.values_mut();
                let leaving = leaving.filter(|one| id == Some(&one.sent.id));
                let calls = self.open.get_mut(&key).into_iter();
                for open in calls.chain(leaving.map(|one| &mut one.open)) {
                    open.cancelled_at.get_or_insert(now);
                }
            }
            (Kind::Request | Kind::Notification | Kind::Answer, _) => {}
        }
        Ok(())
    }

    /// A message of the server that is not an answer goes out.
    pub(crate) fn outgoing(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let is_told = self.level.holds(JournalLevel::Rpc);
        if frame.kind == Kind::Request && is_told {
            return self.told(frame, RecordKind::Reverse, "out");
        }
        if frame.kind != Kind::Notification {
            return Ok(());
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
        if is_told {
            self.told(frame, RecordKind::Notify, "out")?;
        }
        Ok(())
    }

    /// Bytes came or go, where the journal holds them; of a flood its first piece is shown.
    pub(crate) fn frame(&mut self, dir: &str, bytes: &[u8], size: usize) -> io::Result<()> {
        if !self.level.holds(JournalLevel::Wire) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(bytes);
        let members = json!({"dir": dir, "bytes": text.trim_end_matches('\n'), "size": size});
        self.writer.write(RecordKind::Frame, members).map(drop)
    }

    /// Somebody was sent away.
    pub(crate) fn unauthorized(&mut self, sender: &Value, status: u16) -> io::Result<()> {
        let mut members = json!({"ok": false, "status": status});
        extend(&mut members, sender);
        self.writer.write(RecordKind::Auth, members).map(drop)
    }

    /// An answer is on its way out.
    pub(crate) fn leaves(&mut self, sent: Sent) {
        if let Some(revision) = sent.message.pointer("/result/protocolVersion") {
            self.protocol = revision.as_str().map(str::to_owned);
        }
        let key = sent.id.to_string();
        let (open, over) = match (self.open.remove(&key), self.cancelled.remove(&key)) {
            (Some(open), _) => (open, false),
            (None, Some(open)) => (open, true),
            (None, None) => return,
        };
        self.leaving
            .insert(sent.ticket, Leaving { open, over, sent });
    }

    /// The answer of this ticket is out: that is the end of its call.
    pub(crate) fn out(&mut self, ticket: Ticket) -> io::Result<()> {
        let Some(Leaving { open, sent, .. }) = self.leaving.remove(&ticket) else {
            return Ok(());
        };
        let answer = &sent.message;
        let error = error_of(answer, open.category.as_ref());
        let blocks = answer.pointer("/result/content").and_then(Value::as_array);
        let result = answer.get("result");
        let now = self.writer.clock().elapsed();
        let members = json!({
            "of": open.seq,
            "ok": error.is_null(),
            "is_error": answer.pointer("/result/isError") == Some(&Value::Bool(true)),
            "error": error,
            "duration_ms": millis(now.saturating_sub(open.since)),
            "cancelled_at_ms": open.cancelled_at.map(|at| millis(at.saturating_sub(open.since))),
            "blocks": blocks.map(Vec::len),
            "bytes_in": open.bytes_in,
            "bytes_out": sent.bytes,
            "result": result.filter(|_| self.level.holds(JournalLevel::Rpc)),
        });
        self.done(&open, members)
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

    /// The request of this id gets no answer but a status of HTTP.
    pub(crate) fn refused(&mut self, id: &Value, status: u16) -> io::Result<()> {
        let Some(open) = self.open.remove(&id.to_string()) else {
            return Ok(());
        };
        let error = json!({"layer": "http", "code": status, "message": "it is not a request that the server takes"});
        let members = json!({
            "of": open.seq, "ok": false, "is_error": false, "error": error, "bytes_in": open.bytes_in,
        });
        self.done(&open, members)
    }

    /// A fault rule fired.
    pub(crate) fn fault(&mut self, firing: &Firing) -> io::Result<()> {
        let of = firing
            .id
            .as_ref()
            .and_then(|id| self.open.get(&id.to_string()));
        let members = json!({
            "rule": firing.rule,
            "fault": firing.fault.row().id,
            "n": firing.n,
            "rpc_id": firing.id,
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

    /// A request opens what its end will close.
    fn request(
        &mut self,
        frame: &Frame<'_>,
        (kind, ends_as): (RecordKind, RecordKind),
    ) -> io::Result<()> {
        let Some(id) = frame.id else { return Ok(()) };
        let params = frame.message.get("params").unwrap_or(&Value::Null);
        let mut members = if kind == RecordKind::Call {
            json!({
                "tool": params.get("name").filter(|name| name.is_string()),
                "args": arguments(params.get("arguments")),
                "method": frame.method,
                "rpc_id": id,
                "progress_token": params.pointer("/_meta/progressToken"),
            })
        } else {
            about(frame, "in")
        };
        extend(&mut members, frame.sender.unwrap_or(&self.sender));
        extend(&mut members, &self.conversation(frame, params));
        let since = self.writer.clock().elapsed();
        let seq = self.writer.write(kind, members)?;
        let open = Open {
            seq,
            ends_as,
            since,
            // With the newline, as answers are counted.
            bytes_in: 1 + match frame.cut {
                Some(size) => size,
                None => frame.message.to_string().len(),
            },
            token: params.pointer("/_meta/progressToken").cloned(),
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

    /// The known facts of the conversation that a request belongs to.
    fn conversation(&self, frame: &Frame<'_>, params: &Value) -> Value {
        let meta = params.get("_meta").unwrap_or(&Value::Null);
        let (era, protocol, client) = match meta.get(REVISION).and_then(Value::as_str) {
            Some(revision) => (
                "modern",
                Some(revision),
                client(meta.get(CLIENT_INFO), meta.get(CLIENT_CAPABILITIES)),
            ),
            None => ("legacy", self.protocol.as_deref(), self.client.clone()),
        };
        json!({
            "transport": self.transport,
            "protocol": protocol,
            "era": era,
            "client": client,
            "truncated": frame.cut.map(|size| json!({"/args": size})),
        })
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
        self.writer.write(open.ends_as, members).map(drop)
    }

    /// A message that opens nothing here, whoever sends it.
    fn told(&mut self, frame: &Frame<'_>, kind: RecordKind, dir: &str) -> io::Result<()> {
        let mut members = about(frame, dir);
        extend(&mut members, frame.sender.unwrap_or(&self.sender));
        self.writer.write(kind, members).map(drop)
    }
}

/// The subject of a message, and its content.
fn about(frame: &Frame<'_>, dir: &str) -> Value {
    let params = frame.message.get("params").unwrap_or(&Value::Null);
    let named = |method: &str, member: &str| {
        let value = params.get(member);
        value.filter(|_| frame.method.is_some_and(|name| name.starts_with(method)))
    };
    let token = params.get("progressToken");
    json!({
        "dir": dir,
        "method": frame.method,
        "rpc_id": frame.id,
        "progress_token": token.or_else(|| params.pointer("/_meta/progressToken")),
        "uri": named("resources/", "uri"),
        "prompt": named("prompts/", "name"),
        "task_id": params.get("taskId"),
        "params": params,
        "result": frame.message.get("result"),
        "error": frame.message.get("error"),
    })
}

fn extend(members: &mut Value, more: &Value) {
    if let (Some(members), Some(more)) = (members.as_object_mut(), more.as_object()) {
        for (name, value) in more.iter().filter(|(_, value)| !value.is_null()) {
            members.insert(name.clone(), value.clone());
        }
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

fn client(info: Option<&Value>, capabilities: Option<&Value>) -> Value {
    if info.is_none() && capabilities.is_none() {
        return Value::Null;
    }
    let of = |name: &str| info.and_then(|info| info.get(name));
    json!({"name": of("name"), "version": of("version"), "capabilities": capabilities})
}

/// The error of an answer with its text, or null.
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
