//! What a JSON Schema asks for, without how it says it: references followed, texts for people left out, lists whose
//! order means nothing sorted. Two schemas of one meaning here allow the same; two of different meanings may.

use std::cell::Cell;

use serde_json::{Map, Value};

use mcp::{json::json_schema::References, script::rendered::digits};

/// Schemas that one meaning is made of; of a larger one nothing is said.
const MOST_SCHEMAS: usize = 20_000;

/// Schemas that all meanings of one document are made of together: a server may refer to one schema a thousand times.
const MOST_READ: usize = 400_000;

/// Schemas within schemas, those behind references included.
const DEEPEST: usize = 128;

/// What describes, identifies or is kept for references, and asks for nothing itself.
const SILENT: [&str; 14] = [
    "title",
    "description",
    "examples",
    "default",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$comment",
    "$schema",
    "$id",
    "$anchor",
    "$dynamicAnchor",
    "$defs",
    "definitions",
];

/// A document that schemas stand in.
#[derive(Debug)]
pub(super) struct Document<'a> {
    references: References<'a>,
    /// How many schemas may still be read for meanings.
    left: Cell<usize>,
}

impl<'a> Document<'a> {
    /// A document of which nothing was read.
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            references: References::new(root),
            left: Cell::new(MOST_READ),
        }
    }

    /// What a value of it means; `None` when it is too large, or too much was read before.
    pub(super) fn meaning(&self, value: &'a Value) -> Option<Value> {
        let room = self.left.get().min(MOST_SCHEMAS);
        let mut reader = Reader {
            document: self,
            within: Vec::new(),
            depth: 0,
            left: room,
        };
        let meant = reader.schema(value);
        let left = reader.left;
        self.left.set(self.left.get() - (room - left));
        (left > 0).then_some(meant)
    }

    /// What a local reference leads to: a pointer, an anchor or an id of the same document.
    pub(super) fn target(&self, reference: &str) -> Option<&'a Value> {
        self.references.target(reference)
    }
}

/// A text that is the same for equal values: `1` and `1.0` are.
pub(super) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => digits(number).unwrap_or_else(|| number.to_string()),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(members) => {
            let mut texts: Vec<String> = members
                .iter()
                .map(|(key, value)| format!("{key:?}:{}", canonical(value)))
                .collect();
            texts.sort_unstable();
            format!("{{{}}}", texts.join(","))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.to_string(),
    }
}

struct Reader<'d, 'a> {
    document: &'d Document<'a>,
    /// The targets of references that are being followed.
    within: Vec<&'a Value>,
    depth: usize,
    /// Nothing when it was too large.
    left: usize,
}

impl<'a> Reader<'_, 'a> {
    fn schema(&mut self, value: &'a Value) -> Value {
        self.left = self.left.saturating_sub(1);
        if self.depth >= DEEPEST {
            self.left = 0;
        }
        if self.left == 0 {
            return Value::Null;
        }
        self.depth += 1;
        let meant = self.opened(value);
        self.depth -= 1;
        meant
    }

    fn opened(&mut self, value: &'a Value) -> Value {
        let map = match value {
            Value::Object(map) => map,
            Value::Array(items) => return items.iter().map(|item| self.schema(item)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return value.clone();
            }
        };
        let mut meant = Map::new();
        for (keyword, value) in map {
            if SILENT.contains(&keyword.as_str()) {
                continue;
            }
            meant.insert(keyword.clone(), self.keyword(keyword, value));
        }
        // A reference alone is what it leads to.
        match meant.get("$ref") {
            Some(followed @ Value::Object(_)) if meant.len() == 1 => followed.clone(),
            Some(_) | None => Value::Object(meant),
        }
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value) -> Value {
        match (keyword, value) {
            ("const", value) => Value::from(canonical(value)),
            ("enum" | "required" | "type", Value::Array(items)) => {
                let mut texts: Vec<String> = items.iter().map(canonical).collect();
                texts.sort_unstable();
                texts.dedup();
                Value::from(texts)
            }
            (
                "properties" | "patternProperties" | "dependentSchemas" | "dependencies",
                Value::Object(named),
            ) => {
                let schemas = named.iter();
                schemas
                    .map(|(name, schema)| (name.clone(), self.schema(schema)))
                    .collect()
            }
            ("dependentRequired", value) => value.clone(),
            ("$ref", Value::String(reference)) => self.reference(reference),
            (_, Value::Number(_)) => Value::from(canonical(value)),
            (_, value) => self.schema(value),
        }
    }

    fn reference(&mut self, reference: &str) -> Value {
        let Some(target) = self.document.target(reference) else {
            return Value::from(reference);
        };
        let begun = self.within.iter().rev();
        if let Some(back) = begun.clone().position(|it| std::ptr::eq(*it, target)) {
            // A schema that contains itself: how far up it goes on.
            return Value::from(back);
        }
        self.within.push(target);
        let meant = self.schema(target);
        self.within.pop();
        meant
    }
}
