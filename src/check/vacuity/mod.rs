//! Empty passes: green assertions that prove nothing. Either nothing can fail what they want, or the call
//! never reached what they mean to test, there was nothing to look at, or not all was looked at. A doubt is not reported.

mod nothing_seen;
mod others;
mod pattern;
mod unfailable;
mod untested;

pub(crate) use self::untested::of_no_tool;
use crate::{
    observation::{
        Observation,
        finding::{Finding, FindingCode, note},
    },
    suite::model::{Body, expectation::Expectation},
};

/// Why a pass of these expectations on this observation would be empty; meant for assertions that passed.
pub(crate) fn findings(wanted: &[&Expectation], seen: &Observation) -> Vec<Finding> {
    let unfailable = wanted
        .iter()
        .filter_map(|expectation| unfailable::reason(expectation));
    let untested = untested::reason(wanted, seen)
        .or_else(|| untested::silence(wanted, seen))
        .or_else(|| untested::unspoken_error(wanted, seen));
    let mut findings = Vec::new();
    let nothing_seen = wanted
        .iter()
        .filter_map(|expectation| nothing_seen::reason(expectation, seen));
    let others = wanted
        .iter()
        .filter_map(|expectation| others::reason(expectation, seen));
    for reason in unfailable.chain(untested).chain(nothing_seen).chain(others) {
        note(&mut findings, FindingCode::Vacuous, reason, None);
    }
    findings
}

/// Why steps by which nothing is wanted prove nothing; meant for assertions that passed and want nothing else.
pub(crate) fn of_steps(body: &Body) -> Option<Finding> {
    let mut findings = Vec::new();
    if let Some(reason) = untested::open_steps(body) {
        note(&mut findings, FindingCode::Vacuous, reason, None);
    }
    findings.pop()
}

#[cfg(test)]
mod tests;
