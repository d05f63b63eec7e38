//! What the validator says of single values: whether one is a witness, and whether a pattern matches a text.

use std::{cell::OnceCell, collections::HashMap};

use serde_json::{Value, json};

use super::{
    document::{Document, Documents, Listed, equal, keywords},
    type_set::Types,
};
use mcp::json::{
    json_schema::{self, Schema, is_undecided},
    walk::walk,
};

/// How many schemas may hold for one value, references followed: the validator follows each of them.
const MOST_AT_ONCE: u64 = 10_000;

/// The longest way through references and combinations from one schema to another.
const DEEPEST: usize = 200;

/// The most values that are tried for two documents.
const MOST_TRIALS: usize = 500;

/// Two documents for the validator.
#[derive(Debug, Default)]
pub(super) struct Trial {
    compiled: OnceCell<Option<[Schema; 2]>>,
    trials: usize,
}

impl Trial {
    /// Whether the first document accepts a value and the second one refuses it.
    pub(super) fn is_witness(&mut self, documents: &Documents<'_>, value: &Value) -> bool {
        self.says(documents, value) == Some([true, false])
    }

    /// Whether no more values are tried.
    pub(super) fn is_spent(&self) -> bool {
        self.trials > MOST_TRIALS
    }

    fn says(&mut self, documents: &Documents<'_>, value: &Value) -> Option<[bool; 2]> {
        self.trials += 1;
        if self.is_spent() {
            return None;
        }
        let compiled = self
            .compiled
            .get_or_init(|| Some([compiled(&documents.inner)?, compiled(&documents.outer)?]));
        let [inner, outer] = compiled.as_ref()?;
        Some([verdict(inner, value)?, verdict(outer, value)?])
    }
}

/// A document for the validator; `None` if it is not valid, or takes too long to be followed.
fn compiled(document: &Document<'_>) -> Option<Schema> {
    let mut costs = Costs {
        document,
        known: HashMap::new(),
        depth: 0,
    };
    let is_cheap = |schema| costs.of(schema).is_some_and(|it| it <= MOST_AT_ONCE);
    walk(document.root).all(is_cheap).then_some(())?;
    json_schema::compile(document.root).ok()
}

/// Whether a schema accepts a value; `None` if a pattern gives up.
fn verdict(schema: &Schema, value: &Value) -> Option<bool> {
    let mut errors = schema.validator().iter_errors(value);
    match errors.next() {
        None => Some(true),
        Some(error) if is_undecided(&error) => None,
        Some(_) => Some(errors.all(|error| !is_undecided(&error))).map(|_| false),
    }
}

/// Whether a document accepts a value.
pub(super) fn is_accepted(document: &Document<'_>, value: &Value) -> bool {
    let compiled = compiled(document);
    compiled.is_some_and(|schema| verdict(&schema, value) == Some(true))
}

/// Which of some values a schema that refers to nothing refuses; `None` if that is not known.
pub(super) fn refused<'v>(
    document: &Document<'_>,
    schema: &Value,
    values: &[&'v Value],
) -> Option<Vec<&'v Value>> {
    if keywords(schema).iter().all(|it| LISTS.contains(it)) {
        let listed = schema.get("enum").and_then(Value::as_array);
        let listed = listed.map(Listed::new);
        let is_listed = |value: &Value| listed.as_ref().is_none_or(|it| it.has(value));
        let refused = values
            .iter()
            .filter(|it| !(is_listed(it) && lists(schema, it)));
        return Some(refused.copied().collect());
    }
    let references = ["$ref", "$dynamicRef", "$recursiveRef"];
    if walk(schema).any(|it| references.iter().any(|keyword| it.get(keyword).is_some())) {
        return None;
    }
    let mut schema = schema.clone();
    if let (Some(whole), Some(draft)) = (schema.as_object_mut(), document.root.get("$schema")) {
        whole.insert("$schema".to_owned(), draft.clone());
    }
    let schema = json_schema::compile(&schema).ok()?;
    let mut refused = Vec::new();
    for value in values {
        if !verdict(&schema, value)? {
            refused.push(*value);
        }
    }
    Some(refused)
}

/// The keywords of most schemas of single values.
const LISTS: [&str; 3] = ["const", "enum", "type"];

/// Whether a schema of nothing but [`LISTS`] accepts a value that its `enum` has.
fn lists(schema: &Value, value: &Value) -> bool {
    let mut only = schema.get("const").into_iter();
    schema
        .get("type")
        .is_none_or(|types| Types::declared(types).has(Types::of(value)))
        && only.all(|it| equal(it, value))
        && *schema != Value::Bool(false)
}

/// Whether a pattern matches a text; `None` if that is not known.
pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    let schema = json_schema::compile(&json!({ "pattern": pattern })).ok()?;
    verdict(&schema, &text.into())
}

/// Counts the schemas that hold for one value.
struct Costs<'w, 'a> {
    document: &'w Document<'a>,
    /// What is known; `None` while it is being counted, and of one that leads back to itself.
    known: HashMap<*const Value, Option<u64>>,
    depth: usize,
}

impl<'a> Costs<'_, 'a> {
    fn of(&mut self, schema: &'a Value) -> Option<u64> {
        let place = std::ptr::from_ref(schema);
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        self.known.insert(place, None);
        if self.depth > DEEPEST {
            return None;
        }
        self.depth += 1;
        let lists = ["allOf", "anyOf", "oneOf"].into_iter();
        let lists = lists.filter_map(|it| schema.get(it)?.as_array()).flatten();
        let singles = ["not", "if", "then", "else"].into_iter();
        let singles = singles.filter_map(|it| schema.get(it));
        let named = ["dependentSchemas", "dependencies"].into_iter();
        let named = named.filter_map(|it| schema.get(it)?.as_object());
        let named = named.flatten().map(|(_, it)| it);
        let reference = self.document.reference(schema);
        let mut all = lists.chain(singles).chain(named).chain(reference);
        let cost = all.try_fold(1_u64, |sum, it| Some(sum.saturating_add(self.of(it)?)));
        self.depth -= 1;
        self.known.insert(place, cost);
        cost
    }
}
