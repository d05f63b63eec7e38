//! The family of what the server sends beside the answer: `min_progress`, `progress`, `notifications`, `server_requests`,
//! `findings`, and what `assert_logging` and `assert_resources` expect.

mod findings;
mod logging;
mod notifications;
mod progress;
mod requests;

use serde_json::Value;

pub use self::findings::unheard;
use crate::{
    ask::{self, Ask},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traits::{Sway, Traits},
    view,
};
use mcp::observation::{NotificationSeen, Observation};
use suite::{
    model::expectation::{Presence, TrafficWanted},
    written::Part,
};
use text::count;

pub(super) fn check(wanted: &TrafficWanted, seen: &Observation) -> Verdict {
    match wanted {
        TrafficWanted::MinProgress(least) => progress::at_least("min_progress", *least, seen),
        TrafficWanted::Progress(wanted) => progress::progress(wanted, seen),
        TrafficWanted::Notifications(wanted) => notifications::notifications(wanted, seen),
        TrafficWanted::Logging(wanted) => logging::logging(wanted, seen),
        TrafficWanted::ResourceUpdated(wanted) => notifications::updated(*wanted, seen),
        TrafficWanted::ServerRequests(wanted) => requests::server_requests(wanted, seen),
        TrafficWanted::Findings(allowed) => findings::findings(allowed, seen),
    }
}

pub(super) fn ask(wanted: &TrafficWanted) -> Ask {
    match wanted {
        TrafficWanted::MinProgress(least) => progress::ask_least("min_progress", *least),
        TrafficWanted::Progress(wanted) => progress::ask(wanted),
        TrafficWanted::Notifications(wanted) => notifications::ask(wanted),
        TrafficWanted::Logging(wanted) => logging::ask(wanted),
        TrafficWanted::ResourceUpdated(wanted) => notifications::ask_updated(*wanted),
        TrafficWanted::ServerRequests(wanted) => requests::ask(wanted),
        TrafficWanted::Findings(allowed) => findings::ask(allowed),
    }
}

pub(super) fn traits(wanted: &TrafficWanted) -> Traits {
    let holds_of_failure = match wanted {
        TrafficWanted::MinProgress(_)
        | TrafficWanted::Progress(_)
        | TrafficWanted::ResourceUpdated(_) => false,
        TrafficWanted::Notifications(wanted) => wanted.wants_none(),
        TrafficWanted::Logging(wanted) => wanted.wants_none(),
        TrafficWanted::ServerRequests(wanted) => wanted.iter().all(|one| one.count == Some(0)),
        // The protocol is kept in errors too.
        TrafficWanted::Findings(_) => true,
    };
    Traits {
        late: late(wanted),
        holds_of_failure,
        ..Traits::PLAIN
    }
}

/// What a message that comes after the answer can do to the verdict.
fn late(wanted: &TrafficWanted) -> Sway {
    match wanted {
        // Progress that comes after the answer does not count; findings are judged when all is over.
        TrafficWanted::MinProgress(_) | TrafficWanted::Progress(_) | TrafficWanted::Findings(_) => {
            Sway::NONE
        }
        TrafficWanted::Notifications(wanted) => Sway::new(
            !wanted.wants_none(),
            wanted.max_count.is_some()
                || !wanted.not_methods.is_empty()
                || !wanted.not_contains_data.is_empty(),
        ),
        TrafficWanted::Logging(wanted) => Sway::new(
            !wanted.wants_none(),
            wanted.max_messages.is_some() || wanted.not_below.is_some(),
        ),
        TrafficWanted::ResourceUpdated(Presence::Present) => Sway::GAINS,
        TrafficWanted::ResourceUpdated(Presence::Absent) => Sway::LOSES,
        TrafficWanted::ServerRequests(wanted) if wanted.is_empty() => Sway::LOSES,
        // So many requests are no more.
        TrafficWanted::ServerRequests(wanted) => wanted
            .iter()
            .map(|one| Sway::new(one.count != Some(0), one.count.is_some()))
            .fold(Sway::NONE, Sway::or),
    }
}

/// What came instead of what a clause wants.
type Miss<'a> = dyn Fn(&[&NotificationSeen]) -> Option<Mismatch> + 'a;

/// One clause of an expectation about notifications.
struct Clause<'a> {
    /// Its key.
    key: &'static str,
    /// Its place in the list under the key.
    item: Option<usize>,
    /// What it wants, as a clause.
    wanted: String,
    /// Whether it wants something not to come.
    forbids: bool,
    /// What came instead.
    miss: Box<Miss<'a>>,
}

impl<'a> Clause<'a> {
    fn new(
        key: &'static str,
        wanted: String,
        miss: impl Fn(&[&NotificationSeen]) -> Option<Mismatch> + 'a,
    ) -> Self {
        Self {
            key,
            item: None,
            wanted,
            forbids: false,
            miss: Box::new(miss),
        }
    }

    /// Bounds on how many there are, each with its key.
    fn bounds(
        (at_least, least): (&'static str, Option<u64>),
        (at_most, most): (&'static str, Option<u64>),
        noun: &str,
        came: fn(&[&NotificationSeen]) -> Mismatch,
    ) -> Vec<Self> {
        let least = least.map(|least| {
            let wanted = format!("at least {}", count(least, noun));
            Self::new(at_least, wanted, move |told| {
                ((told.len() as u64) < least).then(|| came(told))
            })
        });
        let most = most.map(|most| {
            let wanted = format!("at most {}", count(most, noun));
            let clause = Self::new(at_most, wanted, move |told| {
                (told.len() as u64 > most).then(|| came(told))
            });
            clause.forbidding()
        });
        least.into_iter().chain(most).collect()
    }

    /// For each item of a list a clause.
    fn each(
        key: &'static str,
        items: &'a [String],
        wanted: impl Fn(&str) -> String,
        miss: fn(&str, &[&NotificationSeen]) -> Option<Mismatch>,
    ) -> Vec<Self> {
        let items = items.iter().enumerate();
        let clause = |(index, item): (usize, &'a String)| Self {
            item: Some(index),
            ..Self::new(key, wanted(item), move |told| miss(item, told))
        };
        items.map(clause).collect()
    }

    fn forbidding(self) -> Self {
        Self {
            forbids: true,
            ..self
        }
    }
}

/// All clauses together.
fn ask_all(key: &'static str, clauses: &[Clause<'_>]) -> Ask {
    let wanted: Vec<String> = clauses.iter().map(|it| it.wanted.clone()).collect();
    Ask::new(key, phrase::joined(&wanted, "and"))
}

/// The verdict on clauses, each about some of the notifications. A flood may hide what did not come; what was forbidden
/// and came is certain.
fn verdict<'s>(
    clauses: &[Clause<'_>],
    seen: &'s Observation,
    told: impl Fn(&Clause<'_>) -> Vec<&'s NotificationSeen>,
) -> Verdict {
    let (mut absent, mut forbidden) = (Vec::new(), Vec::new());
    let is_flooded = view::is_flooded(seen);
    for clause in clauses {
        let Some(mut missed) = (clause.miss)(&told(clause)) else {
            continue;
        };
        if is_flooded && clause.key.starts_with("max_") {
            missed.seen.insert_str(0, "at least ");
        }
        let item = clause.item.map(Part::Item);
        let inner = item.into_iter().chain(missed.part);
        let mismatch = Mismatch {
            key: clause.key,
            wanted: clause.wanted.clone(),
            part: [Part::Member(clause.key)]
                .into_iter()
                .chain(inner)
                .collect(),
            ..missed
        };
        if clause.forbids {
            forbidden.push(mismatch);
        } else {
            absent.push(view::without(mismatch, seen));
        }
    }
    if !is_flooded {
        return Verdict::from_mismatches([absent, forbidden].concat());
    }
    if !forbidden.is_empty() {
        return Verdict::Missed(forbidden);
    }
    if absent.is_empty() && !clauses.iter().any(|it| it.forbids) {
        return Verdict::Held;
    }
    ask::hidden_by_flood()
}

/// The different ones of some words, of many the first.
fn distinct<'a>(all: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut words: Vec<&str> = Vec::new();
    for word in all {
        if !words.contains(&word) && words.len() < 16 {
            words.push(word);
        }
    }
    words
}

/// A message on one line.
fn line(method: &str, params: &Value) -> String {
    if params.is_null() {
        return method.to_owned();
    }
    format!("{method} {params}")
}

/// The first of these lines; the last one says how many more there are.
fn lines(all: impl ExactSizeIterator<Item = String>) -> Option<String> {
    const MOST: usize = 20;
    let more = all.len().saturating_sub(MOST);
    let first = all.take(MOST).map(|line| text::head(&line, 200));
    let last = (more > 0).then(|| format!("… {more} more"));
    let lines: Vec<String> = first.chain(last).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
