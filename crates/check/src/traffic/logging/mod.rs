//! The `expect` of `assert_logging`: log messages of the server.

use serde_json::Value;

use crate::{
    ask::Ask,
    go,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traffic::{Clause, ask_all, distinct, lines, verdict},
    view,
};
use mcp::observation::{NotificationSeen, Observation, answer::Interest};
use suite::model::expectation::{LogLevel, LoggingWanted};

/// The method of a log message.
const MESSAGE: &str = "notifications/message";

/// The `expect` of `assert_logging`, as a whole.
pub(super) fn ask(wanted: &LoggingWanted) -> Ask {
    ask_all("assert_logging", &clauses(wanted))
}

fn clauses(wanted: &LoggingWanted) -> Vec<Clause<'_>> {
    let least = ("min_messages", wanted.min_messages);
    let most = ("max_messages", wanted.max_messages);
    let mut all = Clause::bounds(least, most, "log message", came);
    if let Some(level) = wanted.not_below {
        let clause = format!("no log message below {}", phrase::quoted(level.name()));
        let clause = Clause::new("not_below", clause, move |told| {
            told.iter().find_map(|one| below(level, one))
        });
        all.push(clause.forbidding());
    }
    let of_level = |level: &str| format!("a log message of level {}", phrase::quoted(level));
    all.extend(Clause::each(
        "contains_level",
        &wanted.contains_level,
        of_level,
        |level, told| {
            let is_there = told.iter().any(|one| level_of(one) == Some(level));
            (!is_there).then(|| came(told))
        },
    ));
    let with_data = |data: &str| format!("a log message with {} in its data", phrase::quoted(data));
    all.extend(Clause::each(
        "contains_data",
        &wanted.contains_data,
        with_data,
        |data, told| {
            let is_there = told.iter().any(|one| has_data(one, data));
            (!is_there).then(|| came(told))
        },
    ));
    all
}

/// The log messages from the request for their level on, which comes before the setup, as in the Go tool. Where the
/// subject sets none, a step may, and all up to the end of the subject count; for `not_below` those from its call on.
pub(super) fn logging(wanted: &LoggingWanted, seen: &Observation) -> Verdict {
    verdict(&clauses(wanted), seen, |clause| {
        let told = match view::interest(seen) {
            Some(Interest::Updates(_)) | None if clause.key != "not_below" => {
                view::notifications_so_far(seen)
            }
            Some(Interest::Logs | Interest::Updates(_)) | None => view::notifications(seen),
        };
        told.iter().filter(|one| one.method == MESSAGE).collect()
    })
}

/// A message below a level, or of a level that does not exist.
fn below(level: LogLevel, one: &NotificationSeen) -> Option<Mismatch> {
    let word = level_of(one).unwrap_or_default();
    let seen = match LogLevel::from_name(word) {
        Some(seen) if seen >= level => return None,
        Some(_) => format!("there is one of level {}", phrase::quoted(word)),
        None => format!("there is one of the unknown level {}", phrase::quoted(word)),
    };
    Some(Mismatch {
        seen,
        actual: shown(&[one]),
        ..Mismatch::default()
    })
}

fn level_of(one: &NotificationSeen) -> Option<&str> {
    one.params.get("level").and_then(Value::as_str)
}

/// Whether the data of a message has a text: the text itself, as JSON, or as the Go tool prints it.
fn has_data(one: &NotificationSeen, wanted: &str) -> bool {
    match one.params.get("data") {
        None => false,
        Some(Value::String(text)) => text.contains(wanted),
        Some(data) => {
            data.to_string().contains(wanted) || go::print(data, go::Floats::All).contains(wanted)
        }
    }
}

/// How many messages came, and of which levels.
fn came(messages: &[&NotificationSeen]) -> Mismatch {
    let levels = distinct(messages.iter().map(|one| level_of(one).unwrap_or("(none)")));
    let seen = match messages.len() {
        0 => "none came".to_owned(),
        number => format!("{number} came, of level {}", phrase::list(&levels, "and")),
    };
    Mismatch {
        seen,
        actual: shown(messages),
        ..Mismatch::default()
    }
}

/// The first messages, one a line.
fn shown(messages: &[&NotificationSeen]) -> Option<String> {
    lines(messages.iter().map(|one| one.params.to_string()))
}

#[cfg(test)]
mod tests;
