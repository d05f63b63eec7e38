//! Expectations about all of something of which there was nothing, or of which not all could be read.

use crate::{
    check::{phrase, progress},
    observation::Observation,
    suite::model::expectation::{Expectation, TrajectoryRule},
};

/// Why an expectation that holds had nothing to look at.
pub(super) fn reason(expectation: &Expectation, seen: &Observation) -> Option<String> {
    let key = of_silence(expectation).filter(|_| progress::is_untold(seen));
    if let Some(key) = key {
        return Some(format!(
            "no progress came that `{key}` could look at; `min: 1` wants some"
        ));
    }
    let Expectation::Trajectory(rule) = expectation else {
        return None;
    };
    // Rules that want a call do not hold here.
    if seen.trace.as_ref().is_some_and(Vec::is_empty) {
        let reason = "the list of calls is empty: it proves nothing of what was not called";
        return Some(reason.to_owned());
    }
    if let TrajectoryRule::NeverAfter { tool: _, after } = &**rule
        && seen.trace.iter().flatten().all(|call| call.tool != *after)
    {
        let after = phrase::quoted(after);
        return Some(format!(
            "{after} was never called, and so nothing could come after it"
        ));
    }
    unwanted(rule).iter().find_map(|tool| {
        let line = seen.passed_over.get(*tool)?;
        Some(format!(
            "line {line} of the log has the text {} and is not read as a call: calls need `tool` or `tool_name`, or `name` with `arguments`",
            phrase::quoted(tool)
        ))
    })
}

/// The key of `progress` that holds where none comes.
fn of_silence(expectation: &Expectation) -> Option<&'static str> {
    let Expectation::Progress(wanted) = expectation else {
        return None;
    };
    if wanted.monotonic == Some(true) {
        return Some("monotonic");
    }
    (wanted.last_equals_total == Some(false)).then_some("last_equals_total")
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
