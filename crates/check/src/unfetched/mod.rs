//! Verdicts on a list that was not fetched to its end: one that its rest could change cannot be told. Knows nothing of why
//! the rest was not fetched.

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::{
    json::{Step, steps_of},
    outcome::verdict::Verdict,
    traits,
    traits::Sway,
    view,
};
use mcp::observation::{
    Observation,
    answer::{Reply, Unfetched},
};
use suite::model::expectation::{Expectation, JsonWanted, Matcher, PathRule, ValueRule};

/// The verdict of an expectation of which the answer is a list that may not be whole.
pub(super) fn weigh(wanted: &Expectation, verdict: Verdict, seen: &Observation) -> Verdict {
    let Some((reply, list)) = cut_off(seen) else {
        return verdict;
    };
    let more = sway(wanted, reply, list);
    match verdict {
        Verdict::Held if more.loses => untold(list),
        Verdict::Missed(_) if more.gains => untold(list),
        Verdict::Held | Verdict::Missed(_) | Verdict::Unknowable(_) => verdict,
    }
}

/// The verdict of `not` when an answer has nothing of what an expectation speaks of: the rest may have it.
pub(super) fn weigh_unspoken(
    expectation: &Expectation,
    verdict: Verdict,
    seen: &Observation,
) -> Verdict {
    match (cut_off(seen), &verdict) {
        (Some((reply, list)), Verdict::Missed(_))
            if sway(expectation, reply, list) != Sway::NONE =>
        {
            untold(list)
        }
        (_, _) => verdict,
    }
}

/// The answer, where it is a list that is not whole.
fn cut_off(seen: &Observation) -> Option<(&Reply, &Unfetched)> {
    let reply = view::reply(seen).ok()?;
    Some((reply, reply.unfetched.as_ref()?))
}

fn untold(list: &Unfetched) -> Verdict {
    Verdict::Unknowable(format!("{}, and the rest was not fetched", list.reason))
}

/// What the rest of a list can do to the verdict of an expectation.
fn sway(expectation: &Expectation, reply: &Reply, list: &Unfetched) -> Sway {
    let more = traits(expectation).more;
    if let Expectation::Json(JsonWanted::JsonPath(rules)) = expectation {
        let of_rule = |rule: &PathRule| match reach(&rule.path, reply, list) {
            Reach::Known => Sway::NONE,
            Reach::List | Reach::Unclear if wants_only_existence(&rule.rule) => Sway::GAINS,
            Reach::List | Reach::Unclear => Sway::BOTH,
        };
        return rules.iter().map(of_rule).fold(Sway::NONE, Sway::or);
    }
    if let Expectation::Json(JsonWanted::MinResults(count) | JsonWanted::MaxResults(count)) =
        expectation
        && let Some(path) = &count.path
    {
        return match reach(&path.path, reply, list) {
            Reach::Known => Sway::NONE,
            Reach::List => more,
            Reach::Unclear => Sway::BOTH,
        };
    }
    more
}

/// Where a path leads in an answer with such a list.
enum Reach {
    /// To what is not of the list, or into an item that is known.
    Known,
    /// To the list itself.
    List,
    /// To what may be in the rest.
    Unclear,
}

fn reach(path: &JsonPath, reply: &Reply, list: &Unfetched) -> Reach {
    let items = reply.raw.get(list.member).and_then(Value::as_array);
    let items = items.map_or(0, Vec::len);
    match steps_of(path).as_deref() {
        Some([Step::Name(name), ..]) if name != list.member => Reach::Known,
        Some([Step::Name(_)]) => Reach::List,
        Some([Step::Name(_), Step::Index(at), ..])
            if usize::try_from(*at).is_ok_and(|at| at < items) =>
        {
            Reach::Known
        }
        Some(_) | None => Reach::Unclear,
    }
}

/// Whether a rule wants nothing but that something is there.
fn wants_only_existence(rule: &ValueRule) -> bool {
    matches!(rule, ValueRule::Matchers(matchers) if matchers.iter().all(|it| matches!(it, Matcher::Exists(true))))
}

#[cfg(test)]
mod tests;
