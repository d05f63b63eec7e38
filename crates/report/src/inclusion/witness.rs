//! What the validator says of single values: whether one is a witness, and whether a pattern matches a text.

use std::{
    cell::OnceCell,
    collections::{HashMap, HashSet},
};

use serde_json::{Value, json};

use super::{
    document::{Documents, Part, Side, schemas},
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
        self.trials += 1;
        let both = || {
            Some([
                compiled(documents, Side::Inner)?,
                compiled(documents, Side::Outer)?,
            ])
        };
        let says = |[inner, outer]: &[Schema; 2]| {
            verdict(inner, value) == Some(true) && verdict(outer, value) == Some(false)
        };
        !self.is_spent() && self.compiled.get_or_init(both).as_ref().is_some_and(says)
    }

    /// Whether no more values are tried.
    pub(super) fn is_spent(&self) -> bool {
        self.trials > MOST_TRIALS
    }
}

/// A document for the validator; `None` if it is not valid, or takes too long to be followed.
fn compiled(documents: &Documents<'_>, side: Side) -> Option<Schema> {
    let mut costs = Costs {
        documents,
        known: HashMap::new(),
        depth: 0,
    };
    let root = documents.roots[side as usize];
    let is_cheap = |schema| {
        costs
            .of((side, schema))
            .is_some_and(|it| it <= MOST_AT_ONCE)
    };
    walk(root).all(is_cheap).then_some(())?;
    json_schema::compile(root).ok()
}

/// Whether a schema accepts a value; `None` if a pattern gives up.
fn verdict(schema: &Schema, value: &Value) -> Option<bool> {
    let mut is_valid = true;
    for error in schema.validator().iter_errors(value) {
        if is_undecided(&error) {
            return None;
        }
        is_valid = false;
    }
    Some(is_valid)
}

/// Keywords that only list values, and some that say nothing.
const LISTS: [&str; 5] = ["const", "default", "enum", "examples", "type"];

/// Whether a schema says nothing of values but that they are some of a list.
pub(super) fn is_list(schema: &Value) -> bool {
    let mut keywords = schema.as_object().into_iter().flatten();
    keywords.all(|(name, _)| LISTS.contains(&name.as_str()))
}

/// Which of some values a schema of a document refuses; `None` if it refers to others, or that is not known.
pub(super) fn refused<'v>(
    root: &Value,
    schema: &Value,
    values: &[&'v Value],
) -> Option<Vec<&'v Value>> {
    if is_list(schema) {
        let listed = schema.get("enum").and_then(Value::as_array);
        let listed: Option<HashSet<&Value>> = listed.map(|it| it.iter().collect());
        let is_accepted = |value: &Value| {
            let types = schema.get("type").map(Types::declared);
            listed.as_ref().is_none_or(|it| it.contains(value))
                && schema.get("const").is_none_or(|it| it == value)
                && types.is_none_or(|it| it.has(Types::of(value)))
                && *schema != Value::Bool(false)
        };
        let refused = values.iter().copied();
        return Some(refused.filter(|it| !is_accepted(it)).collect());
    }
    let references = ["$ref", "$dynamicRef", "$recursiveRef"];
    if walk(schema).any(|it| references.iter().any(|keyword| it.get(keyword).is_some())) {
        return None;
    }
    let mut schema = schema.clone();
    let draft = root.get("$schema");
    if let (Some(whole), Some(draft)) = (schema.as_object_mut(), draft) {
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

/// Whether a pattern matches a text; `None` if that is not known.
pub(super) fn matches(pattern: &str, text: &str) -> Option<bool> {
    let schema = json_schema::compile(&json!({ "pattern": pattern })).ok()?;
    verdict(&schema, &text.into())
}

/// Counts the schemas that hold for one value.
struct Costs<'w, 'a> {
    documents: &'w Documents<'a>,
    /// What is known; `None` while it is being counted, and of one that leads back to itself.
    known: HashMap<*const Value, Option<u64>>,
    depth: usize,
}

/// Keywords whose schemas hold for the same value.
const BESIDE: [&str; 9] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentSchemas",
    "dependencies",
];

impl<'a> Costs<'_, 'a> {
    fn of(&mut self, (side, schema): Part<'a>) -> Option<u64> {
        let place = std::ptr::from_ref(schema);
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        self.known.insert(place, None);
        if self.depth > DEEPEST {
            return None;
        }
        self.depth += 1;
        let beside = schemas(schema, &BESIDE).into_iter();
        let mut all = beside.chain(self.documents.reference((side, schema)));
        let cost = all.try_fold(1_u64, |sum, it| {
            Some(sum.saturating_add(self.of((side, it))?))
        });
        self.depth -= 1;
        self.known.insert(place, cost);
        cost
    }
}
