//! JSON-RPC envelopes that are broken, bent, doubled or missing.

use serde_json::{Value, json};

use super::EffectContext;
use crate::faults::reply::Reply;

pub(in crate::faults) fn truncated(reply: &mut Reply, _: EffectContext<'_>) {
    reply.edit(|text| {
        let half = text.len() / 2;
        // A character cut in two would be another fault.
        let cut = (0..=half).rev().find(|&at| text[at] & 0xC0 != 0x80);
        text.truncate(cut.unwrap_or(half));
    });
}

pub(in crate::faults) fn batch(reply: &mut Reply, _: EffectContext<'_>) {
    reply.edit(|text| {
        text.insert(0, b'[');
        text.push(b']');
    });
}

pub(in crate::faults) fn wrong_id(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.set("/id", other_id(moment.id));
}

/// Text that is not a number has none to become; its length is another id of the other type.
pub(in crate::faults) fn flip_id(reply: &mut Reply, moment: EffectContext<'_>) {
    let flipped = match moment.id {
        Value::String(text) => match text.parse::<i64>() {
            Ok(number) => json!(number),
            Err(_) => json!(text.len()),
        },
        other @ (Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Array(_)
        | Value::Object(_)) => Value::String(other.to_string()),
    };
    reply.set("/id", flipped);
}

pub(in crate::faults) fn stray_answer(reply: &mut Reply, moment: EffectContext<'_>) {
    let mut stray = reply.message.clone();
    stray["id"] = other_id(moment.id);
    reply.say_before(stray);
}

pub(in crate::faults) fn both_members(reply: &mut Reply, _: EffectContext<'_>) {
    if let Some(members) = reply.members_mut() {
        members.entry("result").or_insert_with(|| json!({}));
        members
            .entry("error")
            .or_insert_with(|| json!({"code": -32603, "message": "both at once"}));
    }
}

pub(in crate::faults) fn answer_nobody(_: EffectContext<'_>) -> Value {
    json!({"jsonrpc": "2.0", "id": null, "result": {}})
}

pub(in crate::faults) fn colliding_request(moment: EffectContext<'_>) -> Value {
    json!({"jsonrpc": "2.0", "id": moment.id, "method": "ping"})
}

/// An id of the same type that the client did not use.
fn other_id(id: &Value) -> Value {
    match id.as_u64() {
        Some(number) => json!(number.wrapping_add(1_000_000)),
        None => Value::String(format!("{}-other", id.as_str().unwrap_or_default())),
    }
}
