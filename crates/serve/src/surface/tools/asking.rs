//! Tools that ask the client: its model, its user, its roots.
//!
//! With a handshake that is one request of ours. Without one a server may not ask: the call ends
//! with what is needed, and comes again with the answer.

use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, CustomRequest, ServerRequest};
use rmcp::service::ServiceError;
use serde_json::{Value, json};

use super::{Hints, Spec};
use crate::surface::call::{Call, tool_error};
use crate::surface::levels::Era;
use crate::wire::WaitsFor;
use mcp::protocol::revision::Revision;

/// The longest wait for the client's answer.
const PATIENCE: Duration = Duration::from_mins(2);

pub(super) fn sampling_spec() -> Spec {
    Spec {
        about: "Asks the client's model and gives back what it says",
        input: json!({
            "type": "object",
            "properties": {"prompt": {"type": "string", "description": "what the model is asked"}},
            "required": ["prompt"],
            "additionalProperties": false,
        }),
        output: None,
        hints: Hints::ReadOnly,
    }
}

pub(super) async fn sampling(call: &Call<'_>) -> Result<Value, ErrorData> {
    let params = json!({
        "messages": [{
            "role": "user",
            "content": {"type": "text", "text": call.text("prompt").unwrap_or_default()},
        }],
        "maxTokens": 100,
    });
    ask(call, "sampling", "sampling/createMessage", params).await
}

pub(super) fn elicitation_spec() -> Spec {
    Spec {
        about: "Asks the client's user for a name and an address, and gives back the answer",
        input: json!({
            "type": "object",
            "properties": {"message": {"type": "string", "description": "what the user is told"}},
            "required": ["message"],
            "additionalProperties": false,
        }),
        output: None,
        hints: Hints::ReadOnly,
    }
}

pub(super) async fn elicitation(call: &Call<'_>) -> Result<Value, ErrorData> {
    let params = json!({
        "message": call.text("message").unwrap_or_default(),
        "requestedSchema": {
            "type": "object",
            "properties": {
                "username": {"type": "string", "description": "a user name"},
                "email": {"type": "string", "format": "email", "description": "an address"},
            },
            "required": ["username", "email"],
        },
    });
    ask(call, "elicitation", "elicitation/create", params).await
}

pub(super) fn roots_spec() -> Spec {
    Spec {
        about: "Asks for the client's roots and gives them back, one URI a line",
        input: json!({"type": "object", "additionalProperties": false}),
        output: None,
        hints: Hints::ReadOnly,
    }
}

pub(super) async fn roots(call: &Call<'_>) -> Result<Value, ErrorData> {
    ask(call, "roots", "roots/list", Value::Null).await
}

/// One question to the client, if it has the `capability` for it.
async fn ask(
    call: &Call<'_>,
    capability: &str,
    method: &str,
    params: Value,
) -> Result<Value, ErrorData> {
    if let Some(agreed) = agreed(call)
        && !agreed.has_client_capability(capability)
    {
        return Ok(tool_error(&format!(
            "revision {agreed} has no \"{method}\", so the client is not asked"
        )));
    }
    if !declares(call, capability) {
        return match call.era {
            Era::Legacy => Ok(tool_error(&format!(
                "the client does not declare the capability \"{capability}\""
            ))),
            Era::Modern => Err(missing(capability)),
        };
    }
    let params = (!params.is_null()).then_some(params);
    match call.era {
        Era::Modern => {
            if let Some(answer) = call.responses.get(capability) {
                return Ok(answered(method, answer));
            }
            let mut request = json!({"method": method});
            if let Some(params) = params {
                request["params"] = params;
            }
            Ok(json!({
                "resultType": "input_required",
                "inputRequests": {capability: request},
            }))
        }
        Era::Legacy => Ok(request(call, method, params).await),
    }
}

async fn request(call: &Call<'_>, method: &str, params: Option<Value>) -> Value {
    let (line, id) = (call.line, &call.context.id);
    line.park(id, WaitsFor::Answer);
    let question = ServerRequest::CustomRequest(CustomRequest::new(method, params));
    let answer = tokio::select! {
        biased;
        () = call.context.ct.cancelled() => return tool_error("the call was cancelled"),
        answer = tokio::time::timeout(PATIENCE, call.context.peer.send_request(question)) => answer,
    };
    line.resume(id, WaitsFor::Answer);
    match answer {
        Err(_) => tool_error(&format!("the client did not answer {method}")),
        Ok(Err(ServiceError::McpError(error))) => {
            let text = format!("the client refused: {} {}", error.code.0, error.message);
            let mut result = tool_error(&text);
            result["structuredContent"] = json!({"error": error});
            result
        }
        Ok(Err(error)) => tool_error(&format!("the client cannot be asked: {error}")),
        Ok(Ok(answer)) => match serde_json::to_value(&answer) {
            Ok(answer) => answered(method, &answer),
            Err(error) => tool_error(&format!("the answer cannot be shown: {error}")),
        },
    }
}

/// The client's answer as text and as it is.
fn answered(method: &str, answer: &Value) -> Value {
    let text =
        match method {
            "sampling/createMessage" => answer
                .pointer("/content/text")
                .and_then(Value::as_str)
                .map(|text| format!("the model says: {text}")),
            "elicitation/create" => answer.get("action").and_then(Value::as_str).map(|action| {
                match answer.get("content") {
                    Some(content) => format!("the user says {action}: {content}"),
                    None => format!("the user says {action}"),
                }
            }),
            _ => answer.get("roots").and_then(Value::as_array).map(|roots| {
                let uris = roots.iter().filter_map(|root| root.get("uri")?.as_str());
                uris.collect::<Vec<_>>().join("\n")
            }),
        };
    json!({
        "content": [{"type": "text", "text": text.unwrap_or_else(|| answer.to_string())}],
        "structuredContent": answer,
    })
}

/// The revision that both speak.
fn agreed(call: &Call<'_>) -> Option<Revision> {
    Revision::from_name(call.context.protocol_version()?.as_str())
}

fn declares(call: &Call<'_>, capability: &str) -> bool {
    let Some(capabilities) = call.context.client_capabilities() else {
        return false;
    };
    match capability {
        "sampling" => capabilities.sampling.is_some(),
        "elicitation" => capabilities.elicitation.is_some(),
        _ => capabilities.roots.is_some(),
    }
}

fn missing(capability: &str) -> ErrorData {
    let required = serde_json::from_value::<ClientCapabilities>(json!({capability: {}}));
    ErrorData::missing_required_client_capability(required.unwrap_or_default())
}
