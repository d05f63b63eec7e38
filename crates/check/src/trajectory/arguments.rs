//! `args_contain`: calls of a tool with certain arguments, where a log may hide some of them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{
    ask::Ask,
    go,
    json::{self, Extent},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
};
use mcp::observation::TraceCall;
use suite::model::expectation::Among;

/// `args_contain`
pub(super) fn ask(tool: &str, args: &Value, among: Among) -> Ask {
    let tool = phrase::quoted(tool);
    let which = match among {
        Among::Any => format!("a call of {tool}"),
        Among::First => format!("the first call of {tool}"),
    };
    Ask::new(
        "args_contain",
        format!("{which} with {}", phrase::value(args)),
    )
}

/// `args_contain`: some call of the tool has these arguments, partially.
pub(super) fn args_contain(
    ask: &Ask,
    (tool, args, among): (&str, &Value, Among),
    calls: &[TraceCall],
) -> Verdict {
    let mut of_tool = calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.tool == tool);
    let candidates: Vec<(usize, &TraceCall)> = match among {
        Among::Any => of_tool.collect(),
        Among::First => of_tool.next().into_iter().collect(),
    };
    if candidates.is_empty() {
        return super::missed(ask, calls, "it was not called".to_owned(), &[tool]);
    }
    let fits: Vec<Option<bool>> = candidates
        .iter()
        .map(|(_, call)| fits(args, call, among))
        .collect();
    if fits.contains(&Some(true)) {
        return Verdict::Held;
    }
    if fits.contains(&None) {
        return Verdict::Unknowable(format!(
            "the log hides arguments of `{tool}` that would tell"
        ));
    }
    Verdict::Missed(vec![unlike(ask, args, &candidates)])
}

/// The mismatch when no call has the arguments; there is one call at least.
fn unlike(ask: &Ask, args: &Value, candidates: &[(usize, &TraceCall)]) -> Mismatch {
    let (index, first) = match candidates {
        [] => return ask.miss("it was not called"),
        [(index, first), ..] => (index, given(first)),
    };
    let difference = json::difference(args, &first, Extent::Part);
    let hint = difference.map(|difference| {
        let near = json::near_value(&difference)
            .map(|near| format!("; {near}"))
            .unwrap_or_default();
        format!("call {}: {}{near}", index + 1, difference.sentence())
    });
    if let [(_, only)] = candidates {
        let seen = if only.args.is_null() {
            "it was called without arguments".to_owned()
        } else {
            format!("it was called with {}", phrase::value(&first))
        };
        return Mismatch {
            expected: Some(phrase::laid_out(args)),
            actual: Some(phrase::laid_out(&json::part_of(args, &first))),
            hint,
            ..ask.miss(seen)
        };
    }
    let listed: Vec<String> = candidates
        .iter()
        .take(20)
        .map(|(index, call)| format!("call {}: {}", index + 1, phrase::value(&given(call))))
        .collect();
    Mismatch {
        actual: Some(listed.join("\n")),
        hint,
        ..ask.miss(format!("none of its {} calls has them", candidates.len()))
    }
}

/// The arguments of a call; none are an empty object.
fn given(call: &TraceCall) -> Cow<'_, Value> {
    if call.args.is_null() {
        Cow::Owned(Value::Object(Map::new()))
    } else {
        Cow::Borrowed(&call.args)
    }
}

/// Whether a call has the arguments; `None` where the log hides what would tell.
fn fits(wanted: &Value, call: &TraceCall, among: Among) -> Option<bool> {
    let mut wanted = wanted.clone();
    let mut args = given(call).into_owned();
    let mut hidden = false;
    for pointer in &call.unknowable {
        hidden |= take_out(&mut wanted, &mut args, pointer);
    }
    let matches = match among {
        Among::Any => json::contains_part(&wanted, &args),
        Among::First => printed_alike(&wanted, &args),
    };
    (!(matches && hidden)).then_some(matches)
}

/// Takes a hidden place out of both values; whether the wanted one says something about it.
fn take_out(wanted: &mut Value, args: &mut Value, pointer: &str) -> bool {
    match (wanted.pointer_mut(pointer), args.pointer_mut(pointer)) {
        (Some(wanted), Some(args)) => {
            (*wanted, *args) = (Value::Null, Value::Null);
            true
        }
        (_, _) => false,
    }
}

/// The Go tool's way: each top-level argument prints like the wanted one.
fn printed_alike(wanted: &Value, args: &Value) -> bool {
    let Some(wanted) = wanted.as_object() else {
        return json::same(wanted, args);
    };
    wanted.iter().all(|(name, wanted)| {
        args.get(name).is_some_and(|seen| {
            json::same(wanted, seen)
                || go::print(wanted, go::Floats::AsWritten)
                    == go::print(seen, go::Floats::AsWritten)
        })
    })
}
