//! Documents that plainly satisfy a plain schema, as the arguments of nearly every call do: told without a validator,
//! because the library first compiles the schemas of schemas, which takes most of the time and a tenth of the memory of a
//! small run. Never tells a violation; whatever is not plain is the library's.

use serde_json::{Map, Value};

/// Schemas that are held against values before it is left to the library, which counts beforehand.
const MOST_STEPS: usize = 10_000;

/// The drafts that understand alike what is read here.
const DRAFTS: [&str; 3] = [
    "http://json-schema.org/draft-07/schema",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2020-12/schema",
];

/// The longest number that is plain wherever it stands.
const PLAIN_DIGITS: usize = 9;

/// Whether a schema that the schema of schemas has nothing against is certainly one: it refers to nothing, names no
/// part of itself, and has neither patterns nor numbers that may be too large for their place. `false` says nothing.
pub(crate) fn is_plain(schema: &Value) -> bool {
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let plain = match name.as_str() {
                        "pattern" | "patternProperties" => false,
                        "$schema" => member.as_str().is_some_and(|it| DRAFTS.contains(&it)),
                        "$defs" | "$comment" => true,
                        name => !name.starts_with('$'),
                    };
                    if !plain {
                        return false;
                    }
                    open.push(member);
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Number(number) if number.as_str().len() > PLAIN_DIGITS => return false,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    true
}

/// Whether a document certainly satisfies a schema, or the schema is none: in either case there is no violation to
/// tell. `false` says nothing.
pub(crate) fn is_plainly_satisfied(schema: &Value, document: &Value) -> bool {
    let mut steps = MOST_STEPS;
    is_satisfied(schema, document, &mut steps).unwrap_or(false)
}

/// The same of a schema anywhere; `None` when the steps are used up.
fn is_satisfied(schema: &Value, document: &Value, steps: &mut usize) -> Option<bool> {
    *steps = steps.checked_sub(1)?;
    let Value::Object(keywords) = schema else {
        return Some(matches!(schema, Value::Bool(true)));
    };
    for (keyword, value) in keywords {
        let holds = match keyword.as_str() {
            "title" | "description" | "default" | "examples" | "$comment" => true,
            "$schema" => value.as_str().is_some_and(|draft| DRAFTS.contains(&draft)),
            "type" => is_of_type(value, document),
            "enum" => is_one_of(value, document, steps)?,
            "required" => has_all(value, document, steps)?,
            "properties" => properties_hold(value, document, steps)?,
            "additionalProperties" => {
                let named = keywords.get("properties").and_then(Value::as_object);
                let is_other = |name: &str| named.is_none_or(|named| !named.contains_key(name));
                let members = document.as_object().into_iter().flatten();
                let others = members.filter(|(name, _)| is_other(name));
                all_satisfy(value, others.map(|(_, member)| member), steps)?
            }
            "items" => all_satisfy(value, document.as_array().into_iter().flatten(), steps)?,
            "anyOf" => any_holds(value, document, steps)?,
            _ => false,
        };
        if !holds {
            return Some(false);
        }
    }
    Some(true)
}

/// `properties`
fn properties_hold(properties: &Value, document: &Value, steps: &mut usize) -> Option<bool> {
    let Some(properties) = properties.as_object() else {
        return Some(false);
    };
    for (name, member) in document.as_object().into_iter().flatten() {
        if let Some(schema) = properties.get(name)
            && !is_satisfied(schema, member, steps)?
        {
            return Some(false);
        }
    }
    Some(true)
}

/// `items` and `additionalProperties`, of these values.
fn all_satisfy<'a>(
    schema: &Value,
    mut values: impl Iterator<Item = &'a Value>,
    steps: &mut usize,
) -> Option<bool> {
    if !schema.is_object() && !schema.is_boolean() {
        return Some(false);
    }
    values.try_fold(true, |all, value| {
        Some(all && is_satisfied(schema, value, steps)?)
    })
}

/// `anyOf`
fn any_holds(schemas: &Value, document: &Value, steps: &mut usize) -> Option<bool> {
    let schemas = schemas.as_array().map_or(&[][..], Vec::as_slice);
    schemas.iter().try_fold(false, |any, schema| {
        Some(any || is_satisfied(schema, document, steps)?)
    })
}

/// `type`, of one name or of several.
fn is_of_type(types: &Value, document: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => document.is_null(),
        Some("boolean") => document.is_boolean(),
        Some("string") => document.is_string(),
        Some("array") => document.is_array(),
        Some("object") => document.is_object(),
        Some("number") => document.is_number(),
        // Whether `1.0` is one, and what of `1e400`, is the library's to say.
        Some("integer") => document.is_i64() || document.is_u64(),
        Some(_) | None => false,
    };
    match types {
        Value::Array(names) => names.iter().any(is),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            is(types)
        }
    }
}

/// `enum`. Numbers have many spellings and equal each other all the same, so that only words are compared here.
fn is_one_of(values: &Value, document: &Value, steps: &mut usize) -> Option<bool> {
    let is_word = document.is_string() || document.is_boolean() || document.is_null();
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    *steps = steps.checked_sub(values.len())?;
    Some(is_word && values.contains(document))
}

/// `required`
fn has_all(names: &Value, document: &Value, steps: &mut usize) -> Option<bool> {
    let Some(names) = names.as_array() else {
        return Some(false);
    };
    *steps = steps.checked_sub(names.len())?;
    let has = |members: &Map<String, Value>, name: &Value| {
        name.as_str().is_some_and(|name| members.contains_key(name))
    };
    let members = document.as_object();
    Some(members.is_none_or(|members| names.iter().all(|name| has(members, name))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Just, Strategy, any, prop_assert, prop_oneof, proptest};
    use serde_json::{Value, json};

    use super::is_plainly_satisfied;
    use crate::words::json_schema::compile;

    #[test]
    fn what_is_plain_is_told() {
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "what to say", "default": ""},
                "times": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "mode": {"enum": ["loud", "low"]},
                "tags": {"type": "array", "items": {"type": ["string", "null"]}},
            },
            "required": ["text"],
            "additionalProperties": false,
        });
        let case = |document: Value, plain: bool| {
            assert_eq!(
                is_plainly_satisfied(&schema, &document),
                plain,
                "{document}"
            );
        };
        case(json!({"text": "a"}), true);
        case(
            json!({"text": "a", "times": 2, "mode": "low", "tags": ["x", null]}),
            true,
        );
        case(json!({"text": "a", "times": null}), true);
        case(json!({}), false);
        case(json!({"text": 1}), false);
        case(json!({"text": "a", "mode": "mute"}), false);
        case(json!({"text": "a", "tags": [1]}), false);
        case(json!({"text": "a", "other": 1}), false);
        case(json!({"text": "a", "times": 1.0}), false);
        case(json!([]), false);
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_library() {
        for schema in [
            json!({"pattern": "a"}),
            json!({"$ref": "#/definitions/a", "definitions": {"a": false}}),
            json!({"$schema": "http://json-schema.org/draft-04/schema#"}),
            json!({"$schema": 7}),
            json!({"properties": {"a": {"$id": "b"}}}),
            json!({"patternProperties": {"^a": true}, "additionalProperties": false}),
            json!(false),
        ] {
            assert!(
                !is_plainly_satisfied(&schema, &json!({"a": "a"})),
                "{schema}"
            );
        }
    }

    #[test]
    fn many_values_against_many_schemas_are_left_to_the_library() {
        let schemas = vec![json!({"type": "null"}); 1_000];
        let schema = json!({"items": {"anyOf": schemas}});
        let document = json!(vec![1; 1_000]);
        assert!(!is_plainly_satisfied(&schema, &document));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            (-2_i64..3).prop_map(Value::from),
            Just(json!(1.0)),
            Just(json!(0.5)),
            "[ab]".prop_map(Value::String),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                proptest::collection::btree_map("[ab]", inner, 0..3)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn schema() -> impl Strategy<Value = Value> {
        let types = [
            "null", "boolean", "string", "array", "object", "number", "integer",
        ];
        let of_type = proptest::sample::select(types.to_vec());
        let leaf = prop_oneof![
            any::<bool>().prop_map(Value::Bool),
            of_type.clone().prop_map(|name| json!({"type": name})),
            proptest::collection::vec(of_type, 1..3).prop_map(|names| json!({"type": names})),
            proptest::collection::vec(value(), 0..3).prop_map(|values| json!({"enum": values})),
            proptest::collection::vec("[ab]", 0..3).prop_map(|names| json!({"required": names})),
            Just(json!({"minimum": 1})),
        ];
        leaf.prop_recursive(3, 16, 3, |inner| {
            let properties = proptest::collection::btree_map("[ab]", inner.clone(), 0..3)
                .prop_map(|them| Value::Object(them.into_iter().collect()));
            prop_oneof![
                (properties, inner.clone()).prop_map(
                    |(properties, rest)| json!({"properties": properties, "additionalProperties": rest})
                ),
                inner.clone().prop_map(|items| json!({"items": items})),
                proptest::collection::vec(inner, 1..3).prop_map(|any| json!({"anyOf": any})),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_library_finds_no_violation_either(schema in schema(), document in value()) {
            if is_plainly_satisfied(&schema, &document)
                && let Ok(compiled) = compile(&schema)
            {
                prop_assert!(compiled.validator().is_valid(&document));
            }
        }
    }
}
