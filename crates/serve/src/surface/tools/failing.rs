//! Tools that fail: on demand, or by seed and count.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

use crate::draw;
use crate::surface::call::{Call, structured_result, tool_error};

/// The code of a protocol error where none is asked for.
const INTERNAL_ERROR: i32 = -32603;

pub(super) fn error(call: &Call<'_>) -> Result<Value, ErrorData> {
    let message = match call.text("message") {
        None | Some("") => "synthetic error",
        Some(message) => message,
    };
    if call.text("layer") == Some("rpc") {
        let code = call
            .whole("code")
            .and_then(|code| i32::try_from(code).ok())
            .unwrap_or(INTERNAL_ERROR);
        return Err(ErrorData::new(
            ErrorCode(code),
            message.to_owned(),
            call.arguments.get("data").cloned(),
        ));
    }
    let mut result = tool_error(message);
    if call.flag("as_tool") {
        result["structuredContent"] = json!({"triggered": true});
    }
    Ok(result)
}

pub(super) fn flaky(call: &Call<'_>) -> Value {
    match call.text("mode") {
        Some("first") => by_count(call, "first", 1, |count, n| count <= n),
        Some("every") => by_count(call, "every", 2, |count, n| count % n == 0),
        _ => by_rate(call),
    }
}

fn by_rate(call: &Call<'_>) -> Value {
    let rate = call
        .arguments
        .get("fail_rate")
        .and_then(Value::as_f64)
        .unwrap_or(0.5)
        .clamp(0.0, 1.0);
    let server_seed = call.bench.options.seed.to_string();
    let (seed, call_id) = match (call.text("seed"), call.whole("call_id")) {
        (Some(seed), call_id) if !seed.is_empty() => (seed, call_id.unwrap_or(0)),
        (_, Some(call_id)) => (server_seed.as_str(), call_id),
        (_, None) => match call.bench.options.state.bump("flaky:rate") {
            Ok(count) => (server_seed.as_str(), i64::try_from(count - 1).unwrap_or(0)),
            Err(error) => return tool_error(&format!("cannot count: {error}")),
        },
    };
    let roll = draw::roll(seed, call_id);
    if roll < rate {
        tool_error(&format!("flaky failure (roll={roll:.4} < rate={rate:.4})"))
    } else {
        structured_result(&json!({"failed": false, "roll": roll, "fail_rate": rate}))
    }
}

fn by_count(call: &Call<'_>, mode: &str, default: u64, fails: fn(u64, u64) -> bool) -> Value {
    let n = call.count("n", default).max(1);
    let key = call.text("key").unwrap_or_default();
    let count = match call
        .bench
        .options
        .state
        .bump(&format!("flaky:{mode}:{key}"))
    {
        Ok(count) => count,
        Err(error) => return tool_error(&format!("cannot count: {error}")),
    };
    if fails(count, n) {
        tool_error(&format!("flaky failure (mode={mode}, call={count}, n={n})"))
    } else {
        structured_result(&json!({"failed": false, "mode": mode, "call": count, "n": n}))
    }
}
