//! Expectations against observations, one file for each family of expectations. Pure: no I/O, no clock,
//! no environment. Knows nothing of sessions or reports.

mod ask;
mod errors;
mod go;
mod json;
mod number;
mod phrase;
mod text;
mod view;

#[cfg(test)]
mod sample;

use self::{errors::Kind, json::Source};
use crate::{
    observation::Observation, outcome::verdict::Verdict, suite::model::expectation::Expectation,
};

/// Says whether `seen` satisfies `wanted`. Total and pure.
pub(crate) fn check(wanted: &Expectation, seen: &Observation) -> Verdict {
    match wanted {
        Expectation::NotError(flag) => errors::kind("not_error", not_error(*flag), seen),
        Expectation::IsError(flag) => errors::kind("is_error", not_error(!*flag), seen),
        Expectation::Error(wanted) => errors::error(wanted, seen),
        Expectation::NotEmpty(flag) => text::not_empty(*flag, seen),
        Expectation::Equals(wanted) => text::equals(wanted, seen),
        Expectation::Contains(wanted) => text::contains(wanted, seen),
        Expectation::ContainsAny(wanted) => text::contains_any(wanted, seen),
        Expectation::NotContains(wanted) => text::not_contains(wanted, seen),
        Expectation::InOrder(wanted) => text::in_order(wanted, seen),
        Expectation::MatchesRegex(wanted) => text::matches_regex(wanted, seen),
        Expectation::JsonPath(wanted) => json::rules(Source::Text, wanted, seen),
        Expectation::Structured(wanted) => json::rules(Source::Structured, wanted, seen),
        _ => Verdict::Unknowable("this expectation is not checked".to_owned()),
    }
}

/// The kind of result that `not_error` with this flag wants.
fn not_error(flag: bool) -> Kind {
    if flag { Kind::Success } else { Kind::ToolError }
}
