//! Verdicts on a list that was not fetched to its end. What the rest of it could still change cannot be told; what it
//! cannot change stands. Knows nothing of why the rest was not fetched.

use serde_json::Value;

use crate::{
    json,
    outcome::verdict::{Mismatch, Verdict},
    traits,
    traits::{More, Sway},
    view,
};
use mcp::observation::{
    Observation,
    answer::{Reply, Unfetched},
};
use suite::{
    model::expectation::{Expectation, JsonWanted, PathRule},
    written::Part,
};

/// A list of which only a part is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beginning<'a> {
    /// The member of the answer that is the list.
    pub(super) member: &'a str,
    /// How many items are known.
    pub(super) items: usize,
}

/// The verdict of an expectation, of which the answer is a list that may not be whole.
pub(super) fn weigh(wanted: &Expectation, verdict: Verdict, seen: &Observation) -> Verdict {
    let Some((reply, list)) = cut_off(seen) else {
        return verdict;
    };
    match (wanted, verdict) {
        (Expectation::Json(JsonWanted::JsonPath(rules)), Verdict::Missed(mismatches)) => {
            certain_of(rules, mismatches, (reply, list))
        }
        (_, verdict) => part_seen(sway(wanted, (reply, list)), verdict, list),
    }
}

/// The verdict of `not` when an answer has nothing of what an expectation speaks of: the rest may have it.
pub(super) fn weigh_unspoken(
    expectation: &Expectation,
    verdict: Verdict,
    seen: &Observation,
) -> Verdict {
    match cut_off(seen) {
        Some((reply, list)) if sway(expectation, (reply, list)) != Sway::NONE => {
            part_seen(Sway::BOTH, verdict, list)
        }
        Some(_) | None => verdict,
    }
}

/// The answer, where it is a list that is not whole.
fn cut_off(seen: &Observation) -> Option<(&Reply, &Unfetched)> {
    let reply = view::reply(seen).ok()?;
    Some((reply, reply.unfetched.as_ref()?))
}

/// The verdict when only a part was looked at.
fn part_seen(more: Sway, verdict: Verdict, list: &Unfetched) -> Verdict {
    match verdict {
        Verdict::Held if more.loses => untold(list),
        Verdict::Missed(_) if more.gains => untold(list),
        Verdict::Held | Verdict::Missed(_) | Verdict::Unknowable(_) => verdict,
    }
}

fn untold(list: &Unfetched) -> Verdict {
    Verdict::Unknowable(format!("{}, and the rest was not fetched", list.reason))
}

/// Of the mismatches of several rules those that stay whatever the rest is.
fn certain_of(
    rules: &[PathRule],
    mismatches: Vec<Mismatch>,
    (reply, list): (&Reply, &Unfetched),
) -> Verdict {
    let beginning = beginning(reply, list);
    let can_gain = |mismatch: &Mismatch| match mismatch.part.first() {
        Some(Part::Entry(index)) => rules
            .get(*index)
            .is_some_and(|rule| json::sway(rule, &reply.raw, beginning).gains),
        Some(Part::Item(_) | Part::Member(_)) | None => false,
    };
    let certain: Vec<Mismatch> = mismatches
        .into_iter()
        .filter(|mismatch| !can_gain(mismatch))
        .collect();
    if certain.is_empty() {
        untold(list)
    } else {
        Verdict::Missed(certain)
    }
}

fn beginning<'a>(reply: &Reply, list: &'a Unfetched) -> Beginning<'a> {
    let items = reply.raw.get(list.member).and_then(Value::as_array);
    Beginning {
        member: list.member,
        items: items.map_or(0, Vec::len),
    }
}

/// What the rest of a list can do to the verdict of an expectation.
fn sway(expectation: &Expectation, (reply, list): (&Reply, &Unfetched)) -> Sway {
    let beginning = beginning(reply, list);
    match traits(expectation).more {
        More::Does(sway) => sway,
        More::ToPaths(rules) => rules
            .iter()
            .map(|rule| json::sway(rule, &reply.raw, beginning))
            .fold(Sway::NONE, Sway::or),
        More::ToCount(rule, more) => match &rule.path {
            None => more,
            Some(path) => json::sway_of_count(path, beginning, more),
        },
    }
}

#[cfg(test)]
mod tests;
