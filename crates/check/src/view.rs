//! The parts of an observation that expectations look at, and what is said when a part is not there.

use std::ops::Range;

use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
};
use mcp::{
    observation::{
        NotificationSeen, Observation, ServerRequestSeen,
        answer::{Answer, Body, Interest, Reply, Unserved},
        finding::FindingCode,
    },
    protocol::message::RpcError,
};

/// Why there is no result to look at.
pub(super) enum NoReply<'a> {
    /// Nothing came back.
    Unanswered,
    /// A JSON-RPC error came back; and what explains it.
    Refused(&'a RpcError, Option<Unserved>),
}

impl NoReply<'_> {
    /// What that means for an expectation that needs a result.
    pub(super) fn verdict(&self, ask: &Ask) -> Verdict {
        match self {
            Self::Unanswered => Verdict::Unknowable("there is no answer to look at".to_owned()),
            Self::Refused(error, unserved) => Verdict::Missed(vec![refused(ask, error, *unserved)]),
        }
    }
}

/// The result of the subject.
pub(super) fn reply(seen: &Observation) -> Result<&Reply, NoReply<'_>> {
    let answer = answer(seen)?;
    match &answer.body {
        Body::Result(reply) => Ok(reply),
        Body::ProtocolError(error) => Err(NoReply::Refused(error, answer.unserved)),
    }
}

/// The answer of the subject, result or not.
pub(super) fn answer(seen: &Observation) -> Result<&Answer, NoReply<'_>> {
    seen.answer.as_ref().ok_or(NoReply::Unanswered)
}

/// The verdict of `not` when a JSON-RPC error came: it says nothing of a result.
pub(super) fn refusal(ask: &Ask, seen: &Observation) -> Option<Verdict> {
    match reply(seen) {
        Err(refused @ NoReply::Refused(..)) => Some(refused.verdict(ask)),
        Err(NoReply::Unanswered) | Ok(_) => None,
    }
}

/// Looks at the result of the subject; what keeps it from being seen is the verdict otherwise.
pub(super) fn with_reply(
    seen: &Observation,
    ask: &Ask,
    look: impl FnOnce(&Reply) -> Vec<Mismatch>,
) -> Verdict {
    match reply(seen) {
        Ok(reply) => Verdict::from_mismatches(
            look(reply)
                .into_iter()
                .map(|mismatch| telling_of_tool_error(mismatch, reply))
                .collect(),
        ),
        Err(none) => none.verdict(ask),
    }
}

/// The mismatch when a JSON-RPC error came instead of a result, and what explains it.
pub(super) fn refused(ask: &Ask, error: &RpcError, unserved: Option<Unserved>) -> Mismatch {
    let expect_it = match error.code {
        Some(code) => {
            format!("if this error is what should happen, expect it with `error: {{code: {code}}}`")
        }
        None => "if an error is what should happen, expect it with `error`".to_owned(),
    };
    Mismatch {
        actual: Some(phrase::laid_out(&error.raw)),
        hint: Some(match unserved {
            Some(Unserved::Undeclared(capability)) => {
                format!("the server declares no capability `{capability}`; {expect_it}")
            }
            Some(Unserved::Optional(method)) => {
                format!(
                    "`{method}` is optional: a server may have resources and no templates; {expect_it}"
                )
            }
            None => expect_it,
        }),
        ..ask.miss(format!("the answer is the JSON-RPC error {}", named(error)))
    }
}

/// Code and message of a JSON-RPC error, for a sentence.
pub(super) fn named(error: &RpcError) -> String {
    match (error.shown_code(), error.message.as_str()) {
        (Some(code), "") => format!("{code}, without a message"),
        (Some(code), message) => format!("{code}, {}", phrase::quoted(message)),
        (None, message) => format!("without an integer code, {}", phrase::quoted(message)),
    }
}

/// A tool error explains most mismatches: it is named where no nearer hint was found.
fn telling_of_tool_error(mut mismatch: Mismatch, reply: &Reply) -> Mismatch {
    let speaks_of_errors = matches!(mismatch.key, "not_error" | "is_error" | "refused" | "error");
    if reply.is_error && mismatch.hint.is_none() && !speaks_of_errors {
        mismatch.hint = Some(if reply.text.is_empty() {
            "the tool answered with an error (`isError: true`) without any text".to_owned()
        } else {
            format!(
                "the tool answered with an error: {}",
                phrase::quoted(&reply.text)
            )
        });
    }
    mismatch
}

/// The mismatch when something did not come while the tool worked: that it failed explains it too.
pub(super) fn without(mismatch: Mismatch, seen: &Observation) -> Mismatch {
    match reply(seen) {
        Ok(reply) => telling_of_tool_error(mismatch, reply),
        Err(NoReply::Unanswered | NoReply::Refused(..)) => mismatch,
    }
}

/// What the server was asked to tell before the subject's own request.
pub(super) fn interest(seen: &Observation) -> Option<&Interest> {
    seen.answer.as_ref()?.interest.as_ref()
}

/// Whether the server sent more than was kept.
pub(super) fn is_flooded(seen: &Observation) -> bool {
    seen.findings
        .iter()
        .any(|finding| finding.code == FindingCode::NotificationFlood)
}

/// The notifications up to the end of the subject, those of setup steps included.
pub(super) fn notifications_so_far(seen: &Observation) -> &[NotificationSeen] {
    let answer = seen.answer.as_ref();
    within(
        &seen.notifications,
        answer.map(|it| 0..it.notifications.end),
    )
}

/// The notifications that belong to the subject; all of them when it had no answer of its own.
pub(super) fn notifications(seen: &Observation) -> &[NotificationSeen] {
    let answer = seen.answer.as_ref();
    within(
        &seen.notifications,
        answer.map(|it| it.notifications.clone()),
    )
}

/// Those of them that came before the answer.
pub(super) fn notifications_on_time(seen: &Observation) -> &[NotificationSeen] {
    let on_time = seen
        .answer
        .as_ref()
        .map(|it| it.notifications.start..it.notifications.end.min(it.on_time));
    within(&seen.notifications, on_time)
}

/// The notifications that came after the answer.
pub(super) fn late_notifications(seen: &Observation) -> &[NotificationSeen] {
    let on_time = seen.answer.as_ref().map_or(usize::MAX, |it| it.on_time);
    within(&seen.notifications, Some(on_time..usize::MAX))
}

/// The server's requests that belong to the subject.
pub(super) fn server_requests(seen: &Observation) -> &[ServerRequestSeen] {
    let answer = seen.answer.as_ref();
    within(
        &seen.server_requests,
        answer.map(|it| it.server_requests.clone()),
    )
}

/// Those that came before the subject, in the setup or with the handshake.
pub(super) fn earlier_requests(seen: &Observation) -> &[ServerRequestSeen] {
    let start = seen
        .answer
        .as_ref()
        .map_or(0, |it| it.server_requests.start);
    within(&seen.server_requests, Some(0..start))
}

/// The part of a list that a range names, as far as the list goes; without a range, all of it.
fn within<T>(all: &[T], range: Option<Range<usize>>) -> &[T] {
    let range = range.unwrap_or(0..usize::MAX);
    let end = range.end.min(all.len());
    &all[range.start.min(end)..end]
}
