//! The state of a session between two lines: requests that wait, what was recorded, what is to be sent. Pure:
//! lines go in, replies come out; `wire` moves them and watches the time.

use std::collections::VecDeque;

use serde_json::Value;

use super::{
    client::Client,
    correlation::{Correlation, Fit, Settled},
    line::{self, Line},
    progress::Progress,
    record::{Record, brief, shown},
};
use crate::{
    observation::{
        Declared, NotificationSeen, ServerRequestSeen, disruption::DisruptionKind,
        finding::FindingCode,
    },
    protocol::{
        frame::{self, LineEnd},
        message::{self, Id, Message, Response},
        method::{self, LogLevel, Method},
        revision::Revision,
        shape::{self, FlawKind},
    },
};

const NAMELESS: &str = "an answer without an id";

const LSP_FRAMING: &str =
    "the server frames messages with `Content-Length` headers; MCP frames are lines";

/// How far the session's life came, as the client sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    /// `notifications/initialized` was not sent yet.
    Beginning,
    /// It was, or there is no handshake.
    Open,
}

/// Why no answer can be used any more.
#[derive(Debug, Clone)]
pub(super) struct Break {
    /// What kind of thing went wrong.
    pub(super) kind: DisruptionKind,
    /// In one line.
    pub(super) message: String,
    /// The frame at fault.
    pub(super) frame: String,
}

/// A received line with its place in time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard<'a> {
    /// The line.
    pub(super) bytes: &'a [u8],
    /// How it ended.
    pub(super) end: LineEnd,
    /// Microseconds since the job began.
    pub(super) at_us: u64,
}

/// The state.
#[derive(Debug)]
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
    /// The level set by `logging/setLevel`.
    pub(super) log_level: Option<LogLevel>,
    /// Whether the server declared `logging`; taken for granted before the handshake.
    pub(super) logs_declared: bool,
    /// Replies that are to be sent.
    pub(super) outbox: VecDeque<Vec<u8>>,
    /// An answer that fits no request came while exactly one was open.
    pub(super) suspect: Option<Break>,
    /// No answer can be used any more.
    pub(super) broken: Option<Break>,
    /// The capabilities that `list_changed` notifications came for since their list was fetched.
    changed: Vec<&'static str>,
    /// Every received frame, when the frames are what is observed; then nothing breaks the session.
    pub(super) transcript: Option<Transcript>,
}

/// The frames of a raw exchange, bounded in bytes.
#[derive(Debug, Default)]
pub(super) struct Transcript {
    /// The frames as text.
    pub(super) frames: Vec<String>,
    /// Answers that carry no id: a server's way to answer what it cannot read.
    pub(super) nameless: usize,
    bytes: usize,
}

impl Transcript {
    fn add(&mut self, frame: &[u8]) {
        self.bytes = self.bytes.saturating_add(frame.len());
        if self.bytes <= frame::LONGEST_BYTES {
            self.frames
                .push(String::from_utf8_lossy(frame).into_owned());
        }
    }
}

impl Dialogue {
    /// A session that has not begun.
    pub(super) fn new(client: Client, revision: Revision) -> Self {
        Self {
            requests: Correlation::default(),
            record: Record::default(),
            client,
            progress: Progress::default(),
            life: Life::Beginning,
            revision,
            log_level: None,
            logs_declared: true,
            outbox: VecDeque::new(),
            suspect: None,
            broken: None,
            changed: Vec::new(),
            transcript: None,
        }
    }

    /// Whether the server said that this list changed since it was fetched last; forgotten by asking.
    pub(super) fn forget_change(&mut self, method: Method) -> bool {
        let before = self.changed.len();
        self.changed
            .retain(|capability| method.capability() != Some(*capability));
        self.changed.len() != before
    }

    /// Takes one received line.
    pub(super) fn hear(&mut self, heard: Heard<'_>) {
        let bytes = heard.bytes;
        let reading = line::read(bytes);
        for (code, message) in reading.mended {
            self.record.note(code, message, bytes);
        }
        if !matches!(reading.line, Line::Blank) {
            self.record.hear(bytes, heard.at_us);
            if let Some(transcript) = &mut self.transcript {
                transcript.add(bytes);
            }
        }
        match reading.line {
            Line::Blank => self
                .record
                .note(FindingCode::BlankLine, "an empty line on stdout", b""),
            Line::Json(value) => {
                if heard.end == LineEnd::Missing {
                    let message = "the stream ended without a newline after this frame";
                    self.record
                        .note(FindingCode::NoFinalNewline, message, bytes);
                }
                self.value(value, heard);
            }
            Line::Noise => {
                let message = "a line on stdout is no JSON-RPC message";
                self.record.note(FindingCode::StdoutNoise, message, bytes);
            }
            Line::LspHeader => {
                self.record
                    .note(FindingCode::LspFraming, LSP_FRAMING, bytes);
            }
            Line::Broken(reason) => {
                let message = format!("a frame is no JSON: {reason}");
                self.record
                    .note(FindingCode::NotJson, message.clone(), bytes);
                self.break_off(DisruptionKind::Violation, message, bytes);
            }
            Line::TooDeep => {
                let message = "a frame is nested deeper than 127 levels, the bound of this tool";
                self.record.note(FindingCode::TooDeep, message, bytes);
                self.break_off(DisruptionKind::Transport, message.into(), bytes);
            }
        }
    }

    /// Takes the beginning of a line that is longer than what is read.
    pub(super) fn hear_too_long(&mut self, head: &[u8], length: usize, at_us: u64) {
        self.record.hear(head, at_us);
        let message = "a line is longer than 64 MiB, the bound of this tool";
        self.record.note(
            FindingCode::LineTooLong,
            format!("{message}: {length} bytes so far"),
            head,
        );
        self.break_off(DisruptionKind::Transport, message.into(), head);
    }

    /// The time is over and this much of a line has come without its newline.
    pub(super) fn unfinished(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (code, message) = if line::is_lsp_header(&String::from_utf8_lossy(bytes)) {
            (FindingCode::LspFraming, LSP_FRAMING)
        } else {
            let message = "the last line has no newline at its end, so it is no frame yet";
            (FindingCode::NoFinalNewline, message)
        };
        self.record.note(code, message, bytes);
    }

    /// A request goes out.
    pub(super) fn asked(&mut self, id: Id, method: &str, sent_us: u64) {
        self.requests.opened(id, method, sent_us);
    }

    /// The only answer that is due will not come in a usable form. Without a request that waits it is a
    /// finding, and that is noted already.
    fn break_off(&mut self, kind: DisruptionKind, message: String, frame: &[u8]) {
        let due = self.transcript.is_none() && !self.requests.open().is_empty();
        if due && self.broken.is_none() {
            self.broken = Some(Break {
                kind,
                message,
                frame: shown(frame),
            });
        }
    }

    fn value(&mut self, value: Value, heard: Heard<'_>) {
        let Value::Array(messages) = value else {
            return self.message(value, heard);
        };
        if !self.revision.has_batches() {
            let message = format!("a batch of messages, which {} does not have", self.revision);
            self.record.note(FindingCode::Batch, message, heard.bytes);
        }
        if messages.is_empty() {
            let message = "an empty array";
            self.record
                .note(FindingCode::NotAMessage, message, heard.bytes);
        }
        for message in messages {
            self.message(message, heard);
        }
    }

    fn message(&mut self, value: Value, heard: Heard<'_>) {
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
        let message = Message::from_value(value);
        if let (Some((code, text)), false) = (version, matches!(message, Message::Other)) {
            self.record.note(code, text, heard.bytes);
        }
        match message {
            Message::Request { id, method, params } => self.request(&id, method, params, heard),
            Message::Notification { method, params } => self.notification(method, params, heard),
            Message::Response(response) => self.response(response, heard),
            Message::Other => {
                let message = "valid JSON, but no JSON-RPC message";
                self.record
                    .note(FindingCode::NotAMessage, message, heard.bytes);
            }
        }
    }

    fn response(&mut self, response: Response, heard: Heard<'_>) {
        let fit = match &response.id {
            Some(id) => self.requests.fit(id),
            None => Fit::Unknown,
        };
        match fit {
            Fit::Open(at) => self.settle(at, response, heard),
            Fit::Retyped(at) => {
                let message = "the answer's id is not written as the request's was";
                self.record.note(FindingCode::IdType, message, heard.bytes);
                self.settle(at, response, heard);
            }
            Fit::Answered => {
                let message = "a second answer to a request; the first one counts";
                self.record
                    .note(FindingCode::DuplicateAnswer, message, heard.bytes);
            }
            Fit::Cancelled => {
                let message = "an answer to a request that was cancelled";
                self.record
                    .note(FindingCode::AnswerAfterCancel, message, heard.bytes);
            }
            Fit::Unknown => self.stray(&response, heard),
        }
    }

    /// An answer that nobody waits for.
    fn stray(&mut self, response: &Response, heard: Heard<'_>) {
        let alone = self.requests.open().is_empty();
        let (code, message) = match (&response.id, &response.error) {
            (Some(id), _) => (
                FindingCode::UnknownId,
                format!("an answer to id {id}, which was never asked"),
            ),
            (None, Some(error)) => (
                FindingCode::NullId,
                format!("an answer without an id: {}", brief(error)),
            ),
            (None, None) if alone => (
                FindingCode::AnswerToNotification,
                "an answer to a notification".to_owned(),
            ),
            (None, None) => (FindingCode::NullId, NAMELESS.to_owned()),
        };
        self.record.note(code, message.clone(), heard.bytes);
        if let Some(transcript) = &mut self.transcript {
            transcript.nameless += usize::from(response.id.is_none());
        } else if let ([_], None) = (self.requests.open(), &self.suspect) {
            self.suspect = Some(Break {
                kind: DisruptionKind::Violation,
                message,
                frame: shown(heard.bytes),
            });
        }
    }

    /// The right answer came after one without an id: that one was for a notification.
    fn acquit(&mut self) {
        if self
            .suspect
            .take()
            .is_some_and(|suspect| suspect.message == NAMELESS)
        {
            let nameless =
                self.record.findings.iter_mut().find(|finding| {
                    finding.code == FindingCode::NullId && finding.message == NAMELESS
                });
            if let Some(finding) = nameless {
                finding.code = FindingCode::AnswerToNotification;
                "an answer to a notification".clone_into(&mut finding.message);
            }
        }
    }

    fn settle(&mut self, at: usize, mut response: Response, heard: Heard<'_>) {
        self.one_body(&mut response, heard);
        if let Some(open) = self.requests.open().get(at) {
            self.progress.answered(&open.id);
        }
        let notifications = self.record.notifications.len();
        let server_requests = self.record.server_requests.len();
        self.requests.settle(at, |open| Settled {
            response,
            at_us: heard.at_us,
            sent_us: open.sent_us,
            bytes: heard.bytes.len(),
            frame: shown(heard.bytes),
            notifications,
            server_requests,
        });
        self.acquit();
    }

    /// An answer has a result or an error. A member that is null beside one that is not counts as absent.
    fn one_body(&mut self, response: &mut Response, heard: Heard<'_>) {
        let (code, message) = match (&response.result, &response.error) {
            (Some(result), Some(error)) => {
                let nulls = (result.is_null(), error.is_null());
                match nulls {
                    (false, true) => response.error = None,
                    (true, false) => response.result = None,
                    (true, true) | (false, false) => {}
                }
                let message = "the answer has both `result` and `error`";
                (FindingCode::ResultAndError, message)
            }
            (None, None) => {
                let message = "the answer has neither `result` nor `error`";
                (FindingCode::NeitherResultNorError, message)
            }
            (Some(_), None) => return,
            (None, Some(error)) => return self.error_object(error, heard),
        };
        self.record.note(code, message, heard.bytes);
        if response.result.is_some() == response.error.is_some() {
            self.break_off(DisruptionKind::Violation, message.into(), heard.bytes);
        }
    }

    fn error_object(&mut self, error: &Value, heard: Heard<'_>) {
        if !error
            .get("code")
            .is_some_and(|code| code.is_i64() || code.is_u64())
        {
            let message = "the error's `code` is missing or no integer";
            self.record
                .note(FindingCode::ErrorCode, message, heard.bytes);
        }
        if !error.get("message").is_some_and(Value::is_string) {
            let message = "the error's `message` is missing or no text";
            self.record
                .note(FindingCode::ErrorMessage, message, heard.bytes);
        }
    }

    fn notification(&mut self, method: String, params: Value, heard: Heard<'_>) {
        let deviation = match method.as_str() {
            "notifications/progress" => self.progress.check(&params),
            "notifications/message" => self.log_message(&params),
            "notifications/tools/list_changed" => self.list_changed("tools"),
            "notifications/prompts/list_changed" => self.list_changed("prompts"),
            "notifications/resources/list_changed" => self.list_changed("resources"),
            _ => None,
        };
        match deviation {
            Some((code, message)) => self.record.note(code, message, heard.bytes),
            None => self.compare(&method, shape::notification(&method), &params, heard),
        }
        let seen = NotificationSeen {
            at_us: heard.at_us,
            method,
            params,
        };
        self.record.notification(seen, heard.bytes.len());
    }

    fn list_changed(&mut self, capability: &'static str) -> Option<(FindingCode, String)> {
        if !self.changed.contains(&capability) {
            self.changed.push(capability);
        }
        None
    }

    fn log_message(&self, params: &Value) -> Option<(FindingCode, String)> {
        let written = params.get("level").and_then(Value::as_str);
        let Some(level) = written.and_then(LogLevel::from_name) else {
            return Some((
                FindingCode::LogLevelUnknown,
                "a log message of a level that does not exist".into(),
            ));
        };
        if !self.logs_declared {
            return Some((
                FindingCode::CapabilityUndeclared,
                "log messages come, and `logging` is not declared".into(),
            ));
        }
        let set = self.log_level?;
        (level < set).then(|| {
            (
                FindingCode::LogBelowLevel,
                format!(
                    "a log message of level {} below {}",
                    level.name(),
                    set.name()
                ),
            )
        })
    }

    /// Notes where parameters are not what the revision says.
    fn compare(
        &mut self,
        method: &str,
        record: Option<&shape::Record>,
        params: &Value,
        heard: Heard<'_>,
    ) {
        let flaws = record.map(|record| shape::check(record, self.revision, params));
        for flaw in flaws.into_iter().flatten() {
            let code = match flaw.kind {
                FlawKind::Schema => FindingCode::Schema,
                FlawKind::UnknownKind => FindingCode::UnknownContentType,
            };
            let message = format!("`{method}`: {}", flaw.message);
            self.record.note(code, message, heard.bytes);
        }
    }

    fn request(&mut self, id: &Id, method: String, params: Value, heard: Heard<'_>) {
        if self.life == Life::Beginning && method != "ping" {
            let message = format!(
                "`{}` before `notifications/initialized`",
                brief_name(&method)
            );
            self.record
                .note(FindingCode::RequestBeforeInitialized, message, heard.bytes);
        }
        let reply = self.client.reply(&method, &params);
        if reply.declared == Declared::No {
            let message = match method::needs_client_capability(&method) {
                Some(capability) => {
                    format!("`{method}` although the client did not declare `{capability}`")
                }
                None => format!("`{}`, which no client serves", brief_name(&method)),
            };
            self.record
                .note(FindingCode::CapabilityNotDeclared, message, heard.bytes);
        }
        let url_mode = params.get("mode").and_then(Value::as_str) == Some("url");
        self.compare(&method, shape::request(&method, url_mode), &params, heard);
        let id = super::correlation::id_value(id);
        let sent = match reply.body {
            Ok(result) => message::answer(&id, result),
            Err(refusal) => message::refusal(&id, refusal.code, &refusal.message),
        };
        self.outbox.push_back(sent.to_string().into_bytes());
        let seen = ServerRequestSeen {
            at_us: heard.at_us,
            method,
            params,
            declared: reply.declared,
            reply: sent,
        };
        self.record.server_request(seen, heard.bytes.len());
    }
}

/// A method as the server wrote it, cut.
fn brief_name(method: &str) -> String {
    crate::words::text::head(method, 60)
}
