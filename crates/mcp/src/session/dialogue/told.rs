//! What the server says and asks of its own accord: notifications and requests.

use serde_json::{Value, json};

use super::{Dialogue, Life, ReceivedFrame};
use crate::{
    observation::{
        NotificationSeen, ServerRequestSeen, disruption::DisruptionKind, finding::FindingCode,
    },
    protocol::{
        message::{self, Id},
        meta::SUBSCRIPTION_ID,
        method::{
            LogLevel, Method, is_asked_by_servers, needs_client_capability,
            needs_server_capability, stream_filter,
        },
        shape,
    },
    session::{
        client::Refusal,
        correlation::{Fit, Open, id_value},
        progress::token,
        record::brief_name,
    },
};

const INVALID_REQUEST: i64 = -32600;

/// Notifications before the handshake that are held against what the server declares then.
const KEPT_EARLY: usize = 100;

/// What a server may tell before the handshake: log messages, as it may make pings ("Lifecycle", initialization), and what
/// is about requests.
const MAY_BE_EARLY: [&str; 3] = [
    "notifications/message",
    "notifications/progress",
    "notifications/cancelled",
];

/// Ids of the server's requests that are kept; behind more of them, nothing is said of whose an id is.
const KEPT_IDS: usize = 1_000;

impl Dialogue {
    pub(super) fn notification(&mut self, method: String, params: Value, heard: ReceivedFrame<'_>) {
        let deviation = match method.as_str() {
            "notifications/progress" => self.progress.check(&params),
            "notifications/message" => self.log_message(&params),
            "notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed" => self
                .list_changed(&method)
                .or_else(|| self.unasked(&method, &params, heard)),
            "notifications/resources/updated" => self
                .undeclared(&method)
                .or_else(|| self.unasked(&method, &params, heard)),
            _ => None,
        };
        match method.as_str() {
            "notifications/cancelled" => self.cancelled(&params),
            "notifications/subscriptions/acknowledged" => {
                if let Some(at) = self.opening(&params) {
                    let params = params.clone();
                    self.acknowledge(at, params, heard);
                }
            }
            _ => {}
        }
        let is_foreign = matches!(deviation, Some((FindingCode::ForeignProgressToken, _)));
        let provoked =
            method == "notifications/progress" && !is_foreign && token(&params).is_some();
        match deviation {
            Some((code, message)) => self.note(code, message, heard),
            None if self.record.is_flooded() => {}
            None => self.compare(&method, shape::notification(&method), &params, heard.bytes),
        }
        if self.facts.is_none() && self.transcript.is_none() && !self.revision.is_stateless() {
            self.early(&method, heard);
        }
        let seen = NotificationSeen {
            method,
            params,
            provoked,
        };
        self.record
            .notification(seen, heard.bytes.len(), heard.at_us);
    }

    /// A notification came before the answer to `initialize`.
    fn early(&mut self, method: &str, heard: ReceivedFrame<'_>) {
        if !MAY_BE_EARLY.contains(&method) {
            let message = format!("`{}` before the answer to `initialize`", brief_name(method));
            self.note(FindingCode::EarlyNotification, message, heard);
        }
        if self.early.len() < KEPT_EARLY && needs_server_capability(method).is_some() {
            self.early.push((method.to_owned(), heard.bytes.to_vec()));
        }
    }

    /// It is known now what the server declares: holds against it what came before.
    pub(in crate::session) fn hold_early(&mut self) {
        for (method, frame) in std::mem::take(&mut self.early) {
            if let Some((code, message)) = self.undeclared(&method) {
                self.record.note(code, message, &frame);
            }
        }
    }

    /// The open request for the stream that a notification names. It waits for the acknowledgement: its answer comes when
    /// the stream ends ("Subscriptions", acknowledgment).
    fn opening(&self, params: &Value) -> Option<usize> {
        let listens = |open: &Open| open.method == Method::SubscriptionsListen.name();
        match self.requests.fit(&subscription(params)?) {
            Fit::Open(at) | Fit::Retyped(at) => {
                let open = self.requests.open().get(at);
                open.is_some_and(listens).then_some(at)
            }
            Fit::Past(_) | Fit::Unknown => None,
        }
    }

    /// Without a handshake changes are told on streams alone: whether one was asked for this kind of them, and is
    /// acknowledged ("Subscriptions", notification filtering).
    fn unasked(
        &mut self,
        method: &str,
        params: &Value,
        heard: ReceivedFrame<'_>,
    ) -> Option<(FindingCode, String)> {
        if !self.revision.is_stateless() {
            return None;
        }
        let id = subscription(params);
        let mut streams = self.streams.iter();
        let of_stream =
            |(known, _): &&(Id, Value)| id.as_ref().is_some_and(|id| known.same_but_for_type(id));
        let Some((_, asked)) = streams.find(of_stream) else {
            let message = format!("`{method}` without the id of a `subscriptions/listen`");
            return Some((FindingCode::UnaskedNotification, message));
        };
        if asked
            .get(stream_filter(method)?)
            .is_none_or(|it| *it == false)
        {
            let message = format!("`{method}` on a stream that was not asked for it");
            return Some((FindingCode::UnaskedNotification, message));
        }
        let honoured = json!({ "notifications": asked });
        let at = self.opening(params)?;
        self.acknowledge(at, honoured, heard);
        let message = format!("`{method}` on a stream that is not acknowledged");
        Some((FindingCode::NotAcknowledged, message))
    }

    /// The server cancels a request. It may cancel its own alone, but one of ours it will not answer. Both count their
    /// ids for themselves: one that it asked with too is its own.
    fn cancelled(&mut self, params: &Value) {
        let Some(id) = params.get("requestId").and_then(Id::from_value) else {
            return;
        };
        if self.their_ids.contains(&id) || self.their_ids.len() >= KEPT_IDS {
            return;
        }
        let reason = match params.get("reason").and_then(Value::as_str) {
            Some(reason) => format!("with the reason `{}`", text::head(reason, 200)),
            None => "without a reason".to_owned(),
        };
        self.requests.spoil(&id, |open| {
            if open.method == Method::SubscriptionsListen.name() {
                return format!("the server ended `{}` {reason}", open.method);
            }
            format!(
                "the server cancelled `{}` {reason}, and only who asked may cancel",
                open.method
            )
        });
    }

    fn list_changed(&mut self, method: &str) -> Option<(FindingCode, String)> {
        let (capability, _) = needs_server_capability(method)?;
        if !self.changed.contains(&capability) {
            self.changed.push(capability);
        }
        self.undeclared(method)
    }

    /// A notification of a feature that the server did not declare. Before the handshake nobody knows what it declares.
    fn undeclared(&self, method: &str) -> Option<(FindingCode, String)> {
        let facts = self.facts.as_ref()?;
        let (capability, member) = needs_server_capability(method)?;
        let missing = match member {
            _ if !facts.declares(capability) => capability.to_owned(),
            Some(member) if !facts.declares_part(capability, member) => {
                format!("{capability}.{member}")
            }
            Some(_) | None => return None,
        };
        let message = format!("`{method}` comes, and `{missing}` is not declared");
        Some((FindingCode::CapabilityUndeclared, message))
    }

    /// What is wrong with a log message, but for its shape.
    fn log_message(&self, params: &Value) -> Option<(FindingCode, String)> {
        // One that has none, or none that is a text, is not of the shape that messages have.
        let written = params.get("level").and_then(Value::as_str)?;
        let Some(level) = LogLevel::from_name(written) else {
            return Some((
                FindingCode::LogLevelUnknown,
                "a log message of a level that does not exist".into(),
            ));
        };
        if let Some(undeclared) = self.undeclared("notifications/message") {
            return Some(undeclared);
        }
        let set = if self.revision.is_stateless() {
            let Some(wanted) = self.log_levels.lowest_wanted() else {
                let message = format!(
                    "a log message of level {}, and no request asked for any",
                    level.name()
                );
                return Some((FindingCode::LogBelowLevel, message));
            };
            wanted
        } else {
            self.log_levels.lowest()?
        };
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
        frame: &[u8],
    ) {
        let flaws = record.map(|record| shape::check(record, self.revision, params));
        for flaw in flaws.into_iter().flatten() {
            self.record.note_flaw(&format!("`{method}`"), &flaw, frame);
        }
    }

    pub(super) fn request(
        &mut self,
        id: Option<&Id>,
        method: String,
        params: Value,
        heard: ReceivedFrame<'_>,
    ) {
        let early = self.life == Life::Beginning && !self.revision.is_stateless();
        if early && method != "ping" {
            let message = format!(
                "`{}` before `notifications/initialized`",
                brief_name(&method)
            );
            self.note(FindingCode::RequestBeforeInitialized, message, heard);
        }
        self.respond(id, &method, &params, heard);
        let seen = ServerRequestSeen { method, params };
        self.record
            .server_request(seen, heard.bytes.len(), heard.at_us);
    }

    /// Answers a request of the server, in a revision where servers make some.
    fn respond(&mut self, id: Option<&Id>, method: &str, params: &Value, heard: ReceivedFrame<'_>) {
        if let Some(id) = id {
            self.identified(id, method, heard);
        }
        if self.revision.is_stateless() {
            let message = format!(
                "`{}` as a request of the server: in {} it answers with what it needs, and no client answers it",
                brief_name(method),
                self.revision
            );
            return self.note(FindingCode::UnknownRequest, message, heard);
        }
        if let Some(id) = id {
            let body = self.consider(method, params, heard.bytes);
            self.answer(&id_value(id), body);
        } else {
            // What it is answered to cannot be told but by null (JSON-RPC 2.0 § 5).
            let message = "the `id` of a request is a text or a number";
            let refusal = Refusal {
                code: INVALID_REQUEST,
                message: message.to_owned(),
            };
            self.answer(&Value::Null, Err(refusal));
        }
    }

    /// The answers of the client to requests of the server, and their problems.
    pub(in crate::session) fn consider(
        &mut self,
        method: &str,
        params: &Value,
        frame: &[u8],
    ) -> Result<Value, Refusal> {
        let reply = self.client.reply(method, params, self.revision);
        if let Some(message) = reply.undeclared {
            let code = if is_asked_by_servers(method) {
                FindingCode::CapabilityNotDeclared
            } else {
                FindingCode::UnknownRequest
            };
            self.record.note(code, message, frame);
        } else if self.life == Life::Open
            && let Some(capability) = needs_client_capability(method)
            && !self.revision.has_client_capability(capability)
        {
            let message = format!("`{method}`, which {} does not have", self.revision);
            self.record
                .note(FindingCode::UnknownRequest, message, frame);
        }
        let record = shape::request(method, self.revision, params);
        self.compare(method, record, params, frame);
        reply.body
    }

    /// What the server says or asks of its own accord has something as its id that is none.
    pub(super) fn misnamed(&mut self, odd: Option<String>, method: &str, heard: ReceivedFrame<'_>) {
        if let Some(odd) = odd {
            let message = format!(
                "`{}` with the id {odd}, neither number nor text",
                brief_name(method)
            );
            self.note(FindingCode::NullId, message, heard);
        }
    }

    /// Looks at the id that the server gave to a request of its own.
    fn identified(&mut self, id: &Id, method: &str, heard: ReceivedFrame<'_>) {
        if let Id::Number(written) = id
            && written
                .parse()
                .is_ok_and(|number: f64| number.fract() != 0.0)
        {
            let message = format!("`{}` with the id {id}, a fraction", brief_name(method));
            self.note(FindingCode::IdType, message, heard);
        }
        if self.their_ids.contains(id) {
            let message = format!(
                "`{}` with an id that an earlier request of the server had",
                brief_name(method)
            );
            self.note(FindingCode::ReusedId, message, heard);
        } else if self.their_ids.len() < KEPT_IDS {
            self.their_ids.insert(id.clone());
        }
        let mut open = self.requests.open().iter();
        if method != "ping" && open.any(|open| open.id == *id && open.method == method) {
            let message = format!(
                "`{}` came back with its id: the program sends back what it is sent, and is not an MCP server",
                brief_name(method)
            );
            self.break_off(DisruptionKind::Violation, message, heard.bytes);
        }
    }

    /// Replies, or counts where nobody can: who asks without end must not fill the memory.
    fn answer(&mut self, id: &Value, body: Result<Value, Refusal>) {
        match &mut self.unanswered {
            Some(unanswered) => *unanswered += 1,
            None => self.outbox.push_back(match body {
                Ok(result) => message::answer(id, &result),
                Err(refusal) => message::refusal(id, refusal.code, &refusal.message),
            }),
        }
    }
}

/// The stream that a notification belongs to.
fn subscription(params: &Value) -> Option<Id> {
    Id::from_value(params.get("_meta")?.get(SUBSCRIPTION_ID)?)
}
