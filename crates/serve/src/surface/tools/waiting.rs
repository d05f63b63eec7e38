//! The tool that takes its time, hangs, or answers too late.

use std::time::Duration;

use rmcp::ErrorData;
use serde_json::{Value, json};

use crate::surface::call::{Call, milliseconds, structured_result};
use crate::wire::WaitsFor;

/// The longest sleep.
const LONGEST: u64 = 60_000;

pub(super) async fn slow(call: &Call<'_>) -> Result<Value, ErrorData> {
    let from = call.bench.options.clock.elapsed();
    let waited = if call.flag("hang") {
        call.line.park(&call.context.id, WaitsFor::TheEnd);
        call.context.ct.cancelled().await;
        None
    } else {
        let length = call.count("milliseconds", 0).min(LONGEST);
        call.wait(Duration::from_millis(length)).await
    };
    if let Some(slept) = waited {
        return Ok(slept_for(slept));
    }
    if call.flag("late") {
        let slept = call.bench.options.clock.elapsed().saturating_sub(from);
        let answer = json!({
            "jsonrpc": "2.0",
            "id": call.context.id,
            "result": slept_for(slept),
        });
        // rmcp does not answer cancelled requests; this answer goes past it. If the line is
        // closed meanwhile, nobody is left to be late for.
        let _ = call.line.send(&call.context.peer, &answer).await;
    }
    Err(ErrorData::internal_error("the call was cancelled", None))
}

fn slept_for(length: Duration) -> Value {
    structured_result(&json!({"slept_ms": milliseconds(length)}))
}
