//! The tool that shows whether a server is fresh or shared.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use crate::surface::call::{Call, structured_result, tool_error};

pub(super) fn counter(call: &Call<'_>) -> Value {
    let next = |count: &std::sync::atomic::AtomicU64| count.fetch_add(1, Ordering::Relaxed) + 1;
    let mut answer = json!({
        "process": next(&call.bench.shared.calls),
        "session": next(&call.bench.session_calls),
    });
    if call.bench.options.state.is_kept() {
        match call.bench.options.state.bump("counter") {
            Ok(count) => answer["state"] = count.into(),
            Err(error) => return tool_error(&format!("cannot count: {error}")),
        }
    }
    structured_result(&answer)
}
