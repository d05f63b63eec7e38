//! The tool that declares an output schema and keeps to it, or not.

use serde_json::{Value, json};

use crate::surface::call::{Call, structured_result, text_result};

pub(super) fn run(call: &Call<'_>) -> Value {
    let valid = json!({"name": "bench", "count": 3, "tags": ["a", "b"]});
    match call.text("variant") {
        Some("mismatch") => {
            structured_result(&json!({"name": "bench", "count": "three", "tags": ["a", "b"]}))
        }
        Some("missing") => text_result(&valid.to_string()),
        Some("mirror_differs") => {
            let mut result = structured_result(&valid);
            result["content"][0]["text"] =
                Value::String(json!({"name": "bench", "count": 4}).to_string());
            result
        }
        Some("non_object") => structured_result(&json!(["bench", 3])),
        _ => structured_result(&valid),
    }
}
