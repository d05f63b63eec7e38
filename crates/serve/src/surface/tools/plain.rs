//! Tools that answer at once: an echo, any result.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::surface::call::{Call, structured_result};

pub(super) fn echo(call: &Call<'_>) -> Value {
    let mut answer = JsonObject::new();
    let mut injected = JsonObject::new();
    for (name, value) in &call.arguments {
        match name.as_str() {
            "message" | "extras" => {
                answer.insert(name.clone(), value.clone());
            }
            "with_meta" => {}
            _ => {
                injected.insert(name.clone(), value.clone());
            }
        }
    }
    if !injected.is_empty() {
        answer.insert("injected".to_owned(), Value::Object(injected));
    }
    if call.flag("with_meta") {
        answer.insert("_meta".to_owned(), call.meta.clone());
    }
    structured_result(&Value::Object(answer))
}

pub(super) fn reply(call: &Call<'_>) -> Value {
    let mut content = match call.arguments.get("content") {
        Some(Value::Array(blocks)) => blocks.clone(),
        _ => Vec::new(),
    };
    if let Some(text) = call.text("text") {
        content.push(json!({"type": "text", "text": text}));
    }
    let mut answer = JsonObject::new();
    answer.insert("content".to_owned(), Value::Array(content));
    for name in ["structuredContent", "isError", "_meta"] {
        if let Some(value) = call.arguments.get(name) {
            answer.insert(name.to_owned(), value.clone());
        }
    }
    Value::Object(answer)
}
