use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Map, Value, json};

use super::{
    Proof, Search, declarations, gaps,
    shape::{of_item, of_property},
};
use mcp::json::json_schema::compile;

/// Values that the keywords of [`schemas`] tell apart.
fn values() -> impl Strategy<Value = Value> {
    let plain = [
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(6),
        json!(0.5),
    ];
    let plain = plain
        .into_iter()
        .chain(["", "a", "b", "ab", "text"].map(Value::from));
    let plain = select(plain.collect::<Vec<_>>());
    plain.prop_recursive(3, 12, 3, |inside| {
        let names = select(vec!["a", "b", "c", "x-a"]);
        prop_oneof![
            vec(inside.clone(), 0..4).prop_map(Value::from),
            vec((names, inside), 0..4).prop_map(|all| all
                .into_iter()
                .map(|(name, it)| (name.to_owned(), it))
                .collect()),
        ]
    })
}

/// Small schemas with most keywords.
fn schemas() -> impl Strategy<Value = Value> {
    let number = |word: &'static str| (-1..5_i32).prop_map(move |it| json!({ word: it }));
    let size = |word: &'static str| (0..4_u32).prop_map(move |it| json!({ word: it }));
    let types = select(vec![
        "null", "boolean", "integer", "number", "string", "array", "object",
    ]);
    let leaf = prop_oneof![
        4 => types.clone().prop_map(|it| json!({"type": it})),
        1 => vec(types, 1..4).prop_map(|all| {
            let all: std::collections::BTreeSet<_> = all.into_iter().collect();
            json!({"type": all})
        }),
        2 => vec(values(), 1..4).prop_map(|all| json!({"enum": all})),
        1 => values().prop_map(|it| json!({"const": it})),
        2 => prop_oneof![number("minimum"), number("maximum"), number("exclusiveMinimum"), number("exclusiveMaximum")],
        1 => (1..4_u32).prop_map(|it| json!({"multipleOf": it})),
        2 => prop_oneof![size("minLength"), size("maxLength"), size("minItems"), size("maxItems")],
        1 => prop_oneof![size("minProperties"), size("maxProperties")],
        1 => select(vec!["^a", "b$", "^[a-z]+$"]).prop_map(|it| json!({"pattern": it})),
        1 => Just(json!({"uniqueItems": true})),
        1 => select(vec!["a", "b", "c"]).prop_map(|it| json!({"required": [it]})),
        1 => Just(json!({"dependentRequired": {"a": ["b"]}})),
        1 => any::<bool>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 3, |inside| {
        let names = select(vec!["a", "b", "c"]);
        let properties = vec((names, inside.clone()), 0..4);
        let properties = properties.prop_map(|all| all.into_iter().map(|(name, it)| (name.to_owned(), it)).collect::<Map<_, _>>());
        let rest = prop_oneof![
            3 => Just(None),
            2 => Just(Some(json!(false))),
            1 => inside.clone().prop_map(Some),
        ];
        let object = (properties, rest).prop_map(|(properties, rest)| {
            let mut whole = json!({"type": "object", "properties": properties});
            if let Some(rest) = rest {
                whole["additionalProperties"] = rest;
            }
            whole
        });
        let several = |word: &'static str, inside: BoxedStrategy<Value>| {
            vec(inside, 1..4).prop_map(move |all| json!({ word: all }))
        };
        let one = |word: &'static str, inside: BoxedStrategy<Value>| inside.prop_map(move |it| json!({ word: it }));
        let inside = inside.boxed();
        prop_oneof![
            4 => object,
            3 => several("anyOf", inside.clone()),
            2 => several("oneOf", inside.clone()),
            2 => (inside.clone(), inside.clone()).prop_map(|(one, other)| json!({"allOf": [one, other]})),
            2 => (inside.clone(), inside.clone()).prop_map(|(one, other)| both(one, other)),
            1 => one("not", inside.clone()),
            2 => one("items", inside.clone()),
            1 => several("prefixItems", inside.clone()),
            1 => one("contains", inside.clone()),
            1 => one("propertyNames", inside.clone()),
            1 => inside.clone().prop_map(|it| json!({"patternProperties": {"^x-": it}})),
            1 => (inside.clone(), inside.clone(), inside.clone())
                .prop_map(|(one, two, three)| json!({"if": one, "then": two, "else": three})),
        ]
    })
}

/// The keywords of both.
fn both(mut one: Value, other: Value) -> Value {
    match (&mut one, other) {
        (Value::Object(one), Value::Object(other)) => one.extend(other),
        (one, other) => *one = other,
    }
    one
}

/// The ways to meet a schema: one of the alternatives each.
fn ways(schema: &Value) -> Vec<Vec<&Value>> {
    let list = |word: &str| schema.get(word).and_then(Value::as_array);
    let ways = vec![vec![schema]];
    let ways = list("allOf")
        .into_iter()
        .flatten()
        .fold(ways, |all, it| product(&all, &self::ways(it)));
    let lists = ["anyOf", "oneOf"].into_iter().filter_map(list);
    lists.fold(ways, |all, it| {
        product(&all, &it.iter().flat_map(self::ways).collect::<Vec<_>>())
    })
}

/// Each of some ways with each of others.
fn product<'a>(one: &[Vec<&'a Value>], other: &[Vec<&'a Value>]) -> Vec<Vec<&'a Value>> {
    let all = one
        .iter()
        .flat_map(|one| other.iter().map(|it| [one.clone(), it.clone()].concat()));
    all.take(200).collect()
}

/// Whether a value conforms to all schemas with nothing but what they declare on the way.
fn is_declared(schemas: &[&Value], value: &Value) -> bool {
    let all = schemas
        .iter()
        .fold(vec![Vec::new()], |all, it| product(&all, &ways(it)));
    let meets = |schema: &&Value| compile(schema).unwrap().validator().is_valid(value);
    let lists = |schema: &&&Value| schema.get("enum").or(schema.get("const")).is_some();
    all.iter().filter(|way| way.iter().all(meets)).any(|way| {
        let is_listed = way.iter().any(|it| lists(&it));
        match value {
            _ if is_listed => true,
            Value::Object(members) => members.iter().all(|(name, it)| {
                let inside: Vec<&Value> = way
                    .iter()
                    .flat_map(|rule| of_property(rule, name))
                    .collect();
                let is_named = way.iter().any(|it| {
                    it["required"]
                        .as_array()
                        .is_some_and(|all| all.contains(&name.as_str().into()))
                });
                (is_named
                    || inside
                        .iter()
                        .any(|it| it.as_object().is_none_or(|it| !it.is_empty()))
                        && !inside.is_empty())
                    && is_declared(&inside, it)
            }),
            Value::Array(items) => items.iter().enumerate().all(|(at, it)| {
                let inside: Vec<&Value> = way
                    .iter()
                    .filter_map(|rule| of_item(rule, Some(at)))
                    .collect();
                is_declared(&inside, it)
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
        }
    })
}

/// Whether the one schema is called within the other; fails if a value shows the contrary.
fn check(inner: &Value, outer: &Value, values: &[Value]) -> Result<bool, TestCaseError> {
    let whole = |it: &Value| json!({"type": "object", "properties": {"x": it}, "required": ["x"]});
    let found = gaps(&whole(inner), &whole(outer), Search::Witness);
    for gap in &found {
        if let Proof::Witness(value) = &gap.proof {
            prop_assert!(
                compile(&whole(inner)).unwrap().validator().is_valid(value),
                "{value}"
            );
            prop_assert!(
                !compile(&whole(outer)).unwrap().validator().is_valid(value),
                "{value}"
            );
        }
    }
    if found.is_empty() {
        let (inside, within) = (compile(inner).unwrap(), compile(outer).unwrap());
        let is_valid =
            |it: &&Value| inside.validator().is_valid(it) && !within.validator().is_valid(it);
        for value in values.iter().filter(is_valid) {
            prop_assert!(
                !is_declared(&[inner], value),
                "{value} shows that\n{inner}\nis not within\n{outer}"
            );
        }
    }
    Ok(found.is_empty())
}

/// A case compiles a hundred schemas: few of them, unless more are asked for.
fn few() -> ProptestConfig {
    let usual = ProptestConfig::default();
    let is_asked = std::env::var_os("PROPTEST_CASES").is_some();
    ProptestConfig {
        cases: if is_asked { usual.cases } else { 40 },
        ..usual
    }
}

proptest! {
    #![proptest_config(few())]

    #[test]
    fn what_is_called_included_has_no_witness(
        one in schemas(),
        other in schemas(),
        values in vec(values(), 60),
    ) {
        check(&one, &other, &values)?;
        check(&one, &both(one.clone(), other.clone()), &values)?;
        check(&both(other.clone(), one.clone()), &other, &values)?;
        check(&json!({"allOf": [one, other]}), &other, &values)?;
        check(&one, &json!({"anyOf": [other, one]}), &values)?;
        check(&one, &json!({"oneOf": [other, one]}), &values)?;
        check(&json!({"anyOf": [other, one]}), &json!({"anyOf": [one, other]}), &values)?;
        check(&one, &json!({"not": other}), &values)?;
        let is_same = check(&one, &one.clone(), &values)?;
        prop_assert!(is_same);
    }
}

/// Schemas that grow without end when they are followed.
#[test]
fn hostile_schemas_are_bounded() {
    let chain = |length: usize, word: &str, end: Value| {
        let defs = (0..length).map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            let two = if word == "$ref" {
                next
            } else {
                json!({ word: [next, next] })
            };
            (format!("d{at}"), two)
        });
        let mut defs: Map<String, Value> = defs.collect();
        defs.insert(format!("d{length}"), end);
        json!({"properties": {"x": {"$ref": "#/$defs/d0"}}, "$defs": defs})
    };
    let nested = |word: &str| json!({"properties": {"x": {"$ref": "#/$defs/n"}}, "$defs": {"n": {word: {"$ref": "#/$defs/n"}}}});
    let all = [
        chain(40, "allOf", json!({"type": "string"})),
        chain(40, "anyOf", json!({"type": "string"})),
        chain(40, "oneOf", json!({"type": "integer"})),
        chain(4_000, "$ref", json!({"type": "string"})),
        json!({"properties": {"x": {"$ref": "#/properties/x"}}}),
        json!({"$ref": "#"}),
        json!({"anyOf": [{"$ref": "#"}, {"not": {"$ref": "#"}}]}),
        nested("not"),
        nested("items"),
        nested("additionalProperties"),
        json!({"properties": {"x": {"enum": (0..6_000).collect::<Vec<_>>()}}}),
        json!({"properties": {"x": {"enum": (1..6_000).map(|it| it.to_string()).collect::<Vec<_>>()}}}),
        json!({"properties": {"x": {"pattern": "^(a|a)*\\1b", "minLength": 40}}}),
        json!({"properties": {"x": {"pattern": "(", "type": "string"}}}),
        json!({"properties": 1, "required": {"a": 1}, "type": 7, "enum": "x", "allOf": 3, "items": null}),
        json!({"properties": {"x": {"minimum": "1".repeat(5_000).parse::<serde_json::Number>().unwrap(), "type": "integer"}}}),
        json!({"properties": {"x": {"type": "string", "minLength": 1_000_000_000_000_u64}}}),
        json!({"properties": {"x": {"type": "array", "minItems": 1_000_000_000_000_u64}}}),
    ];
    let plain = json!({"properties": {"x": {"type": "string", "maxLength": 3}}});
    for (at, one) in all.iter().enumerate() {
        let next = &all[(at + 1) % all.len()];
        for (one, other) in [(one, &plain), (&plain, one), (one, next)] {
            let begun = std::time::Instant::now();
            let _ = gaps(one, other, Search::Witness);
            let _ = declarations(one, other);
            let took = begun.elapsed();
            let start = |it: &Value| it.to_string().chars().take(120).collect::<String>();
            assert!(
                took.as_secs() < 30,
                "{took:?}: {} {}",
                start(one),
                start(other)
            );
            if took.as_secs() > 0 {
                println!("{took:?}: {} {}", start(one), start(other));
            }
        }
    }
}
