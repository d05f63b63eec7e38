//! Tools that send notifications: any, progress, log messages.

use std::io;
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::surface::call::{Call, structured_result, text_result, tool_error};

/// The most notifications of one call.
const MOST: u64 = 100_000;
/// The most bytes that are kept until after an answer.
const MOST_KEPT: u64 = 64 << 20;
/// Between two notifications of a tool of the official suite.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn emit(call: &Call<'_>) -> Result<Value, ErrorData> {
    if let Some(text) = call.text("stderr") {
        call.line.stderr(&format!("{text}\n"));
    }
    let Some(method) = call.text("method") else {
        return Ok(structured_result(&json!({"emitted": 0})));
    };
    let mut notification = JsonObject::new();
    notification.insert("jsonrpc".to_owned(), "2.0".into());
    notification.insert("method".to_owned(), method.into());
    if let Some(params) = call.arguments.get("params") {
        notification.insert("params".to_owned(), params.clone());
    }
    let notification = Value::Object(notification);
    let count = call.count("count", 1).min(MOST);
    let interval = Duration::from_millis(call.count("interval_ms", 0));
    if call.flag("after_reply") {
        let size = u64::try_from(notification.to_string().len()).unwrap_or(u64::MAX);
        if size.saturating_mul(count) > MOST_KEPT {
            return Ok(tool_error(
                "that is too much to keep until after the answer",
            ));
        }
        let after = std::iter::repeat_n(notification, usize::try_from(count).unwrap_or(0));
        if let Err(error) = call
            .line
            .after_reply(call.context, after.collect(), interval)
        {
            return Ok(tool_error(&error.to_string()));
        }
    } else {
        for sent in 0..count {
            if sent > 0 && call.wait(interval).await.is_none() {
                return Err(cancelled());
            }
            call.line
                .send(&call.context.peer, &notification)
                .await
                .map_err(lost)?;
        }
    }
    Ok(structured_result(&json!({"emitted": count})))
}

pub(super) async fn progress(call: &Call<'_>) -> Result<Value, ErrorData> {
    if let Some(token) = call.meta.get("progressToken") {
        for done in [0, 50, 100] {
            let params = json!({
                "progressToken": token,
                "progress": done,
                "total": 100,
                "message": format!("{done} of 100"),
            });
            call.notify("notifications/progress", params)
                .await
                .map_err(lost)?;
            // Also after the last one: the TypeScript client forgets the token when it reads the
            // answer, before it hands on what came in the same read.
            if call.wait(PAUSE).await.is_none() {
                return Err(cancelled());
            }
        }
    }
    Ok(text_result("progress is complete"))
}

pub(super) async fn logging(call: &Call<'_>) -> Result<Value, ErrorData> {
    let level = call.text("level").unwrap_or("info");
    for (at, data) in ["the tool starts", "the tool works", "the tool ends"]
        .into_iter()
        .enumerate()
    {
        if at > 0 && call.wait(PAUSE).await.is_none() {
            return Err(cancelled());
        }
        if call.bench.level.wants(level, &call.meta, call.era) {
            let params = json!({"level": level, "logger": "bench", "data": data});
            call.notify("notifications/message", params)
                .await
                .map_err(lost)?;
        }
    }
    Ok(text_result("logging is complete"))
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the call was cancelled", None)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is what map_err hands over"
)]
fn lost(error: io::Error) -> ErrorData {
    ErrorData::internal_error(format!("a notification was lost: {error}"), None)
}
