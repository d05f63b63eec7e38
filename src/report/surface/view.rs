//! One JSON Schema as the comparison sees it: with local references followed and trivial wrappers taken off, without
//! copying anything. Schemas come from servers, so every chain has an end here.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::words::text::head;

/// Schemas that are laid over each other: references and single `allOf`s.
const MOST_LAYERS: usize = 16;

/// Characters shown of a value.
const SHOWN: usize = 60;

/// A schema: the first layer that has a keyword wins.
#[derive(Debug, Clone)]
pub(super) struct View<'a> {
    root: &'a Value,
    layers: Vec<&'a Map<String, Value>>,
    /// One of its types alone, when it is looked at as one of several alternatives.
    only_type: Option<&'a str>,
    /// Whether it is `false`: nothing is valid.
    pub(super) refuses_all: bool,
}

impl<'a> View<'a> {
    /// The schema `value` inside of the document `root`.
    pub(super) fn of(root: &'a Value, value: &'a Value) -> Self {
        let mut view = Self {
            root,
            layers: Vec::new(),
            only_type: None,
            refuses_all: *value == Value::Bool(false),
        };
        view.lay(value);
        view
    }

    /// Lays a schema below the ones there are, and what it refers to below that.
    fn lay(&mut self, value: &'a Value) {
        let mut waiting = vec![value];
        while let Some(value) = waiting.pop() {
            let Some(map) = value.as_object() else {
                self.refuses_all |= *value == Value::Bool(false);
                continue;
            };
            if self.layers.len() >= MOST_LAYERS || self.layers.iter().any(|it| same(it, map)) {
                continue;
            }
            self.layers.push(map);
            if let Some([only]) = map
                .get("allOf")
                .and_then(Value::as_array)
                .map(Vec::as_slice)
            {
                waiting.push(only);
            }
            waiting.extend(self.target(map));
        }
    }

    /// What the local reference of a schema points to.
    fn target(&self, map: &Map<String, Value>) -> Option<&'a Value> {
        let pointer = map.get("$ref")?.as_str()?.strip_prefix('#')?;
        // Pointers inside of a fragment are percent-encoded; names that need it are rare.
        let pointer = pointer.replace("%24", "$").replace("%20", " ");
        self.root.pointer(&pointer)
    }

    /// A number that tells this schema from the others of its document.
    pub(super) fn identity(&self) -> (usize, usize) {
        let address = |map: &&'a Map<String, Value>| std::ptr::from_ref(*map) as usize;
        let of_type = self.only_type.map_or(0, |it| it.as_ptr() as usize);
        (self.layers.last().map_or(0, address), of_type)
    }

    /// The value of a keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        let own = keyword == "allOf";
        self.layers.iter().find_map(|layer| {
            let value = layer.get(keyword)?;
            // A single `allOf` is a layer already, and a reference that was followed too.
            let single = own && value.as_array().is_some_and(|all| all.len() == 1);
            let followed = keyword == "$ref" && self.target(layer).is_some();
            (!single && !followed).then_some(value)
        })
    }

    /// The schema below a keyword.
    pub(super) fn below(&self, value: &'a Value) -> Self {
        Self::of(self.root, value)
    }

    /// The schema below a keyword, or the one that allows everything.
    pub(super) fn at(&self, keyword: &str) -> Self {
        self.below(self.get(keyword).unwrap_or(&Value::Bool(true)))
    }

    /// The schemas under a keyword that maps names to schemas, of all layers.
    pub(super) fn named(&self, keyword: &str) -> BTreeMap<&'a str, &'a Value> {
        let mut all = BTreeMap::new();
        for layer in &self.layers {
            if let Some(named) = layer.get(keyword).and_then(Value::as_object) {
                for (name, value) in named {
                    all.entry(name.as_str()).or_insert(value);
                }
            }
        }
        all
    }

    /// The names under `required`, of all layers.
    pub(super) fn required(&self) -> Vec<&'a str> {
        let lists = self
            .layers
            .iter()
            .filter_map(|layer| layer.get("required").and_then(Value::as_array));
        lists.flatten().filter_map(Value::as_str).collect()
    }

    /// The values that `enum` or `const` leave.
    pub(super) fn values(&self) -> Option<Vec<&'a Value>> {
        match (
            self.get("const"),
            self.get("enum").and_then(Value::as_array),
        ) {
            (Some(only), _) => Some(vec![only]),
            (None, Some(all)) => Some(all.iter().collect()),
            (None, None) => None,
        }
    }

    /// The types allowed; `None`: all. What the values or the properties tell is told.
    pub(super) fn types(&self) -> Option<Vec<&'a str>> {
        if let Some(only) = self.only_type {
            return Some(vec![only]);
        }
        let mut types: Vec<&str> = match self.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            Some(_) | None => match self.values() {
                Some(values) => values.into_iter().map(type_of).collect(),
                None if !self.named("properties").is_empty() => vec!["object"],
                None => return None,
            },
        };
        types.sort_unstable();
        types.dedup();
        Some(types)
    }

    /// The alternatives that `anyOf` or `oneOf` give.
    pub(super) fn alternatives(&self) -> Option<&'a [Value]> {
        let list = self.get("anyOf").or_else(|| self.get("oneOf"))?;
        list.as_array().map(Vec::as_slice)
    }

    /// One of its alternatives, with everything that holds for all of them.
    pub(super) fn alternative(&self, branch: &'a Value) -> Self {
        let mut view = self.below(branch);
        view.layers.extend(
            self.layers
                .iter()
                .filter(|it| it.get("anyOf").or(it.get("oneOf")).is_none()),
        );
        view.layers.truncate(MOST_LAYERS);
        view
    }

    /// The schema as alternatives of one type each.
    pub(super) fn by_type(&self) -> Vec<Self> {
        match self.types() {
            Some(types) if types.len() > 1 => types
                .into_iter()
                .map(|only| Self {
                    only_type: Some(only),
                    ..self.clone()
                })
                .collect(),
            Some(_) | None => vec![self.clone()],
        }
    }

    /// A few words for people.
    pub(super) fn brief(&self) -> String {
        if let Some(title) = self.get("title").and_then(Value::as_str) {
            return shown(&Value::from(title));
        }
        match (self.values(), self.types()) {
            (Some(values), _) => list(&values),
            (None, Some(types)) => types.join(" or "),
            (None, None) => "any value".to_owned(),
        }
    }
}

/// Whether both are the same place of a document.
fn same(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    std::ptr::eq(one, other)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() || number.is_u64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// A value in a few characters.
pub(super) fn shown(value: &Value) -> String {
    format!("`{}`", head(&value.to_string(), SHOWN))
}

/// Some values, and how many more.
pub(super) fn list(values: &[&Value]) -> String {
    const MOST: usize = 6;
    let mut words: Vec<String> = values.iter().take(MOST).map(|it| shown(it)).collect();
    if values.len() > MOST {
        words.push(format!("{} more", values.len() - MOST));
    }
    words.join(", ")
}
