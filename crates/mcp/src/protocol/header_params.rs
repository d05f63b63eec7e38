//! Arguments of tools that headers repeat, so that whoever routes a call need not read it: an input schema marks them with
//! `x-mcp-header` (MCP 2026-07-28, "Streamable HTTP", custom headers). Pure.

use serde_json::Value;

/// The annotation of a property.
const ANNOTATION: &str = "x-mcp-header";

/// An argument that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderParam {
    /// The properties that lead to it.
    path: Vec<String>,
    /// The end of the header's name.
    name: String,
}

impl HeaderParam {
    /// The arguments that a schema marks; otherwise why clients reject the tool.
    pub fn all(schema: &Value) -> Result<Vec<Self>, String> {
        let mut found = Vec::new();
        collect(schema, &mut Vec::new(), &mut found)?;
        Ok(found)
    }

    /// The name of the header.
    pub fn header(&self) -> String {
        format!("mcp-param-{}", self.name)
    }

    /// The value, where it is given.
    pub fn value(&self, arguments: &Value) -> Option<String> {
        let mut path = self.path.iter();
        match path.try_fold(arguments, |value, key| value.get(key))? {
            Value::String(text) => Some(text.clone()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Number(number) => Some(number.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }
}

/// The marks of a schema and of its properties. What stands elsewhere in it is not an argument of a fixed place.
fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<HeaderParam>,
) -> Result<(), String> {
    if let Some(name) = schema.get(ANNOTATION).filter(|_| !path.is_empty()) {
        let param = annotated(path, name, schema)?;
        let is_taken = |other: &HeaderParam| other.name.eq_ignore_ascii_case(&param.name);
        if found.iter().any(is_taken) {
            return Err(format!("`{}` is there twice", param.name));
        }
        found.push(param);
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, inner) in properties.into_iter().flatten() {
        path.push(name.clone());
        collect(inner, path, found)?;
        path.pop();
    }
    Ok(())
}

/// One property with its annotation.
fn annotated(path: &[String], name: &Value, schema: &Value) -> Result<HeaderParam, String> {
    let property = path.join(".");
    let Some(name) = name.as_str().filter(|name| text::web::is_header_name(name)) else {
        return Err(format!(
            "`{}` of `{property}` names no header",
            text::head(&name.to_string(), 60)
        ));
    };
    let kind = schema.get("type").and_then(Value::as_str);
    if !matches!(kind, Some("string" | "integer" | "boolean")) {
        return Err(format!(
            "`{property}` is neither a string, an integer nor a boolean"
        ));
    }
    Ok(HeaderParam {
        path: path.to_vec(),
        name: name.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::HeaderParam;

    fn of(properties: &Value) -> Result<Vec<HeaderParam>, String> {
        HeaderParam::all(&json!({"type": "object", "properties": properties}))
    }

    #[test]
    fn arguments_are_repeated_as_they_are_written() {
        let params = of(&json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "inner": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "Count"}}},
            "flag": {"type": "boolean", "x-mcp-header": "Flag"},
            "plain": {"type": "string"},
            "x-mcp-header": {"type": "string"},
        }));
        let params = params.unwrap();
        let case = |arguments: Value, wanted: &[(&str, &str)]| {
            let found: Vec<(String, String)> = params
                .iter()
                .filter_map(|it| Some((it.header(), it.value(&arguments)?)))
                .collect();
            let found: Vec<(&str, &str)> =
                found.iter().map(|(name, it)| (&**name, &**it)).collect();
            assert_eq!(found, wanted, "{arguments}");
        };
        case(
            json!({"region": "", "plain": "x"}),
            &[("mcp-param-Region", "")],
        );
        case(
            json!({"region": "é", "inner": {"n": 12_345_678_901_234_567_890_123_i128}, "flag": false}),
            &[
                ("mcp-param-Region", "é"),
                ("mcp-param-Count", "12345678901234567890123"),
                ("mcp-param-Flag", "false"),
            ],
        );
        case(json!({"region": null, "inner": 3}), &[]);
    }

    #[test]
    fn what_no_header_can_repeat_is_refused() {
        let string = |name: Value| json!({"type": "string", "x-mcp-header": name});
        for properties in [
            json!({"a": string(json!(""))}),
            json!({"a": string(json!("My Region"))}),
            json!({"a": string(json!("Region:Primary"))}),
            json!({"a": string(json!("Région"))}),
            json!({"a": string(json!(1))}),
            json!({"a": string(json!("A")), "b": string(json!("a"))}),
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"type": "object", "x-mcp-header": "A"}}),
            json!({"a": {"type": "array", "x-mcp-header": "A"}}),
        ] {
            assert!(of(&properties).is_err(), "{properties}");
        }
        for harmless in [
            json!({}),
            json!(true),
            json!({"default": {"x-mcp-header": ""}}),
        ] {
            assert_eq!(HeaderParam::all(&harmless), Ok(Vec::new()));
        }
    }
}
