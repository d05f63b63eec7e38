//! Tools that answer at once: constant text, an echo, any result.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use super::{Hints, Spec};
use crate::surface::call::{Call, structured_result, text_result};

pub(super) fn simple_text_spec() -> Spec {
    Spec {
        about: "Gives a constant text; takes any arguments and ignores them",
        input: json!({"type": "object"}),
        output: None,
        hints: Hints::Pure,
    }
}

pub(super) fn simple_text() -> Value {
    text_result("a simple text for testing")
}

pub(super) fn echo_spec() -> Spec {
    Spec {
        about: "Gives back its arguments; those that nobody knows are shown as injected",
        input: json!({
            "type": "object",
            "properties": {
                "message": {"type": "string", "description": "any text"},
                "extras": {"type": "object", "description": "any members"},
                "with_meta": {
                    "type": "boolean",
                    "default": false,
                    "description": "adds the _meta of the request",
                },
            },
        }),
        output: Some(json!({
            "type": "object",
            "properties": {
                "message": {"type": "string"},
                "extras": {"type": "object"},
                "injected": {"type": "object"},
                "_meta": {"type": "object"},
            },
            "additionalProperties": false,
        })),
        hints: Hints::Pure,
    }
}

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

pub(super) fn reply_spec() -> Spec {
    Spec {
        about: "Gives exactly the result that its arguments spell out",
        input: json!({
            "type": "object",
            "properties": {
                "content": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {"type": {"type": "string"}},
                        "required": ["type"],
                    },
                    "description": "content blocks, sent as they are",
                },
                "text": {"type": "string", "description": "short for one block of text"},
                "structuredContent": {"description": "sent as it is"},
                "isError": {"type": "boolean", "description": "sent as it is"},
                "_meta": {"type": "object", "description": "sent as it is"},
            },
            "additionalProperties": false,
        }),
        output: None,
        hints: Hints::Pure,
    }
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
