//! A schema of a tool, resolved: references followed, branches merged, all places with their pointers.

use std::{cmp::Ordering, sync::OnceLock};

use serde_json::{Map, Value};

use super::rules::is_among;
use mcp::json::{
    json_schema::{NAMED_SCHEMAS, NotCompiled, References, compile},
    number,
};

/// The most schemas that apply to one value; recursion and hostile schemas end here.
const MOST_PARTS: usize = 64;

/// The most places of a schema that are looked at.
const MOST_PLACES: usize = 10_000;

/// Keywords whose value is a list of schemas, of which one or all apply.
pub(super) const BRANCHES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// Keywords whose value is one schema.
const SINGLE: &str = "items additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames \
    not if then else";

/// A schema where it stands.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    /// The pointer from the tool.
    pub(crate) pointer: String,
    /// The schema.
    pub(crate) schema: &'a Map<String, Value>,
}

/// A whole schema.
#[derive(Debug)]
pub(crate) struct Schema<'a> {
    /// The schema.
    pub(crate) root: &'a Value,
    /// The pointer from the tool: `/inputSchema`.
    pub(crate) pointer: &'static str,
    references: References<'a>,
    places: OnceLock<Vec<Place<'a>>>,
    invalid: OnceLock<Option<String>>,
}

impl<'a> Schema<'a> {
    /// A schema at a pointer.
    pub(super) fn new(root: &'a Value, pointer: &'static str) -> Self {
        Self {
            root,
            pointer,
            references: References::new(root),
            places: OnceLock::new(),
            invalid: OnceLock::new(),
        }
    }

    /// A member of the root.
    pub(crate) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.root.get(keyword)
    }

    /// What a local reference leads to.
    pub(crate) fn target(&self, reference: &str) -> Option<&'a Value> {
        self.references.target(reference)
    }

    /// The schemas that apply to the value at a node: itself, what it refers to, and its branches.
    pub(crate) fn parts(&self, node: &'a Value) -> Vec<&'a Map<String, Value>> {
        let (mut parts, mut waiting): (Vec<&'a Map<String, Value>>, _) = (Vec::new(), vec![node]);
        while let Some(node) = waiting.pop() {
            let Some(map) = node.as_object() else {
                continue;
            };
            if parts.len() == MOST_PARTS || parts.iter().any(|it| std::ptr::eq(*it, map)) {
                continue;
            }
            parts.push(map);
            let reference = map.get("$ref").and_then(Value::as_str);
            waiting.extend(reference.and_then(|it| self.references.target(it)));
            let branches = BRANCHES
                .into_iter()
                .filter_map(|it| map.get(it)?.as_array());
            waiting.extend(branches.flatten());
        }
        parts
    }

    /// All schemas in it, each with its pointer.
    pub(crate) fn places(&self) -> &[Place<'a>] {
        self.places.get_or_init(|| {
            let mut places = Vec::new();
            collect(self.root, self.pointer.to_owned(), &mut places);
            places
        })
    }

    /// Why it is not valid in its own dialect; nothing of references, which have a rule of their own.
    pub(crate) fn invalid(&self) -> Option<&str> {
        let why = || match compile(self.root) {
            Ok(_) | Err(NotCompiled::TooLarge) => None,
            Err(NotCompiled::Invalid(why)) => Some(why.message),
        };
        self.invalid.get_or_init(why).as_deref()
    }

    /// How deep its properties are nested; a recursion counts once.
    pub(crate) fn depth(&self) -> usize {
        self.depth_below(self.root, &mut Vec::new())
    }

    fn depth_below(&self, node: &'a Value, above: &mut Vec<*const Map<String, Value>>) -> usize {
        let mut deepest = 0;
        for part in self.parts(node) {
            let address = std::ptr::from_ref(part);
            if above.contains(&address) || above.len() == MOST_PARTS {
                continue;
            }
            above.push(address);
            let properties = part.get("properties").and_then(Value::as_object);
            let below = properties.into_iter().flat_map(Map::values);
            let below = below.map(|it| 1 + self.depth_below(it, above));
            deepest = below.max().unwrap_or(0).max(deepest);
            if let Some(items) = part.get("items") {
                deepest = deepest.max(self.depth_below(items, above));
            }
            above.pop();
        }
        deepest
    }
}

fn collect<'a>(node: &'a Value, pointer: String, places: &mut Vec<Place<'a>>) {
    let Some(schema) = node.as_object() else {
        return;
    };
    if places.len() == MOST_PLACES {
        return;
    }
    let above = pointer.clone();
    places.push(Place { pointer, schema });
    for keyword in NAMED_SCHEMAS {
        let schemas = schema.get(keyword).and_then(Value::as_object);
        for (name, value) in schemas.into_iter().flatten() {
            collect(
                value,
                format!("{above}/{keyword}/{}", escaped(name)),
                places,
            );
        }
    }
    for keyword in SINGLE.split(' ') {
        if let Some(value) = schema.get(keyword) {
            collect(value, format!("{above}/{keyword}"), places);
        }
    }
    for keyword in BRANCHES.into_iter().chain(["prefixItems", "items"]) {
        let schemas = schema.get(keyword).and_then(Value::as_array);
        for (index, value) in schemas.into_iter().flatten().enumerate() {
            collect(value, format!("{above}/{keyword}/{index}"), places);
        }
    }
}

/// A name as a part of a JSON Pointer.
pub(crate) fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The words of the types that a schema itself names.
pub(crate) fn types(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(word)) => vec![word],
        Some(Value::Array(words)) => words.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    }
}

/// Whether a value is of a type.
pub(crate) fn is_of(value: &Value, word: &str) -> bool {
    match word {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => value.as_number().is_some_and(number::is_integer),
        _ => true,
    }
}

/// Keywords that say nothing about a value.
const REMARKS: &str = "title description default examples example deprecated readOnly writeOnly $comment $schema $id format";

/// Whether a schema takes a value, when that can be said without compiling it.
fn takes_plainly(schema: &Map<String, Value>, value: &Value) -> Option<bool> {
    let mut takes = true;
    for (keyword, wanted) in schema {
        takes &= match keyword.as_str() {
            "type" => types(schema).iter().any(|word| is_of(value, word)),
            "enum" => wanted.as_array()?.contains(value),
            "const" => wanted == value,
            "minimum" => within(value, wanted, Ordering::is_ge)?,
            "maximum" => within(value, wanted, Ordering::is_le)?,
            "anyOf" => {
                let branches = wanted.as_array()?.iter();
                let each: Option<Vec<bool>> = branches
                    .map(|it| takes_plainly(it.as_object()?, value))
                    .collect();
                each?.contains(&true)
            }
            remark if is_among(remark, REMARKS) => true,
            _ => return None,
        };
    }
    Some(takes)
}

/// Whether a value is on the right side of a bound, which concerns numbers alone.
fn within(value: &Value, bound: &Value, is_right: fn(Ordering) -> bool) -> Option<bool> {
    let bound = bound.as_number()?;
    let number = value.as_number();
    Some(number.is_none_or(|it| is_right(number::compare(it, bound))))
}

impl Schema<'_> {
    /// Whether a schema in this one takes a value; nothing when that cannot be said.
    pub(crate) fn takes(&self, schema: &Map<String, Value>, value: &Value) -> Option<bool> {
        if let Some(takes) = takes_plainly(schema, value) {
            return Some(takes);
        }
        let mut alone = schema.clone();
        for keyword in ["$defs", "definitions", "$schema"] {
            if let (false, Some(value)) = (alone.contains_key(keyword), self.get(keyword)) {
                alone.insert(keyword.to_owned(), value.clone());
            }
        }
        let compiled = compile(&Value::Object(alone)).ok()?;
        Some(compiled.validator().is_valid(value))
    }
}
