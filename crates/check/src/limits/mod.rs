//! `max_duration` and `max_bytes`: bounds on the subject's answer.

use std::time::Duration;

use crate::{
    ask::Ask,
    outcome::verdict::Verdict,
    traits::{Sway, Traits},
    view,
};
use mcp::observation::Observation;
use suite::model::expectation::LimitWanted;

pub(super) fn check(wanted: &LimitWanted, seen: &Observation) -> Verdict {
    match wanted {
        LimitWanted::MaxDuration(limit) => max_duration(*limit, seen),
        LimitWanted::MaxBytes(limit) => max_bytes(*limit, seen),
    }
}

pub(super) fn ask(wanted: &LimitWanted) -> Ask {
    match wanted {
        LimitWanted::MaxDuration(limit) => ask_duration(*limit),
        LimitWanted::MaxBytes(limit) => ask_bytes(*limit),
    }
}

pub(super) fn traits(wanted: &LimitWanted) -> Traits {
    match wanted {
        LimitWanted::MaxDuration(_) | LimitWanted::MaxBytes(_) => Traits {
            more: Sway::LOSES,
            holds_of_silence: true,
            holds_of_failure: true,
            ..Traits::PLAIN
        },
    }
}

/// `max_duration`
fn ask_duration(limit: Duration) -> Ask {
    Ask::new("max_duration", format!("an answer within {limit:?}"))
}

/// `max_duration`: the answer came within this time.
fn max_duration(limit: Duration, seen: &Observation) -> Verdict {
    let ask = ask_duration(limit);
    match view::answer(seen) {
        Ok(answer) if answer.took <= limit => Verdict::Held,
        Ok(answer) => ask.missed(format!("it took {}", rounded(answer.took, limit))),
        Err(none) => none.verdict(&ask),
    }
}

/// A duration to the millisecond, unless that would hide by how little it is over the limit.
fn rounded(took: Duration, limit: Duration) -> String {
    let millis = Duration::from_millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    if millis > limit {
        format!("{millis:?}")
    } else {
        format!("{took:?}")
    }
}

/// `max_bytes`
fn ask_bytes(limit: u64) -> Ask {
    Ask::new("max_bytes", format!("an answer of at most {limit} bytes"))
}

/// `max_bytes`: the answer is at most so long.
fn max_bytes(limit: u64, seen: &Observation) -> Verdict {
    let ask = ask_bytes(limit);
    match view::answer(seen) {
        Ok(answer) if answer.bytes as u64 <= limit => Verdict::Held,
        Ok(answer) => ask.missed(format!("it has {} bytes", answer.bytes)),
        Err(none) => none.verdict(&ask),
    }
}

#[cfg(test)]
mod tests;
