//! Empty passes: green assertions that prove nothing. Either nothing can fail what they want, or the call
//! never reached what they mean to test, there was nothing to look at, or not all was looked at. A doubt is not reported.

mod untested;

pub use self::untested::of_no_tool;
use crate::{json, traits, trajectory};
use mcp::observation::{
    Observation,
    finding::{Finding, FindingCode, note},
};
use suite::model::{Body, expectation::Expectation};

/// Why a pass of these expectations on this observation would be empty; meant for assertions that passed.
pub fn findings(wanted: &[&Expectation], seen: &Observation) -> Vec<Finding> {
    let unfailable = wanted.iter().filter_map(|one| traits(one).unfailable);
    let untested = untested::reason(wanted, seen)
        .or_else(|| untested::silence(wanted, seen))
        .or_else(|| untested::unspoken_error(wanted, seen));
    let unproven = wanted.iter().filter_map(|one| unproven(one, seen));
    let mut findings = Vec::new();
    for reason in unfailable.chain(untested).chain(unproven) {
        note(&mut findings, FindingCode::Vacuous, reason, None);
    }
    findings
}

/// What an expectation that holds had not to look at, or not all of.
fn unproven(expectation: &Expectation, seen: &Observation) -> Option<String> {
    match expectation {
        Expectation::Json(wanted) => json::unproven(wanted, seen),
        Expectation::Trajectory(rule) => trajectory::unproven(rule, seen),
        Expectation::Answer(_)
        | Expectation::Text(_)
        | Expectation::Content(_)
        | Expectation::Files(_)
        | Expectation::Traffic(_)
        | Expectation::Limits(_)
        | Expectation::Http(_)
        | Expectation::Process(_)
        | Expectation::Not(_) => None,
    }
}

/// The finding for a passed assertion whose steps expect nothing.
pub fn of_steps(body: &Body) -> Option<Finding> {
    let mut findings = Vec::new();
    if let Some(reason) = untested::open_steps(body) {
        note(&mut findings, FindingCode::Vacuous, reason, None);
    }
    findings.pop()
}

#[cfg(test)]
mod tests;
