//! Which keys of a map go together, where that is said cheaply. A key without a value is as good as absent.

use serde_json::{Map, Value, json};

use crate::{
    lower::{ACTIONS, KINDS},
    raw::assertion::SUBJECTS,
};

/// The keys of rules that need not be there.
const OPTIONAL: [&str; 5] = ["count", "min", "max", "from", "to"];

/// Expectations about a map beside its keys: the word of JSON Schema and its value.
pub(super) fn of(name: &str) -> Option<(&'static str, Value)> {
    Some(match name {
        // One without rules is ignored beside another subject.
        "Assertion" => {
            let mut kinds =
                vec![json!({ "properties": { "trajectory": { "not": { "const": [] } } } })];
            let others = SUBJECTS.iter().filter(|key| **key != "trajectory");
            kinds.extend(others.map(|key| present(key)));
            ("anyOf", json!(kinds))
        }
        "Step" => ("oneOf", json!(ACTIONS.map(present))),
        "ExitMap" => ("oneOf", json!(["code", "clean"].map(present))),
        // A list without a value is one.
        "Resources" => {
            let [list, templates] = ["list", "templates"].map(required);
            let [read, subscribe] = ["read", "subscribe"].map(present);
            ("anyOf", json!([list, templates, read, subscribe]))
        }
        "Prompts" => ("anyOf", json!([required("list"), present("get")])),
        "Rule" => ("allOf", json!(KINDS.map(|(word, own)| rule(word, own)))),
        _ => return None,
    })
}

/// A key is there and has a value.
pub(super) fn present(key: &str) -> Value {
    json!({ "required": [key], "properties": { key: { "not": { "type": "null" } } } })
}

/// A key is there.
fn required(key: &str) -> Value {
    json!({ "required": [key] })
}

/// A rule of a word has what it needs and no keys of other rules.
fn rule(word: &str, own: &[&str]) -> Value {
    let foreign = KINDS.iter().flat_map(|(_, keys)| *keys);
    let foreign = foreign.filter(|key| !own.contains(key));
    let absent: Map<String, Value> = foreign
        .map(|key| ((*key).to_owned(), json!({ "type": "null" })))
        .collect();
    let needed = own.iter().filter(|key| !OPTIONAL.contains(key));
    let mut all: Vec<Value> = needed.map(|key| present(key)).collect();
    if word == "count" {
        let bounds = ["count", "min", "max"].map(present);
        all.push(json!({ "anyOf": bounds }));
    }
    json!({
        "if": { "properties": { "type": { "const": word } }, "required": ["type"] },
        "then": { "properties": absent, "allOf": all },
    })
}
