//! What a request says before rmcp reads it.

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use serde_json::{Value, json};
use std::convert::Infallible;

use crate::faults::exchange::About;
use crate::tap::Kind;
use crate::wire::{has_odd_cursor, kind_of, typed};

/// The body type of answers.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The known facts of a message.
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
        let why = "Parse error: the body is not JSON";
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
