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
use crate::wire::{Written, has_odd_cursor, typed};

/// What the server answers with.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// What is handed to rmcp.
pub(super) struct Posted {
    pub(super) body: Bytes,
    /// What was taken out of a tool call, or is kept as it was written.
    pub(super) written: Option<Written>,
    pub(super) asks: Asks,
    /// What fault rules are compared with.
    pub(super) method: Option<String>,
    pub(super) target: Option<String>,
    pub(super) id: Option<Value>,
}

impl Posted {
    /// What is known of the message.
    pub(super) fn about(&self) -> About<'_> {
        About {
            method: self.method.as_deref(),
            target: self.target.as_deref(),
            id: self.id.as_ref(),
        }
    }
}

/// Whether an answer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    /// It is a request.
    ForAnAnswer,
    /// It is none.
    Nothing,
}

/// Reads a body that says it is JSON. What cannot be read is answered as JSON-RPC has it, where rmcp would only give a
/// status; every other content type is left to rmcp, which refuses it.
pub(super) fn posted(headers: &HeaderMap, body: Bytes) -> Result<Posted, Box<Answer>> {
    let mut posted = Posted {
        body,
        written: None,
        asks: Asks::Nothing,
        method: None,
        target: None,
        id: None,
    };
    if !says_json(headers) {
        return Ok(posted);
    }
    let refuse = |message: &Value, code, why| Err(Box::new(refused(message, code, why)));
    let Ok(mut message) = serde_json::from_slice::<Value>(&posted.body) else {
        return refuse(&Value::Null, -32700, "Parse error: the body is no JSON");
    };
    if typed(&message).is_none() {
        return refuse(&message, -32600, "Invalid request");
    }
    if has_odd_cursor(&message) {
        return refuse(&message, -32602, "the cursor has to be text");
    }
    let text = |at: &str| {
        message
            .pointer(at)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    posted.method = text("/method");
    posted.target = text("/params/name").or_else(|| text("/params/uri"));
    if posted.method.is_none() || message.get("id").is_none() {
        return Ok(posted);
    }
    posted.asks = Asks::ForAnAnswer;
    posted.id = message.get("id").cloned();
    let is_call = posted.method.as_deref() == Some("tools/call");
    // rmcp compares the arguments of this one with headers.
    if is_call && posted.target.as_deref() == Some(WITH_HEADER) {
        return Ok(posted);
    }
    if let Some(params) = message.get_mut("params").and_then(Value::as_object_mut) {
        let mut written = Written {
            arguments: None,
            meta: params.get("_meta").cloned(),
            responses: params.get("inputResponses").cloned(),
        };
        if is_call {
            written.arguments = params.insert("arguments".to_owned(), Value::Bool(false));
            posted.body = Bytes::from(message.to_string());
        }
        posted.written = Some(written);
    }
    Ok(posted)
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
