//! The nearest thing in a document that would have matched: a field of another case or a similar name, the
//! same field one level deeper or higher, a number given as text.

use serde_json::{Number, Value};

use crate::{
    json::{
        same::{Difference, same},
        steps::{self, Step},
    },
    phrase,
};
use suite::model::{expectation::ValueRule, misspelt::misspelt};
use text::unicode_form;

/// What there is instead of a path that leads nowhere.
pub(super) fn path(wanted: &[Step], document: &Value) -> Option<String> {
    let (reached, value) = reach(wanted, document);
    let (done, rest) = wanted.split_at(reached);
    let missing = rest.first()?;
    let place = phrase::quoted(&steps::written(done));
    match (missing, value) {
        (Step::Name(name), Value::Object(members)) => {
            let there = |found: Step| {
                let all: Vec<Step> = done.iter().cloned().chain([found]).collect();
                phrase::quoted(&steps::written(&all))
            };
            if let Some(similar) = similar_name(name, members.keys().map(String::as_str)) {
                return Some(format!(
                    "there is {}",
                    there(Step::Name(similar.to_owned()))
                ));
            }
            if let Some(parent) = one_deeper(name, value) {
                let all: Vec<Step> = done
                    .iter()
                    .cloned()
                    .chain([parent, missing.clone()])
                    .collect();
                return Some(format!(
                    "it is one level deeper: {}",
                    phrase::quoted(&steps::written(&all))
                ));
            }
            let names: Vec<&String> = members.keys().collect();
            Some(if names.is_empty() {
                format!("{place} is an empty object")
            } else {
                format!("{place} has {}", phrase::list(&names, "and"))
            })
        }
        (Step::Index(_), Value::Array(items)) => {
            Some(format!("{place} has {}", text::count(items.len(), "item")))
        }
        (Step::Name(name), Value::Array(items)) => {
            let inside = items.iter().any(|item| item.get(name).is_some());
            let count = text::count(items.len(), "item");
            Some(if inside {
                format!(
                    "{place} is an array of {count}: {} is in its items",
                    phrase::quoted(&format!("{}[0]{}", steps::written(done), steps::step(name)))
                )
            } else {
                format!("{place} is an array of {count}")
            })
        }
        (Step::Name(_), Value::String(inner)) if inner.trim_start().starts_with(['{', '[']) => {
            Some(format!("{place} is a string that holds JSON, not JSON"))
        }
        _ => Some(format!("{place} is {}", phrase::kind(value))),
    }
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

/// The name that was probably meant: the same but for case and separators, else a close one.
pub(super) fn similar_name<'a>(
    wanted: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    /// Names beyond this are not compared letter by letter.
    const MOST: usize = 1_000;
    let bare = |name: &str| {
        name.chars()
            .filter(|letter| letter.is_alphanumeric())
            .flat_map(char::to_lowercase)
            .collect::<String>()
    };
    let plain = bare(wanted);
    names.clone().find(|name| bare(name) == plain).or_else(|| {
        let comparable = |name: &str| (4..=64).contains(&name.len());
        comparable(wanted).then(|| {
            let close = names.filter(|name| comparable(name)).take(MOST);
            text::nearest(wanted, close)
        })?
    })
}

/// The member or item through which a name is found one level deeper.
fn one_deeper(name: &str, value: &Value) -> Option<Step> {
    value.as_object()?.iter().find_map(|(parent, inner)| {
        inner
            .get(name)
            .is_some()
            .then(|| Step::Name(parent.clone()))
    })
}

/// The matcher that was probably meant by a map that is compared as it is.
pub(super) fn matcher(wanted: &Value) -> Option<String> {
    let (word, meant) = misspelt(wanted)?;
    Some(format!(
        "{} is no matcher, so the map is compared as it is: the matcher is called {}",
        phrase::quoted(word),
        phrase::quoted(meant)
    ))
}

/// What is nearly right about a value that differs.
pub(crate) fn value(difference: &Difference<'_>) -> Option<String> {
    match (difference.wanted, difference.seen) {
        (Some(wanted), Some(seen)) => other_type(wanted, seen)
            .or_else(|| alike_text(wanted, seen))
            .or_else(|| inside(wanted, seen)),
        (Some(_), None) => {
            let name = difference
                .path
                .rsplit(['.', '\''])
                .find(|part| !part.is_empty())?;
            let members = difference.beside?.as_object()?;
            let near = similar_name(name, members.keys().map(String::as_str))?;
            Some(format!("there is {}", phrase::quoted(near)))
        }
        (None, _) => None,
    }
}

/// The same value in another type: a number given as text, a boolean as text.
pub(crate) fn other_type(wanted: &Value, seen: &Value) -> Option<String> {
    let as_text = |text: &str, value: &Value| match value {
        Value::Number(_) => serde_json::from_str::<Number>(text.trim())
            .is_ok_and(|number| same(&Value::Number(number), value)),
        Value::Bool(flag) => text.trim() == if *flag { "true" } else { "false" },
        Value::Null => text.trim() == "null",
        Value::Array(_) | Value::Object(_) => {
            serde_json::from_str::<Value>(text).is_ok_and(|inner| same(&inner, value))
        }
        Value::String(_) => false,
    };
    match (wanted, seen) {
        (Value::String(text), seen) if as_text(text, seen) => Some(format!(
            "the values are alike, the types are not: a string is expected, the answer has {}",
            kind(seen)
        )),
        (wanted, Value::String(text)) if as_text(text, wanted) => Some(match wanted {
            Value::Array(_) | Value::Object(_) => {
                "it is there as a string that holds this JSON".to_owned()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => format!(
                "the values are alike, the types are not: {} is expected, the answer has a string",
                kind(wanted)
            ),
        }),
        _ => None,
    }
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

/// Strings that differ only in case, Unicode form or white space.
fn alike_text(wanted: &Value, seen: &Value) -> Option<String> {
    let (wanted, seen) = (wanted.as_str()?, seen.as_str()?);
    if wanted.to_lowercase() == seen.to_lowercase() {
        return Some("the strings differ only in case".to_owned());
    }
    if let Some(difference) = unicode_form::only_difference(wanted, seen) {
        return Some(format!(
            "the strings differ only in their Unicode form: {difference}"
        ));
    }
    let bare = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    (bare(wanted) == bare(seen)).then(|| "the strings differ only in white space".to_owned())
}

/// A wanted value that is the only item of an array, or the other way round.
fn inside(wanted: &Value, seen: &Value) -> Option<String> {
    match (wanted, seen) {
        (wanted, Value::Array(items)) if items.len() == 1 && same(wanted, &items[0]) => {
            Some("it is there as the only item of an array".to_owned())
        }
        (Value::Array(items), seen) if items.len() == 1 && same(&items[0], seen) => {
            Some("it is there, but not in an array".to_owned())
        }
        _ => None,
    }
}

/// What is near to a part that a value does not contain.
pub(super) fn contained(part: &Value, value: &Value) -> Option<String> {
    match (value, part) {
        (Value::String(text), Value::String(part)) => text
            .to_lowercase()
            .contains(&part.to_lowercase())
            .then(|| "it is there in another case".to_owned()),
        (Value::Array(items), part) => items.iter().find_map(|item| other_type(part, item)),
        (Value::String(_), _) => {
            Some("a string contains only text: put the value in quotation marks".to_owned())
        }
        _ => None,
    }
}

/// An expected `null` needs the field; says so where the field is absent.
pub(super) fn null_is_no_absence(rule: &ValueRule) -> Option<String> {
    match rule {
        ValueRule::Equals(Value::Null) | ValueRule::Loosely(Value::Null) => {
            Some("`null` needs the field to be there; `{exists: false}` wants it absent".to_owned())
        }
        ValueRule::Equals(_) | ValueRule::Loosely(_) | ValueRule::Matchers(_) => None,
    }
}
