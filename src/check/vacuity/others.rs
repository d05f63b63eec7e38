//! Expectations that held of the first of several JSON values.

use crate::{
    check::{json, results, view},
    observation::Observation,
    suite::model::expectation::Expectation,
};

/// What an expectation that holds proves nothing about.
pub(super) fn reason(expectation: &Expectation, seen: &Observation) -> Option<String> {
    let looks_at_the_first = matches!(
        expectation,
        Expectation::JsonPath(_) | Expectation::MinResults(_)
    );
    let reply = view::reply(seen).ok().filter(|_| looks_at_the_first)?;
    if let Expectation::MinResults(rule) = expectation
        && results::is_elsewhere(rule, reply, seen.proof)
    {
        return None;
    }
    let several = json::several(&reply.text)?;
    Some(format!(
        "`{}` looked at the first of the {} JSON values in the text, which proves nothing of the others",
        crate::check::asked(expectation).key,
        several.values
    ))
}
