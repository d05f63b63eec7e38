//! The tables of what is offered: `official.json`, with what the official conformance suite and the tasks extension ask
//! for by name, and `gateway.json`, the tools of that profile.
//!
//! In it `"*name"` stands for what `shared` has under that name, and `{name}` in a text for the argument or the answer of
//! that name.

use std::sync::LazyLock;

use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::Value;

use super::prompts::Entry;
use super::rounds::Inquiry;
use super::tools::BenchTool;

/// The tool whose argument also comes as a header.
pub(crate) const WITH_HEADER: &str = "test_custom_header";

/// The tool whose result has audio, which revisions before 2025-03-26 do not know.
pub(super) const WITH_AUDIO: &str = "test_audio_content";

/// The tool whose stream is closed before its answer.
pub(crate) const RECONNECTS: &str = "test_reconnection";

/// The table. A test reads it, so it is never empty.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| read().unwrap_or_default());

fn read() -> serde_json::Result<Table> {
    let mut table: Value = serde_json::from_str(include_str!("official.json"))?;
    let shared = table["shared"].take();
    share(&mut table, &shared);
    let mut table: Table = serde_json::from_value(table)?;
    table.gateway = serde_json::from_str(include_str!("tools/gateway.json"))?;
    Ok(table)
}

fn share(value: &mut Value, shared: &Value) {
    match value {
        Value::String(text) => {
            let whole = text.strip_prefix('*').and_then(|name| shared.get(name));
            if let Some(whole) = whole {
                *value = whole.clone();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| share(item, shared)),
        Value::Object(members) => members.values_mut().for_each(|it| share(it, shared)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[derive(Default, Deserialize)]
pub(super) struct Table {
    pub(super) tools: Vec<BenchTool>,
    /// Those of the profile `gateway`.
    #[serde(default)]
    pub(super) gateway: Vec<BenchTool>,
    pub(super) dynamic_tool: BenchTool,
    pub(super) prompts: Vec<Entry>,
    pub(super) dynamic_prompt: Entry,
    pub(super) resource: Inquiry,
}

/// The template with what is given in place of its names.
pub(super) fn fill(template: &Value, given: &JsonObject) -> Value {
    match template {
        Value::String(text) => {
            let filled = given.iter().fold(text.clone(), |text, (name, value)| {
                let shown = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                text.replace(&format!("{{{name}}}"), &shown)
            });
            Value::String(filled)
        }
        Value::Array(items) => items.iter().map(|item| fill(item, given)).collect(),
        Value::Object(members) => {
            let members = members.iter();
            members
                .map(|(name, value)| (name.clone(), fill(value, given)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => template.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_table_is_read() {
        read().unwrap();
        assert!(
            !TABLE
                .tools
                .iter()
                .any(|tool| format!("{:?}", tool.input()).contains('*'))
        );
        let names = TABLE.tools.iter().map(|tool| tool.name.as_str());
        for name in [WITH_HEADER, WITH_AUDIO, RECONNECTS] {
            assert!(names.clone().any(|known| known == name), "{name}");
        }
    }

    #[test]
    fn texts_are_filled_in_wherever_they_stand() {
        let template = json!({"a": ["{x} and {n}", 1], "b": "{y}"});
        let given = json!({"x": "one", "n": 2});
        let filled = fill(&template, given.as_object().unwrap());
        assert_eq!(filled, json!({"a": ["one and 2", 1], "b": "{y}"}));
    }
}
