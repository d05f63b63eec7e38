//! Expands a JSON Schema: follows references, merges `allOf`, and drops annotations. Bounded, because schemas come from
//! servers.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use mcp::json::{json_schema::References, number::digits};

/// Schemas that are written out of one document; a server may refer to one schema a thousand times.
const MOST_SCHEMAS: usize = 100_000;

/// Schemas within schemas, those behind references included.
const DEEPEST: usize = 128;

/// Keywords that identify, describe or are kept for references, and are not compared.
const SILENT: &str = "examples deprecated readOnly writeOnly $comment $schema $id $anchor $dynamicAnchor $defs definitions";

/// Keywords that people and models read, and no value depends on.
const TEXTS: &str = "title description default";

/// Keywords whose values are not schemas.
const DATA: &str = "const enum required type dependentRequired title description default";

/// Keywords that map names to schemas.
const NAMED: &str = "properties patternProperties dependentSchemas dependencies";

/// Keywords of lists without an order.
const UNORDERED: &str = "enum required type anyOf oneOf allOf";

/// Whether a keyword is one of these.
fn is_of(keywords: &str, keyword: &str) -> bool {
    keywords.split(' ').any(|it| it == keyword)
}

/// A schema that is written out.
pub(super) struct Plain {
    /// The schema.
    pub(super) schema: Value,
    /// Whether it was too large or too deep to be written out to its end.
    pub(super) is_cut: bool,
}

impl Plain {
    /// The schema of a document.
    pub(super) fn of(root: &Value) -> Self {
        let mut writer = Writer {
            references: References::new(root),
            within: vec![(root, 0)],
            level: 0,
            depth: 0,
            left: MOST_SCHEMAS,
            is_cut: false,
        };
        Self {
            schema: writer.schema(root),
            is_cut: writer.is_cut,
        }
    }
}

struct Writer<'a> {
    references: References<'a>,
    /// The targets of references that are being followed, each with its level.
    within: Vec<(&'a Value, usize)>,
    /// How many keywords lie above; `$ref` and `allOf` speak of the same value and do not count.
    level: usize,
    depth: usize,
    left: usize,
    is_cut: bool,
}

impl<'a> Writer<'a> {
    fn schema(&mut self, value: &'a Value) -> Value {
        let Value::Object(map) = value else {
            return value.clone();
        };
        if self.left == 0 || self.depth >= DEEPEST {
            self.is_cut = true;
            return Value::Bool(true);
        }
        self.left -= 1;
        self.depth += 1;
        let mut own = Map::new();
        for (keyword, value) in map {
            if !is_of(SILENT, keyword) && keyword != "$ref" && keyword != "allOf" {
                own.insert(keyword.clone(), self.keyword(keyword, value));
            }
        }
        let mut whole = Value::Object(own);
        if let Some(reference) = map.get("$ref") {
            merge(&mut whole, self.reference(reference));
        }
        let parts = map.get("allOf").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            merge(&mut whole, self.schema(part));
        }
        self.depth -= 1;
        whole
    }

    fn keyword(&mut self, keyword: &str, value: &'a Value) -> Value {
        if is_of(DATA, keyword) {
            return value.clone();
        }
        self.level += 1;
        let written = match value {
            Value::Object(named) if is_of(NAMED, keyword) => named
                .iter()
                .map(|(name, schema)| (name.clone(), self.schema(schema)))
                .collect(),
            Value::Array(items) => items.iter().map(|item| self.schema(item)).collect(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Object(_) => self.schema(value),
        };
        self.level -= 1;
        written
    }

    /// What a reference leads to; where that is not known, or contains the reference, the reference stays.
    fn reference(&mut self, reference: &'a Value) -> Value {
        let text = reference.as_str();
        let Some(target) = text.and_then(|it| self.references.target(it)) else {
            return json!({ "$ref": reference });
        };
        let begun = self.within.iter().rev().zip(1_usize..);
        let mut found = begun.filter(|((it, _), _)| std::ptr::eq(*it, target));
        match found.next() {
            // A schema that is itself asks for nothing.
            Some(((_, level), _)) if *level == self.level => Value::Bool(true),
            // How far up it goes on.
            Some((_, back)) => json!({ "$ref": back }),
            None => {
                self.within.push((target, self.level));
                let followed = self.schema(target);
                self.within.pop();
                followed
            }
        }
    }
}

/// Lays a schema into another one, so that what both ask for holds.
pub(super) fn merge(into: &mut Value, other: Value) {
    match (into, other) {
        (Value::Object(into), Value::Object(other)) => {
            for (keyword, value) in other {
                merge_keyword(into, keyword, value);
            }
        }
        (into, other) if *into == Value::Bool(true) || other == Value::Bool(false) => *into = other,
        (_, _) => {}
    }
}

fn merge_keyword(into: &mut Map<String, Value>, keyword: String, value: Value) {
    let Some(known) = into.get_mut(&keyword) else {
        into.insert(keyword, value);
        return;
    };
    let beside = match (known, value) {
        (known, value) if *known == value || is_of(TEXTS, &keyword) => None,
        (Value::Object(known), Value::Object(more)) if keyword == "properties" => {
            for (name, schema) in more {
                match known.get_mut(&name) {
                    Some(own) => merge(own, schema),
                    None => _ = known.insert(name, schema),
                }
            }
            None
        }
        (Value::Array(known), Value::Array(more)) if keyword == "required" => {
            known.extend(more);
            None
        }
        (known @ Value::Number(_), value @ Value::Number(_)) if keyword != "multipleOf" => {
            let is_tighter = if keyword.to_lowercase().contains("min") {
                value.as_f64() > known.as_f64()
            } else {
                value.as_f64() < known.as_f64()
            };
            if is_tighter {
                *known = value;
            }
            None
        }
        (_, value) => Some(value),
    };
    // What cannot be laid into one is kept beside it.
    if let Some(value) = beside {
        let all = into.entry("allOf").or_insert_with(|| json!([]));
        if let Value::Array(all) = all {
            all.push(json!({ keyword: value }));
        }
    }
}

/// A text that is the same for two expanded schemas with the same meaning.
pub(super) fn meaning(schema: &Value) -> String {
    tidy(schema, "").to_string()
}

/// A text that is the same for equal values: `1` and `1.0` are.
pub(super) fn canonical(value: &Value) -> String {
    tidy(value, "const").to_string()
}

/// The value of a keyword in one order and notation, without the texts of schemas.
fn tidy(value: &Value, keyword: &str) -> Value {
    let is_data = matches!(keyword, "const" | "enum");
    match value {
        Value::Object(map) => {
            let is_named = is_of(NAMED, keyword);
            let kept = map
                .iter()
                .filter(|(name, _)| is_data || is_named || !is_of(TEXTS, name));
            let tidied = kept.map(|(name, it)| {
                let inner = match (is_data, is_named) {
                    (true, _) => "const",
                    (false, true) => "",
                    (false, false) => name,
                };
                (name.clone(), tidy(it, inner))
            });
            let sorted: BTreeMap<String, Value> = tidied.collect();
            sorted.into_iter().collect()
        }
        Value::Array(items) => {
            let inner = if is_data { "const" } else { "" };
            let mut items: Vec<Value> = items.iter().map(|it| tidy(it, inner)).collect();
            if is_of(UNORDERED, keyword) {
                items.sort_by_key(Value::to_string);
                items.dedup();
            }
            Value::Array(items)
        }
        Value::Number(number) => {
            let written = digits(number).and_then(|digits| digits.parse().ok());
            Value::Number(written.unwrap_or_else(|| number.clone()))
        }
        Value::Null | Value::Bool(_) | Value::String(_) => value.clone(),
    }
}
