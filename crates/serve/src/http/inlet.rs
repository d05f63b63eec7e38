//! What a request says before rmcp reads it.
//!
//! The arguments of a tool call travel beside the request, as they were written: rmcp's types would lose numbers that no
//! machine type holds, and their results could not be any JSON. Their place is taken by something that is no object, so
//! that rmcp hands the call on as a request that it does not know, once it has checked headers and metadata. Answers to
//! what an earlier round asked travel beside their request for the same reason.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use std::convert::Infallible;

use crate::faults::exchange::About;
use crate::surface::WITH_HEADER;
use crate::tap::Kind;
use crate::wire::{Written, has_odd_cursor, kind_of, typed};

/// What the server answers with.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What is known of a message.
pub(super) fn about(message: &Value) -> About<'_> {
    let text = |at: &str| message.pointer(at).and_then(Value::as_str);
    About {
        method: text("/method"),
        target: text("/params/name").or_else(|| text("/params/uri")),
        id: message
            .get("id")
            .filter(|_| kind_of(message) == Some(Kind::Request)),
    }
}

/// Reads a body that says it is JSON; nothing of any other, which rmcp refuses. What cannot be read is answered as JSON-RPC
/// has it, where rmcp would only give a status.
pub(super) fn read(headers: &HeaderMap, body: &Bytes) -> Result<Option<Value>, Box<Answer>> {
    if !says_json(headers) {
        return Ok(None);
    }
    serde_json::from_slice(body).map(Some).map_err(|_| {
        let why = "Parse error: the body is no JSON";
        Box::new(refused(&Value::Null, -32700, why))
    })
}

/// The kind of a message that rmcp takes.
pub(super) fn kind(message: &Value) -> Result<Kind, Box<Answer>> {
    let refuse = |code, why| Err(Box::new(refused(message, code, why)));
    let Some(kind) = kind_of(message).filter(|_| typed(message).is_some()) else {
        return refuse(-32600, "Invalid request");
    };
    if has_odd_cursor(message) {
        return refuse(-32602, "the cursor has to be text");
    }
    Ok(kind)
}

/// What rmcp is given of a message, and what was taken out of a request, or is kept as it was written.
pub(super) fn for_rmcp(mut message: Value) -> (Bytes, Option<Written>) {
    let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
    let name = message.pointer("/params/name").and_then(Value::as_str);
    // rmcp compares the arguments of this one with headers.
    let is_compared = is_call && name == Some(WITH_HEADER);
    let is_request = kind_of(&message) == Some(Kind::Request);
    let params = message.get_mut("params").and_then(Value::as_object_mut);
    let params = params.filter(|_| is_request && !is_compared);
    let written = params.map(|params| {
        let mut written = Written {
            arguments: None,
            meta: params.get("_meta").cloned(),
            responses: params.get("inputResponses").cloned(),
        };
        if is_call {
            written.arguments = params.insert("arguments".to_owned(), Value::Bool(false));
        }
        written
    });
    (Bytes::from(message.to_string()), written)
}

/// An answer of plain text.
pub(super) fn plain(status: StatusCode, text: &'static str) -> Answer {
    answer(
        status,
        "text/plain; charset=utf-8",
        Bytes::from_static(text.as_bytes()),
    )
}

fn refused(message: &Value, code: i32, why: &str) -> Answer {
    let id = message.get("id").filter(|id| id.is_string() || id.is_i64());
    let body = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}});
    let body = Bytes::from(body.to_string());
    answer(StatusCode::BAD_REQUEST, "application/json", body)
}

fn answer(status: StatusCode, content: &'static str, body: Bytes) -> Answer {
    let mut answer = Response::new(Full::new(body).boxed());
    *answer.status_mut() = status;
    let content = http::HeaderValue::from_static(content);
    answer.headers_mut().insert(CONTENT_TYPE, content);
    answer
}

fn says_json(headers: &HeaderMap) -> bool {
    let content = headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
    content.is_some_and(|content| {
        let kind = content.split(';').next().unwrap_or_default();
        kind.trim().eq_ignore_ascii_case("application/json")
    })
}
