//! `not_error`, `is_error`, `refused`, `error`: what kind of answer came. A tool error is a result with `isError`; a
//! JSON-RPC error is neither a result nor a tool error.

mod frames;

use serde_json::Value;

use self::frames::Of;
use crate::{
    ask::Ask,
    json::{self, Extent},
    outcome::verdict::{Mismatch, Verdict},
    pattern, phrase,
    traits::{Says, Traits},
    view,
};
use mcp::{
    observation::{
        Observation,
        answer::{Body, Reply},
    },
    protocol::message::RpcError,
};
use suite::{
    model::expectation::{AnswerWanted, ErrorWanted, TextRule},
    written::Part,
};

pub(super) fn check(wanted: &AnswerWanted, seen: &Observation) -> Verdict {
    match wanted {
        AnswerWanted::NotError(flag) => kind("not_error", success(*flag), seen),
        AnswerWanted::IsError(flag) => kind("is_error", success(!*flag), seen),
        AnswerWanted::Refused(flag) => kind("refused", refusal(*flag), seen),
        AnswerWanted::Error(wanted) => error(wanted, seen),
    }
}

pub(super) fn ask(wanted: &AnswerWanted) -> Ask {
    match wanted {
        AnswerWanted::NotError(flag) => ask_kind("not_error", success(*flag)),
        AnswerWanted::IsError(flag) => ask_kind("is_error", success(!*flag)),
        AnswerWanted::Refused(flag) => ask_kind("refused", refusal(*flag)),
        AnswerWanted::Error(wanted) => ask_error(wanted),
    }
}

pub(super) fn traits(wanted: &AnswerWanted) -> Traits {
    match wanted {
        AnswerWanted::NotError(flag) => Traits {
            holds_of_silence: *flag,
            ..Traits::PLAIN
        },
        AnswerWanted::IsError(flag) | AnswerWanted::Refused(flag) => Traits {
            holds_of_silence: !*flag,
            ..Traits::PLAIN
        },
        AnswerWanted::Error(wanted) => Traits {
            says: if names(wanted) {
                Says::Error
            } else {
                Says::Other
            },
            ..Traits::PLAIN
        },
    }
}

/// Whether it is said which error is meant.
fn names(wanted: &ErrorWanted) -> bool {
    let ErrorWanted {
        code,
        message,
        data,
    } = wanted;
    let is_worded = message.as_ref().is_some_and(|rule| match rule {
        TextRule::Literal(text) => !text.is_empty(),
        TextRule::Pattern(one) => !pattern::is_open(one),
    });
    code.is_some() || is_worded || data.is_some()
}

/// The verdict of `not` on an answer that nothing is wanted of.
pub(super) fn unspoken(ask: &Ask, wanted: &AnswerWanted, seen: &Observation) -> Option<Verdict> {
    let of = match wanted {
        AnswerWanted::NotError(_) | AnswerWanted::IsError(_) => Of::Results,
        AnswerWanted::Refused(_) | AnswerWanted::Error(_) => Of::Errors,
    };
    let reply = view::reply(seen).ok();
    match reply.and_then(|reply| frames::beside_the_point(ask, of, reply)) {
        Some(mismatch) => Some(Verdict::Missed(vec![mismatch])),
        None if of == Of::Results => view::refusal(ask, seen),
        None => None,
    }
}

/// The kind of result that `not_error` with this flag wants.
fn success(flag: bool) -> Kind {
    if flag { Kind::Success } else { Kind::ToolError }
}

/// The kind of answer that `refused` with this flag wants.
fn refusal(flag: bool) -> Kind {
    if flag { Kind::AnyError } else { Kind::Success }
}

/// Which kind of answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A result without `isError`.
    Success,
    /// A tool error.
    ToolError,
    /// A tool error or a JSON-RPC error.
    AnyError,
}

/// `not_error`, `is_error` and `refused`
fn ask_kind(key: &'static str, wanted: Kind) -> Ask {
    Ask::new(
        key,
        match wanted {
            Kind::Success => "a result that is not a tool error",
            Kind::ToolError => "a tool error (a result with `isError: true`)",
            Kind::AnyError => "a refusal: a tool error (`isError: true`) or a JSON-RPC error",
        },
    )
}

/// `not_error`, `is_error`, `refused`: the answer is of this kind.
fn kind(key: &'static str, wanted: Kind, seen: &Observation) -> Verdict {
    let ask = ask_kind(key, wanted);
    let refused = view::answer(seen).is_ok_and(|it| matches!(it.body, Body::ProtocolError(_)));
    if refused && wanted == Kind::AnyError {
        return Verdict::Held;
    }
    view::with_reply(seen, &ask, |reply| {
        if let Some(frames) = &reply.frames {
            return frames::kind(&ask, wanted, reply, frames);
        }
        of_kind(&ask, wanted, reply)
    })
}

fn of_kind(ask: &Ask, wanted: Kind, reply: &Reply) -> Vec<Mismatch> {
    match (wanted, reply.is_error) {
        (Kind::Success, false) | (Kind::ToolError | Kind::AnyError, true) => Vec::new(),
        (Kind::Success, true) => vec![tool_error(ask, reply)],
        (Kind::ToolError | Kind::AnyError, false) => vec![Mismatch {
            actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, 0)),
            ..ask.miss("the call succeeded")
        }],
    }
}

/// The mismatch when the tool answered with an error.
fn tool_error(ask: &Ask, reply: &Reply) -> Mismatch {
    let summary = if reply.text.is_empty() {
        "the tool answered with an error without any text".to_owned()
    } else {
        format!(
            "the tool answered with the error {}",
            phrase::quoted(&reply.text)
        )
    };
    Mismatch {
        actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, 0)),
        ..ask.miss(summary)
    }
}

/// `error`
fn ask_error(wanted: &ErrorWanted) -> Ask {
    let code = wanted.code.map(with_code);
    let message = wanted.message.as_ref().map(with_message);
    let data = wanted.data.as_ref().map(with_data);
    let parts: Vec<String> = [code, message, data].into_iter().flatten().collect();
    match &parts[..] {
        [] => Ask::new("error", "a JSON-RPC error"),
        parts => ask_part(&phrase::joined(parts, "and")),
    }
}

fn ask_part(clause: &str) -> Ask {
    Ask::new("error", format!("a JSON-RPC error {clause}"))
}

fn with_code(code: i64) -> String {
    format!("with the code {code}")
}

fn with_message(wanted: &TextRule) -> String {
    let (verb, text) = match wanted {
        TextRule::Literal(text) => ("contains", text.as_str()),
        TextRule::Pattern(pattern) => ("matches", pattern.written()),
    };
    format!("with a message that {verb} {}", phrase::quoted(text))
}

fn with_data(data: &Value) -> String {
    format!("with the data {}", phrase::value(data))
}

/// `error`: the answer is this JSON-RPC error.
fn error(wanted: &ErrorWanted, seen: &Observation) -> Verdict {
    let ask = ask_error(wanted);
    let answer = match view::answer(seen) {
        Ok(answer) => answer,
        Err(none) => return none.verdict(&ask),
    };
    match &answer.body {
        Body::ProtocolError(error) => Verdict::from_mismatches(unlike(wanted, error)),
        Body::Result(
            reply @ Reply {
                frames: Some(frames),
                ..
            },
        ) => Verdict::from_mismatches(frames::error(&ask, wanted, reply, frames)),
        Body::Result(reply) if reply.is_error => Verdict::Missed(vec![Mismatch {
            hint: Some(
                "a result with `isError: true` is not a JSON-RPC error: use `is_error` and `contains`"
                    .to_owned(),
            ),
            ..tool_error(&ask, reply)
        }]),
        Body::Result(reply) => Verdict::Missed(vec![Mismatch {
            actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, 0)),
            ..ask.miss("the call succeeded")
        }]),
    }
}

/// What is not as wanted about a JSON-RPC error.
fn unlike(wanted: &ErrorWanted, error: &RpcError) -> Vec<Mismatch> {
    let miss = |member: &'static str, clause: &str, seen: String| Mismatch {
        part: vec![Part::Member(member)],
        path: Some(format!("error.{member}")),
        actual: Some(phrase::laid_out(&error.raw)),
        ..ask_part(clause).miss(seen)
    };
    let mut mismatches = Vec::new();
    if let Some(code) = wanted.code.filter(|code| error.code != Some(*code)) {
        let seen = format!("the error is {}", view::named(error));
        mismatches.push(miss("code", &with_code(code), seen));
    }
    let message = wanted.message.as_ref();
    if let Some(rule) = message.filter(|rule| !found(rule, &error.message)) {
        let seen = match error.message.as_str() {
            "" => "the error has no message".to_owned(),
            message => format!("the message is {}", phrase::quoted(message)),
        };
        mismatches.push(miss("message", &with_message(rule), seen));
    }
    match (&wanted.data, &error.data) {
        (Some(wanted), Some(data)) => {
            if let Some(difference) = json::difference(wanted, data, Extent::Part) {
                mismatches.push(Mismatch {
                    path: Some(format!("error.data{}", difference.path)),
                    hint: (!difference.path.is_empty()).then(|| difference.sentence()),
                    ..miss("data", &with_data(wanted), phrase::found(data))
                });
            }
        }
        (Some(wanted), None) => {
            let seen = "the error has no data".to_owned();
            mismatches.push(miss("data", &with_data(wanted), seen));
        }
        (None, _) => {}
    }
    mismatches
}

/// Whether a text is as wanted.
pub(super) fn found(rule: &TextRule, message: &str) -> bool {
    match rule {
        TextRule::Literal(text) => message.contains(text.as_str()),
        TextRule::Pattern(pattern) => pattern.is_match(message),
    }
}

#[cfg(test)]
mod tests;
