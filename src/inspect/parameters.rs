//! The parameters of a tool as people write them: their types in short, and values typed as `name=value`.

use serde_json::{Map, Value};

/// A parameter of a tool, or an argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: String,
    /// Its type in short: `string`, `integer[]`, `"a" | "b"`.
    pub(crate) kind: String,
    /// Whether a call needs it.
    pub(crate) is_required: bool,
    /// What the server says of it.
    pub(crate) description: Option<String>,
}

/// The most values of an `enum` that are shown.
const MOST_VALUES: usize = 5;

/// The declared parameters of an input schema, in its order.
pub(crate) fn parameters(schema: &Value) -> Vec<Parameter> {
    let is_required = |name: &str| {
        let names = schema["required"].as_array();
        names.is_some_and(|names| names.iter().any(|it| it == name))
    };
    let properties = schema["properties"].as_object().into_iter().flatten();
    let parameters = properties.map(|(name, of)| Parameter {
        name: name.clone(),
        kind: kind(of),
        is_required: is_required(name),
        description: text(of, "description"),
    });
    parameters.collect()
}

/// The arguments of a prompt, which are all texts.
pub(crate) fn arguments(prompt: &Value) -> Vec<Parameter> {
    let declared = prompt["arguments"].as_array().into_iter().flatten();
    let arguments = declared.filter_map(|argument| {
        Some(Parameter {
            name: text(argument, "name")?,
            kind: "string".to_owned(),
            is_required: argument["required"] == true,
            description: text(argument, "description"),
        })
    });
    arguments.collect()
}

/// A member that is a text.
pub(crate) fn text(of: &Value, member: &str) -> Option<String> {
    Some(of.get(member)?.as_str()?.to_owned())
}

/// A schema in a few words. What has no short form is `any`.
fn kind(schema: &Value) -> String {
    if let Some(value) = schema.get("const") {
        return value.to_string();
    }
    if let Some(values) = schema["enum"].as_array() {
        let shown = values.iter().take(MOST_VALUES);
        let mut shown: Vec<String> = shown.map(Value::to_string).collect();
        if values.len() > MOST_VALUES {
            shown.push("…".to_owned());
        }
        return shown.join(" | ");
    }
    for word in ["anyOf", "oneOf"] {
        if let Some(branches) = schema[word].as_array() {
            let mut kinds: Vec<String> = branches.iter().take(MOST_VALUES).map(kind).collect();
            kinds.dedup();
            return kinds.join(" | ");
        }
    }
    match schema.get("type") {
        Some(Value::String(word)) if word == "array" => {
            let items = schema.get("items").map_or_else(|| "any".to_owned(), kind);
            if items.contains(' ') {
                format!("({items})[]")
            } else {
                format!("{items}[]")
            }
        }
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            words.join(" | ")
        }
        Some(_) | None => "any".to_owned(),
    }
}

/// Reads `name=value` pairs by the types that the schema declares: a text stays as it is typed, anything else is JSON.
/// Fails with the pair that cannot be read and the type that it should have.
pub(crate) fn typed(pairs: &[String], schema: &Value) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(format!("`{pair}` is not `name=value`"));
        };
        let declared = schema.get("properties").and_then(|all| all.get(name));
        let value = match declared.map(takes) {
            Some(Takes::Text) => Value::from(value),
            Some(Takes::Json) => serde_json::from_str(value).map_err(|_| {
                let kind = declared.map(kind).unwrap_or_default();
                format!("`{name}` takes {kind}, and `{value}` is not JSON")
            })?,
            Some(Takes::Either) | None => {
                serde_json::from_str(value).unwrap_or_else(|_| Value::from(value))
            }
        };
        arguments.insert(name.to_owned(), value);
    }
    Ok(arguments)
}

/// What a parameter takes, as far as its schema says.
enum Takes {
    Text,
    Json,
    Either,
}

fn takes(schema: &Value) -> Takes {
    match (&schema["type"], &schema["enum"]) {
        (Value::String(word), _) if word == "string" => Takes::Text,
        (Value::String(_), _) => Takes::Json,
        (Value::Null, Value::Array(values)) if values.iter().all(Value::is_string) => Takes::Text,
        (_, _) => Takes::Either,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{kind, typed};

    #[test]
    fn types_are_short() {
        for (schema, wanted) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["string", "null"]}), "string | null"),
            (json!({"enum": ["a", 1]}), r#""a" | 1"#),
            (
                json!({"type": "array", "items": {"type": "integer"}}),
                "integer[]",
            ),
            (
                json!({"type": "array", "items": {"enum": [1, 2]}}),
                "(1 | 2)[]",
            ),
            (
                json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
                "string | null",
            ),
            (json!({"const": 3}), "3"),
            (json!(true), "any"),
            (json!({"enum": [1, 2, 3, 4, 5, 6]}), "1 | 2 | 3 | 4 | 5 | …"),
        ] {
            assert_eq!(kind(&schema), wanted, "{schema}");
        }
    }

    #[test]
    fn values_are_read_by_their_types() {
        let schema = json!({"properties": {
            "text": {"type": "string"}, "count": {"type": "integer"}, "any": {}, "mode": {"enum": ["1", "2"]},
        }});
        let read = |pair: &str| typed(&[pair.to_owned()], &schema).map(Value::Object);
        assert_eq!(read("text=12"), Ok(json!({"text": "12"})));
        assert_eq!(read("text=a=b"), Ok(json!({"text": "a=b"})));
        assert_eq!(read("count=12"), Ok(json!({"count": 12})));
        assert_eq!(read("mode=1"), Ok(json!({"mode": "1"})));
        assert_eq!(read("any=[1]"), Ok(json!({"any": [1]})));
        assert_eq!(read("any=x"), Ok(json!({"any": "x"})));
        assert_eq!(read("other=true"), Ok(json!({"other": true})));
        let refused = Err("`count` takes integer, and `twelve` is not JSON".to_owned());
        assert_eq!(read("count=twelve"), refused);
        assert_eq!(read("alone"), Err("`alone` is not `name=value`".to_owned()));
    }
}
