//! The kinds of the answers to frames of `raw`: what is wanted of the answer is wanted of every one.

use crate::{answer::Kind, ask::Ask, outcome::verdict::Mismatch, phrase, view};
use mcp::observation::answer::{Answered, FrameAnswer, FrameAnswers, Reply};
use suite::model::expectation::ErrorWanted;
use text::count;

/// `not_error`, `is_error`, `refused`: every request is answered, and with a result of this kind.
pub(super) fn kind(ask: &Ask, wanted: Kind, reply: &Reply, frames: &FrameAnswers) -> Vec<Mismatch> {
    let silence = match wanted {
        Kind::ToolError | Kind::AnyError => nothing(ask, frames),
        Kind::Success => None,
    };
    let answers = frames
        .answers
        .iter()
        .filter_map(|answer| match (wanted, &answer.kind) {
            (Kind::Success, FrameAnswer::Success)
            | (Kind::ToolError | Kind::AnyError, FrameAnswer::ToolError)
            | (Kind::AnyError, FrameAnswer::ProtocolError(_)) => None,
            (_, FrameAnswer::ProtocolError(error)) => Some(view::refused(ask, error, None)),
            (_, FrameAnswer::Success | FrameAnswer::ToolError | FrameAnswer::Unclear(_)) => {
                Some(other(ask, answer, reply))
            }
        });
    let answers: Vec<Mismatch> = answers.collect();
    unanswered(ask, frames)
        .into_iter()
        .chain(answers)
        .chain(silence)
        .collect()
}

/// `error`: every request is answered, and with this error.
pub(super) fn error(
    ask: &Ask,
    wanted: &ErrorWanted,
    reply: &Reply,
    frames: &FrameAnswers,
) -> Vec<Mismatch> {
    let answers = frames.answers.iter().flat_map(|answer| match &answer.kind {
        FrameAnswer::ProtocolError(error) => super::unlike(wanted, error),
        FrameAnswer::Success | FrameAnswer::ToolError | FrameAnswer::Unclear(_) => {
            vec![other(ask, answer, reply)]
        }
    });
    let answers: Vec<Mismatch> = answers.collect();
    let silence = nothing(ask, frames);
    unanswered(ask, frames)
        .into_iter()
        .chain(answers)
        .chain(silence)
        .collect()
}

/// What kind of answer an expectation is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// Results.
    Results,
    /// JSON-RPC errors.
    Errors,
}

/// Why `not` cannot conclude anything from the answers to frames.
pub(super) fn beside_the_point(ask: &Ask, of: Of, reply: &Reply) -> Option<Mismatch> {
    let frames = reply.frames.as_ref()?;
    let refused = frames.answers.iter().find_map(|answer| match &answer.kind {
        FrameAnswer::ProtocolError(error) if of == Of::Results => {
            Some(view::refused(ask, error, None))
        }
        FrameAnswer::Unclear(_) => Some(other(ask, answer, reply)),
        FrameAnswer::ProtocolError(_) | FrameAnswer::Success | FrameAnswer::ToolError => None,
    });
    unanswered(ask, frames)
        .or_else(|| nothing(ask, frames))
        .or(refused)
}

/// The mismatch where an answer is of another kind.
fn other(ask: &Ask, answer: &Answered, reply: &Reply) -> Mismatch {
    let which = match &answer.id {
        Some(id) => format!("the answer to id {id}"),
        None => "an answer without an id".to_owned(),
    };
    let seen = match &answer.kind {
        FrameAnswer::Success => format!("{which} is a result and not an error"),
        FrameAnswer::ToolError => format!("{which} is a tool error"),
        FrameAnswer::ProtocolError(_) => format!("{which} is a JSON-RPC error"),
        FrameAnswer::Unclear(reason) => reason.to_string(),
    };
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
