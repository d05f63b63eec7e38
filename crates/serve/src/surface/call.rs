//! One tool call, or another request that may ask: its arguments, its place in the session, and the shapes of its result.

use std::io;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::JsonObject;
use rmcp::service::RequestContext;
use serde_json::{Value, json};

use super::Bench;
use super::levels::Era;
use crate::line::Line;
use crate::wire::WaitsFor;

/// One call of one tool, one prompt, or one resource.
pub(super) struct Call<'a> {
    pub(super) bench: &'a Bench,
    /// Carries the messages beside the answer.
    pub(super) line: &'a Line,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) arguments: JsonObject,
    /// The answers of the client to what an earlier round asked.
    pub(super) responses: JsonObject,
    /// The state that came back with them.
    pub(super) state: Option<String>,
    /// The method, and the name or URI.
    pub(super) of: String,
    /// The request's `_meta`, an object.
    pub(super) meta: Value,
    pub(super) era: Era,
}

impl Call<'_> {
    /// An argument that is text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }

    /// An argument that is true.
    pub(super) fn flag(&self, name: &str) -> bool {
        self.arguments.get(name) == Some(&Value::Bool(true))
    }

    /// An argument that is a whole number; what does not fit is clamped.
    pub(super) fn whole(&self, name: &str) -> Option<i64> {
        self.arguments.get(name).and_then(whole)
    }

    /// An argument that is a whole number of at least 0, or `default`.
    pub(super) fn count(&self, name: &str, default: u64) -> u64 {
        self.whole(name)
            .map_or(default, |value| u64::try_from(value).unwrap_or(0))
    }

    /// Waits by the server's clock, and says for how long; nothing where the call was cancelled or the server ends.
    pub(super) async fn wait(&self, length: Duration) -> Option<Duration> {
        if length.is_zero() {
            return Some(length);
        }
        let (line, id) = (self.line, &self.context.id);
        line.park(id, WaitsFor::Time);
        tokio::select! {
            biased;
            () = self.context.ct.cancelled() => None,
            slept = self.bench.options.clock.sleep(length) => {
                line.resume(id, WaitsFor::Time);
                Some(slept)
            }
        }
    }

    /// Sends a notification that belongs to this call.
    pub(super) async fn notify(&self, method: &str, params: Value) -> io::Result<()> {
        self.line.notify(&self.context.peer, method, params).await
    }
}

/// A result of one text.
pub(super) fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// A result of structured content and the same JSON as text.
pub(super) fn structured_result(value: &Value) -> Value {
    json!({
        "content": [{"type": "text", "text": value.to_string()}],
        "structuredContent": value,
    })
}

/// A tool error with its text.
pub(super) fn tool_error(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

/// Milliseconds as JSON writes them.
pub(super) fn milliseconds(length: Duration) -> u64 {
    u64::try_from(length.as_millis()).unwrap_or(u64::MAX)
}

/// A whole number however it is written: `3`, `3.0` and `3e0` are one.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of a double to an integer saturates, which is the clamp that is wanted"
)]
fn whole(value: &Value) -> Option<i64> {
    let number = value.as_number()?;
    number
        .as_i64()
        .or_else(|| number.as_f64().map(|float| float as i64))
}
