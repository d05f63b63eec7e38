//! Templates with their values: one place for the session's use of them.

use serde_json::Value;

use crate::suite::template::{Bindings, Template, UnknownName, ValueTemplate};

/// A text with its values.
pub(super) fn text(template: &Template, bindings: &Bindings) -> Result<String, UnknownName> {
    let mut text = template.text.clone();
    if !text.contains("{{") {
        return Ok(text);
    }
    if let Some(fixture) = &bindings.fixture {
        text = text.replace("{{fixture}}", fixture);
    }
    for (name, value) in &bindings.captured {
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => value.to_string(),
        };
        text = text.replace(&format!("{{{{{name}}}}}"), &value);
    }
    Ok(text)
}

/// A JSON value with its values.
pub(super) fn value(template: &ValueTemplate, bindings: &Bindings) -> Result<Value, UnknownName> {
    fill(&template.value, bindings)
}

fn fill(value: &Value, bindings: &Bindings) -> Result<Value, UnknownName> {
    Ok(match value {
        Value::String(leaf) => {
            let template = Template { text: leaf.clone() };
            Value::String(text(&template, bindings)?)
        }
        Value::Array(items) => Value::Array(
            items
                .iter()
                .map(|item| fill(item, bindings))
                .collect::<Result<_, _>>()?,
        ),
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(key, member)| Ok((key.clone(), fill(member, bindings)?)))
                .collect::<Result<_, _>>()?,
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}
