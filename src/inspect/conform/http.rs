//! Requests of HTTP that every server must judge by their head.

use std::time::Duration;

use serde_json::json;

use super::{Facts, Verdict};
use mcp::{
    observation::{Observation, answer::Answer},
    script::{
        subject::{Credentials, HttpCall, RawFrame},
        template::{Template, ValueTemplate},
    },
};

/// How long a stream of events is read.
const STREAM: Duration = Duration::from_millis(200);

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// A handshake from a page of another origin.
    ForeignOrigin,
    /// A request of a revision that does not exist.
    BadVersion,
    /// A body that is not JSON.
    NotJson,
    /// GET.
    Get,
}

impl Request {
    pub(super) fn call(self, facts: &Facts) -> HttpCall {
        let revision = facts.offer.revision().unwrap_or_default();
        let client = json!({"name": "mcp-assert", "version": "1"});
        let params = json!({"protocolVersion": revision, "capabilities": {}, "clientInfo": client});
        let begin = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
        let json = |frame: serde_json::Value| Some(RawFrame::Json(ValueTemplate::new(frame)));
        let accept = ("Accept", "application/json, text/event-stream");
        let (headers, body) = match self {
            Self::ForeignOrigin => (vec![accept, ("Origin", "http://evil.example")], json(begin)),
            Self::BadVersion => (
                vec![accept, ("MCP-Protocol-Version", "1999-01-01")],
                json(list),
            ),
            Self::NotJson => {
                let body = RawFrame::Text(Template::new("{\"jsonrpc\":"));
                (
                    vec![accept, ("Content-Type", "application/json")],
                    Some(body),
                )
            }
            Self::Get => (vec![("Accept", "text/event-stream")], None),
        };
        let method = if body.is_some() { "POST" } else { "GET" };
        let headers = headers.into_iter();
        HttpCall {
            method: method.to_owned(),
            path: Template::new(""),
            headers: headers
                .map(|(name, value)| (name.to_owned(), Template::new(value)))
                .collect(),
            credentials: Credentials::Sent,
            body,
            within: STREAM,
        }
    }
}

/// Judges the head of the response.
pub(super) fn judged(seen: &Observation, request: Request) -> Verdict {
    let reply = seen.answer.as_ref().and_then(Answer::reply);
    let Some(head) = reply.and_then(|it| it.http.as_ref()) else {
        return Verdict::CouldNotRun;
    };
    let status = head.status;
    let is_refusal = (400..500).contains(&status);
    let events = head
        .headers
        .iter()
        .any(|(name, value)| name == "content-type" && value.starts_with("text/event-stream"));
    let is_right = match request {
        // Some servers answer 400 or 404 to a request without a session before they look at its revision.
        Request::ForeignOrigin | Request::BadVersion | Request::NotJson => is_refusal,
        Request::Get => is_refusal || (status == 200 && events),
    };
    if is_right {
        Verdict::Pass
    } else {
        Verdict::Fail(format!("the status is {status}"))
    }
}
