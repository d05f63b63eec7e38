//! Expectations against observations.
//!
//! [`check`](check()) is a total, pure function from an expectation and an observation to a verdict. Behind `suite`, whose
//! expectations it reads, and `mcp`, whose observations it looks at; before `report`. It knows nothing of sessions,
//! servers and report formats.
//!
//! Expectations come in families (text, JSON, content, files, traffic, limits, HTTP, process, trajectory, negation), and the
//! file of a family answers all about its members: what the verdict is, what must be recorded or waited for
//! ([`waiting`]), and whether an expectation can fail at all ([`vacuity`]). [`outcome`] holds what comes out: verdicts and
//! mismatches as data, the [`Outcome`](outcome::Outcome) of an assertion, and the events of a run.
//!
//! No I/O, no clock, no environment, no `Result`: what cannot be decided is a verdict too.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

mod answer;
mod ask;
mod content;
mod files;
mod go;
mod http;
mod json;
mod limits;
mod negation;
pub mod outcome;
mod pattern;
mod phrase;
mod process;
mod text;
mod traffic;
mod traits;
mod trajectory;
mod unfetched;
pub mod vacuity;
mod view;
pub mod waiting;

#[cfg(test)]
#[path = "tests/sample.rs"]
mod sample;
#[cfg(test)]
mod tests;

use self::{ask::Ask, traits::Traits};
pub use self::{json::output_findings as findings_of_answer, traffic::unheard as unheard_findings};
use crate::outcome::verdict::{Mismatch, Verdict};
use mcp::observation::{Observation, answer::Body};
use suite::model::expectation::{AnswerWanted, Expectation};

/// Says whether `seen` satisfies `wanted`. Total and pure.
pub fn check(wanted: &Expectation, seen: &Observation) -> Verdict {
    unfetched::weigh(wanted, judged(wanted, seen), seen)
}

/// Likewise, as if every list was fetched to its end.
fn judged(wanted: &Expectation, seen: &Observation) -> Verdict {
    match wanted {
        Expectation::Answer(wanted) => answer::check(wanted, seen),
        Expectation::Text(wanted) => text::check(wanted, seen),
        Expectation::Json(wanted) => json::check(wanted, seen),
        Expectation::Content(wanted) => content::check(wanted, seen),
        Expectation::Files(wanted) => files::check(wanted, seen),
        Expectation::Traffic(wanted) => traffic::check(wanted, seen),
        Expectation::Limits(wanted) => limits::check(wanted, seen),
        Expectation::Http(wanted) => http::check(wanted, seen),
        Expectation::Process(wanted) => process::check(wanted, seen),
        Expectation::Trajectory(rule) => trajectory::check(rule, seen),
        Expectation::Not(inner) => negation::check(inner, seen),
    }
}

/// An expectation's key and clause.
fn asked(expectation: &Expectation) -> Ask {
    match expectation {
        Expectation::Answer(wanted) => answer::ask(wanted),
        Expectation::Text(wanted) => text::ask(wanted),
        Expectation::Json(wanted) => json::ask(wanted),
        Expectation::Content(wanted) => content::ask(wanted),
        Expectation::Files(wanted) => files::ask(wanted),
        Expectation::Traffic(wanted) => traffic::ask(wanted),
        Expectation::Limits(wanted) => limits::ask(wanted),
        Expectation::Http(wanted) => http::ask(wanted),
        Expectation::Process(wanted) => process::ask(wanted),
        Expectation::Trajectory(rule) => trajectory::ask(rule),
        Expectation::Not(inner) => negation::ask(inner),
    }
}

/// Whether any observation fails the expectation.
pub fn can_fail(expectation: &Expectation) -> bool {
    traits(expectation).unfailable.is_none()
}

/// What is known of an expectation beside its verdict.
fn traits(expectation: &Expectation) -> Traits {
    let traits = match expectation {
        Expectation::Answer(wanted) => answer::traits(wanted),
        Expectation::Text(wanted) => text::traits(wanted),
        Expectation::Json(wanted) => json::traits(wanted),
        Expectation::Content(wanted) => content::traits(wanted),
        Expectation::Files(wanted) => files::traits(wanted),
        Expectation::Traffic(wanted) => traffic::traits(wanted),
        Expectation::Limits(wanted) => limits::traits(wanted),
        Expectation::Http(wanted) => http::traits(wanted),
        Expectation::Process(wanted) => process::traits(wanted),
        Expectation::Trajectory(rule) => trajectory::traits(rule),
        Expectation::Not(inner) => negation::traits(inner),
    };
    let unfailable = traits.unfailable.or_else(|| {
        let nothing = expectation.asks_nothing();
        nothing.then(|| format!("`{}` asks for nothing", asked(expectation).key))
    });
    Traits {
        unfailable,
        ..traits
    }
}

/// The mismatch when the answer is a JSON-RPC error that no expectation speaks of: bounds on time, files or
/// notifications may hold all the same, and the call failed.
pub fn unasked_error(wanted: &[&Expectation], seen: &Observation) -> Option<Mismatch> {
    let answer = seen.answer.as_ref()?;
    let Body::ProtocolError(error) = &answer.body else {
        return None;
    };
    let is_error = |one: &Expectation| {
        let Expectation::Answer(wanted) = one else {
            return false;
        };
        match wanted {
            AnswerWanted::Error(_) | AnswerWanted::Refused(true) => true,
            AnswerWanted::NotError(_) | AnswerWanted::IsError(_) | AnswerWanted::Refused(false) => {
                false
            }
        }
    };
    let is_asked = wanted.iter().any(|one| {
        is_error(one)
            || matches!(one, Expectation::Not(inner) if inner.iter().any(|(_, one)| is_error(one)))
    });
    let ask = Ask::new("not_error", "a result");
    (!is_asked).then(|| view::refused(&ask, error, answer.unserved))
}
