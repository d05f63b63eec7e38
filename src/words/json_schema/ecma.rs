//! Patterns in the meaning of ECMA-262. The validator translates what it can parse; a pattern with look-around
//! or a back reference it leaves as it is, so that `\w` would take `é` there. Those are translated here.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Keywords whose members are schemas under names of the author's choice.
const NAMED_SCHEMAS: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];

/// Keywords whose values are data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// The schema with its patterns translated.
pub(super) fn translated(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, value)| (key.clone(), keyword(key, value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.iter().map(translated).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

/// The value of a keyword, translated.
fn keyword(key: &str, value: &Value) -> Value {
    if DATA.contains(&key) {
        return value.clone();
    }
    match value {
        Value::String(text) if key == "pattern" => Value::String(pattern(text).into_owned()),
        Value::Object(members) if NAMED_SCHEMAS.contains(&key) => {
            let members = members.iter().map(|(name, schema)| {
                let name = match key {
                    "patternProperties" => pattern(name).into_owned(),
                    _ => name.clone(),
                };
                (name, translated(schema))
            });
            Value::Object(members.collect::<Map<_, _>>())
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::Array(_)
        | Value::Object(_) => translated(value),
    }
}

/// A pattern, translated where the validator does not do it.
fn pattern(text: &str) -> Cow<'_, str> {
    if is_left_alone(text) {
        spelt_out(text).into()
    } else {
        text.into()
    }
}

/// A pattern with the members of its classes written out.
pub(super) fn spelt_out(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut characters = text.chars().peekable();
    let mut place = Place::Outside;
    while let Some(character) = characters.next() {
        match (character, place) {
            ('\\', Place::Outside | Place::Class) => {
                let escaped = characters.next();
                match (escaped.and_then(members), place) {
                    (Some(members), Place::Outside) => out.extend(["[", members, "]"]),
                    (Some(members), Place::Class) => {
                        // A hyphen beside a class of its own is no range.
                        if out.ends_with('-') && !out.ends_with(r"\-") {
                            out.insert(out.len() - 1, '\\');
                        }
                        out.push_str(members);
                        if characters.next_if_eq(&'-').is_some() {
                            out.push_str(r"\-");
                        }
                    }
                    (None, Place::Outside | Place::Class) => {
                        out.extend(std::iter::once('\\').chain(escaped));
                    }
                }
                continue;
            }
            ('[', Place::Outside) => place = Place::Class,
            (']', Place::Class) => place = Place::Outside,
            (_, Place::Outside | Place::Class) => {}
        }
        out.push(character);
    }
    out
}

/// Whether a place in a pattern lies in `[…]`.
#[derive(Clone, Copy)]
enum Place {
    /// It does not.
    Outside,
    /// It does.
    Class,
}

/// The characters that an escape stands for, as the members of a class. Written without a class of its own,
/// which the validator would take for characters.
fn members(escaped: char) -> Option<&'static str> {
    Some(match escaped {
        'd' => "0-9",
        'D' => r"\x{0}-/:-\x{10ffff}",
        'w' => "0-9A-Z_a-z",
        'W' => r"\x{0}-/:-@\[-\^\x{60}\x{7b}-\x{10ffff}",
        's' => {
            r"\x{9}-\x{d}\x{20}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}"
        }
        'S' => {
            r"\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}"
        }
        _ => return None,
    })
}

/// Whether the validator leaves a pattern as it is.
fn is_left_alone(text: &str) -> bool {
    let looks_around = ["(?=", "(?!", "(?<=", "(?<!", r"\k<"]
        .iter()
        .any(|mark| text.contains(mark));
    let refers_back = text
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9'));
    looks_around || refers_back
}
