//! What may still come after an answer, and how long it is waited for: a property of what is wanted, whatever the subject
//! or step. Whether enough has come is asked of the checks themselves, so that a wait and its verdict never disagree.

use std::{borrow::Cow, time::Duration};

use super::{check, traffic, traits::Sway};
use crate::outcome::verdict::Verdict;
use mcp::observation::Observation;
use suite::model::expectation::{Expectation, TrafficWanted};

/// How long what must not come is waited for.
const ABSENT: Duration = Duration::from_millis(100);

/// How long what must come is waited for at most.
const PRESENT: Duration = Duration::from_secs(1);

/// A wait after an answer.
#[derive(Debug)]
pub struct Wait {
    /// So long whatever comes: what must not come may come until then.
    pub least: Duration,
    /// So long at most.
    pub most: Duration,
    /// What is waited for, for people.
    pub what: &'static str,
    /// What must hold to end it early.
    gaining: Vec<Expectation>,
}

impl Wait {
    /// The wait that these expectations ask for, `within` the time that the suite names; `None` where nothing that
    /// comes later is looked at.
    pub fn of<'w>(
        wanted: impl IntoIterator<Item = Cow<'w, Expectation>>,
        within: Option<Duration>,
    ) -> Option<Self> {
        let open: Vec<(Sway, Cow<'w, Expectation>)> = wanted
            .into_iter()
            .map(|one| (late(&one), one))
            .filter(|(late, _)| *late != Sway::NONE)
            .collect();
        let all = open.iter().fold(Sway::NONE, |all, (late, _)| all.or(*late));
        if all == Sway::NONE {
            return None;
        }
        let least = if all.loses {
            within.unwrap_or(ABSENT)
        } else {
            Duration::ZERO
        };
        let most = if all.gains {
            within.unwrap_or(PRESENT)
        } else {
            least
        };
        let what = if open.iter().all(|(_, one)| about_requests(one)) {
            "requests of the server"
        } else {
            "notifications"
        };
        let gaining = open.into_iter().filter(|(late, _)| late.gains);
        Some(Self {
            least,
            most,
            what,
            gaining: gaining.map(|(_, one)| one.into_owned()).collect(),
        })
    }

    /// Whether all that something could still bring about has come about.
    pub fn is_enough(&self, seen: &Observation) -> bool {
        let mut gaining = self.gaining.iter();
        gaining.all(|one| check(one, seen) == Verdict::Held)
    }
}

/// What something that comes after the answer can do to the verdict of an expectation.
fn late(expectation: &Expectation) -> Sway {
    match expectation {
        Expectation::Traffic(wanted) => traffic::late(wanted),
        Expectation::Not(inner) => inner
            .iter()
            .map(|(_, one)| late(one).of_not())
            .fold(Sway::NONE, Sway::or),
        Expectation::Answer(_)
        | Expectation::Text(_)
        | Expectation::Json(_)
        | Expectation::Content(_)
        | Expectation::Files(_)
        | Expectation::Limits(_)
        | Expectation::Http(_)
        | Expectation::Process(_)
        | Expectation::Trajectory(_) => Sway::NONE,
    }
}

/// Whether an expectation is about requests of the server alone.
fn about_requests(expectation: &Expectation) -> bool {
    if let Expectation::Not(inner) = expectation {
        let mut open = inner.iter().filter(|(_, one)| late(one) != Sway::NONE);
        return open.all(|(_, one)| about_requests(one));
    }
    matches!(
        expectation,
        Expectation::Traffic(TrafficWanted::ServerRequests(_))
    )
}

#[cfg(test)]
mod tests;
