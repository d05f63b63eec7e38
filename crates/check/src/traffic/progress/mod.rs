//! `min_progress` and `progress`: the progress notifications that carry the token of this call. One that comes after the
//! answer is against the protocol and does not count, whatever else was listened to.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::{
    ask::{self, Ask},
    json,
    outcome::verdict::{Mismatch, Verdict},
    phrase, view,
};
use mcp::{
    json::number,
    observation::{NotificationSeen, Observation},
};
use suite::{model::expectation::ProgressWanted, written::Part};
use text::count;

/// `min_progress`
pub(super) fn ask_least(key: &'static str, least: u64) -> Ask {
    let least = count(least, "progress notification");
    Ask::new(key, format!("at least {least} for this call"))
}

fn ask_monotonic(wanted: bool) -> Ask {
    Ask::new(
        "progress",
        if wanted {
            "each progress value to be greater than the one before"
        } else {
            "some progress value not to be greater than the one before"
        },
    )
}

fn ask_total(wanted: bool) -> Ask {
    Ask::new(
        "progress",
        if wanted {
            "the last progress value to be the total"
        } else {
            "the last progress value not to be the total"
        },
    )
}

/// `progress`, as a whole.
pub(super) fn ask(wanted: &ProgressWanted) -> Ask {
    let clauses: Vec<String> = [
        wanted.min.map(|least| ask_least("progress", least).wanted),
        wanted.monotonic.map(|flag| ask_monotonic(flag).wanted),
        wanted.last_equals_total.map(|flag| ask_total(flag).wanted),
    ]
    .into_iter()
    .flatten()
    .collect();
    Ask::new("progress", phrase::joined(&clauses, "and"))
}

/// The progress notifications of the call, or why they cannot be told from others.
fn of_call(seen: &Observation) -> Result<Vec<&NotificationSeen>, Verdict> {
    let token = seen
        .answer
        .as_ref()
        .and_then(|answer| answer.progress_token.as_ref())
        .ok_or_else(|| {
            let frames = view::reply(seen).is_ok_and(|reply| reply.frames.is_some());
            let reason = if frames {
                "none of the requests of `raw` carried a progress token, or several did"
            } else {
                "the request carried no progress token"
            };
            Verdict::Unknowable(reason.to_owned())
        })?;
    Ok(all_of(view::notifications_on_time(seen))
        .filter(|one| has_token(one, token))
        .collect())
}

fn has_token(one: &NotificationSeen, token: &Value) -> bool {
    let named = one.params.get("progressToken");
    named.is_some_and(|seen| json::same(seen, token))
}

/// How many came, and what came too late.
fn summary(own: usize, seen: &Observation) -> String {
    let came = match own {
        0 => "none came".to_owned(),
        some => format!("{some} came"),
    };
    match late(seen) {
        0 => came,
        late => format!("{came} before the answer; {late} came after it"),
    }
}

/// How many came after the answer.
fn late(seen: &Observation) -> usize {
    let answer = seen.answer.as_ref();
    let token = answer.and_then(|answer| answer.progress_token.as_ref());
    token.map_or(0, |token| {
        all_of(view::late_notifications(seen))
            .filter(|one| has_token(one, token))
            .count()
    })
}

fn all_of(told: &[NotificationSeen]) -> impl Iterator<Item = &NotificationSeen> {
    told.iter()
        .filter(|one| one.method == "notifications/progress")
}

/// `min_progress`: at least so many.
pub(super) fn at_least(key: &'static str, least: u64, seen: &Observation) -> Verdict {
    let own = match of_call(seen) {
        Ok(own) => own,
        Err(unknowable) => return unknowable,
    };
    if own.len() as u64 >= least {
        return Verdict::Held;
    }
    if view::is_flooded(seen) {
        return ask::hidden_by_flood();
    }
    let told = view::notifications_on_time(seen);
    let mismatch = Mismatch {
        actual: super::notifications::all_shown(told.iter()),
        ..ask_least(key, least).miss(summary(own.len(), seen))
    };
    Verdict::Missed(vec![view::without(mismatch, seen)])
}

/// `progress`: how progress was told.
pub(super) fn progress(wanted: &ProgressWanted, seen: &Observation) -> Verdict {
    let own = match of_call(seen) {
        Ok(own) => own,
        Err(unknowable) => return unknowable,
    };
    if view::is_flooded(seen) && (wanted.monotonic.is_some() || wanted.last_equals_total.is_some())
    {
        return ask::hidden_by_flood();
    }
    let count = wanted.min.map(|least| at_least("progress", least, seen));
    let count = count.map(|verdict| verdict.within(Part::Member("min")));
    let values: Vec<Option<&Number>> = own
        .iter()
        .map(|one| one.params.get("progress").and_then(Value::as_number))
        .collect();
    let listed = || listed(&values, seen);
    let grows = values.windows(2).all(|pair| {
        matches!(pair, [Some(one), Some(next)] if number::compare(one, next) == Ordering::Less)
    }) && values.iter().all(Option::is_some);
    let total = own
        .last()
        .and_then(|one| one.params.get("total"))
        .and_then(Value::as_number);
    let is_total = match (values.last(), total) {
        (Some(Some(last)), Some(total)) => number::compare(last, total) == Ordering::Equal,
        _ => false,
    };
    let missed = |part: &'static str, ask: Ask, came: String| {
        let mismatch = view::without(ask.miss(came), seen);
        Verdict::Missed(vec![mismatch]).within(Part::Member(part))
    };
    let monotonic = wanted.monotonic.filter(|flag| *flag != grows);
    let monotonic = monotonic.map(|flag| missed("monotonic", ask_monotonic(flag), listed()));
    let ended = wanted.last_equals_total.filter(|flag| *flag != is_total);
    let ended = ended.map(|flag| {
        let came = match total {
            None if own.is_empty() => listed(),
            Some(total) => {
                let total = phrase::quoted(total.as_str());
                format!("{}, the total is {total}", listed())
            }
            None => format!("{}, without a total", listed()),
        };
        missed("last_equals_total", ask_total(flag), came)
    });
    ask::all([count, monotonic, ended].into_iter().flatten())
}

/// The values that came, or that none did.
fn listed(values: &[Option<&Number>], seen: &Observation) -> String {
    let values: Vec<String> = values
        .iter()
        .map(|value| value.map_or_else(|| "(no number)".to_owned(), ToString::to_string))
        .collect();
    match values.as_slice() {
        [] => match late(seen) {
            0 => "no progress came".to_owned(),
            late => format!("no progress came before the answer; {late} came after it"),
        },
        [value] => format!("the only value is {}", phrase::quoted(value)),
        values => format!("the values are {}", phrase::list(values, "and")),
    }
}

#[cfg(test)]
mod tests;
