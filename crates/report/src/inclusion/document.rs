//! The two documents that are compared: where their references lead, and whether two schemas say the same.

use std::{cell::Cell, str::FromStr};

use serde_json::{Number, Value};

use mcp::json::{
    json_schema::{DATA, NAMED_SCHEMAS, References},
    number,
    walk::walk,
};

/// Which of the two documents a schema is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The one whose values are looked at.
    Inner,
    /// The one that should accept them.
    Outer,
}

/// A schema and the document it is in.
pub(super) type Part<'a> = (Side, &'a Value);

/// Two documents that are compared, and how much work that may still be.
#[derive(Debug)]
pub(crate) struct Documents<'a> {
    pub(super) roots: [&'a Value; 2],
    references: [References<'a>; 2],
    /// Whether both define the same schemas under the same names.
    are_defined_alike: bool,
    work: Cell<usize>,
}

/// The most schemas that are looked at for two documents: references to references make exponentially many.
const MOST_WORK: usize = 150_000;

/// Keywords whose values are texts for people.
const TEXTS: [&str; 3] = ["$comment", "description", "title"];

/// Keywords that count beside a `$ref` in every draft.
const BESIDE_REFERENCES: [&str; 5] = ["$defs", "$id", "$ref", "$schema", "definitions"];

/// A schema in the form in which two are compared: without texts for people, each whole number as its digits, and without
/// what stands beside a `$ref` in the drafts in which that has no effect.
pub(super) fn canonical(root: &Value) -> Value {
    let draft = root.get("$schema").and_then(Value::as_str);
    let old = ["draft-03", "draft-04", "draft-06", "draft-07"];
    let is_old = draft.is_some_and(|it| old.iter().any(|old| it.contains(old)));
    plain(root, Kind::Schema, is_old)
}

/// What a part of a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A schema, or a list of some.
    Schema,
    /// Schemas by name.
    Named,
    /// A value.
    Data,
}

fn plain(part: &Value, kind: Kind, is_old: bool) -> Value {
    match part {
        Value::Number(number) => {
            let digits = number::digits(number);
            let whole = digits.and_then(|it| Number::from_str(&it).ok());
            whole.unwrap_or_else(|| number.clone()).into()
        }
        Value::Array(items) => items.iter().map(|it| plain(it, kind, is_old)).collect(),
        Value::Object(members) => {
            let is_lone = is_old && members.get("$ref").is_some_and(Value::is_string);
            let counts = |name: &str| {
                kind != Kind::Schema
                    || (!is_lone || BESIDE_REFERENCES.contains(&name)) && !TEXTS.contains(&name)
            };
            let members = members.iter().filter(|(name, _)| counts(name));
            let members = members.map(|(name, it)| {
                let inside = match kind {
                    Kind::Data => Kind::Data,
                    Kind::Schema if DATA.contains(&name.as_str()) => Kind::Data,
                    Kind::Schema if NAMED_SCHEMAS.contains(&name.as_str()) => Kind::Named,
                    Kind::Schema | Kind::Named => Kind::Schema,
                };
                (name.clone(), plain(it, inside, is_old))
            });
            members.collect()
        }
        Value::Null | Value::Bool(_) | Value::String(_) => part.clone(),
    }
}

impl<'a> Documents<'a> {
    /// Two documents.
    pub(crate) fn new(inner: &'a Value, outer: &'a Value) -> Self {
        let roots = [inner, outer];
        Self {
            roots,
            references: roots.map(References::new),
            are_defined_alike: are_defined_alike(roots),
            work: Cell::new(MOST_WORK),
        }
    }

    /// What the reference of a schema leads to in its document.
    pub(crate) fn reference(&self, (side, schema): Part<'_>) -> Option<&'a Value> {
        let reference = schema.get("$ref")?.as_str()?;
        self.references[side as usize].target(reference)
    }

    /// Pays for so many schemas; `None` if not enough is left.
    pub(super) fn spend(&self, cost: usize) -> Option<()> {
        self.work.set(self.work.get().checked_sub(cost)?);
        Some(())
    }

    /// Whether a schema of either document says the same in the other one.
    pub(super) fn are_same(&self, one: &Value, other: &Value) -> bool {
        let is_same = |reference: &str| {
            self.are_defined_alike && is_definition(reference)
                || self
                    .references
                    .iter()
                    .all(|it| it.target(reference).is_none())
        };
        one == other && references(one).all(is_same)
    }
}

/// Whether all that is defined for others to refer to is the same in both documents.
fn are_defined_alike(roots: [&Value; 2]) -> bool {
    let definitions = ["$defs", "definitions"].into_iter();
    let mut definitions = definitions.map(|it| roots.map(|root| root.get(it)));
    definitions
        .all(|[one, other]| one == other && one.is_none_or(|it| references(it).all(is_definition)))
}

fn is_definition(reference: &str) -> bool {
    reference.starts_with("#/$defs/") || reference.starts_with("#/definitions/")
}

/// The references in a schema.
fn references(schema: &Value) -> impl Iterator<Item = &str> {
    walk(schema).filter_map(|it| it.get("$ref")?.as_str())
}

/// The schemas under some keywords of a schema: one, a list, or one for each name.
pub(super) fn schemas<'v>(schema: &'v Value, keywords: &[&str]) -> Vec<&'v Value> {
    let mut all = Vec::new();
    for keyword in keywords {
        match schema.get(keyword) {
            Some(Value::Array(list)) => all.extend(list),
            Some(Value::Object(named)) if NAMED_SCHEMAS.contains(keyword) => {
                all.extend(named.values());
            }
            Some(one) => all.push(one),
            None => {}
        }
    }
    all
}
