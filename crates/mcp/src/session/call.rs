//! One request and what it brings back: sent, awaited, judged usable or not, and turned into an answer.

use serde_json::Value;

use super::{
    Observed, Session,
    correlation::Settled,
    exchange::Ticket,
    inspect::{self, Inspected},
    reply::reply,
    rounds::{Not, Rounds},
};
use crate::{
    observation::{
        answer::{Answer, Body, Rendering},
        disruption::{Disruption, DisruptionKind},
        finding::FindingCode,
    },
    protocol::{
        message::RpcError,
        method::{LogLevel, Method},
        revision::Revision,
    },
};

/// A request.
#[derive(Debug)]
pub(super) struct Call {
    /// Its method.
    pub(super) method: Method,
    /// Its parameters, null for none.
    pub(super) params: Value,
    /// The tool it calls.
    pub(super) tool: Option<String>,
    /// The page of a list it asks for, where that is not the first.
    pub(super) page: Option<usize>,
}

impl Call {
    /// A request that calls no tool.
    pub(super) fn new(method: Method, params: Value) -> Self {
        Self {
            method,
            params,
            tool: None,
            page: None,
        }
    }

    /// What it gives to what it calls.
    fn arguments(&self) -> Value {
        if self.method == Method::CompletionComplete {
            return self.params.clone();
        }
        let arguments = self.params.get("arguments").cloned();
        arguments.unwrap_or_default()
    }

    /// The request, for people.
    fn what(&self) -> String {
        let method = self.method.name();
        match (&self.tool, self.page) {
            (Some(tool), _) => format!("`{method}` of `{tool}`"),
            (None, Some(page)) => format!("page {page} of `{method}`"),
            (None, None) => format!("`{method}`"),
        }
    }
}

/// A request that was sent.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) method: Method,
    pub(super) ticket: Ticket,
    /// The request, for people.
    pub(super) what: String,
    tool: Option<String>,
    arguments: Value,
    /// The resource it is about.
    pub(super) uri: Option<String>,
    /// What is sent again where the server needs input first; null where it cannot ask for any.
    pub(super) params: Value,
    /// What was sent and asked before it.
    pub(super) before: Rounds,
}

impl Session {
    /// Sends a request and waits for what it brings back.
    pub(super) async fn call(&mut self, call: Call) -> Observed<Answer> {
        let pending = self.start(call).await;
        self.finish(pending).await
    }

    /// Sends a request.
    pub(super) async fn start(&mut self, call: Call) -> Pending {
        let what = call.what();
        let arguments = call.arguments();
        let listened = || {
            call.params
                .pointer("/notifications/resourceSubscriptions/0")
        };
        let uri = call.params.get("uri").or_else(listened);
        let uri = uri.and_then(Value::as_str);
        let uri = uri.map(str::to_owned);
        let http = self.exchange.connection.http_only();
        let has_session = http.is_some_and(|http| http.has_session());
        let may_be_first = self.first.is_none() && has_session;
        let params = if may_be_first || self.may_ask_for_input(call.method) {
            call.params.clone()
        } else {
            Value::Null
        };
        if call.method == Method::LoggingSetLevel {
            let level = call.params.get("level").and_then(Value::as_str);
            let level = level.and_then(LogLevel::from_name);
            self.exchange.dialogue.log_levels.ask(level);
        }
        let ticket = self.exchange.ask(call.method, call.params).await;
        if self.facts.is_some() {
            self.first.get_or_insert_with(|| ticket.id.clone());
        }
        Pending {
            method: call.method,
            ticket,
            what,
            tool: call.tool,
            arguments,
            uri,
            params,
            before: Rounds::default(),
        }
    }

    /// Waits for what a request brings back; what the server needs for that is given to it.
    pub(super) async fn finish(&mut self, mut pending: Pending) -> Observed<Answer> {
        loop {
            let settled = match self
                .exchange
                .answer(&pending.ticket.id, self.deadline)
                .await
            {
                Ok(settled) => settled,
                Err(_) if self.may_renew(&pending) => {
                    self.renew(&mut pending).await?;
                    continue;
                }
                Err(halt) => return Err(self.disrupt(halt, &pending.what).await),
            };
            if pending.method == Method::SubscriptionsListen {
                self.opened(&mut pending, &settled)?;
            }
            match self.not_yet(&pending, &settled)? {
                None => return self.judge(pending, settled),
                Some(Not::Input(asked)) => {
                    Box::pin(self.next_round(&mut pending, &settled, asked)).await?;
                }
                Some(Not::Task) => {
                    let settled = Box::pin(self.follow(&pending, settled)).await?;
                    return self.judge(pending, settled);
                }
            }
        }
    }

    fn judge(&mut self, mut pending: Pending, mut settled: Settled) -> Observed<Answer> {
        let method = pending.method;
        let body = match (
            settled.response.error.take(),
            settled.response.result.take(),
        ) {
            (Some(error), _) => {
                let error = RpcError::from_value(&error);
                let meanwhile = pending.ticket.server_requests..settled.server_requests;
                self.refused(method, meanwhile, (&error, &settled.frame));
                Body::ProtocolError(error)
            }
            (None, result) => {
                let result = result.unwrap_or_default();
                if let Some(reason) = method.unusable(&result) {
                    return Err(self.unusable(&pending.what, &reason, &settled.frame).into());
                }
                // The handshake is read as what it agrees on.
                let named = result.get("protocolVersion").and_then(Value::as_str);
                let revision = named
                    .filter(|_| method == Method::Initialize)
                    .and_then(Revision::from_name)
                    .unwrap_or(self.exchange.dialogue.revision);
                self.inspect(method, revision, &result, &settled);
                let mut reply = reply(method, result);
                if let Rendering::Contents { asked } = &mut reply.rendering {
                    *asked = pending.uri.take();
                }
                Body::Result(reply)
            }
        };
        let unserved = match &body {
            Body::Result(_) => None,
            Body::ProtocolError(error) => self.unserved(method, error),
        };
        Ok(Answer {
            body,
            took: pending.before.took + settled.took(),
            bytes: pending.before.bytes + settled.bytes,
            at_us: settled.at_us,
            on_time: settled.notifications,
            progress_token: (method == Method::ToolsCall)
                .then(|| super::correlation::id_value(&pending.ticket.id)),
            notifications: pending.ticket.notifications..settled.notifications,
            server_requests: pending.ticket.server_requests..settled.server_requests,
            tool: pending.tool,
            arguments: pending.arguments,
            unserved,
            interest: None,
        })
    }

    /// Looks into a result that is somebody's.
    pub(super) fn inspect(
        &mut self,
        method: Method,
        revision: Revision,
        result: &Value,
        settled: &Settled,
    ) {
        self.served(method, &settled.frame);
        if method == Method::SubscriptionsListen && result.get("notifications").is_some() {
            // An acknowledgement was looked at as the notification that it is.
            return;
        }
        let inspected = Inspected {
            method,
            result,
            settled,
        };
        inspect::result(&mut self.exchange.dialogue.record, revision, inspected);
    }

    pub(super) fn unusable(&mut self, what: &str, reason: &str, frame: &str) -> Disruption {
        let message = self.note_unusable(what, reason, frame);
        let disruption = Disruption::new(DisruptionKind::Violation, self.seen.reached, message);
        disruption.with_frame(frame)
    }

    /// Notes an answer that cannot be used, and says so.
    pub(super) fn note_unusable(&mut self, what: &str, reason: &str, frame: &str) -> String {
        let message = format!("the answer to {what} cannot be used: {reason}");
        self.record()
            .note(FindingCode::Schema, message.clone(), frame.as_bytes());
        message
    }
}
