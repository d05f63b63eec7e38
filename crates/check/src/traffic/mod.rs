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
    ask::Ask,
    outcome::verdict::Verdict,
    traits::{Sway, Traits},
};
use mcp::observation::Observation;
use suite::model::expectation::{Presence, TrafficWanted};

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

pub(super) fn traits(wanted: &TrafficWanted) -> Traits<'_> {
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
        holds_of_failure,
        ..Traits::PLAIN
    }
}

/// What a message that comes after the answer can do to the verdict.
pub(super) fn late(wanted: &TrafficWanted) -> Sway {
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
