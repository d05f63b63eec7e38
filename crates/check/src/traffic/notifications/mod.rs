//! `notifications`, the `expect` of `assert_notifications`, and `expect_notification`: what the server told
//! during the call.

use serde_json::Value;

use crate::{
    ask::{self, Ask},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    traffic::{Clause, ask_all, distinct, line, lines, verdict},
    view,
};
use mcp::observation::{NotificationSeen, Observation, answer::Interest};
use suite::{
    model::expectation::{NotificationsWanted, Presence, Provoked, Since},
    written::Part,
};

/// The method that tells of a changed resource.
const UPDATED: &str = "notifications/resources/updated";

/// `notifications`, as a whole.
pub(super) fn ask(wanted: &NotificationsWanted) -> Ask {
    ask_all("notifications", &clauses(wanted))
}

fn clauses(wanted: &NotificationsWanted) -> Vec<Clause<'_>> {
    let least = ("min_count", wanted.min_count);
    let most = ("max_count", wanted.max_count);
    let method = |one: &str| format!("a {} notification", phrase::quoted(one));
    let no_method = |one: &str| format!("no {} notification", phrase::quoted(one));
    let with = |data: &str| {
        format!(
            "notification with {} in its parameters",
            phrase::quoted(data)
        )
    };
    let data = |data: &str| format!("a {}", with(data));
    let no_data = |data: &str| format!("no {}", with(data));
    let order = (!wanted.in_order.is_empty()).then(|| {
        let methods = phrase::list(&wanted.in_order, "and");
        let clause = format!("notifications in this order: {methods}");
        Clause::new("in_order", clause, |told| {
            out_of_order(&wanted.in_order, told)
        })
    });
    let wanted_ones = [
        Clause::each("methods", &wanted.methods, method, without_method),
        Clause::each(
            "contains_data",
            &wanted.contains_data,
            data,
            |data, told| holder(data, told).is_none().then(|| came(told)),
        ),
    ];
    let forbidden = [
        Clause::each(
            "not_methods",
            &wanted.not_methods,
            no_method,
            |method, told| {
                let found = told.iter().find(|one| one.method == method)?;
                Some(is_there("one", found))
            },
        ),
        Clause::each(
            "not_contains_data",
            &wanted.not_contains_data,
            no_data,
            |data, told| {
                let found = holder(data, told)?;
                Some(is_there(
                    &format!("a {}", phrase::quoted(&found.method)),
                    found,
                ))
            },
        ),
    ];
    let forbidden = forbidden.into_iter().flatten().map(Clause::forbidding);
    let bounds = Clause::bounds(least, most, "notification", came).into_iter();
    let wanted_ones = wanted_ones.into_iter().flatten();
    bounds
        .chain(wanted_ones)
        .chain(forbidden)
        .chain(order)
        .collect()
}

/// The mismatch where no notification has this method.
fn without_method(method: &str, told: &[&NotificationSeen]) -> Option<Mismatch> {
    let methods = || told.iter().map(|one| one.method.as_str());
    if methods().any(|it| it == method) {
        return None;
    }
    let near = text::nearest(method, methods());
    Some(Mismatch {
        actual: None,
        hint: near.map(|near| format!("there is {}", phrase::quoted(near))),
        ..came(told)
    })
}

/// What the server told, during the call or from the beginning on.
pub(super) fn notifications(wanted: &NotificationsWanted, seen: &Observation) -> Verdict {
    let told = match wanted.since {
        Since::TheCall => view::notifications(seen),
        Since::TheBeginning => view::notifications_so_far(seen),
    };
    verdict(&clauses(wanted), seen, |clause| {
        let is_counted = match wanted.provoked {
            Provoked::Counted => true,
            Provoked::Uncounted => clause.key != "max_count",
            Provoked::PassedOver => !clause.forbids,
        };
        told.iter()
            .filter(|one| is_counted || !one.provoked)
            .collect()
    })
}

/// The mismatch where one is there.
fn is_there(what: &str, found: &NotificationSeen) -> Mismatch {
    Mismatch {
        seen: format!("there is {what}"),
        actual: Some(shown(found)),
        ..Mismatch::default()
    }
}

/// The first notification with a text in its parameters.
fn holder<'a>(data: &str, told: &[&'a NotificationSeen]) -> Option<&'a NotificationSeen> {
    let mut told = told.iter().copied();
    told.find(|one| renderings(one).iter().any(|form| form.contains(data)))
}

fn out_of_order(wanted: &[String], told: &[&NotificationSeen]) -> Option<Mismatch> {
    let methods: Vec<&str> = told.iter().map(|one| one.method.as_str()).collect();
    let mut rest = methods.iter();
    let place = wanted
        .iter()
        .position(|method| !rest.any(|seen| seen == method))?;
    let broken = &wanted[place];
    let named = phrase::quoted(broken);
    Some(Mismatch {
        part: vec![Part::Item(place)],
        actual: Some(methods.join("\n")).filter(|text| !text.is_empty()),
        seen: if methods.contains(&broken.as_str()) {
            format!("{named} does not come after those before it")
        } else {
            format!("{named} does not come")
        },
        ..Mismatch::default()
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
fn came(told: &[&NotificationSeen]) -> Mismatch {
    let methods = distinct(told.iter().map(|one| one.method.as_str()));
    let seen = match told.len() {
        0 => "none came".to_owned(),
        number => format!("{number} came: {}", phrase::list(&methods, "and")),
    };
    Mismatch {
        seen,
        actual: all_shown(told.iter().copied()),
        ..Mismatch::default()
    }
}

/// A notification on one line.
fn shown(one: &NotificationSeen) -> String {
    text::head(&line(&one.method, &one.params), phrase::BY_ITSELF)
}

/// The first notifications, one a line.
pub(super) fn all_shown<'a>(
    told: impl ExactSizeIterator<Item = &'a NotificationSeen>,
) -> Option<String> {
    lines(told.map(|one| line(&one.method, &one.params)))
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
            let came = came(&all.iter().collect::<Vec<_>>());
            let mismatch = Mismatch {
                actual: came.actual,
                ..ask.miss(came.seen)
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
