//! What the official conformance suite and the tasks extension ask for by name: a table, `official.json`.
//!
//! In it `"*name"` stands for what `shared` has under that name, and `{name}` in a text for the argument or the answer of
//! that name.

use std::sync::LazyLock;

use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, structured_result, text_result};
use super::changes::List;
use super::prompts::Entry;
use super::rounds::{Heard, Inquiry};
use super::tasks::Job;
use super::tools::{Hints, telling};
use crate::http::TakenUp;

/// The tool whose argument also comes as a header.
pub(crate) const WITH_HEADER: &str = "test_custom_header";

/// The tool whose stream is closed before its answer.
pub(crate) const RECONNECTS: &str = "test_reconnection";

/// The table. A test reads it, so it is never empty.
pub(super) static TABLE: LazyLock<Table> = LazyLock::new(|| read().unwrap_or_default());

fn read() -> serde_json::Result<Table> {
    let mut table: Value = serde_json::from_str(include_str!("official.json"))?;
    let shared = table["shared"].take();
    share(&mut table, &shared);
    serde_json::from_value(table)
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
    pub(super) tools: Vec<Official>,
    pub(super) dynamic_tool: Official,
    pub(super) prompts: Vec<Entry>,
    pub(super) dynamic_prompt: Entry,
    pub(super) resource: Inquiry,
}

/// One tool.
#[derive(Debug, Default, Deserialize)]
pub struct Official {
    pub(super) name: String,
    pub(super) about: String,
    /// Arguments that are texts, each with what it is for; or else
    #[serde(default)]
    texts: JsonObject,
    /// the schema of all.
    schema: Option<Value>,
    does: Does,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Does {
    /// Gives this result.
    Gives(Value),
    /// Gives back its arguments.
    #[default]
    Shows,
    /// Asks, and tells what was answered.
    Asks(Inquiry),
    Logs,
    Reconnects,
    Changes(List),
    Works(Job),
}

impl Official {
    /// The schema of the arguments.
    pub(super) fn input(&self) -> Value {
        if let Some(schema) = &self.schema {
            return schema.clone();
        }
        let mut schema = json!({"type": "object", "additionalProperties": false});
        if !self.texts.is_empty() {
            let texts = self.texts.iter().map(|(name, about)| {
                (
                    name.clone(),
                    json!({"type": "string", "description": about}),
                )
            });
            schema["properties"] = texts.collect();
            schema["required"] = self.texts.keys().cloned().collect();
        }
        schema
    }

    pub(super) fn hints(&self) -> Hints {
        match self.does {
            Does::Gives(_) | Does::Shows => Hints::Pure,
            Does::Asks(_) | Does::Logs | Does::Reconnects | Does::Works(_) => Hints::ReadOnly,
            Does::Changes(_) => Hints::Changes,
        }
    }

    pub(super) async fn run(&'static self, call: &Call<'_>) -> Result<Value, ErrorData> {
        match &self.does {
            Does::Gives(result) => Ok(fill(result, &call.arguments)),
            Does::Shows => Ok(structured_result(&json!(call.arguments))),
            Does::Asks(inquiry) => Ok(match inquiry.hear(call).await? {
                Heard::Answers(answers) => inquiry.told(&answers),
                Heard::Needs(result) | Heard::Refused(result) => result,
            }),
            Does::Logs => telling::logging(call).await,
            Does::Reconnects => {
                TakenUp::wait(call.context).await;
                Ok(text_result("the answer comes on another stream"))
            }
            Does::Changes(list) => {
                call.bench.shared.changes.change(*list).await;
                Ok(text_result("the list is another one now"))
            }
            Does::Works(job) => job.work(call).await,
        }
    }
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
        for name in [WITH_HEADER, RECONNECTS] {
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
