//! Requests of HTTP that every server must judge by their head.

use std::time::Duration;

use super::{Verdict, checks::Headers};
use mcp::{
    observation::{Observation, answer::Answer},
    script::{
        subject::{Credentials, HttpCall, RawFrame},
        template::Template,
    },
};

/// How long a stream of events is read.
const STREAM: Duration = Duration::from_millis(200);

/// A POST with these headers, or a GET without a body.
pub(super) fn call(headers: Headers, body: Option<RawFrame>) -> HttpCall {
    let method = if body.is_some() { "POST" } else { "GET" };
    let headers = headers.iter();
    HttpCall {
        method: method.to_owned(),
        path: Template::new(""),
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), Template::new(*value)))
            .collect(),
        credentials: Credentials::Sent,
        body,
        within: STREAM,
    }
}

/// Judges the head of the response: a refusal is right, and to a GET also a stream of events.
pub(super) fn judged(seen: &Observation, is_get: bool) -> Verdict {
    let reply = seen.answer.as_ref().and_then(Answer::reply);
    let Some(head) = reply.and_then(|it| it.http.as_ref()) else {
        return Verdict::CouldNotRun;
    };
    let status = head.status;
    let has_events = head
        .headers
        .iter()
        .any(|(name, value)| name == "content-type" && value.starts_with("text/event-stream"));
    if (400..500).contains(&status) || (is_get && status == 200 && has_events) {
        Verdict::Pass
    } else {
        Verdict::Fail(format!("the status is {status}"))
    }
}
