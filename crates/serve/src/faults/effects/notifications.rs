//! Notifications during a call that are wrong, late, or far too many.

use mcp::protocol::meta::SUBSCRIPTION_ID;
use serde_json::{Value, json};

use super::EffectContext;
use crate::faults::reply::Reply;
use crate::tap::{Emit, Flood, Outlet};

pub(in crate::faults) fn backwards(reply: &mut Reply, moment: EffectContext<'_>) {
    for value in [1, 3, 2] {
        reply.say_before(progress(&token(moment), value));
    }
}

pub(in crate::faults) fn foreign_token(reply: &mut Reply, _: EffectContext<'_>) {
    reply.say_before(progress(&json!("a-token-of-somebody-else"), 1));
}

pub(in crate::faults) fn after_reply(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.say_after(progress(&token(moment), 1));
}

pub(in crate::faults) fn progress_flood(reply: &mut Reply, moment: EffectContext<'_>) {
    let token = token(moment);
    reply.before(Emit::Flood(Flood {
        outlet: Outlet::Stdout,
        head: format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":"#
        )
        .into_bytes(),
        numbered: true,
        tail: b"}}\n".to_vec(),
        count: moment.given.count(),
    }));
}

pub(in crate::faults) fn list_changed_storm(reply: &mut Reply, moment: EffectContext<'_>) {
    let notification = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
    reply.before(Emit::Flood(Flood {
        outlet: Outlet::Stdout,
        head: notification.to_string().into_bytes(),
        numbered: false,
        tail: b"\n".to_vec(),
        count: moment.given.count(),
    }));
}

/// Lists of prompts change for streams that were asked for resources alone.
pub(in crate::faults) fn leak(reply: &mut Reply, moment: EffectContext<'_>) {
    reply.say_after(json!({
        "jsonrpc": "2.0",
        "method": "notifications/prompts/list_changed",
        "params": {"_meta": {SUBSCRIPTION_ID: moment.id}},
    }));
}

/// The client's token; one of nobody's where it gave none.
fn token(moment: EffectContext<'_>) -> Value {
    moment
        .token
        .cloned()
        .unwrap_or_else(|| json!("no-token-was-given"))
}

fn progress(token: &Value, value: u64) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": value, "total": 3},
    })
}

pub(in crate::faults) fn log(level: &str) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/message",
        "params": {"level": level, "logger": "faults", "data": "a message nobody wanted"},
    })
}
