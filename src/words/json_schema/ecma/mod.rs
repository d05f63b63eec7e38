//! Patterns in the meaning of ECMA-262, throughout a schema. The validator's own translation knows `\d`, `\w` and `\s`
//! where nothing looks around or refers back; all of it is done here, and what was written is kept for messages.

mod class;
mod escape;
mod parts;
mod pattern;

use std::collections::HashMap;

use jsonschema::{ReferencingError, ValidationError, error::ValidationErrorKind};
use serde_json::{Map, Value};

pub(super) use self::{
    parts::{Part, parts},
    pattern::translated as pattern,
};

/// Keywords whose members are schemas under names of the author's choice.
pub(crate) const NAMED_SCHEMAS: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];

/// Keywords whose values are data.
pub(crate) const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Patterns as they were written, by what they were translated to.
#[derive(Debug, Clone, Default)]
pub(super) struct Written(HashMap<String, String>);

impl Written {
    /// The schema with its patterns translated.
    pub(super) fn translate(&mut self, schema: &Value) -> Value {
        match schema {
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| (key.clone(), self.keyword(key, value)))
                    .collect(),
            ),
            Value::Array(items) => {
                Value::Array(items.iter().map(|item| self.translate(item)).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
        }
    }

    /// The value of a keyword, translated.
    fn keyword(&mut self, key: &str, value: &Value) -> Value {
        if DATA.contains(&key) {
            return value.clone();
        }
        match value {
            Value::String(text) if key == "pattern" => Value::String(self.pattern(text)),
            Value::Object(members) if NAMED_SCHEMAS.contains(&key) => {
                let mut named = Map::new();
                for (name, schema) in members {
                    let mut name = match key {
                        "patternProperties" => self.pattern(name),
                        _ => name.clone(),
                    };
                    // Two ways to write one pattern, each with a schema of its own.
                    while named.contains_key(&name) {
                        name.push_str("(?:)");
                    }
                    named.insert(name, self.translate(schema));
                }
                Value::Object(named)
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => self.translate(value),
        }
    }

    fn pattern(&mut self, text: &str) -> String {
        let translated = pattern(text);
        if translated != text {
            self.0.insert(translated.clone(), text.to_owned());
        }
        translated
    }

    /// A part of the schema, as it was written.
    pub(super) fn restored(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.as_written(text).to_owned()),
            Value::Array(items) => items.iter().map(|item| self.restored(item)).collect(),
            Value::Object(members) => {
                let restored = |(key, member): (&String, &Value)| {
                    (self.as_written(key).to_owned(), self.restored(member))
                };
                Value::Object(members.iter().map(restored).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn as_written<'a>(&'a self, text: &'a str) -> &'a str {
        self.0.get(text).map_or(text, String::as_str)
    }

    /// What an error about the schema itself says, with its patterns as they were written.
    pub(super) fn told_of_schema(&self, error: &ValidationError<'_>) -> String {
        if let ValidationErrorKind::Referencing(error) = error.kind() {
            return told_of_reference(error);
        }
        let part = error.instance();
        let (given, written) = (part.to_string(), self.restored(part).to_string());
        self.told(error).replace(&given, &written)
    }

    /// What an error about a document says, with the patterns as they were written.
    pub(super) fn told(&self, error: &ValidationError<'_>) -> String {
        let message = error.to_string();
        if let ValidationErrorKind::PropertyNames { error } = error.kind() {
            self.told(error)
        } else if let ValidationErrorKind::Pattern { pattern } = error.kind() {
            match self.0.get(pattern) {
                Some(written) => message.replace(pattern, written),
                None => message,
            }
        } else {
            message
        }
    }
}

/// What is wrong with a reference.
fn told_of_reference(error: &ReferencingError) -> String {
    if let ReferencingError::PointerToNowhere { pointer } = error {
        format!("nothing stands at `#{pointer}`, which it refers to")
    } else if let ReferencingError::NoSuchAnchor { anchor } = error {
        format!("it refers to `#{anchor}`, and no part of it has that name")
    } else {
        error.to_string()
    }
}
