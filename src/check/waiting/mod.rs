//! What may still come after an answer, and how long it is waited for: a property of what is wanted, whatever the subject
//! or step. Whether enough has come is asked of the checks themselves, so that a wait and its verdict never disagree.

use std::{borrow::Cow, time::Duration};

use super::check;
use crate::{
    observation::Observation,
    outcome::verdict::Verdict,
    suite::model::expectation::{
        Expectation, LoggingWanted, NotificationsWanted, Presence, ServerRequestWanted,
    },
};

/// How long what must not come is waited for.
const ABSENT: Duration = Duration::from_millis(100);

/// How long what must come is waited for at most.
const PRESENT: Duration = Duration::from_secs(1);

/// A wait after an answer.
#[derive(Debug)]
pub(crate) struct Wait {
    /// So long whatever comes: what must not come may come until then.
    pub(crate) least: Duration,
    /// So long at most.
    pub(crate) most: Duration,
    /// What is waited for, for people.
    pub(crate) what: &'static str,
    /// What must hold to end it early.
    gaining: Vec<Expectation>,
}

/// What something that comes after the answer can do to the verdict of an expectation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Effect {
    /// It can make it hold.
    gains: bool,
    /// It can make it not hold any more.
    loses: bool,
}

impl Wait {
    /// The wait that these expectations ask for, `within` the time that the suite names; `None` where nothing that
    /// comes later is looked at.
    pub(crate) fn of<'w>(
        wanted: impl IntoIterator<Item = Cow<'w, Expectation>>,
        within: Option<Duration>,
    ) -> Option<Self> {
        let open: Vec<(Effect, Cow<'w, Expectation>)> = wanted
            .into_iter()
            .map(|one| (effect(&one), one))
            .filter(|(effect, _)| *effect != Effect::NONE)
            .collect();
        let gains = open.iter().any(|(effect, _)| effect.gains);
        let loses = open.iter().any(|(effect, _)| effect.loses);
        if !gains && !loses {
            return None;
        }
        let least = if loses {
            within.unwrap_or(ABSENT)
        } else {
            Duration::ZERO
        };
        let most = if gains {
            within.unwrap_or(PRESENT)
        } else {
            least
        };
        let what = if open.iter().all(|(_, one)| about_requests(one)) {
            "requests of the server"
        } else {
            "notifications"
        };
        let gaining = open.into_iter().filter(|(effect, _)| effect.gains);
        Some(Self {
            least,
            most,
            what,
            gaining: gaining.map(|(_, one)| one.into_owned()).collect(),
        })
    }

    /// Whether all that something could still bring about has come about.
    pub(crate) fn is_enough(&self, seen: &Observation) -> bool {
        let mut gaining = self.gaining.iter();
        gaining.all(|one| check(one, seen) == Verdict::Held)
    }
}

impl Effect {
    /// Nothing that comes later is looked at.
    const NONE: Self = Self {
        gains: false,
        loses: false,
    };

    /// What it does to the opposite.
    fn of_not(self) -> Self {
        Self {
            gains: self.loses,
            loses: self.gains,
        }
    }
}

impl FromIterator<Self> for Effect {
    fn from_iter<I: IntoIterator<Item = Self>>(effects: I) -> Self {
        effects.into_iter().fold(Self::NONE, |all, one| Self {
            gains: all.gains || one.gains,
            loses: all.loses || one.loses,
        })
    }
}

fn effect(expectation: &Expectation) -> Effect {
    match expectation {
        Expectation::Notifications(wanted) => of_notifications(wanted),
        Expectation::Logging(wanted) => of_logging(wanted),
        Expectation::ResourceUpdated(wanted) => Effect {
            gains: *wanted == Presence::Present,
            loses: *wanted == Presence::Absent,
        },
        Expectation::ServerRequests(wanted) if wanted.is_empty() => Effect {
            gains: false,
            loses: true,
        },
        Expectation::ServerRequests(wanted) => wanted.iter().map(of_request).collect(),
        Expectation::Not(inner) => inner.iter().map(|(_, one)| effect(one).of_not()).collect(),
        // Progress that comes after the answer is late; the rest is about the answer, or is known only at the end.
        Expectation::MinProgress(_)
        | Expectation::Progress(_)
        | Expectation::NotError(_)
        | Expectation::IsError(_)
        | Expectation::Error(_)
        | Expectation::NotEmpty(_)
        | Expectation::Equals(_)
        | Expectation::Contains(_)
        | Expectation::ContainsAny(_)
        | Expectation::NotContains(_)
        | Expectation::InOrder(_)
        | Expectation::MatchesRegex(_)
        | Expectation::JsonPath(_)
        | Expectation::Structured(_)
        | Expectation::JsonSchema(_)
        | Expectation::OutputSchema(_)
        | Expectation::Content(_)
        | Expectation::MinResults(_)
        | Expectation::MaxResults(_)
        | Expectation::NetDelta { .. }
        | Expectation::FileContains(_)
        | Expectation::FileNotContains(_)
        | Expectation::FileEquals(_)
        | Expectation::FileExists(_)
        | Expectation::FileNotExists(_)
        | Expectation::FileUnchanged(_)
        | Expectation::OnlyChanged(_)
        | Expectation::MaxDuration(_)
        | Expectation::MaxBytes(_)
        | Expectation::Stderr(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Snapshot(_)
        | Expectation::Trajectory(_) => Effect::NONE,
    }
}

fn of_notifications(wanted: &NotificationsWanted) -> Effect {
    let NotificationsWanted {
        since: _,
        min_count,
        max_count,
        methods,
        not_methods,
        in_order,
        contains_data,
        not_contains_data,
        provoked: _,
    } = wanted;
    let must = [methods, in_order, contains_data];
    let must_not = [not_methods, not_contains_data];
    Effect {
        gains: min_count.is_some_and(|least| least > 0) || must.iter().any(|list| !list.is_empty()),
        loses: max_count.is_some() || must_not.iter().any(|list| !list.is_empty()),
    }
}

fn of_logging(wanted: &LoggingWanted) -> Effect {
    let LoggingWanted {
        min_messages,
        max_messages,
        contains_level,
        contains_data,
        not_below,
    } = wanted;
    let must = [contains_level, contains_data];
    Effect {
        gains: min_messages.is_some_and(|least| least > 0)
            || must.iter().any(|list| !list.is_empty()),
        loses: max_messages.is_some() || not_below.is_some(),
    }
}

/// So many requests are no more.
fn of_request(wanted: &ServerRequestWanted) -> Effect {
    Effect {
        gains: wanted.count != Some(0),
        loses: wanted.count.is_some(),
    }
}

/// Whether an expectation is about requests of the server alone.
fn about_requests(expectation: &Expectation) -> bool {
    if let Expectation::Not(inner) = expectation {
        let mut open = inner.iter().filter(|(_, one)| effect(one) != Effect::NONE);
        return open.all(|(_, one)| about_requests(one));
    }
    matches!(expectation, Expectation::ServerRequests(_))
}

#[cfg(test)]
mod tests;
