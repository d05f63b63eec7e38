//! Which properties a schema declares, wherever: in any alternative, behind any reference. A property that is not declared
//! any more may still be accepted, but nothing reads it.

use std::collections::{BTreeMap, HashSet};

use serde_json::{Value, json};

use super::{
    Proof, Search,
    document::{Documents, Side, schemas},
    gaps,
    shape::is_map,
    type_set::Types,
};

/// How deep declarations are followed.
const DEEPEST: usize = 12;

/// Pairs of places that are compared.
const MOST_PLACES: usize = 2_000;

/// Schemas that one place may be made of.
const MOST_SCHEMAS: usize = 200;

/// The way to a place in a value: names of properties, and `None` for any item.
pub(crate) type Place = Vec<Option<String>>;

/// A difference of declarations.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Declaration {
    /// The property is declared in the old schema only.
    Removed,
    /// The property is declared in the new schema only.
    Added,
    /// A text or value for people and models is another one: the keyword, before and now.
    Said(&'static str, Option<Value>, Option<Value>),
}

/// The differences of what two schemas declare, by place.
pub(crate) fn declarations(old: &Value, new: &Value) -> Vec<(Place, Declaration)> {
    let mut comparison = Comparison {
        documents: Documents::new(old, new),
        found: Vec::new(),
        left: MOST_PLACES,
    };
    comparison.places(&mut Vec::new(), [vec![old], vec![new]]);
    comparison.found
}

struct Comparison<'a> {
    documents: Documents<'a>,
    found: Vec<(Place, Declaration)>,
    left: usize,
}

/// What the schemas of one place declare.
#[derive(Default)]
struct Declared<'a> {
    properties: BTreeMap<&'a str, Vec<&'a Value>>,
    items: Vec<&'a Value>,
    /// Whether names that are not listed are declared too.
    has_others: bool,
    /// Whether anything is said of objects.
    has_objects: bool,
    said: [Vec<&'a Value>; 3],
}

/// Keywords that people and models read, or clients fill in.
const SAID: [&str; 3] = ["title", "description", "default"];

impl<'a> Comparison<'a> {
    fn places(&mut self, place: &mut Place, [old, new]: [Vec<&'a Value>; 2]) {
        if old == new || place.len() > DEEPEST || self.left == 0 {
            return;
        }
        self.left -= 1;
        let before = declared(&self.documents, Side::Inner, old);
        let now = declared(&self.documents, Side::Outer, new);
        for (keyword, (one, other)) in SAID.into_iter().zip(before.said.iter().zip(&now.said)) {
            // Most servers make the title of the whole from a function's name.
            if one != other && !(keyword == "title" && place.is_empty()) {
                let said = Declaration::Said(keyword, together(one), together(other));
                self.found.push((place.clone(), said));
            }
        }
        for (name, schemas) in &before.properties {
            place.push(Some((*name).to_owned()));
            match now.properties.get(name) {
                Some(other) => self.places(place, [schemas.clone(), other.clone()]),
                None if now.has_objects && !now.has_others => {
                    self.found.push((place.clone(), Declaration::Removed));
                }
                None => {}
            }
            place.pop();
        }
        for name in now.properties.keys() {
            let is_new = !before.properties.contains_key(name) && !before.has_others;
            if is_new && before.has_objects {
                let place = place.iter().cloned().chain([Some((*name).to_owned())]);
                self.found.push((place.collect(), Declaration::Added));
            }
        }
        if !before.items.is_empty() && !now.items.is_empty() {
            place.push(None);
            self.places(place, [before.items, now.items]);
            place.pop();
        }
    }
}

/// What the alternatives of one place say, as one value.
fn together(said: &[&Value]) -> Option<Value> {
    match said {
        [] => None,
        [one] => Some((*one).clone()),
        several => {
            let words = several
                .iter()
                .map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
            Some(words.collect::<Vec<_>>().join("; ").into())
        }
    }
}

fn declared<'a>(
    documents: &Documents<'a>,
    side: Side,
    mut waiting: Vec<&'a Value>,
) -> Declared<'a> {
    let mut all = Declared::default();
    let mut seen: HashSet<*const Value> = HashSet::new();
    waiting.reverse();
    while let Some(schema) = waiting.pop() {
        if !seen.insert(schema) || seen.len() > MOST_SCHEMAS {
            continue;
        }
        for (known, keyword) in all.said.iter_mut().zip(SAID) {
            let said = schema.get(keyword).filter(|it| !known.contains(it));
            known.extend(said);
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        for (name, it) in properties.into_iter().flatten() {
            all.properties.entry(name).or_default().push(it);
        }
        all.has_others |= schema.get("patternProperties").is_some()
            || schema.get("additionalProperties").is_some_and(is_map);
        let is_object = |it: &Value| Types::declared(it).has(Types::OBJECT);
        all.has_objects |= properties.is_some() || schema.get("type").is_some_and(is_object);
        all.items.extend(schemas(schema, &["prefixItems", "items"]));
        let inside = schemas(schema, &["allOf", "anyOf", "oneOf", "if", "then", "else"]);
        waiting.extend(inside.into_iter().rev());
        waiting.extend(documents.reference((side, schema)));
    }
    all
}

/// A value of a schema that has something at a place.
pub(crate) fn having(schema: &Value, place: &[Option<String>]) -> Option<Value> {
    let nothing = Value::Bool(false);
    let without = place.iter().rev().fold(nothing, |inside, step| match step {
        Some(name) => json!({"properties": {name: inside}}),
        None => json!({ "items": inside }),
    });
    let mut gaps = gaps(schema, &without, Search::Witness).into_iter();
    gaps.find_map(|gap| match gap.proof {
        Proof::Witness(value) => Some(value),
        Proof::Unproven(_) => None,
    })
}
