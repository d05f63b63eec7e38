//! The state of a session between two lines: requests that wait, what was recorded, what is to be sent. Pure:
//! lines go in, replies come out; `exchange` moves them and watches the time.

mod answers;
mod levels;
mod told;
mod transcript;

use std::{
    collections::{HashSet, VecDeque},
    sync::Arc,
};

use serde_json::{Map, Value};

pub(in crate::session) use self::transcript::Transcript;
use self::{
    answers::{HalfAnswer, NamelessAnswer},
    levels::LogLevels,
};
use super::{
    client::Client,
    correlation::Correlation,
    late::Overdue,
    line::{self, Line},
    progress::Progress,
    record::{Record, brief, shown},
};
use crate::{
    observation::{
        SessionFacts,
        disruption::DisruptionKind,
        finding::{Finding, FindingCode},
    },
    protocol::{
        frame::{FrameMeta, LineEnd},
        message::{Id, Message},
        meta,
        method::Method,
        revision::Revision,
    },
    transport::Lack,
};

const LSP_FRAMING: &str =
    "the server frames messages with `Content-Length` headers; MCP frames are lines";

/// What compressed bytes begin with (RFC 1952 § 2.3.1).
const GZIP: &[u8] = b"\x1f\x8b";

/// How far the session's life came, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Life {
    #[default]
    /// `notifications/initialized` was not sent yet, or nobody said yet who the server is.
    Beginning,
    /// It was, or the server said who it is.
    Open,
}

/// Why no answer can be used any more.
#[derive(Debug, Clone)]
pub(super) struct Break {
    /// What kind of thing went wrong.
    pub(super) kind: DisruptionKind,
    /// In one line.
    pub(super) message: String,
    /// The frame at fault; `None` where nothing came.
    pub(super) frame: Option<String>,
}

/// A received message with its place in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReceivedFrame<'a> {
    /// Its bytes.
    pub(super) bytes: &'a [u8],
    /// What the transport says of it.
    pub(super) meta: FrameMeta,
    /// Microseconds since the job began.
    pub(super) at_us: u64,
}

/// The state of a session.
#[derive(Debug, Default)]
pub(super) struct Dialogue {
    /// Requests and answers.
    pub(super) requests: Correlation,
    /// What this assertion saw.
    pub(super) record: Record,
    /// The client's side.
    pub(super) client: Client,
    /// Progress tokens.
    pub(super) progress: Progress,
    /// Whether the handshake is over.
    pub(super) life: Life,
    /// The revision both speak; before the handshake the one asked for.
    pub(super) revision: Revision,
    /// Which log messages the server may send.
    pub(super) log_levels: LogLevels,
    /// The facts from the handshake; `None` before it.
    pub(super) facts: Option<Arc<SessionFacts>>,
    /// Whether the server was ever heard, whatever the assertion.
    pub(super) was_heard: bool,
    /// The requests that were not answered in time.
    pub(super) overdue: Option<Overdue>,
    /// The ids of the server's own requests, as many as are kept: they may be those of ours too.
    their_ids: HashSet<Id>,
    /// Replies that are to be sent.
    pub(super) outbox: VecDeque<Vec<u8>>,
    /// Requests of the server that nobody can answer any more; `None` as long as replies can be sent.
    pub(super) unanswered: Option<usize>,
    /// An answer that fits no request came while exactly one was open.
    pub(super) suspect: Option<Break>,
    /// Answers without an id that may be those of a request.
    pub(super) doubts: Vec<NamelessAnswer>,
    /// No answer can be used any more.
    pub(super) broken: Option<Break>,
    /// What was lacking where an answer could not come any more.
    pub(super) lack: Lack,
    /// How many bytes of an answer had come when the stream ended in the middle of its line.
    pub(super) cut_short: Option<usize>,
    /// Notifications that came before it was known what the server declares, as many as are kept, with their frames.
    early: Vec<(String, Vec<u8>)>,
    /// The part of a message that had come when the time was over.
    pub(super) begun: Option<String>,
    /// A line that was begun after our close and has no end. Whether that is the server's doing, how it ended tells.
    pub(super) cut_off: Option<Vec<u8>>,
    /// How many notifications of ours could still be answered, as they should not be.
    notified: usize,
    /// The capabilities that `list_changed` notifications came for since their list was fetched.
    changed: Vec<&'static str>,
    /// The streams of notifications that were asked for, and the kinds that each was asked for.
    streams: Vec<(Id, Value)>,
    /// Every received frame, when the frames are what is observed; then nothing breaks the session.
    pub(super) transcript: Option<Transcript>,
}

impl Dialogue {
    /// A session that has not begun.
    pub(super) fn new(client: Client, revision: Revision) -> Self {
        Self {
            client,
            revision,
            ..Self::default()
        }
    }

    /// Whether the server said that this list changed since it was fetched last; forgotten by asking.
    pub(super) fn forget_change(&mut self, method: Method) -> bool {
        let before = self.changed.len();
        self.changed
            .retain(|capability| method.capability() != Some(*capability));
        self.changed.len() != before
    }

    /// What `_meta` of a request says of the client, by the revision that is spoken; nothing where the handshake said it.
    pub(super) fn envelope(&self) -> Map<String, Value> {
        if !self.revision.is_stateless() {
            return Map::new();
        }
        meta::of_client(
            self.revision,
            Client::info(),
            self.client.capabilities(self.revision),
            self.log_levels.wanted(),
        )
    }

    /// Takes one received line.
    pub(super) fn hear(&mut self, heard: ReceivedFrame<'_>) {
        let bytes = heard.bytes;
        let reading = line::read(bytes);
        for (code, message) in reading.mended {
            self.record.note(code, message, bytes);
        }
        if !matches!(reading.line, Line::Blank) {
            self.was_heard = true;
            self.record.hear(bytes, heard.at_us);
            if let Some(transcript) = &mut self.transcript
                && !matches!(reading.line, Line::TooMany)
            {
                transcript.add(bytes);
            }
        }
        if self.is_cut_short(&reading.line, heard) {
            let message = "the stream ended in the middle of a line";
            self.cut_short = Some(bytes.len());
            return self.note(FindingCode::NoFinalNewline, message, heard);
        }
        match reading.line {
            Line::Blank => self
                .record
                .note(FindingCode::BlankLine, "an empty line on stdout", b""),
            Line::Json(value) => {
                if !heard.meta.is_whole() {
                    let message = "the stream ended without a newline after this frame";
                    self.note(FindingCode::NoFinalNewline, message, heard);
                }
                self.value(value, heard);
            }
            Line::Noise if bytes.starts_with(GZIP) => {
                let message = "a body is compressed with gzip, which was not asked for";
                self.unreadable(FindingCode::NotJson, message, bytes);
            }
            Line::Noise | Line::LspHeader if matches!(heard.meta, FrameMeta::Http { .. }) => {
                self.unreadable(
                    FindingCode::NotJson,
                    "a body or an event is not JSON",
                    bytes,
                );
            }
            Line::Noise => self.noise(heard),
            Line::LspHeader => self.note(FindingCode::LspFraming, LSP_FRAMING, heard),
            Line::Broken(reason) => {
                let message = format!("a frame is not JSON: {reason}");
                self.unreadable(FindingCode::NotJson, &message, bytes);
            }
            Line::Utf16 => {
                let message = "a line is UTF-16; messages are UTF-8";
                self.unreadable(FindingCode::NotUtf8, message, bytes);
            }
            Line::TooDeep => {
                let message = "a frame is nested deeper than 127 levels, the bound of this tool";
                self.unreadable(FindingCode::TooDeep, message, bytes);
            }
            Line::TooMany => {
                let message = "a frame of more than 1,000,000 JSON values, the bound of this tool";
                self.unreadable(FindingCode::LineTooLong, message, bytes);
            }
        }
    }

    /// Whether the stream ended in the middle of this line, which may be an answer that is waited for.
    fn is_cut_short(&self, line: &Line, heard: ReceivedFrame<'_>) -> bool {
        let is_begun = match line {
            Line::Broken(_) => true,
            Line::Noise => heard.bytes.trim_ascii_start().starts_with(b"{"),
            Line::Blank
            | Line::Json(_)
            | Line::LspHeader
            | Line::TooDeep
            | Line::TooMany
            | Line::Utf16 => false,
        };
        is_begun && !heard.meta.is_whole() && !self.requests.open().is_empty()
    }

    /// What came may be meant as the answer to any request that waits.
    fn spoil_all(&mut self, what: &str) {
        let open = self.requests.open().iter();
        let ids: Vec<Id> = open.map(|open| open.id.clone()).collect();
        for id in ids {
            self.requests.spoil(&id, |_| what.to_owned());
        }
    }

    /// A line of text, which belongs on stderr.
    fn noise(&mut self, heard: ReceivedFrame<'_>) {
        let message = if self.unanswered.is_some() {
            "a line on stdout is not a JSON-RPC message; it came after stdin was closed: buffered output"
        } else {
            "a line on stdout is not a JSON-RPC message"
        };
        self.note(FindingCode::StdoutNoise, message, heard);
        if heard.bytes.trim_ascii_start().starts_with(b"{") {
            self.spoil_all("a line on stdout begins as an object does, and is not JSON");
        }
    }

    /// Adds a finding that shows what was heard.
    fn note(&mut self, code: FindingCode, message: impl Into<String>, heard: ReceivedFrame<'_>) {
        self.record.note(code, message, heard.bytes);
    }

    /// What should be a message cannot be read: the server's doing, or a bound of ours.
    fn unreadable(&mut self, code: FindingCode, message: &str, bytes: &[u8]) {
        let is_bound = matches!(code, FindingCode::TooDeep | FindingCode::LineTooLong);
        self.record.note(code, message, bytes);
        let kind = if is_bound {
            DisruptionKind::Transport
        } else {
            DisruptionKind::Violation
        };
        self.break_off(kind, message.to_owned(), bytes);
    }

    /// Takes the beginning of a line that is longer than what is read.
    pub(super) fn hear_too_long(&mut self, head: &[u8], length: usize, at_us: u64) {
        self.was_heard = true;
        self.record.hear(head, at_us);
        let message = "a line is longer than 64 MiB, the bound of this tool";
        self.record.note(
            FindingCode::LineTooLong,
            format!("{message}: {length} bytes so far"),
            head,
        );
        self.break_off(DisruptionKind::Transport, message.into(), head);
    }

    /// A request was sent whose answer cannot come any more. What came in its place may be nothing.
    pub(super) fn unanswered_request(
        &mut self,
        id: &Id,
        (lack, reason): (Lack, String),
        shown: &[u8],
        at_us: u64,
    ) {
        if !shown.is_empty() {
            self.was_heard = true;
            self.record.hear(shown, at_us);
        }
        let is_open = self.requests.open().iter().any(|open| open.id == *id);
        if is_open {
            if let Some(transcript) = &mut self.transcript {
                transcript.lost.push((id.clone(), reason.clone()));
            }
            self.lack = lack;
            // What came in place of the answer is the cause, not that nothing came after it.
            self.broken = self.broken.take().or(self.suspect.take());
            self.break_off(DisruptionKind::Transport, reason, shown);
        }
    }

    /// The time is over and this much of a line has come without its newline. A message that is whole lacks it; one
    /// that is not may have been on its way, which no specification forbids.
    pub(super) fn unfinished(&mut self, bytes: &[u8]) {
        let framed = |finding: &Finding| finding.code == FindingCode::LspFraming;
        if bytes.is_empty() || self.record.findings.iter().any(framed) {
            return;
        }
        if line::is_lsp_header(&String::from_utf8_lossy(bytes)) {
            self.record
                .note(FindingCode::LspFraming, LSP_FRAMING, bytes);
            return;
        }
        match serde_json::from_slice::<serde::de::IgnoredAny>(bytes) {
            Ok(_) => {
                let message = "the last line has no newline at its end, so it is not a frame yet";
                self.record
                    .note(FindingCode::NoFinalNewline, message, bytes);
            }
            Err(error) if error.is_eof() => {
                let so_far = text::count(bytes.len(), "byte");
                self.begun = Some(format!(
                    "a message had begun and not ended; {so_far} of it had come"
                ));
            }
            Err(_) => {
                let message =
                    "the last line is not a JSON-RPC message, and has no newline at its end";
                self.record.note(FindingCode::StdoutNoise, message, bytes);
            }
        }
    }

    /// The last message of a stream, which did not come to its end after our close. One that had begun before is cut off
    /// by that.
    pub(super) fn hear_last(&mut self, heard: ReceivedFrame<'_>) {
        let ours = heard.meta == FrameMeta::Line(LineEnd::CutOff);
        if !ours && !heard.bytes.iter().all(u8::is_ascii_whitespace) {
            self.cut_off = Some(heard.bytes.to_vec());
        }
    }

    /// A request goes out.
    pub(super) fn asked(&mut self, id: Id, method: &str, sent_us: u64) {
        self.requests.opened(id, method, sent_us);
    }

    /// A request for a stream of notifications goes out.
    pub(super) fn listens(&mut self, id: Id, params: &Value) {
        self.streams.push((id, params["notifications"].clone()));
    }

    /// A notification goes out.
    pub(super) fn notified(&mut self) {
        self.notified += 1;
    }

    /// The only answer that is due will not come in a usable form. Without a request that waits it is a
    /// finding, and that is noted already.
    fn break_off(&mut self, kind: DisruptionKind, message: String, frame: &[u8]) {
        let due = self.transcript.is_none() && !self.requests.open().is_empty();
        if due && self.broken.is_none() {
            self.broken = Some(Break {
                kind,
                message,
                frame: (!frame.is_empty()).then(|| shown(frame)),
            });
        }
    }

    fn value(&mut self, value: Value, heard: ReceivedFrame<'_>) {
        let Value::Array(messages) = value else {
            return self.message(value, heard);
        };
        if !self.revision.has_batches() {
            let message = format!("a batch of messages, which {} does not have", self.revision);
            self.note(FindingCode::Batch, message, heard);
        }
        if messages.is_empty() {
            let message = "an empty array";
            self.note(FindingCode::NotAMessage, message, heard);
        }
        for message in messages {
            self.message(message, heard);
        }
    }

    fn message(&mut self, value: Value, heard: ReceivedFrame<'_>) {
        let version = match value.get("jsonrpc") {
            Some(Value::String(version)) if version == "2.0" => None,
            Some(other) => Some((
                FindingCode::JsonrpcVersion,
                format!("`jsonrpc` is {} instead of \"2.0\"", brief(other)),
            )),
            None => Some((
                FindingCode::JsonrpcMissing,
                "`jsonrpc` is missing".to_owned(),
            )),
        };
        let body = HalfAnswer::of(&value);
        let may_answer = ["jsonrpc", "id", "result", "error"]
            .iter()
            .any(|it| value.get(it).is_some());
        let odd_id = value.get("id").filter(|id| !Id::is_one(id)).map(brief);
        let message = Message::from_value(value);
        if let (Some((code, text)), false) = (version, matches!(message, Message::Other)) {
            self.note(code, text, heard);
        }
        match message {
            Message::Request { id, method, params } => {
                if let (Some(body), Some(id)) = (body, &id) {
                    self.half_answer(id, &method, body, heard);
                }
                self.misnamed(odd_id, &method, heard);
                self.request(id.as_ref(), method, params, heard);
            }
            Message::Notification { method, params } => {
                self.misnamed(odd_id, &method, heard);
                self.notification(method, params, heard);
            }
            Message::Response(response) => self.response(response, heard),
            Message::Other => {
                let message = "valid JSON, but no JSON-RPC message";
                self.note(FindingCode::NotAMessage, message, heard);
                if may_answer {
                    self.spoil_all(message);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Client, Dialogue, FrameMeta, Id, LineEnd, ReceivedFrame, Revision};
    use crate::{protocol::meta::SUBSCRIPTION_ID, script::client::ClientBehaviour};

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (0_i64..4).prop_map(Value::from),
            prop_oneof![Just("1"), Just("2.0"), Just("ping"), Just("x")].prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                inner.prop_map(|value| json!({"code": value, "progressToken": value, "_meta": {SUBSCRIPTION_ID: value}})),
            ]
        })
    }

    fn any_message() -> impl Strategy<Value = String> {
        let method = prop_oneof![
            Just("notifications/progress"),
            Just("notifications/message"),
            Just("notifications/tools/list_changed"),
            Just("notifications/subscriptions/acknowledged"),
            Just("sampling/createMessage"),
            Just("elicitation/create"),
            Just("roots/list"),
            Just("odd"),
        ];
        let members = proptest::collection::vec(0_usize..6, 0..6);
        (members, method, any_json(), any_json()).prop_map(|(members, method, one, other)| {
            let mut message = serde_json::Map::new();
            for member in members {
                match member {
                    0 => message.insert("jsonrpc".into(), "2.0".into()),
                    1 => message.insert("id".into(), one.clone()),
                    2 => message.insert("method".into(), method.into()),
                    3 => message.insert("params".into(), other.clone()),
                    4 => message.insert("result".into(), one.clone()),
                    _ => message.insert("error".into(), other.clone()),
                };
            }
            Value::Object(message).to_string()
        })
    }

    #[test]
    fn who_asks_when_nobody_can_answer_is_counted_alone() {
        let client = Client::new(&ClientBehaviour::default());
        let mut dialogue = Dialogue::new(client, Revision::NEWEST_HANDSHAKE);
        dialogue.unanswered = Some(0);
        for _ in 0..5_000 {
            let bytes = br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
            let meta = FrameMeta::Line(LineEnd::Newline);
            dialogue.hear(ReceivedFrame {
                bytes,
                meta,
                at_us: 0,
            });
        }
        assert_eq!(dialogue.unanswered, Some(5_000));
        assert!(dialogue.outbox.is_empty());
    }

    proptest! {
        #[test]
        fn any_messages_are_taken(lines in proptest::collection::vec(any_message(), 0..12)) {
            for revision in [Revision::NEWEST_HANDSHAKE, Revision::NEWEST_STATELESS] {
                let client = Client::new(&ClientBehaviour::default());
                let mut dialogue = Dialogue::new(client, revision);
                dialogue.asked(Id::Number("1".into()), "tools/call", 0);
                dialogue.asked(Id::Number("2".into()), "subscriptions/listen", 0);
                for line in &lines {
                    dialogue.hear(ReceivedFrame { bytes: line.as_bytes(), meta: FrameMeta::Line(LineEnd::Newline), at_us: 0 });
                }
                // Every request of the server is answered once, where there are any.
                let asked = dialogue.record.server_requests.len();
                let answered = if !revision.is_stateless() { asked } else { 0 };
                prop_assert_eq!(dialogue.outbox.len(), answered);
            }
        }
    }
}
