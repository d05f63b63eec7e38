//! The document that a schema stands in, and whether two schemas mean the same.

use std::{cell::Cell, collections::HashSet};

use serde_json::Value;

use mcp::json::{
    json_schema::{DATA, NAMED_SCHEMAS, References},
    number,
};

/// Which of the two documents a schema is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one whose values are looked at.
    Inner,
    /// The one that should accept them.
    Outer,
}

/// A document with its references.
#[derive(Debug)]
pub(crate) struct Document<'a> {
    /// The whole.
    pub(crate) root: &'a Value,
    references: References<'a>,
    /// Whether keywords beside a `$ref` have no effect, as in the drafts before 2019-09.
    has_lone_references: bool,
}

/// Two documents that are compared, and how much work that may still be.
#[derive(Debug)]
pub(crate) struct Documents<'a> {
    pub(super) inner: Document<'a>,
    pub(super) outer: Document<'a>,
    work: Cell<usize>,
}

/// The most schemas that are looked at for two documents: references to references make exponentially many.
const MOST_WORK: usize = 150_000;

impl<'a> Documents<'a> {
    /// Two documents.
    pub(crate) fn new(inner: &'a Value, outer: &'a Value) -> Self {
        Self {
            inner: Document::new(inner),
            outer: Document::new(outer),
            work: Cell::new(MOST_WORK),
        }
    }

    /// One of them.
    pub(crate) fn of(&self, side: Side) -> &Document<'a> {
        match side {
            Side::Inner => &self.inner,
            Side::Outer => &self.outer,
        }
    }

    /// Pays for so many schemas; `None` if not enough is left.
    pub(super) fn spend(&self, cost: usize) -> Option<()> {
        self.work.set(self.work.get().checked_sub(cost)?);
        Some(())
    }
}

/// Keywords that accept every value, and those that only hold schemas for others.
const SILENT: [&str; 15] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$id",
    "$schema",
    "$vocabulary",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords whose lists have no order.
const UNORDERED: [&str; 3] = ["enum", "required", "type"];

/// References in a row that are followed.
const LONGEST_CHAIN: usize = 32;

impl<'a> Document<'a> {
    /// A document.
    pub(crate) fn new(root: &'a Value) -> Self {
        let draft = root.get("$schema").and_then(Value::as_str);
        let old = ["draft-03", "draft-04", "draft-06", "draft-07"];
        Self {
            root,
            references: References::new(root),
            has_lone_references: draft.is_some_and(|it| old.iter().any(|old| it.contains(old))),
        }
    }

    /// What the reference of a schema leads to in this document.
    pub(crate) fn reference(&self, schema: &Value) -> Option<&'a Value> {
        self.references.target(schema.get("$ref")?.as_str()?)
    }

    /// Whether the keywords of a schema count beside its reference.
    pub(crate) fn counts_beside_reference(&self, schema: &Value) -> bool {
        !self.has_lone_references || schema.get("$ref").is_none()
    }

    /// The schema that a chain of nothing but references leads to.
    fn behind(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..LONGEST_CHAIN {
            let is_lone = !self.counts_beside_reference(schema) || keywords(schema) == ["$ref"];
            match self.reference(schema) {
                Some(target) if is_lone => schema = target,
                Some(_) | None => break,
            }
        }
        schema
    }
}

/// The keywords of a schema that do something, sorted.
pub(super) fn keywords(schema: &Value) -> Vec<&str> {
    let members = schema.as_object().into_iter().flatten();
    let names = members.map(|(name, _)| name.as_str());
    let mut names: Vec<&str> = names.filter(|it| !SILENT.contains(it)).collect();
    names.sort_unstable();
    names
}

/// Whether two values are the same value of JSON: numbers by their value, members in any order.
pub(super) fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => number::compare(one, other).is_eq(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let member = |(name, one)| other.get(name).is_some_and(|other| equal(one, other));
            one.len() == other.len() && one.iter().all(member)
        }
        (one, other) => one == other,
    }
}

/// A list of values that is searched quickly for texts and whole numbers, which long lists are made of.
pub(super) struct Listed<'a> {
    all: Vec<&'a Value>,
    texts: HashSet<String>,
}

impl<'a> Listed<'a> {
    pub(super) fn new(all: impl IntoIterator<Item = &'a Value>) -> Self {
        let all: Vec<&Value> = all.into_iter().collect();
        let texts = all.iter().filter_map(|it| plain(it)).collect();
        Self { all, texts }
    }

    pub(super) fn has(&self, value: &Value) -> bool {
        match plain(value) {
            Some(text) => self.texts.contains(&text),
            None => self.all.iter().any(|it| equal(it, value)),
        }
    }
}

/// A text that only equal values have; none for values that have several notations.
fn plain(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => number::digits(number),
        Value::Null | Value::Bool(_) | Value::String(_) => Some(value.to_string()),
        Value::Array(_) | Value::Object(_) => None,
    }
}

/// Compares schemas of two documents by what they say.
pub(super) struct Sameness<'w, 'a> {
    documents: &'w Documents<'a>,
    /// Pairs that are being compared: what refers back to them is the same if they are.
    open: Vec<(*const Value, *const Value)>,
    /// Pairs that may still be compared.
    left: usize,
}

/// Pairs of schemas that one comparison looks at.
const MOST_PAIRS: usize = 2_000;

impl<'w, 'a> Sameness<'w, 'a> {
    pub(super) fn new(documents: &'w Documents<'a>) -> Self {
        Self {
            documents,
            open: Vec::new(),
            left: MOST_PAIRS,
        }
    }

    /// Whether two schemas say the same in the same words; texts for people do not count.
    pub(super) fn schemas(&mut self, one: (Side, &'a Value), other: (Side, &'a Value)) -> bool {
        let left = self.documents.of(one.0).behind(one.1);
        let right = self.documents.of(other.0).behind(other.1);
        let pair: (*const Value, *const Value) = (left, right);
        if pair.0 == pair.1 || self.open.contains(&pair) {
            return true;
        }
        if !left.is_object() || !right.is_object() {
            return left == right;
        }
        let names = keywords(left);
        if names != keywords(right)
            || self.left == 0
            || self.documents.spend(1).is_none()
            || self.open.len() > 60
        {
            return false;
        }
        self.left -= 1;
        self.open.push(pair);
        let same = names.into_iter().all(|it| {
            if it == "$ref" {
                return self.references((one.0, left), (other.0, right));
            }
            let (one, other) = ((one.0, &left[it]), (other.0, &right[it]));
            self.keyword(it, one, other)
        });
        self.open.pop();
        same
    }

    /// Whether the references of two schemas lead to the same; what lies elsewhere is known by its name.
    fn references(&mut self, one: (Side, &'a Value), other: (Side, &'a Value)) -> bool {
        let [left, right] = [one, other].map(|(side, it)| self.documents.of(side).reference(it));
        match (left, right) {
            (Some(left), Some(right)) => self.schemas((one.0, left), (other.0, right)),
            (None, None) => one.1.get("$ref") == other.1.get("$ref"),
            (Some(_), None) | (None, Some(_)) => false,
        }
    }

    /// Whether a keyword has the same meaning with either value.
    pub(super) fn keyword(
        &mut self,
        keyword: &str,
        (of_one, one): (Side, &'a Value),
        (of_other, other): (Side, &'a Value),
    ) -> bool {
        if DATA.contains(&keyword) && keyword != "enum" {
            return equal(one, other);
        }
        match (one, other) {
            (Value::Array(one), Value::Array(other)) if UNORDERED.contains(&keyword) => {
                let (left, right) = (Listed::new(one), Listed::new(other));
                one.iter().all(|it| right.has(it)) && other.iter().all(|it| left.has(it))
            }
            (Value::Array(one), Value::Array(other)) => {
                let mut pairs = one.iter().zip(other);
                one.len() == other.len()
                    && pairs.all(|(one, other)| self.schemas((of_one, one), (of_other, other)))
            }
            (Value::Object(one), Value::Object(other)) if NAMED_SCHEMAS.contains(&keyword) => {
                one.len() == other.len()
                    && one.iter().all(|(name, one)| {
                        let other = other.get(name);
                        other.is_some_and(|it| self.schemas((of_one, one), (of_other, it)))
                    })
            }
            (Value::Object(_), Value::Object(_)) => self.schemas((of_one, one), (of_other, other)),
            (one, other) => equal(one, other),
        }
    }
}
