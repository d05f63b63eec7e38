//! The JSON Schema of the format, for editors, made from the same definitions as the readers. What the type of a
//! value does not say cheaply is left to the loader: whether patterns, paths and durations can be read, whether
//! names are known, which keys go together.

mod conditions;
mod words;

use serde_json::{Map, Value, json};

use crate::raw::{
    KeyDoc, ShapeDoc,
    assertion::RawAssertion,
    read::OWN_KEYS,
    settings::RawSettings,
    shape::{definition, paragraph, reference},
};

/// Keys that a map must have wherever it stands, by the map's definition.
const REQUIRED: [(&str, &[&str]); 18] = [
    ("Tool", &["tool"]),
    ("Sampling", &["tool"]),
    ("Elicitation", &["tool"]),
    ("Notifications", &["tool"]),
    ("Completion", &["ref", "argument"]),
    ("Reference", &["type"]),
    ("Argument", &["name"]),
    ("Context", &["arguments"]),
    ("PromptCall", &["name"]),
    ("Raw", &["send"]),
    ("Http", &["request"]),
    ("Results", &["count"]),
    ("Rule", &["type"]),
    ("TraceCall", &["tool"]),
    ("Launch", &["command"]),
    ("ClientCredentials", &["id", "secret"]),
    ("Build", &["context"]),
    ("Mount", &["source", "target"]),
];

/// The maps of expectations. A value of one that holds `{{…}}` is read when its names have values, so that a text may
/// stand where another type is wanted.
const EXPECTATIONS: [&str; 10] = [
    "Expect",
    "Error",
    "Results",
    "Progress",
    "NotificationsExpect",
    "LoggingExpect",
    "ServerRequest",
    "Stderr",
    "ExitMap",
    "Rule",
];

/// The name of the definition of a text that holds `{{…}}`.
const TEMPLATE: &str = "Template";

/// The schema of one document of a suite; the settings file's is its definition `Settings`.
pub fn json_schema() -> Value {
    let mut shapes: Vec<&'static ShapeDoc> = Vec::new();
    RawAssertion::SHAPE.collect(&mut shapes);
    RawSettings::SHAPE.collect(&mut shapes);
    let template = json!({
        "type": "string",
        "description": "A text with `{{…}}` that becomes what is wanted here.",
        "pattern": "\\{\\{(\\{\\{|[^\\s{}]+\\}\\})",
    });
    let definitions: Map<String, Value> = shapes
        .into_iter()
        .map(|shape| (definition(shape.name).to_owned(), of_shape(shape)))
        .chain([(TEMPLATE.to_owned(), template)])
        .collect();
    let root = reference(RawAssertion::SHAPE.name);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "mcp-assert",
        "description": "One document of a suite of mcp-assert.",
        "$ref": root["$ref"],
        "$defs": definitions,
    })
}

/// The schema of one map.
fn of_shape(shape: &ShapeDoc) -> Value {
    let name = definition(shape.name);
    let required = REQUIRED.iter().find(|(owner, _)| *owner == name);
    let required = required.map_or(&[][..], |(_, keys)| *keys);
    let properties: Map<String, Value> = shape
        .keys
        .iter()
        .map(|key| (key.key.to_owned(), of_key(name, key, required)))
        .collect();
    let mut schema = json!({
        "type": "object",
        "description": paragraph(shape.doc),
        "properties": properties,
        "additionalProperties": false,
    });
    if name == definition(RawAssertion::SHAPE.name) {
        schema["patternProperties"] = json!({ format!("^{OWN_KEYS}"): {} });
    }
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if let Some((word, conditions)) = conditions::of(name) {
        schema[word] = conditions;
    }
    schema
}

/// The schema of one key. One without a value is taken and does nothing, so null is no error, unless the key must
/// be there.
fn of_key(owner: &str, key: &KeyDoc, required: &[&str]) -> Value {
    let schema = words::of(owner, key.key).unwrap_or_else(|| (key.schema)());
    let is_templated = EXPECTATIONS.contains(&owner) || key.key == "expect_request";
    let mut kinds = if is_templated {
        vec![with_templates(schema), reference(TEMPLATE)]
    } else {
        vec![schema]
    };
    if !required.contains(&key.key) {
        kinds.push(json!({ "type": "null" }));
    }
    json!({ "description": paragraph(key.doc), "anyOf": kinds })
}

/// The schema in whose lists and maps a template may stand for each part.
fn with_templates(mut schema: Value) -> Value {
    if let Some(Value::Array(kinds)) = schema.get_mut("anyOf") {
        for kind in kinds {
            *kind = with_templates(kind.take());
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(part) = schema.get_mut(key).filter(|part| part.is_object()) {
            let kinds = [with_templates(part.take()), reference(TEMPLATE)];
            *part = json!({ "anyOf": kinds });
        }
    }
    schema
}
