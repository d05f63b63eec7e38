//! `notifications`, the `expect` of `assert_notifications`, and `expect_notification`: what the server told
//! during the call.

use serde_json::Value;

use crate::{
    check::{ask::Ask, phrase, view},
    observation::{NotificationSeen, Observation},
    outcome::verdict::{Mismatch, Verdict},
    suite::model::expectation::{NotificationsWanted, Presence},
    words::text::{self, count},
};

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
    Ask::new(
        "methods",
        format!("a {} notification", phrase::quoted(method)),
    )
}

fn ask_no_method(method: &str) -> Ask {
    Ask::new(
        "not_methods",
        format!("no {} notification", phrase::quoted(method)),
    )
}

fn ask_order(methods: &[String]) -> Ask {
    Ask::new(
        "in_order",
        format!(
            "notifications in this order: {}",
            phrase::list(methods, "and")
        ),
    )
}

fn ask_data(data: &str) -> Ask {
    Ask::new(
        "contains_data",
        format!(
            "a notification with {} in its parameters",
            phrase::quoted(data)
        ),
    )
}

fn ask_no_data(data: &str) -> Ask {
    Ask::new(
        "not_contains_data",
        format!(
            "no notification with {} in its parameters",
            phrase::quoted(data)
        ),
    )
}

fn number(number: u64) -> String {
    let number = usize::try_from(number).unwrap_or(usize::MAX);
    count(number, "notification")
}

/// What the server told during the call.
pub(super) fn notifications(wanted: &NotificationsWanted, seen: &Observation) -> Verdict {
    let told = view::notifications(seen);
    let mut mismatches = counts(wanted, told);
    let methods: Vec<&str> = told.iter().map(|one| one.method.as_str()).collect();
    for method in &wanted.methods {
        if !methods.contains(&method.as_str()) {
            mismatches.push(Mismatch {
                hint: text::nearest(method, methods.iter().copied())
                    .map(|near| format!("there is {}", phrase::quoted(near))),
                ..ask_method(method).miss(summary(told))
            });
        }
    }
    for method in &wanted.not_methods {
        if let Some(found) = told.iter().find(|one| one.method == *method) {
            mismatches.push(Mismatch {
                actual: Some(shown(found)),
                ..ask_no_method(method).miss("there is one")
            });
        }
    }
    mismatches.extend(out_of_order(&wanted.in_order, &methods));
    mismatches.extend(data(wanted, told));
    Verdict::from_mismatches(mismatches)
}

fn counts(wanted: &NotificationsWanted, told: &[NotificationSeen]) -> Vec<Mismatch> {
    let seen = told.len() as u64;
    let least = wanted
        .min_count
        .filter(|least| seen < *least)
        .map(ask_least);
    let most = wanted.max_count.filter(|most| seen > *most).map(ask_most);
    [least, most]
        .into_iter()
        .flatten()
        .map(|ask| Mismatch {
            actual: all_shown(told),
            ..ask.miss(summary(told))
        })
        .collect()
}

fn out_of_order(wanted: &[String], methods: &[&str]) -> Option<Mismatch> {
    let mut rest = methods.iter();
    let broken = wanted
        .iter()
        .find(|method| !rest.any(|seen| seen == method))?;
    Some(Mismatch {
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

fn data(wanted: &NotificationsWanted, told: &[NotificationSeen]) -> Vec<Mismatch> {
    if wanted.contains_data.is_empty() && wanted.not_contains_data.is_empty() {
        return Vec::new();
    }
    let written: Vec<Vec<String>> = told.iter().map(renderings).collect();
    let holder = |data: &String| {
        written
            .iter()
            .position(|forms| forms.iter().any(|form| form.contains(data.as_str())))
    };
    let absent = wanted
        .contains_data
        .iter()
        .filter(|data| holder(data).is_none());
    let mut mismatches: Vec<Mismatch> = absent
        .map(|data| Mismatch {
            actual: all_shown(told),
            ..ask_data(data).miss(summary(told))
        })
        .collect();
    for data in &wanted.not_contains_data {
        if let Some(found) = holder(data).and_then(|index| told.get(index)) {
            mismatches.push(Mismatch {
                actual: Some(shown(found)),
                ..ask_no_data(data).miss(format!("there is a {}", phrase::quoted(&found.method)))
            });
        }
    }
    mismatches
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
    text::head(&format!("{} {}", one.method, one.params), phrase::BY_ITSELF)
}

/// The first notifications, one a line.
pub(super) fn all_shown(told: &[NotificationSeen]) -> Option<String> {
    const MOST: usize = 20;
    let mut lines: Vec<String> = told
        .iter()
        .take(MOST)
        .map(|one| text::head(&format!("{} {}", one.method, one.params), 200))
        .collect();
    if told.len() > MOST {
        lines.push(format!("… {} more", told.len() - MOST));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// `expect_notification`
pub(super) fn ask_updated(wanted: Presence, uri: Option<&str>) -> Ask {
    let of = uri
        .map(|uri| format!(" of {}", phrase::quoted(uri)))
        .unwrap_or_default();
    let method = phrase::quoted(UPDATED);
    Ask::new(
        "expect_notification",
        match wanted {
            Presence::Present => format!("a {method}{of}"),
            Presence::Absent => format!("no {method}{of}"),
        },
    )
}

/// `expect_notification`: whether the resource was told to have changed. The server may tell so from the
/// subscription on, which is before the answer that is looked at.
pub(super) fn updated(wanted: Presence, uri: Option<&str>, seen: &Observation) -> Verdict {
    let ask = ask_updated(wanted, uri);
    let told: Vec<&NotificationSeen> = seen
        .notifications
        .iter()
        .filter(|one| one.method == UPDATED)
        .collect();
    let of_it = told.iter().find(|one| {
        let named = one.params.get("uri").and_then(Value::as_str);
        uri.is_none() || named == uri
    });
    match (wanted, of_it) {
        (Presence::Present, Some(_)) | (Presence::Absent, None) => Verdict::Held,
        (Presence::Absent, Some(found)) => Verdict::Missed(vec![Mismatch {
            actual: Some(shown(found)),
            ..ask.miss("there is one")
        }]),
        (Presence::Present, None) => Verdict::Missed(vec![Mismatch {
            hint: told.first().map(|other| {
                let named = other.params.get("uri").and_then(Value::as_str);
                match named {
                    Some(named) => format!("one came for {}", phrase::quoted(named)),
                    None => "one came without a `uri`".to_owned(),
                }
            }),
            actual: all_shown(&seen.notifications),
            ..ask.miss(summary(&seen.notifications))
        }]),
    }
}

#[cfg(test)]
mod tests;
