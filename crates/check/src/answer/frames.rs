//! The kinds of the answers to frames of `raw`: what is wanted of the answer is wanted of every one.

use crate::{answer::Kind, ask::Ask, outcome::verdict::Mismatch, phrase, view};
use mcp::observation::answer::{Answered, FrameAnswer, FrameAnswers, Reply};
use suite::model::expectation::ErrorWanted;
use text::count;

/// Said of an answer that is a tool error.
const TOOL_ERROR: &str = "is a tool error";

/// `not_error`, `is_error`
pub(super) fn kind(ask: &Ask, wanted: Kind, reply: &Reply, frames: &FrameAnswers) -> Vec<Mismatch> {
    let mut mismatches: Vec<Mismatch> = unanswered(ask, frames).into_iter().collect();
    for answer in &frames.answers {
        match (wanted, &answer.kind) {
            (Kind::Success, FrameAnswer::Success) | (Kind::ToolError, FrameAnswer::ToolError) => {}
            (Kind::Success, FrameAnswer::ToolError) => {
                mismatches.push(other(ask, &told(answer, TOOL_ERROR), reply));
            }
            (Kind::ToolError, FrameAnswer::Success) => {
                let told = told(answer, "is a result that is no tool error");
                mismatches.push(other(ask, &told, reply));
            }
            (Kind::Success | Kind::ToolError, FrameAnswer::ProtocolError(error)) => {
                mismatches.push(view::refused(ask, error, None));
            }
            (Kind::Success | Kind::ToolError, FrameAnswer::Unclear(reason)) => {
                mismatches.push(other(ask, reason, reply));
            }
        }
    }
    if wanted == Kind::ToolError {
        mismatches.extend(nothing(ask, frames));
    }
    mismatches
}

/// `error`
pub(super) fn error(
    ask: &Ask,
    wanted: &ErrorWanted,
    reply: &Reply,
    frames: &FrameAnswers,
) -> Vec<Mismatch> {
    let mut mismatches: Vec<Mismatch> = unanswered(ask, frames).into_iter().collect();
    for answer in &frames.answers {
        match &answer.kind {
            FrameAnswer::Success => {
                mismatches.push(other(ask, &told(answer, "is a result"), reply));
            }
            FrameAnswer::ToolError => {
                mismatches.push(other(ask, &told(answer, TOOL_ERROR), reply));
            }
            FrameAnswer::ProtocolError(error) => mismatches.extend(super::unlike(wanted, error)),
            FrameAnswer::Unclear(reason) => mismatches.push(other(ask, reason, reply)),
        }
    }
    mismatches.extend(nothing(ask, frames));
    mismatches
}

/// What kind of answer an expectation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Results.
    Results,
    /// JSON-RPC errors.
    Errors,
}

/// Why the answers to frames are no proof that an expectation about their kind does not hold.
pub(super) fn beside_the_point(ask: &Ask, of: Of, reply: &Reply) -> Option<Mismatch> {
    let frames = reply.frames.as_ref()?;
    let refused = frames.answers.iter().find_map(|answer| match &answer.kind {
        FrameAnswer::ProtocolError(error) if of == Of::Results => {
            Some(view::refused(ask, error, None))
        }
        FrameAnswer::Unclear(reason) => Some(other(ask, reason, reply)),
        FrameAnswer::ProtocolError(_) | FrameAnswer::Success | FrameAnswer::ToolError => None,
    });
    unanswered(ask, frames)
        .or_else(|| nothing(ask, frames))
        .or(refused)
}

/// Which answer is so.
fn told(answer: &Answered, so: &str) -> String {
    match &answer.id {
        Some(id) => format!("the answer to id {id} {so}"),
        None => format!("an answer without an id {so}"),
    }
}

/// The mismatch where an answer is of another kind.
fn other(ask: &Ask, seen: &str, reply: &Reply) -> Mismatch {
    Mismatch {
        actual: Some(phrase::cut(&reply.text, 0)),
        ..ask.miss(seen)
    }
}

/// The mismatch where requests were not answered.
fn unanswered(ask: &Ask, frames: &FrameAnswers) -> Option<Mismatch> {
    let seen = match &frames.unanswered[..] {
        [] => return None,
        [id] => format!("the request with the id {id} was not answered"),
        more => format!("{} were not answered", count(more.len(), "request")),
    };
    Some(Mismatch {
        hint: Some("`within` says how long an answer is waited for".to_owned()),
        ..ask.miss(seen)
    })
}

/// The mismatch where there is no answer, and none is missing.
fn nothing(ask: &Ask, frames: &FrameAnswers) -> Option<Mismatch> {
    let is_silent = frames.answers.is_empty() && frames.unanswered.is_empty();
    is_silent.then(|| ask.miss("no answer came"))
}
