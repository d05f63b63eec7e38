//! The `expect` of `assert_logging`: log messages of the server.

use serde_json::Value;

use crate::{
    ask::{self, Ask, Forbids},
    go,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traffic::lines,
    view,
};
use mcp::observation::{NotificationSeen, Observation, answer::Interest};
use suite::{
    model::expectation::{LogLevel, LoggingWanted},
    written::Part,
};
use text::count;

/// The method of a log message.
const MESSAGE: &str = "notifications/message";

/// The `expect` of `assert_logging`, as a whole.
pub(super) fn ask(wanted: &LoggingWanted) -> Ask {
    let mut clauses: Vec<String> = [
        wanted.min_messages.map(|least| ask_least(least).wanted),
        wanted.max_messages.map(|most| ask_most(most).wanted),
        wanted.not_below.map(|level| ask_not_below(level).wanted),
    ]
    .into_iter()
    .flatten()
    .collect();
    let levels = wanted.contains_level.iter();
    clauses.extend(levels.map(|level| ask_level(level).wanted));
    let data = wanted.contains_data.iter();
    clauses.extend(data.map(|data| ask_data(data).wanted));
    Ask::new("assert_logging", phrase::joined(&clauses, "and"))
}

fn ask_least(least: u64) -> Ask {
    Ask::new("min_messages", format!("at least {}", number(least)))
}

fn ask_most(most: u64) -> Ask {
    Ask::new("max_messages", format!("at most {}", number(most)))
}

fn ask_level(level: &str) -> Ask {
    Ask::new(
        "contains_level",
        format!("a log message of level {}", phrase::quoted(level)),
    )
}

fn ask_data(data: &str) -> Ask {
    Ask::new(
        "contains_data",
        format!("a log message with {} in its data", phrase::quoted(data)),
    )
}

fn ask_not_below(level: LogLevel) -> Ask {
    Ask::new(
        "not_below",
        format!("no log message below {}", phrase::quoted(level.name())),
    )
}

fn number(number: u64) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), "log message")
}

/// The log messages from the request for their level on, which comes before the setup, as in the Go tool. Where the
/// subject sets none, a step may, and all up to the end of the subject count; for `not_below` those from its call on.
pub(super) fn logging(wanted: &LoggingWanted, seen: &Observation) -> Verdict {
    let told = match view::interest(seen) {
        Some(Interest::Logs) => view::notifications(seen),
        Some(Interest::Updates(_)) | None => view::notifications_so_far(seen),
    };
    let messages: Vec<&NotificationSeen> =
        told.iter().filter(|one| one.method == MESSAGE).collect();
    let absent: Vec<Mismatch> = absent(wanted, &messages)
        .into_iter()
        .map(|mismatch| view::without(mismatch, seen))
        .collect();
    let count = messages.len() as u64;
    let most = wanted.max_messages.filter(|most| count > *most);
    let too_many = most.map(|most| miscounted(&ask_most(most), &messages));
    let too_many = too_many.map(|it| it.within(Part::Member("max_messages")));
    let low = wanted.not_below.and_then(|level| below(level, seen));
    let low = low.map(|it| it.within(Part::Member("not_below")));
    let mut forbidden: Vec<Mismatch> = [too_many, low].into_iter().flatten().collect();
    if !view::is_flooded(seen) {
        return Verdict::from_mismatches([absent, forbidden].concat());
    }
    let open = wanted.max_messages.is_none() && wanted.not_below.is_none();
    let forbids = if open {
        Forbids::Nothing
    } else {
        Forbids::Something
    };
    ask::count_amid_flood(&mut forbidden, "max_messages");
    ask::amid_flood(forbidden, &absent, forbids)
}

/// What is wanted and did not come.
fn absent(wanted: &LoggingWanted, messages: &[&NotificationSeen]) -> Vec<Mismatch> {
    let count = messages.len() as u64;
    let least = wanted.min_messages.filter(|least| count < *least);
    let mut mismatches: Vec<Mismatch> = least
        .map(|least| miscounted(&ask_least(least), messages))
        .map(|it| it.within(Part::Member("min_messages")))
        .into_iter()
        .collect();
    let levels = wanted.contains_level.iter().enumerate();
    let levels = levels.filter(|(_, level)| {
        !messages
            .iter()
            .any(|one| level_of(one) == Some(level.as_str()))
    });
    mismatches.extend(levels.map(|(index, level)| Mismatch {
        part: vec![Part::Member("contains_level"), Part::Item(index)],
        ..miscounted(&ask_level(level), messages)
    }));
    let data = wanted.contains_data.iter().enumerate();
    let data = data.filter(|(_, data)| !messages.iter().any(|one| has_data(one, data)));
    mismatches.extend(data.map(|(index, data)| Mismatch {
        part: vec![Part::Member("contains_data"), Part::Item(index)],
        ..miscounted(&ask_data(data), messages)
    }));
    mismatches
}

/// A mismatch that lists what came.
fn miscounted(ask: &Ask, messages: &[&NotificationSeen]) -> Mismatch {
    Mismatch {
        actual: shown(messages),
        ..ask.miss(summary(messages))
    }
}

/// The first message below a level, or of a level that does not exist.
fn below(level: LogLevel, seen: &Observation) -> Option<Mismatch> {
    let ask = ask_not_below(level);
    view::notifications(seen)
        .iter()
        .filter(|one| one.method == MESSAGE)
        .find_map(|one| {
            let word = level_of(one).unwrap_or_default();
            let summary = match LogLevel::from_name(word) {
                Some(seen) if seen >= level => return None,
                Some(_) => format!("there is one of level {}", phrase::quoted(word)),
                None => format!("there is one of the unknown level {}", phrase::quoted(word)),
            };
            Some(Mismatch {
                actual: shown(&[one]),
                ..ask.miss(summary)
            })
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
fn summary(messages: &[&NotificationSeen]) -> String {
    let mut levels: Vec<&str> = Vec::new();
    for one in messages {
        let level = level_of(one).unwrap_or("(none)");
        if !levels.contains(&level) && levels.len() < 16 {
            levels.push(level);
        }
    }
    match messages.len() {
        0 => "none came".to_owned(),
        number => format!("{number} came, of level {}", phrase::list(&levels, "and")),
    }
}

/// The first messages, one a line.
fn shown(messages: &[&NotificationSeen]) -> Option<String> {
    lines(messages.iter().map(|one| one.params.to_string()))
}

#[cfg(test)]
mod tests;
