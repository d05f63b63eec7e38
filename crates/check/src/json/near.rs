//! The nearest thing in a document that would have matched: a field of a similar name, the fields that are there, a
//! value of another type.

use serde_json::Value;

use crate::{
    json::{
        same::{Difference, same},
        steps::{self, Step},
    },
    phrase,
};

/// What there is instead of a path that leads nowhere.
pub(super) fn path(wanted: &[Step], document: &Value) -> Option<String> {
    let (reached, value) = reach(wanted, document);
    let (done, rest) = wanted.split_at(reached);
    let missing = rest.first()?;
    let place = phrase::quoted(&steps::written(done));
    Some(match (missing, value) {
        (Step::Name(_), Value::Object(members)) if members.is_empty() => {
            format!("{place} is an empty object")
        }
        (Step::Name(name), Value::Object(members)) => {
            if let Some(similar) = similar_name(name, members.keys().map(String::as_str)) {
                let there = steps::written(done) + &steps::step(similar);
                format!("there is {}", phrase::quoted(&there))
            } else {
                let names: Vec<&String> = members.keys().collect();
                format!("{place} has {}", phrase::list(&names, "and"))
            }
        }
        (Step::Index(_), Value::Array(items)) => {
            format!("{place} has {}", text::count(items.len(), "item"))
        }
        (Step::Name(_), Value::Array(items)) => {
            format!(
                "{place} is an array of {}",
                text::count(items.len(), "item")
            )
        }
        (_, value) => format!("{place} is {}", phrase::kind(value)),
    })
}

/// The value that as many steps as possible lead to.
pub(super) fn deepest<'a>(wanted: Option<&[Step]>, document: &'a Value) -> &'a Value {
    wanted.map_or(document, |wanted| reach(wanted, document).1)
}

/// How many steps can be taken, and where they lead.
fn reach<'a>(wanted: &[Step], document: &'a Value) -> (usize, &'a Value) {
    let mut value = document;
    for (taken, step) in wanted.iter().enumerate() {
        let next = match step {
            Step::Name(name) => value.get(name),
            Step::Index(index) => item(value, *index),
        };
        match next {
            Some(next) => value = next,
            None => return (taken, value),
        }
    }
    (wanted.len(), value)
}

fn item(value: &Value, index: i64) -> Option<&Value> {
    let items = value.as_array()?;
    let from_end = usize::try_from(index.unsigned_abs()).ok()?;
    if index < 0 {
        items.get(items.len().checked_sub(from_end)?)
    } else {
        items.get(from_end)
    }
}

/// The name that was probably meant.
fn similar_name<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    /// Names beyond this are not compared letter by letter.
    const MOST: usize = 1_000;
    let comparable = |name: &&str| (4..=64).contains(&name.len());
    let wanted = Some(wanted).filter(comparable)?;
    text::nearest(wanted, names.filter(comparable).take(MOST))
}

/// What is nearly right about a value that differs.
pub(crate) fn value(difference: &Difference<'_>) -> Option<String> {
    other_type(difference.wanted?, difference.seen?)
}

/// The same value in another type: a number given as text, a boolean as text.
pub(crate) fn other_type(wanted: &Value, seen: &Value) -> Option<String> {
    let as_text = |text: &str, value: &Value| match value {
        Value::String(_) => false,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            serde_json::from_str::<Value>(text).is_ok_and(|inner| same(&inner, value))
        }
    };
    let is_alike = match (wanted, seen) {
        (Value::String(text), seen) => as_text(text, seen),
        (wanted, Value::String(text)) => as_text(text, wanted),
        _ => false,
    };
    is_alike.then(|| {
        format!(
            "the values are alike, the types are not: {} is expected, the answer has {}",
            kind(wanted),
            kind(seen)
        )
    })
}

/// The kind of a value beside a text: what matters of a number is that it is none.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Number(_) => "a number",
        Value::Null | Value::Bool(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            phrase::kind(value)
        }
    }
}
