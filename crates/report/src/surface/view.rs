//! One JSON Schema as the comparison sees it: with local references followed and trivial wrappers taken off, without
//! copying anything. Schemas come from servers, so every chain has an end here.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::meaning::{Document, canonical};
use text::head;

/// Schemas that are laid over each other: what references lead to, and the members of `allOf`.
const MOST_LAYERS: usize = 64;

/// Characters shown of a value.
const SHOWN: usize = 60;

/// A schema: the first layer that has a keyword wins.
#[derive(Debug, Clone)]
pub(super) struct View<'a> {
    document: &'a Document<'a>,
    /// The schema as it stands in the document, when it is that alone.
    written: Option<&'a Value>,
    layers: Vec<&'a Map<String, Value>>,
    /// One of its types alone, when it is looked at as one of several alternatives.
    only_type: Option<&'a str>,
    /// How many of the layers may offer alternatives: those below hold for all of them.
    offering: usize,
    /// Whether there were more layers than are looked at.
    pub(super) is_cut: bool,
    /// Whether it is `false`: nothing is valid.
    pub(super) refuses_all: bool,
}

impl<'a> View<'a> {
    /// The schema `value` inside of a document.
    pub(super) fn of(document: &'a Document<'a>, value: &'a Value) -> Self {
        let mut view = Self {
            document,
            written: Some(value),
            layers: Vec::new(),
            only_type: None,
            offering: 0,
            is_cut: false,
            refuses_all: *value == Value::Bool(false),
        };
        view.lay(value);
        view.offering = view.layers.len();
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
            if self.layers.iter().any(|it| same(it, map)) {
                continue;
            }
            if self.layers.len() >= MOST_LAYERS {
                self.is_cut = true;
                continue;
            }
            self.layers.push(map);
            waiting.extend(self.parts(map).rev());
        }
    }

    /// What holds beside the keywords of a schema: what its reference leads to, and all of `allOf`.
    fn parts(&self, map: &'a Map<String, Value>) -> impl DoubleEndedIterator<Item = &'a Value> {
        let all = map.get("allOf").and_then(Value::as_array);
        let all = all.into_iter().flatten();
        self.target(map).into_iter().chain(all)
    }

    /// What the local reference of a schema points to.
    fn target(&self, map: &Map<String, Value>) -> Option<&'a Value> {
        self.document.target(map.get("$ref")?.as_str()?)
    }

    /// A number that tells this schema from the others of its document: wherever a reference to it stands, it is one.
    pub(super) fn identity(&self) -> (usize, usize) {
        let mut core = self.layers.first().copied();
        for _ in 0..MOST_LAYERS {
            let Some(map) = core else { break };
            let mut parts = self.parts(map);
            match (parts.next().and_then(Value::as_object), parts.next()) {
                (Some(only), None) => core = Some(only),
                (Some(_), Some(_)) | (None, _) => break,
            }
        }
        let address = |map: &'a Map<String, Value>| std::ptr::from_ref(map) as usize;
        let of_type = self.only_type.map_or(0, |it| it.as_ptr() as usize);
        (core.map_or(0, address), of_type)
    }

    /// The value of a keyword, of the first layer that has it.
    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.all(keyword).next()
    }

    /// The values of a keyword in all layers.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        let offers = matches!(keyword, "anyOf" | "oneOf");
        let layers = if offers {
            self.offering
        } else {
            self.layers.len()
        };
        self.layers[..layers].iter().filter_map(move |layer| {
            let value = layer.get(keyword)?;
            // A reference that was followed is a layer.
            let followed = keyword == "$ref" && self.target(layer).is_some();
            (!followed).then_some(value)
        })
    }

    /// What it means; `None` where that is not told by one schema, or too large.
    pub(super) fn meaning(&self) -> Option<String> {
        let meant = self.document.meaning(self.written?)?;
        Some(canonical(&meant))
    }

    /// What the values of a keyword mean, in all layers; `None` when that is too large to be told.
    pub(super) fn meanings(&self, keyword: &str) -> Option<Vec<Value>> {
        let values = self.all(keyword);
        let all: Option<Vec<Value>> = values.map(|value| self.document.meaning(value)).collect();
        all.map(|mut all| {
            all.sort_by_cached_key(canonical);
            all.dedup();
            all
        })
    }

    /// The schema below a keyword.
    pub(super) fn below(&self, value: &'a Value) -> Self {
        Self::of(self.document, value)
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
        self.choices().next()
    }

    /// What further lists of alternatives mean, which hold beside the first one; `None` when that is too large to be told.
    pub(super) fn further_alternatives(&self) -> Option<Vec<Value>> {
        let further = self.choices().skip(1).flatten();
        further.map(|value| self.document.meaning(value)).collect()
    }

    fn choices(&self) -> impl Iterator<Item = &'a [Value]> {
        let lists = self.all("anyOf").chain(self.all("oneOf"));
        lists.filter_map(Value::as_array).map(Vec::as_slice)
    }

    /// One of its alternatives, with everything that holds for all of them.
    pub(super) fn alternative(&self, branch: &'a Value) -> Self {
        let mut view = self.below(branch);
        view.written = None;
        view.is_cut |= view.layers.len() + self.layers.len() > MOST_LAYERS;
        view.layers.extend(&self.layers);
        view.layers.truncate(MOST_LAYERS);
        view.offering = view.offering.min(view.layers.len());
        view
    }

    /// The schema as alternatives of one type each.
    pub(super) fn by_type(&self) -> Vec<Self> {
        match self.types() {
            Some(types) if types.len() > 1 => types
                .into_iter()
                .map(|only| Self {
                    only_type: Some(only),
                    written: None,
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
