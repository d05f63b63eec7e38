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
            (Some(min), Some(max)) if min == max => {
                format!("{} of {tool}", text::count(min, "call"))
            }
            (Some(min), Some(max)) => format!("{min} to {} of {tool}", text::count(max, "call")),
            (Some(min), None) => format!("at least {} of {tool}", text::count(min, "call")),
            (None, Some(max)) => format!("at most {} of {tool}", text::count(max, "call")),
            (None, None) => format!("any number of calls of {tool}"),
        },
    )
}

fn outcome_word(outcome: TraceOutcome) -> &'static str {
    match outcome {
        TraceOutcome::Ok => "a result",
        TraceOutcome::Error => "an error",
    }
}

/// What came instead, `None` where the rule holds; or why that cannot be told.
type Found = Result<Option<String>, String>;

/// One rule over the recorded calls.
pub(super) fn check(rule: &TrajectoryRule, seen: &Observation) -> Verdict {
    let Some(calls) = seen.trace.as_deref() else {
        return Verdict::Unknowable("there is no trace to look at".to_owned());
    };
    let ask = ask(rule);
    let found = match rule {
        TrajectoryRule::Order(tools) => Ok(order(tools, calls)),
        TrajectoryRule::Presence(tools) => Ok(presence(tools, calls)),
        TrajectoryRule::Absence(tools) => Ok(absence(tools, calls)),
        TrajectoryRule::ArgsContain { tool, args, among } => {
            return args_contain(&ask, (tool, args, *among), calls);
        }
        TrajectoryRule::Count { tool, min, max } => Ok(count(tool, (*min, *max), calls)),
        TrajectoryRule::NeverAfter { tool, after } => Ok(never_after(tool, after, calls)),
        TrajectoryRule::Adjacent(tools) => Ok(adjacent(tools, calls)),
        TrajectoryRule::Outcome { tool, outcome } => ended(tool, *outcome, calls),
        TrajectoryRule::WithinMs { limit_ms, from, to } => {
            within(*limit_ms, (from.as_deref(), to.as_deref()), calls)
        }
    };
    match found {
        Ok(None) => Verdict::Held,
        Ok(Some(seen)) => missed(&ask, calls, seen, &named(rule)),
        Err(reason) => Verdict::Unknowable(reason),
    }
}

/// The tools that a rule names.
fn named(rule: &TrajectoryRule) -> Vec<&str> {
    match rule {
        TrajectoryRule::Order(tools)
        | TrajectoryRule::Presence(tools)
        | TrajectoryRule::Absence(tools)
        | TrajectoryRule::Adjacent(tools) => tools.iter().map(String::as_str).collect(),
        TrajectoryRule::ArgsContain { tool, .. }
        | TrajectoryRule::Count { tool, .. }
        | TrajectoryRule::NeverAfter { tool, .. }
        | TrajectoryRule::Outcome { tool, .. } => vec![tool],
        TrajectoryRule::WithinMs { from, to, .. } => {
            from.iter().chain(to).map(String::as_str).collect()
        }
    }
}

pub(super) fn traits(rule: &TrajectoryRule) -> Traits {
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
        TrajectoryRule::NeverAfter { tool, .. }
        | TrajectoryRule::Count {
            tool, max: Some(_), ..
        } => vec![tool],
        TrajectoryRule::Count { max: None, .. }
        | TrajectoryRule::Order(_)
        | TrajectoryRule::Presence(_)
        | TrajectoryRule::ArgsContain { .. }
        | TrajectoryRule::Adjacent(_)
        | TrajectoryRule::Outcome { .. }
        | TrajectoryRule::WithinMs { .. } => Vec::new(),
    }
}

/// A mismatch that lists the calls, with the nearest name for a tool that was not called.
fn missed(ask: &Ask, calls: &[TraceCall], seen: String, tools: &[&str]) -> Verdict {
    let called: Vec<&str> = calls.iter().map(|call| call.tool.as_str()).collect();
    let uncalled = tools.iter().filter(|tool| !called.contains(tool));
    let mut near = uncalled.filter_map(|tool| text::nearest(tool, called.iter().copied()));
    let hint = near
        .next()
        .map(|near| format!("{} was called", phrase::quoted(near)));
    let mut lines: Vec<String> = called.iter().take(MOST).map(ToString::to_string).collect();
    if called.len() > MOST {
        lines.push(format!("… {} more", called.len() - MOST));
    }
    Verdict::Missed(vec![Mismatch {
        actual: (!lines.is_empty()).then(|| lines.join("\n")),
        hint,
        ..ask.miss(seen)
    }])
}

fn is_called(tool: &str, calls: &[TraceCall]) -> bool {
    calls.iter().any(|call| call.tool == tool)
}

fn not_called(tool: &str) -> String {
    format!("{} was not called", phrase::quoted(tool))
}

fn order(tools: &[String], calls: &[TraceCall]) -> Option<String> {
    let mut rest = calls.iter();
    let place = tools
        .iter()
        .position(|tool| !rest.any(|call| call.tool == *tool))?;
    let tool = &tools[place];
    let before = place.checked_sub(1).filter(|_| is_called(tool, calls));
    Some(match before {
        Some(before) => format!(
            "{} after {}",
            not_called(tool),
            phrase::quoted(&tools[before])
        ),
        None => not_called(tool),
    })
}

fn presence(tools: &[String], calls: &[TraceCall]) -> Option<String> {
    let absent = tools.iter().filter(|tool| !is_called(tool, calls));
    let absent: Vec<&String> = absent.collect();
    (!absent.is_empty()).then(|| format!("{} never came", phrase::list(&absent, "and")))
}

fn absence(tools: &[String], calls: &[TraceCall]) -> Option<String> {
    let place = calls.iter().position(|call| tools.contains(&call.tool))?;
    let tool = phrase::quoted(&calls[place].tool);
    Some(format!("call {} is {tool}", place + 1))
}

fn count(
    tool: &str,
    (min, max): (Option<u64>, Option<u64>),
    calls: &[TraceCall],
) -> Option<String> {
    let number = calls.iter().filter(|call| call.tool == tool).count() as u64;
    if min.is_none_or(|min| number >= min) && max.is_none_or(|max| number <= max) {
        return None;
    }
    Some(match number {
        0 => "it was not called".to_owned(),
        1 => "it was called once".to_owned(),
        number => format!("it was called {number} times"),
    })
}

fn never_after(tool: &str, after: &str, calls: &[TraceCall]) -> Option<String> {
    let start = calls.iter().position(|call| call.tool == after)?;
    let later = calls
        .iter()
        .skip(start + 1)
        .position(|call| call.tool == tool)?;
    Some(format!(
        "{} is call {}, {} call {}",
        phrase::quoted(after),
        start + 1,
        phrase::quoted(tool),
        start + later + 2
    ))
}

fn adjacent(tools: &[String], calls: &[TraceCall]) -> Option<String> {
    let called: Vec<&String> = calls.iter().map(|call| &call.tool).collect();
    let is_run = |window: &[&String]| window.iter().copied().eq(tools);
    if tools.is_empty() || called.windows(tools.len()).any(is_run) {
        return None;
    }
    let absent = tools.iter().find(|tool| !is_called(tool, calls));
    Some(absent.map_or_else(
        || "they were called, but not right after each other".to_owned(),
        |tool| not_called(tool),
    ))
}

fn ended(tool: &str, wanted: TraceOutcome, calls: &[TraceCall]) -> Found {
    let of_tool = || {
        calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.tool == tool)
    };
    let other = |(index, call): (usize, &TraceCall)| {
        let outcome = call.outcome.filter(|outcome| *outcome != wanted)?;
        Some(format!(
            "call {} ended with {}",
            index + 1,
            outcome_word(outcome)
        ))
    };
    if let Some(seen) = of_tool().find_map(other) {
        return Ok(Some(seen));
    }
    if of_tool().any(|(_, call)| call.outcome.is_none()) {
        return Err(format!("the log does not tell how calls of `{tool}` ended"));
    }
    Ok((!is_called(tool, calls)).then(|| "it was not called".to_owned()))
}

fn within(limit_ms: u64, (from, to): (Option<&str>, Option<&str>), calls: &[TraceCall]) -> Found {
    let is_meant = |tool: Option<&str>, call: &TraceCall| tool.is_none_or(|it| call.tool == it);
    let uncalled =
        |tool: Option<&str>| Ok(Some(tool.map_or("there is no call".to_owned(), not_called)));
    let Some(first) = calls.iter().position(|call| is_meant(from, call)) else {
        return uncalled(from);
    };
    let Some(last) = calls.iter().rposition(|call| is_meant(to, call)) else {
        return uncalled(to);
    };
    if let (true, Some(from), Some(to)) = (last < first, from, to) {
        return Ok(Some(format!(
            "{} after {}",
            not_called(to),
            phrase::quoted(from)
        )));
    }
    let (Some(start), Some(end)) = (calls[first].at_ms, calls[last].at_ms) else {
        return Err("the log does not tell when the calls were made".to_owned());
    };
    match end.checked_sub(start) {
        None => Err("the times of the calls do not follow their order".to_owned()),
        Some(took) => Ok((took > limit_ms).then(|| format!("it took {took} ms"))),
    }
}

#[cfg(test)]
mod tests;
