//! Every value within a JSON value, itself first; the stack of a thread does not grow with its depth.

use serde_json::Value;

/// The values, each before those within it.
pub fn walk(value: &Value) -> impl Iterator<Item = &Value> {
    let mut open = vec![value];
    std::iter::from_fn(move || {
        let value = open.pop()?;
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Some(value)
    })
}
