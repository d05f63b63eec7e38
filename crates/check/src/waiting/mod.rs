//! What may still come after an answer, and how long it is waited for: a property of what is wanted, whatever the subject
//! or step. Whether enough has come is asked of the checks themselves, so that a wait and its verdict never disagree.

use std::{borrow::Cow, time::Duration};

use super::{check, traits, traits::Sway};
use crate::outcome::verdict::Verdict;
use mcp::observation::Observation;
use suite::model::expectation::Expectation;

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
            .map(|one| (traits(&one).late, one))
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
        let gaining = open.into_iter().filter(|(late, _)| late.gains);
        Some(Self {
            least,
            most,
            gaining: gaining.map(|(_, one)| one.into_owned()).collect(),
        })
    }

    /// Whether all that something could still bring about has come about.
    pub fn is_enough(&self, seen: &Observation) -> bool {
        let mut gaining = self.gaining.iter();
        gaining.all(|one| check(one, seen) == Verdict::Held)
    }
}

#[cfg(test)]
mod tests;
