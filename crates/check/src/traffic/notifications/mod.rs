//! `notifications`, the `expect` of `assert_notifications`, and `expect_notification`: what the server told
//! during the call.

use serde_json::Value;

use crate::{
    ask::{self, Ask, Forbids},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traffic::{line, lines},
    view,
};
use mcp::observation::{NotificationSeen, Observation, answer::Interest};
use suite::{
    model::expectation::{NotificationsWanted, Presence, Provoked, Since},
    written::Part,
};
use text::count;

/// The method that tells of a changed resource.
const UPDATED: &str = "notifications/resources/updated";

/// `notifications`, as a whole.
pub(super) fn ask(wanted: &NotificationsWanted) -> Ask {
    let lists = [
        (&wanted.methods, ask_method as fn(&str) -> Ask),
        (&wanted.not_methods, ask_no_method),
        (&wanted.contains_data, ask_data),
        (&wanted.not_contains_data, ask_no_data),
    ];
    let mut clauses: Vec<String> = [
        wanted.min_count.map(|least| ask_least(least).wanted),
        wanted.max_count.map(|most| ask_most(most).wanted),
    ]
    .into_iter()
    .flatten()
    .collect();
    for (items, ask) in lists {
        clauses.extend(items.iter().map(|item| ask(item).wanted));
    }
    if !wanted.in_order.is_empty() {
        clauses.push(ask_order(&wanted.in_order).wanted);
    }
    Ask::new("notifications", phrase::joined(&clauses, "and"))
}

fn ask_least(least: u64) -> Ask {
    Ask::new("min_count", format!("at least {}", number(least)))
}

fn ask_most(most: u64) -> Ask {
    Ask::new("max_count", format!("at most {}", number(most)))
}

fn ask_method(method: &str) -> Ask {
    let wanted = format!("a {} notification", phrase::quoted(method));
    Ask::new("methods", wanted)
}

fn ask_no_method(method: &str) -> Ask {
    let wanted = format!("no {} notification", phrase::quoted(method));
    Ask::new("not_methods", wanted)
}

fn ask_order(methods: &[String]) -> Ask {
    let methods = phrase::list(methods, "and");
    Ask::new(
        "in_order",
        format!("notifications in this order: {methods}"),
    )
}

fn ask_data(data: &str) -> Ask {
    let data = phrase::quoted(data);
    let wanted = format!("a notification with {data} in its parameters");
    Ask::new("contains_data", wanted)
}

fn ask_no_data(data: &str) -> Ask {
    let data = phrase::quoted(data);
    let wanted = format!("no notification with {data} in its parameters");
    Ask::new("not_contains_data", wanted)
}

fn number(number: u64) -> String {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    count(number, "notification")
}

/// What the server told, during the call or from the beginning on.
pub(super) fn notifications(wanted: &NotificationsWanted, seen: &Observation) -> Verdict {
    let told = match wanted.since {
        Since::TheCall => view::notifications(seen),
        Since::TheBeginning => view::notifications_so_far(seen),
    };
    let absent: Vec<Mismatch> = absent(wanted, told)
        .into_iter()
        .map(|mismatch| view::without(mismatch, seen))
        .collect();
    let mut forbidden = forbidden(wanted, told);
    if !view::is_flooded(seen) {
        return Verdict::from_mismatches([absent, forbidden].concat());
    }
    let open = wanted.max_count.is_none()
        && wanted.not_methods.is_empty()
        && wanted.not_contains_data.is_empty();
    let forbids = if open {
        Forbids::Nothing
    } else {
        Forbids::Something
    };
    ask::count_amid_flood(&mut forbidden, "max_count");
    ask::amid_flood(forbidden, &absent, forbids)
}

/// What is wanted and did not come.
fn absent(wanted: &NotificationsWanted, told: &[NotificationSeen]) -> Vec<Mismatch> {
    let count = told.len() as u64;
    let least = wanted.min_count.filter(|least| count < *least);
    let mut mismatches: Vec<Mismatch> = least
        .map(|least| miscounted(&ask_least(least), told).within(Part::Member("min_count")))
        .into_iter()
        .collect();
    let methods: Vec<&str> = told.iter().map(|one| one.method.as_str()).collect();
    for (index, method) in wanted.methods.iter().enumerate() {
        if !methods.contains(&method.as_str()) {
            mismatches.push(Mismatch {
                part: vec![Part::Member("methods"), Part::Item(index)],
                hint: text::nearest(method, methods.iter().copied())
                    .map(|near| format!("there is {}", phrase::quoted(near))),
                ..ask_method(method).miss(summary(told))
            });
        }
    }
    mismatches.extend(out_of_order(&wanted.in_order, &methods));
    let data = wanted.contains_data.iter().enumerate();
    let missing = data.filter(|(_, data)| holder(data, told).is_none());
    mismatches.extend(missing.map(|(index, data)| Mismatch {
        part: vec![Part::Member("contains_data"), Part::Item(index)],
        ..miscounted(&ask_data(data), told)
    }));
    mismatches
}

/// What is not wanted and came.
fn forbidden(wanted: &NotificationsWanted, told: &[NotificationSeen]) -> Vec<Mismatch> {
    let others: Vec<NotificationSeen> = match wanted.provoked {
        Provoked::Counted => Vec::new(),
        Provoked::Uncounted | Provoked::PassedOver => {
            let others = told.iter().filter(|one| !one.provoked);
            others.cloned().collect()
        }
    };
    let (counted, told) = match wanted.provoked {
        Provoked::Counted => (told, told),
        Provoked::Uncounted => (&others[..], told),
        Provoked::PassedOver => (&others[..], &others[..]),
    };
    let count = counted.len() as u64;
    let most = wanted.max_count.filter(|most| count > *most);
    let mut mismatches: Vec<Mismatch> = most
        .map(|most| miscounted(&ask_most(most), counted).within(Part::Member("max_count")))
        .into_iter()
        .collect();
    for (index, method) in wanted.not_methods.iter().enumerate() {
        if let Some(found) = told.iter().find(|one| one.method == *method) {
            mismatches.push(Mismatch {
                part: vec![Part::Member("not_methods"), Part::Item(index)],
                actual: Some(shown(found)),
                ..ask_no_method(method).miss("there is one")
            });
        }
    }
    for (index, data) in wanted.not_contains_data.iter().enumerate() {
        if let Some(found) = holder(data, told) {
            mismatches.push(Mismatch {
                part: vec![Part::Member("not_contains_data"), Part::Item(index)],
                actual: Some(shown(found)),
                ..ask_no_data(data).miss(format!("there is a {}", phrase::quoted(&found.method)))
            });
        }
    }
    mismatches
}

/// A mismatch that lists what came.
fn miscounted(ask: &Ask, told: &[NotificationSeen]) -> Mismatch {
    Mismatch {
        actual: all_shown(told),
        ..ask.miss(summary(told))
    }
}

/// The first notification with a text in its parameters.
fn holder<'a>(data: &str, told: &'a [NotificationSeen]) -> Option<&'a NotificationSeen> {
    told.iter()
        .find(|one| renderings(one).iter().any(|form| form.contains(data)))
}

fn out_of_order(wanted: &[String], methods: &[&str]) -> Option<Mismatch> {
    let mut rest = methods.iter();
    let mut numbered = wanted.iter().enumerate();
    let (index, broken) = numbered.find(|(_, method)| !rest.any(|seen| seen == method))?;
    Some(Mismatch {
        part: vec![Part::Member("in_order"), Part::Item(index)],
        actual: Some(methods.join("\n")).filter(|text| !text.is_empty()),
        ..ask_order(wanted).miss(if methods.contains(&broken.as_str()) {
            format!(
                "{} does not come after those before it",
                phrase::quoted(broken)
            )
        } else {
            format!("{} does not come", phrase::quoted(broken))
        })
    })
}

/// The forms in which texts are looked for in parameters: as JSON in the order of the server and in
/// alphabetical order, and the strings in it unescaped.
fn renderings(one: &NotificationSeen) -> Vec<String> {
    let mut params = one.params.clone();
    if let Some(members) = params.as_object_mut() {
        members.remove("_meta");
    }
    let mut forms = vec![params.to_string()];
    strings(&params, &mut forms);
    params.sort_all_objects();
    forms.push(params.to_string());
    forms
}

fn strings(value: &Value, out: &mut Vec<String>) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => out.push(text.clone()),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// How many came, and of which methods.
pub(super) fn summary(told: &[NotificationSeen]) -> String {
    if told.is_empty() {
        return "none came".to_owned();
    }
    let mut methods: Vec<&str> = Vec::new();
    for one in told {
        if !methods.contains(&one.method.as_str()) && methods.len() < 16 {
            methods.push(&one.method);
        }
    }
    format!("{} came: {}", told.len(), phrase::list(&methods, "and"))
}

/// A notification on one line.
fn shown(one: &NotificationSeen) -> String {
    text::head(&line(&one.method, &one.params), phrase::BY_ITSELF)
}

/// The first notifications, one a line.
pub(super) fn all_shown(told: &[NotificationSeen]) -> Option<String> {
    lines(told.iter().map(|one| line(&one.method, &one.params)))
}

/// `expect_notification`
pub(super) fn ask_updated(wanted: Presence) -> Ask {
    let method = phrase::quoted(UPDATED);
    Ask::new(
        "expect_notification",
        match wanted {
            Presence::Present => format!("a {method}"),
            Presence::Absent => format!("no {method}"),
        },
    )
}

/// `expect_notification`: whether the resource that the subject subscribes to was told to have changed, from the
/// subscription on. Where it subscribes to none, a setup step may be what does, and what changes it: then an update of
/// any resource counts, from the beginning on.
pub(super) fn updated(wanted: Presence, seen: &Observation) -> Verdict {
    let ask = ask_updated(wanted);
    let (all, subscribed) = match view::interest(seen) {
        Some(Interest::Updates(uri)) => (view::notifications(seen), Some(uri.as_str())),
        Some(Interest::Logs) | None => (view::notifications_so_far(seen), None),
    };
    let is_meant = |one: &&NotificationSeen| {
        one.method == UPDATED && subscribed.is_none_or(|uri| is_within(uri, one))
    };
    let told = all.iter().find(is_meant);
    let flooded = view::is_flooded(seen);
    match (wanted, told) {
        (_, None) if flooded => ask::hidden_by_flood(),
        (Presence::Present, Some(_)) | (Presence::Absent, None) => Verdict::Held,
        (Presence::Absent, Some(found)) => Verdict::Missed(vec![Mismatch {
            actual: Some(shown(found)),
            ..ask.miss("there is one")
        }]),
        (Presence::Present, None) => {
            let mismatch = Mismatch {
                actual: all_shown(all),
                ..ask.miss(summary(all))
            };
            Verdict::Missed(vec![view::without(mismatch, seen)])
        }
    }
}

/// Whether an update is of the resource of a URI, or of one below it: "this might be a sub-resource of the one that the
/// client actually subscribed to".
fn is_within(subscribed: &str, update: &NotificationSeen) -> bool {
    let uri = update.params.get("uri").and_then(Value::as_str);
    let rest = uri.and_then(|uri| uri.strip_prefix(subscribed));
    rest.is_some_and(|rest| {
        rest.is_empty() || subscribed.ends_with('/') || rest.starts_with(['/', '?', '#'])
    })
}

#[cfg(test)]
mod tests;
