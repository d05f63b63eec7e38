//! Keys that take one of some words, or a list that must not be empty: what their types alone do not say.

use serde_json::{Value, json};

use super::{TEMPLATE, conditions::present};
use crate::{
    lower::KINDS,
    model::{expectation::LogLevel, server::PROFILES},
    raw::{Readable, shape::reference, value::any_case},
    settings::Effect,
};
use mcp::{observation::finding::FindingCode, protocol::revision::Revision};

/// The schema of a key with words of its own; `None` where its type says it all.
pub(super) fn of(owner: &str, key: &str) -> Option<Value> {
    let revisions = || Revision::ALL.map(Revision::name);
    let levels = || LogLevel::ALL.map(LogLevel::name);
    Some(match (owner, key) {
        ("Server", "transport") => in_any_case(&["stdio", "http", "sse"], &[""]),
        ("Server", "builtin") => one_of(&PROFILES),
        ("Server" | "Client", "protocol") => {
            one_or_many(&in_any_case(&["auto", "all", "stateless"], &revisions()))
        }
        ("Server", "effects") => {
            let words = one_of(&Effect::ALL.map(Effect::word));
            json!({ "type": "object", "additionalProperties": words })
        }
        ("Docker", "pull") => one_of(&["always", "missing", "never"]),
        ("Answer", "action") => one_of(&["accept", "decline", "cancel"]),
        ("Reference", "type") => one_of(&["ref/prompt", "ref/resource"]),
        ("Step" | "Logging", "set_level") | ("LoggingExpect", "not_below") => marked_or(&levels()),
        ("LoggingExpect", "contains_level") => one_or_many(&marked_or(&levels())),
        ("Expect", "findings") => {
            let mut codes = vec!["none"];
            codes.extend(FindingCode::ALL.iter().map(|code| code.code()));
            one_or_many(&marked_or(&codes))
        }
        ("Rule", "type") => marked_or(&KINDS.map(|(word, _)| word)),
        ("Rule", "outcome") => marked_or(&["ok", "error"]),
        ("TraceCall", "outcome") => one_of(&["ok", "error"]),
        ("Step", "ping") => {
            json!({ "anyOf": [{ "const": true }, any_case(&["yes", "on", "y"])] })
        }
        ("Tool" | "Sampling" | "Elicitation" | "Logging" | "Notifications" | "Step", "tool") => {
            json!({ "type": ["string", "number", "boolean"], "pattern": "\\S" })
        }
        ("Expect", "content") => {
            let size = json!({ "anyOf": [u64::schema(), reference(TEMPLATE)] });
            one_or_many(&json!({ "type": "object", "properties": { "min_bytes": size } }))
        }
        ("Expect", "server_requests") => {
            let request = reference("ServerRequest");
            one_or_many(&json!({ "allOf": [request, present("method")] }))
        }
        ("HttpExpect", "status") => {
            let class = json!({ "type": "string", "pattern": "^[1-5](xx|[0-9][0-9])$" });
            let code = json!({ "type": "integer", "minimum": 100, "maximum": 599 });
            one_or_many(&json!({ "anyOf": [code, class] }))
        }
        ("Assertion", "steps") => at_least_one(&reference("Step")),
        ("Assertion", "trajectory") => {
            let rule = json!({ "anyOf": [reference("Rule"), reference(TEMPLATE)] });
            json!({ "type": "array", "items": rule })
        }
        // A number has no unit.
        (_, "timeout" | "within" | "max_duration") | ("Step", "wait") => {
            json!({ "type": "string" })
        }
        _ => return None,
    })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

/// One of the words, or a text with `{{…}}` that becomes one.
fn marked_or(words: &[&str]) -> Value {
    json!({ "anyOf": [one_of(words), reference(TEMPLATE)] })
}

fn one_or_many(one: &Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one }] })
}

/// One of the words, the first ones in any case.
fn in_any_case(words: &[&str], exact: &[&str]) -> Value {
    let known: Vec<&str> = words.iter().chain(exact).copied().collect();
    json!({ "anyOf": [one_of(&known), any_case(words)] })
}

fn at_least_one(item: &Value) -> Value {
    json!({ "type": "array", "items": item, "minItems": 1 })
}
