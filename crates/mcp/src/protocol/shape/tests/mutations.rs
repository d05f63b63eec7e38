//! Messages of every kind, changed at random places: our table and the published schemas come to the same verdict. The
//! dice are loaded: every run changes the same.

use std::collections::BTreeMap;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::{
    super::{Record, Shape, check},
    schemas::{definitions, named},
};
use crate::protocol::revision::Revision;

/// Messages in each revision.
const MESSAGES: usize = 2_000;

/// What a changed value becomes.
fn strange() -> [Value; 10] {
    [
        json!(null),
        json!(true),
        json!(7),
        json!(-3),
        json!(1.5),
        json!("x"),
        json!([]),
        json!({}),
        json!([1]),
        json!({"a": 1}),
    ]
}

/// Numbers that are the same in every run (xorshift).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }
}

/// A value of a shape.
fn sample(shape: Shape, revision: Revision, depth: usize, dice: &mut Dice) -> Value {
    match shape {
        Shape::Any | Shape::Text | Shape::Token => json!("x:y"),
        Shape::Flag => json!(true),
        Shape::Number | Shape::Integer | Shape::Natural | Shape::IntegerOrNull | Shape::Ratio => {
            json!(1)
        }
        Shape::Object => json!({}),
        Shape::Const(text) => json!(text),
        Shape::Words(words) => json!(words[dice.roll(words.len())]),
        Shape::Field => json!({"type": "string"}),
        Shape::Map(item) => json!({"a": sample(*item, revision, depth + 1, dice)}),
        Shape::List(item) | Shape::AtMost(_, item) => {
            let count = if depth > 4 { 0 } else { dice.roll(3) };
            let items = (0..count).map(|_| sample(*item, revision, depth + 1, dice));
            items.collect()
        }
        Shape::Record(inner) => record(inner, revision, depth + 1, dice),
        Shape::Kinds(kinds) => {
            let known: Vec<_> = kinds.iter().filter(|it| it.since <= revision).collect();
            let kind = known[if depth > 4 { 0 } else { dice.roll(known.len()) }];
            record(kind.record, revision, depth + 1, dice)
        }
        Shape::Either(records) => {
            let (_, inner) = records[dice.roll(records.len())];
            record(inner, revision, depth + 1, dice)
        }
        Shape::OneOrMany(one, _) => sample(*one, revision, depth, dice),
    }
}

fn record(record: &Record, revision: Revision, depth: usize, dice: &mut Dice) -> Value {
    let mut members = Map::new();
    // What a server asks for in a result is told more loosely by our table.
    let is_exact = |name: &str| name != "inputRequests";
    let of_revision = record.members.iter();
    let of_revision = of_revision.filter(|it| it.is_in(revision) && is_exact(it.name));
    for member in of_revision {
        if member.is_required(revision) || depth < 6 && dice.roll(4) > 0 {
            let value = sample(member.shape, revision, depth, dice);
            members.insert(member.name.to_owned(), value);
        }
    }
    Value::Object(members)
}

/// The places of a value, as JSON Pointers.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{at}/{name}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Changes one place.
fn mutate(value: &mut Value, dice: &mut Dice) -> String {
    let mut found = Vec::new();
    places(value, "", &mut found);
    let place = found[dice.roll(found.len())].clone();
    let new = strange()[dice.roll(10)].clone();
    let (parent, last) = place.rsplit_once('/').unwrap_or_default();
    match (dice.roll(4), value.pointer_mut(parent)) {
        (0, Some(Value::Object(members))) if !place.is_empty() => {
            members.remove(&last.replace("~1", "/").replace("~0", "~"));
        }
        (1, Some(Value::Array(items))) if !place.is_empty() => items.push(new),
        (2, _) => {
            if let Some(Value::Object(members)) = value.pointer_mut(&place) {
                members.insert("vendor".to_owned(), new);
            }
        }
        _ => *value.pointer_mut(&place).unwrap() = new,
    }
    place
}

/// A validator of one of the definitions.
fn validator(definitions: &Value, schema: &Value) -> Validator {
    let mut schema = schema.clone();
    // Each dialect finds them under its own name.
    schema["definitions"] = definitions.clone();
    schema["$defs"] = definitions.clone();
    let options = jsonschema::options().should_validate_formats(false);
    options.build(&schema).unwrap()
}

#[test]
fn ten_thousand_changed_messages_are_judged_as_the_schemas_do() {
    let mut differences: BTreeMap<String, usize> = BTreeMap::new();
    let (mut judged, mut flawed) = (0, 0);
    for revision in Revision::ALL {
        let Some(definitions) = definitions(revision) else {
            return;
        };
        let records = named(&definitions);
        let validators: Vec<Validator> = records
            .iter()
            .map(|(_, schema)| validator(&definitions.0, schema))
            .collect();
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        for number in 0..MESSAGES {
            let at = number % records.len();
            let (of, validator) = (records[at].0, &validators[at]);
            let mut value = record(of, revision, 0, &mut dice);
            let whole = check(of, revision, &value);
            assert_eq!(whole, [], "{revision} {}: {value}", of.name);
            assert!(
                validator.is_valid(&value),
                "{revision} {}: {value}",
                of.name
            );
            let place = mutate(&mut value, &mut dice);
            let ours = check(of, revision, &value).is_empty();
            let theirs = validator.is_valid(&value);
            judged += 1;
            flawed += usize::from(!theirs);
            // There a schema has neither null nor fractions among the values of an object, which JSON has.
            let is_any = revision == Revision::V2026_07_28 && place.starts_with("/capabilities/");
            if ours != theirs && !(ours && is_any) {
                let told = format!("{revision} {} {place}: ours {ours}, {value}", of.name);
                *differences.entry(told).or_default() += 1;
            }
        }
    }
    let told: Vec<&String> = differences
        .keys()
        .step_by(differences.len().div_ceil(20).max(1))
        .collect();
    assert!(
        told.is_empty(),
        "{} of {judged}: {told:#?}",
        differences.len()
    );
    assert!(
        judged == 5 * MESSAGES && flawed * 4 > judged,
        "{flawed} of {judged}"
    );
}
