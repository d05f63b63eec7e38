//! Verdicts on a list that was not fetched to its end. What the rest of it could still change cannot be told; what it
//! cannot change stands. Knows nothing of why the rest was not fetched.

use serde_json::Value;

use crate::{
    check::{json, view},
    observation::{
        Observation,
        answer::{Reply, Unfetched},
    },
    outcome::verdict::{Mismatch, Verdict},
    suite::{
        model::expectation::{Expectation, PathRule, ResultCount},
        written::Part,
    },
};

/// What more items can do to a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sway {
    /// They can make it hold.
    gains: bool,
    /// They can make it not hold any more.
    loses: bool,
}

impl Sway {
    /// Nothing.
    pub(super) const NONE: Self = Self::new(false, false);
    /// What is wanted may be among them.
    pub(super) const GAINS: Self = Self::new(true, false);
    /// What is not wanted may be among them.
    pub(super) const LOSES: Self = Self::new(false, true);
    /// Either.
    pub(super) const BOTH: Self = Self::new(true, true);

    const fn new(gains: bool, loses: bool) -> Self {
        Self { gains, loses }
    }

    /// What they can do to one of the two.
    pub(super) fn or(self, other: Self) -> Self {
        Self::new(self.gains || other.gains, self.loses || other.loses)
    }

    /// The verdict when only a part was looked at.
    fn weigh(self, verdict: Verdict, list: &Unfetched) -> Verdict {
        match verdict {
            Verdict::Held if self.loses => untold(list),
            Verdict::Missed(_) if self.gains => untold(list),
            Verdict::Held | Verdict::Missed(_) | Verdict::Unknowable(_) => verdict,
        }
    }
}

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
        (Expectation::JsonPath(rules), Verdict::Missed(mismatches)) => {
            certain_of(rules, mismatches, (reply, list))
        }
        (_, verdict) => sway(wanted, (reply, list)).weigh(verdict, list),
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
            Sway::BOTH.weigh(verdict, list)
        }
        Some(_) | None => verdict,
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
    match expectation {
        Expectation::Contains(_)
        | Expectation::ContainsAny(_)
        | Expectation::InOrder(_)
        | Expectation::NotEmpty(true) => Sway::GAINS,
        Expectation::NotEmpty(false)
        | Expectation::NotContains(_)
        | Expectation::MaxDuration(_)
        | Expectation::MaxBytes(_) => Sway::LOSES,
        Expectation::MatchesRegex(patterns) => {
            let mut patterns = patterns.iter();
            if patterns.any(|pattern| speaks_of_the_end(pattern.written())) {
                Sway::BOTH
            } else {
                Sway::GAINS
            }
        }
        Expectation::Equals(_) | Expectation::JsonSchema(_) | Expectation::Snapshot(_) => {
            Sway::BOTH
        }
        Expectation::JsonPath(rules) => rules
            .iter()
            .map(|rule| json::sway(rule, &reply.raw, beginning))
            .fold(Sway::NONE, Sway::or),
        Expectation::MinResults(rule) => of_count(rule, beginning, Sway::GAINS),
        Expectation::MaxResults(rule) => of_count(rule, beginning, Sway::LOSES),
        // What these look at is no part of a list, or is looked at by what is in them.
        Expectation::NotError(_)
        | Expectation::IsError(_)
        | Expectation::Error(_)
        | Expectation::Structured(_)
        | Expectation::OutputSchema(_)
        | Expectation::Content(_)
        | Expectation::NetDelta { .. }
        | Expectation::FileContains(_)
        | Expectation::FileNotContains(_)
        | Expectation::FileEquals(_)
        | Expectation::FileExists(_)
        | Expectation::FileNotExists(_)
        | Expectation::FileUnchanged(_)
        | Expectation::OnlyChanged(_)
        | Expectation::MinProgress(_)
        | Expectation::Progress(_)
        | Expectation::Notifications(_)
        | Expectation::Logging(_)
        | Expectation::ResourceUpdated(_)
        | Expectation::ServerRequests(_)
        | Expectation::Stderr(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Trajectory(_)
        | Expectation::Not(_) => Sway::NONE,
    }
}

/// What more items do to a bound on their number.
fn of_count(rule: &ResultCount, list: Beginning<'_>, more: Sway) -> Sway {
    match &rule.path {
        None => more,
        Some(path) => json::sway_of_count(path, list, more),
    }
}

/// Whether a pattern may speak of the end of the text, which is not known.
fn speaks_of_the_end(pattern: &str) -> bool {
    let mut signs = pattern.chars();
    while let Some(sign) = signs.next() {
        match sign {
            '$' => return true,
            '\\' if signs.next() == Some('z') => return true,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
