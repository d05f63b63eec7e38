//! Handshakes that go wrong, and requests that the client did not offer to answer.

use serde_json::{Value, json};

use super::EffectContext;
use crate::faults::reply::Reply;

pub(in crate::faults) fn wrong_version(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.set("/result/protocolVersion", json!(moment.given.text()));
}

pub(in crate::faults) fn refuse(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.fail(json!({"code": moment.given.code(), "message": "the server cannot start"}));
}

pub(in crate::faults) fn early_request(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.ask_before(unsolicited_roots(moment));
}

/// The other half of this lie is in the answers of `prompts/…`.
pub(in crate::faults) fn promise_prompts(reply: &mut Reply, _: EffectContext<'_>) {
    if let Some(capabilities) = capabilities_mut(reply) {
        capabilities.entry("prompts").or_insert_with(|| json!({}));
    }
}

pub(in crate::faults) fn refuse_prompts(reply: &mut Reply) {
    reply.fail(json!({"code": -32601, "message": "Method not found"}));
}

pub(in crate::faults) fn hide_prompts(reply: &mut Reply, _: EffectContext<'_>) {
    if let Some(capabilities) = capabilities_mut(reply) {
        capabilities.shift_remove("prompts");
    }
}

fn capabilities_mut(reply: &mut Reply) -> Option<&mut serde_json::Map<String, Value>> {
    reply
        .result_mut()?
        .entry("capabilities")
        .or_insert_with(|| json!({}))
        .as_object_mut()
}

pub(in crate::faults) fn unsolicited_sampling(moment: EffectContext<'_>) -> Value {
    let message = json!({"role": "user", "content": {"type": "text", "text": "say anything"}});
    let params = json!({"messages": [message], "maxTokens": 16});
    request(moment, "sampling/createMessage", Some(params))
}

pub(in crate::faults) fn unsolicited_elicitation(moment: EffectContext<'_>) -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    let params = json!({"message": "what is your name?", "requestedSchema": schema});
    request(moment, "elicitation/create", Some(params))
}

pub(in crate::faults) fn unsolicited_roots(moment: EffectContext<'_>) -> Value {
    request(moment, "roots/list", None)
}

fn request(moment: EffectContext<'_>, method: &str, params: Option<Value>) -> Value {
    let mut request = json!({"jsonrpc": "2.0", "id": moment.fresh, "method": method});
    if let Some(params) = params {
        request["params"] = params;
    }
    request
}
