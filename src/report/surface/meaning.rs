//! What a JSON Schema asks for, without how it says it: references followed, texts for people left out, lists whose
//! order means nothing sorted. Two schemas of one meaning here allow the same; two of different meanings may.

use serde_json::{Map, Value};

use crate::suite::template::digits;

/// Schemas of one document that are looked at; of a larger one nothing is said.
const MOST_SCHEMAS: usize = 20_000;

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

/// What the value means in the document `root`; `None` when it is too large.
pub(super) fn meaning(root: &Value, value: &Value) -> Option<Value> {
    let mut reader = Reader {
        root,
        within: Vec::new(),
        left: MOST_SCHEMAS,
    };
    let meant = reader.schema(value);
    (reader.left > 0).then_some(meant)
}

/// What a local reference leads to: a pointer, an anchor or an id of the same document.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let Some(fragment) = reference.strip_prefix('#') else {
        return named(root, &["$id"], reference);
    };
    let fragment = decoded(fragment);
    if fragment.is_empty() || fragment.starts_with('/') {
        return root.pointer(&fragment);
    }
    named(root, &["$anchor", "$dynamicAnchor"], &fragment)
}

/// The schema that has this name under one of the keywords.
fn named<'a>(root: &'a Value, keywords: &[&str], name: &str) -> Option<&'a Value> {
    let mut waiting = vec![root];
    for _ in 0..MOST_SCHEMAS {
        let value = waiting.pop()?;
        match value {
            Value::Object(map) => {
                let has = |keyword: &&str| map.get(*keyword).and_then(Value::as_str) == Some(name);
                if keywords.iter().any(has) {
                    return Some(value);
                }
                waiting.extend(map.values());
            }
            Value::Array(items) => waiting.extend(items),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    None
}

/// A fragment without its percent signs; one that is no text stays as it is.
fn decoded(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        let digit = |at: usize| behind.get(at).and_then(|it| char::from(*it).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &behind[2..];
            }
            (other, _, _) => {
                bytes.push(*other);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| fragment.to_owned())
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

struct Reader<'a> {
    root: &'a Value,
    /// The targets of references that are being followed.
    within: Vec<&'a Value>,
    left: usize,
}

impl<'a> Reader<'a> {
    fn schema(&mut self, value: &'a Value) -> Value {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            return Value::Null;
        }
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
        let Some(target) = target(self.root, reference) else {
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
