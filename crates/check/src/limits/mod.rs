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
    let ask = ask(wanted);
    let answer = match view::answer(seen) {
        Ok(answer) => answer,
        Err(none) => return none.verdict(&ask),
    };
    match wanted {
        LimitWanted::MaxDuration(limit) if answer.took <= *limit => Verdict::Held,
        LimitWanted::MaxDuration(limit) => {
            ask.missed(format!("it took {}", rounded(answer.took, *limit)))
        }
        LimitWanted::MaxBytes(limit) if answer.bytes as u64 <= *limit => Verdict::Held,
        LimitWanted::MaxBytes(_) => ask.missed(format!("it has {} bytes", answer.bytes)),
    }
}

pub(super) fn ask(wanted: &LimitWanted) -> Ask {
    match wanted {
        LimitWanted::MaxDuration(limit) => {
            Ask::new("max_duration", format!("an answer within {limit:?}"))
        }
        LimitWanted::MaxBytes(limit) => {
            Ask::new("max_bytes", format!("an answer of at most {limit} bytes"))
        }
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

/// A duration to the millisecond, unless that would hide by how little it is over the limit.
fn rounded(took: Duration, limit: Duration) -> String {
    let millis = Duration::from_millis(u64::try_from(took.as_millis()).unwrap_or(u64::MAX));
    if millis > limit {
        format!("{millis:?}")
    } else {
        format!("{took:?}")
    }
}

#[cfg(test)]
mod tests;
