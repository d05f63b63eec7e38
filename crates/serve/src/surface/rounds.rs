//! Questions to the client: to its model, its user, its roots. Tools, prompts, resources and tasks ask them alike.
//!
//! With a handshake each question is one request of ours. Without one a server may not ask: the request ends with what is
//! needed, and comes again with the answers. What was answered in earlier rounds travels with the client, sealed.

use std::time::Duration;

use mcp::protocol::revision::Revision;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, CustomRequest, JsonObject, SealOptions, ServerRequest};
use rmcp::service::ServiceError;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call::{Call, tool_error};
use super::levels::Era;
use super::official::fill;
use crate::wire::WaitsFor;

/// The longest wait for the client's answer.
const PATIENCE: Duration = Duration::from_mins(2);

/// The questions that a client answers before it gets its result.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Inquiry {
    /// Requests by their keys. Those of one round stand together; the next ones come when they are answered.
    rounds: Vec<JsonObject>,
    /// Whether the client keeps the answers of earlier rounds, and answers without them do not count.
    #[serde(default)]
    sealed: bool,
    /// Whether what the client has no capability for is not asked; or else it is refused.
    #[serde(default)]
    leaves_out: bool,
}

/// The outcome of an inquiry.
pub(super) enum Inquired {
    /// All answers, by the keys of their questions.
    Answers(JsonObject),
    /// The result that asks the client for its answers.
    Needs(Value),
    /// Why there are no answers: a tool error.
    Refused(Value),
}

impl Inquiry {
    /// The requests of all rounds, by their keys.
    pub(super) fn requests(&self) -> impl Iterator<Item = (&String, &Value)> {
        self.rounds.iter().flatten()
    }

    /// Asks, or reads what was answered.
    pub(super) async fn hear(&self, call: &Call<'_>) -> Result<Inquired, ErrorData> {
        match call.era {
            Era::Legacy => Ok(self.in_session(call).await),
            Era::Modern => self.in_rounds(call),
        }
    }

    async fn in_session(&self, call: &Call<'_>) -> Inquired {
        let mut answers = JsonObject::new();
        for (key, request) in self.requests() {
            let request = fill(request, &call.arguments);
            let (method, capability) = asked(&request);
            if let Some(agreed) = agreed(call)
                && !agreed.has_client_capability(capability)
            {
                return Inquired::Refused(tool_error(&format!(
                    "revision {agreed} has no \"{method}\", so the client is not asked"
                )));
            }
            if declares(call, capability) {
                match put(call, method, request.get("params")).await {
                    Ok(answer) => drop(answers.insert(key.clone(), answer)),
                    Err(refused) => return Inquired::Refused(refused),
                }
            } else if !self.leaves_out {
                return Inquired::Refused(tool_error(&format!(
                    "the client does not declare the capability \"{capability}\""
                )));
            }
        }
        Inquired::Answers(answers)
    }

    fn in_rounds(&self, call: &Call<'_>) -> Result<Inquired, ErrorData> {
        let bound = format!("{} {}", call.of, json!(call.arguments));
        let seal = &call.bench.shared.seal;
        let mut answers = JsonObject::new();
        let mut counts = !self.sealed;
        if let (Some(state), true) = (&call.state, self.sealed) {
            let opened = seal.open_with(state, bound.as_bytes());
            let opened = opened.map_err(|error| foreign_state(&error))?;
            answers = serde_json::from_slice(&opened).map_err(|error| foreign_state(&error))?;
            counts = true;
        }
        for round in &self.rounds {
            let mut open = JsonObject::new();
            for (key, request) in round {
                let (method, capability) = asked(request);
                let answer = call
                    .responses
                    .get(key)
                    .filter(|answer| fits(method, answer));
                if answers.contains_key(key) {
                } else if !declares(call, capability) {
                    if !self.leaves_out {
                        return Err(missing(capability));
                    }
                } else if let (Some(answer), true) = (answer, counts) {
                    answers.insert(key.clone(), answer.clone());
                } else {
                    open.insert(key.clone(), fill(request, &call.arguments));
                }
            }
            if !open.is_empty() {
                let mut needs = json!({"resultType": "input_required", "inputRequests": open});
                if self.sealed {
                    let bound = SealOptions::new().associated_data(bound.as_bytes());
                    let kept = Value::Object(answers).to_string();
                    needs["requestState"] = seal.seal_with(kept.as_bytes(), &bound).into();
                }
                return Ok(Inquired::Needs(needs));
            }
        }
        Ok(Inquired::Answers(answers))
    }

    /// The answers in words, by their keys.
    pub(super) fn words(&self, answers: &JsonObject) -> JsonObject {
        let told = self.requests().filter_map(|(key, request)| {
            let words = words(asked(request).0, answers.get(key)?);
            Some((key.clone(), words.into()))
        });
        told.collect()
    }

    /// A result that tells what was answered.
    pub(super) fn told(&self, answers: &JsonObject) -> Value {
        let words = self.words(answers);
        let blocks = words
            .values()
            .map(|text| json!({"type": "text", "text": text}));
        let mut content: Vec<Value> = blocks.collect();
        if content.is_empty() {
            content.push(json!({"type": "text", "text": "there was nobody to ask"}));
        }
        let mut only = answers.values();
        let structured = match (only.next(), only.next()) {
            (Some(answer), None) => answer.clone(),
            (_, _) => json!(answers),
        };
        json!({"content": content, "structuredContent": structured})
    }
}

/// The method of a request, and the capability that it needs.
pub(super) fn asked(request: &Value) -> (&str, &'static str) {
    let method = request.get("method").and_then(Value::as_str);
    let method = method.unwrap_or_default();
    let capability = match method {
        "sampling/createMessage" => "sampling",
        "elicitation/create" => "elicitation",
        _ => "roots",
    };
    (method, capability)
}

/// Whether an answer is one to this method.
pub(super) fn fits(method: &str, answer: &Value) -> bool {
    match method {
        "sampling/createMessage" => answer.get("content").is_some(),
        "elicitation/create" => answer.get("action").is_some_and(Value::is_string),
        _ => answer.get("roots").is_some_and(Value::is_array),
    }
}

/// Asks in a session; a refusal is a tool error.
async fn put(call: &Call<'_>, method: &str, params: Option<&Value>) -> Result<Value, Value> {
    let (line, id) = (call.line, &call.context.id);
    line.park(id, WaitsFor::Answer);
    let question = ServerRequest::CustomRequest(CustomRequest::new(method, params.cloned()));
    let answer = tokio::select! {
        biased;
        () = call.context.ct.cancelled() => return Err(tool_error("the call was cancelled")),
        answer = tokio::time::timeout(PATIENCE, call.context.peer.send_request(question)) => answer,
    };
    line.resume(id, WaitsFor::Answer);
    match answer {
        Err(_) => Err(tool_error(&format!("the client did not answer {method}"))),
        Ok(Err(ServiceError::McpError(error))) => {
            let text = format!("the client refused: {} {}", error.code.0, error.message);
            let mut result = tool_error(&text);
            result["structuredContent"] = json!({"error": error});
            Err(result)
        }
        Ok(Err(error)) => Err(tool_error(&format!("the client cannot be asked: {error}"))),
        Ok(Ok(answer)) => serde_json::to_value(&answer)
            .map_err(|error| tool_error(&format!("the answer cannot be shown: {error}"))),
    }
}

/// An answer in words.
fn words(method: &str, answer: &Value) -> String {
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
    text.unwrap_or_else(|| answer.to_string())
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

fn foreign_state(why: &impl std::fmt::Display) -> ErrorData {
    let message = format!("the requestState is not what this request was given: {why}");
    ErrorData::invalid_params(message, None)
}
