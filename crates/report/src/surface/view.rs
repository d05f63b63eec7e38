//! What is read from a schema that is written out, and values in a few words.

use std::collections::BTreeMap;

use serde_json::Value;

use super::plain::merge;
use text::head;

/// Characters shown of a value.
const SHOWN: usize = 60;

/// The schema that everything conforms to.
static ANYTHING: Value = Value::Bool(true);

/// The schema below a keyword, or the one that allows everything.
pub(super) fn below<'a>(schema: &'a Value, keyword: &str) -> &'a Value {
    schema.get(keyword).unwrap_or(&ANYTHING)
}

/// Whether nothing is valid.
pub(super) fn refuses_all(schema: &Value) -> bool {
    *schema == Value::Bool(false)
}

/// The properties by their names.
pub(super) fn properties(schema: &Value) -> BTreeMap<&str, &Value> {
    let named = schema.get("properties").and_then(Value::as_object);
    let named = named.into_iter().flatten();
    named.map(|(name, it)| (name.as_str(), it)).collect()
}

/// The names under `required`.
pub(super) fn required(schema: &Value) -> Vec<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

/// The values that `enum` or `const` leave.
pub(super) fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => Some(vec![only]),
        (None, Some(all)) => Some(all.as_array()?.iter().collect()),
        (None, None) => None,
    }
}

/// The types allowed, derived from values or properties if `type` is missing; `None`: all.
pub(super) fn types(schema: &Value) -> Option<Vec<&str>> {
    let mut types: Vec<&str> = match schema.get("type") {
        Some(Value::String(one)) => vec![one],
        Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => match values(schema) {
            Some(values) => values.into_iter().map(type_of).collect(),
            None if !properties(schema).is_empty() => vec!["object"],
            None => return None,
        },
    };
    types.sort_unstable();
    types.dedup();
    Some(types)
}

/// The alternatives that `anyOf`, else `oneOf` give, and which of the two.
pub(super) fn alternatives(schema: &Value) -> Option<(&'static str, &[Value])> {
    let lists = ["anyOf", "oneOf"].into_iter();
    let mut lists = lists.filter_map(|it| Some((it, schema.get(it)?.as_array()?.as_slice())));
    lists.next()
}

/// The schema as some alternatives, each with everything that holds for all of them: those it gives, else one for each type.
pub(super) fn spread(schema: &Value) -> Vec<Value> {
    let Some((keyword, branches)) = alternatives(schema) else {
        return match types(schema) {
            Some(types) if types.len() > 1 => types
                .into_iter()
                .map(|only| {
                    let mut one = schema.clone();
                    one["type"] = only.into();
                    one
                })
                .collect(),
            Some(_) | None => vec![schema.clone()],
        };
    };
    let mut base = schema.clone();
    if let Some(base) = base.as_object_mut() {
        base.remove(keyword);
    }
    let branches = branches.iter().cloned();
    branches
        .map(|mut branch| {
            merge(&mut branch, base.clone());
            branch
        })
        .collect()
}

/// A few words for people.
pub(super) fn brief(schema: &Value) -> String {
    if let Some(title @ Value::String(_)) = schema.get("title") {
        return shown(title);
    }
    match (values(schema), types(schema)) {
        (Some(values), _) => list(&values),
        (None, Some(types)) => types.join(" or "),
        (None, None) => "any value".to_owned(),
    }
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
