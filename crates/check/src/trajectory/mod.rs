//! The rules of `trajectory`: which tools were called, in which order, with what, and how it ended. What a log
//! hides or does not tell makes a rule unknowable, never true.

mod arguments;

use self::arguments::args_contain;
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traits::Traits,
};
use mcp::observation::{Observation, TraceCall, TraceOutcome};
use suite::model::expectation::TrajectoryRule;

/// Calls that are listed in a mismatch.
const MOST: usize = 50;

/// The rules of `trajectory`
pub(super) fn ask(rule: &TrajectoryRule) -> Ask {
    match rule {
        TrajectoryRule::Order(tools) => Ask::new(
            "order",
            format!("calls in this order: {}", phrase::list(tools, "and")),
        ),
        TrajectoryRule::Presence(tools) => Ask::new(
            "presence",
            format!("calls of {}", phrase::list(tools, "and")),
        ),
        TrajectoryRule::Absence(tools) => Ask::new(
            "absence",
            format!("no call of {}", phrase::list(tools, "or")),
        ),
        TrajectoryRule::ArgsContain { tool, args, among } => arguments::ask(tool, args, *among),
        TrajectoryRule::Count { tool, min, max } => ask_count(tool, *min, *max),
        TrajectoryRule::NeverAfter { tool, after } => Ask::new(
            "never_after",
            format!(
                "no call of {} after one of {}",
                phrase::quoted(tool),
                phrase::quoted(after)
            ),
        ),
        TrajectoryRule::Adjacent(tools) => Ask::new(
            "adjacent",
            format!(
                "calls right after each other: {}",
                phrase::list(tools, "and")
            ),
        ),
        TrajectoryRule::Outcome { tool, outcome } => Ask::new(
            "outcome",
            format!(
                "every call of {} to end with {}",
                phrase::quoted(tool),
                outcome_word(*outcome)
            ),
        ),
        TrajectoryRule::WithinMs { limit_ms, from, to } => {
            let end = |tool: &Option<String>, other: &str| {
                tool.as_ref()
                    .map_or_else(|| other.to_owned(), |tool| phrase::quoted(tool))
            };
            Ask::new(
                "within_ms",
                format!(
                    "at most {limit_ms} ms from {} to {}",
                    end(from, "the first call"),
                    end(to, "the last call")
                ),
            )
        }
    }
}

fn ask_count(tool: &str, min: Option<u64>, max: Option<u64>) -> Ask {
    let tool = phrase::quoted(tool);
    Ask::new(
        "count",
        match (min, max) {
            (Some(min), Some(max)) if min == max => format!("{} of {tool}", calls(min)),
            (Some(min), Some(max)) => format!("{min} to {} of {tool}", calls(max)),
            (Some(min), None) => format!("at least {} of {tool}", calls(min)),
            (None, Some(max)) => format!("at most {} of {tool}", calls(max)),
            (None, None) => format!("any number of calls of {tool}"),
        },
    )
}

/// `1 call`, `2 calls`.
fn calls(number: u64) -> String {
    text::count(usize::try_from(number).unwrap_or(usize::MAX), "call")
}

fn outcome_word(outcome: TraceOutcome) -> &'static str {
    match outcome {
        TraceOutcome::Ok => "a result",
        TraceOutcome::Error => "an error",
    }
}

/// One rule over the recorded calls.
pub(super) fn check(rule: &TrajectoryRule, seen: &Observation) -> Verdict {
    let Some(calls) = seen.trace.as_deref() else {
        return Verdict::Unknowable("there is no trace to look at".to_owned());
    };
    let ask = ask(rule);
    match rule {
        TrajectoryRule::Order(tools) => order(&ask, tools, calls),
        TrajectoryRule::Presence(tools) => presence(&ask, tools, calls),
        TrajectoryRule::Absence(tools) => absence(&ask, tools, calls),
        TrajectoryRule::ArgsContain { tool, args, among } => {
            args_contain(&ask, (tool, args, *among), calls)
        }
        TrajectoryRule::Count { tool, min, max } => {
            let number = calls_of(tool, calls).count() as u64;
            if min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max) {
                return Verdict::Held;
            }
            missed(
                &ask,
                calls,
                match number {
                    0 => "it was not called".to_owned(),
                    1 => "it was called once".to_owned(),
                    number => format!("it was called {number} times"),
                },
                &[tool],
            )
        }
        TrajectoryRule::NeverAfter { tool, after } => never_after(&ask, tool, after, calls),
        TrajectoryRule::Adjacent(tools) => adjacent(&ask, tools, calls),
        TrajectoryRule::Outcome { tool, outcome } => ended(&ask, tool, *outcome, calls),
        TrajectoryRule::WithinMs { limit_ms, from, to } => {
            within(&ask, *limit_ms, (from.as_deref(), to.as_deref()), calls)
        }
    }
}

pub(super) fn traits(rule: &TrajectoryRule) -> Traits<'_> {
    let open = match rule {
        TrajectoryRule::Order(tools) => tools.is_empty().then_some("order"),
        TrajectoryRule::Presence(tools) => tools.is_empty().then_some("presence"),
        TrajectoryRule::Absence(tools) => tools.is_empty().then_some("absence"),
        TrajectoryRule::Adjacent(tools) => tools.is_empty().then_some("adjacent"),
        TrajectoryRule::Count { min, max, .. } => {
            (min.unwrap_or(0) == 0 && max.is_none()).then_some("count")
        }
        TrajectoryRule::ArgsContain { .. }
        | TrajectoryRule::NeverAfter { .. }
        | TrajectoryRule::Outcome { .. }
        | TrajectoryRule::WithinMs { .. } => None,
    };
    Traits {
        unfailable: open.map(|key| format!("`{key}` asks for nothing")),
        ..Traits::PLAIN
    }
}

/// Why a rule that holds had nothing to look at.
pub(super) fn unproven(rule: &TrajectoryRule, seen: &Observation) -> Option<String> {
    // Rules that want a call do not hold here.
    if seen.trace.as_ref().is_some_and(Vec::is_empty) {
        let reason = "the list of calls is empty: it proves nothing of what was not called";
        return Some(reason.to_owned());
    }
    unwanted(rule).iter().find_map(|tool| {
        let line = seen.passed_over.get(*tool)?;
        Some(format!(
            "line {line} of the log has the text {} and is not read as a call: calls need `tool` or `tool_name`, or `name` with `arguments`",
            phrase::quoted(tool)
        ))
    })
}

/// The tools that a rule wants not to be called, or not again.
fn unwanted(rule: &TrajectoryRule) -> Vec<&str> {
    match rule {
        TrajectoryRule::Absence(tools) => tools.iter().map(String::as_str).collect(),
        TrajectoryRule::NeverAfter { tool, after: _ }
        | TrajectoryRule::Count {
            tool,
            min: _,
            max: Some(_),
        } => vec![tool],
        TrajectoryRule::Count {
            tool: _,
            min: _,
            max: None,
        }
        | TrajectoryRule::Order(_)
        | TrajectoryRule::Presence(_)
        | TrajectoryRule::ArgsContain { .. }
        | TrajectoryRule::Adjacent(_)
        | TrajectoryRule::Outcome { .. }
        | TrajectoryRule::WithinMs { .. } => Vec::new(),
    }
}

/// A mismatch that lists the calls, with the nearest name for a tool that was not called.
fn missed<S: AsRef<str>>(ask: &Ask, calls: &[TraceCall], seen: String, tools: &[S]) -> Verdict {
    let called: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    let hint = tools.iter().map(AsRef::as_ref).find_map(|tool| {
        if called.contains(&tool) {
            return None;
        }
        let near = text::nearest(tool, called.iter().copied())?;
        Some(format!("{} was called", phrase::quoted(near)))
    });
    let mut lines: Vec<String> = called
        .iter()
        .take(MOST)
        .map(|tool| (*tool).to_owned())
        .collect();
    if called.len() > MOST {
        lines.push(format!("… {} more", called.len() - MOST));
    }
    Verdict::Missed(vec![Mismatch {
        actual: (!lines.is_empty()).then(|| lines.join("\n")),
        hint,
        ..ask.miss(seen)
    }])
}

fn calls_of<'a>(tool: &'a str, calls: &'a [TraceCall]) -> impl Iterator<Item = &'a TraceCall> {
    calls.iter().filter(move |call| call.tool == tool)
}

fn order(ask: &Ask, tools: &[String], calls: &[TraceCall]) -> Verdict {
    let mut rest = calls.iter();
    let mut before: Option<&String> = None;
    for tool in tools {
        if !rest.any(|call| call.tool == *tool) {
            let was_called = calls_of(tool, calls).next().is_some();
            let seen = match before.filter(|_| was_called) {
                Some(before) => format!(
                    "{} was not called after {}",
                    phrase::quoted(tool),
                    phrase::quoted(before)
                ),
                None => format!("{} was not called", phrase::quoted(tool)),
            };
            return missed(ask, calls, seen, &[tool]);
        }
        before = Some(tool);
    }
    Verdict::Held
}

fn presence(ask: &Ask, tools: &[String], calls: &[TraceCall]) -> Verdict {
    let absent: Vec<&String> = tools
        .iter()
        .filter(|tool| calls_of(tool, calls).next().is_none())
        .collect();
    if absent.is_empty() {
        return Verdict::Held;
    }
    let seen = format!("{} never came", phrase::list(&absent, "and"));
    missed(ask, calls, seen, &absent)
}

fn absence(ask: &Ask, tools: &[String], calls: &[TraceCall]) -> Verdict {
    let found = calls
        .iter()
        .enumerate()
        .find(|(_, call)| tools.contains(&call.tool));
    match found {
        Some((index, call)) => missed(
            ask,
            calls,
            format!("call {} is {}", index + 1, phrase::quoted(&call.tool)),
            &[&call.tool],
        ),
        None => Verdict::Held,
    }
}

fn never_after(ask: &Ask, tool: &str, after: &str, calls: &[TraceCall]) -> Verdict {
    let Some(start) = calls.iter().position(|call| call.tool == after) else {
        return Verdict::Held;
    };
    let later = calls
        .iter()
        .enumerate()
        .skip(start + 1)
        .find(|(_, call)| call.tool == tool);
    match later {
        Some((index, _)) => missed(
            ask,
            calls,
            format!(
                "{} is call {}, {} call {}",
                phrase::quoted(after),
                start + 1,
                phrase::quoted(tool),
                index + 1
            ),
            &[tool],
        ),
        None => Verdict::Held,
    }
}

fn adjacent(ask: &Ask, tools: &[String], calls: &[TraceCall]) -> Verdict {
    let holds = tools.is_empty()
        || calls.windows(tools.len()).any(|window| {
            window
                .iter()
                .zip(tools)
                .all(|(call, tool)| call.tool == *tool)
        });
    if holds {
        return Verdict::Held;
    }
    let absent = tools
        .iter()
        .find(|tool| calls_of(tool, calls).next().is_none());
    let seen = match absent {
        Some(tool) => format!("{} was not called", phrase::quoted(tool)),
        None => "they were called, but not right after each other".to_owned(),
    };
    missed(ask, calls, seen, tools)
}

fn ended(ask: &Ask, tool: &str, wanted: TraceOutcome, calls: &[TraceCall]) -> Verdict {
    let mut silent = false;
    let mut any = false;
    for (index, call) in calls
        .iter()
        .enumerate()
        .filter(|(_, call)| call.tool == tool)
    {
        any = true;
        match call.outcome {
            Some(outcome) if outcome != wanted => {
                let seen = format!("call {} ended with {}", index + 1, outcome_word(outcome));
                return missed(ask, calls, seen, &[tool]);
            }
            Some(_) => {}
            None => silent = true,
        }
    }
    if !any {
        return missed(ask, calls, "it was not called".to_owned(), &[tool]);
    }
    if silent {
        return Verdict::Unknowable(format!("the log does not tell how calls of `{tool}` ended"));
    }
    Verdict::Held
}

fn within(
    ask: &Ask,
    limit_ms: u64,
    (from, to): (Option<&str>, Option<&str>),
    calls: &[TraceCall],
) -> Verdict {
    let first = calls
        .iter()
        .position(|call| from.is_none_or(|tool| call.tool == tool));
    let last = calls
        .iter()
        .rposition(|call| to.is_none_or(|tool| call.tool == tool));
    let (first, last) = match (first, last) {
        (Some(first), Some(last)) => (first, last),
        (None, _) => return uncalled(ask, from, calls),
        (_, None) => return uncalled(ask, to, calls),
    };
    if let (true, Some(from), Some(to)) = (last < first, from, to) {
        let (from, to) = (phrase::quoted(from), phrase::quoted(to));
        let seen = format!("{to} was not called after {from}");
        return missed::<&str>(ask, calls, seen, &[]);
    }
    let (Some(start), Some(end)) = (calls[first].at_ms, calls[last].at_ms) else {
        return Verdict::Unknowable("the log does not tell when the calls were made".to_owned());
    };
    let Some(took) = end.checked_sub(start) else {
        let reason = "the times of the calls do not follow their order";
        return Verdict::Unknowable(reason.to_owned());
    };
    if took <= limit_ms {
        return Verdict::Held;
    }
    missed::<&str>(ask, calls, format!("it took {took} ms"), &[])
}

fn uncalled(ask: &Ask, tool: Option<&str>, calls: &[TraceCall]) -> Verdict {
    match tool {
        Some(tool) => {
            let seen = format!("{} was not called", phrase::quoted(tool));
            missed(ask, calls, seen, &[tool])
        }
        None => missed::<&str>(ask, calls, "there is no call".to_owned(), &[]),
    }
}

#[cfg(test)]
mod tests;
