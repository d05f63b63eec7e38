//! Answers of sessions as JSON: rmcp gives a stream for each, which is not needed where the answer is all that is on it.

use std::convert::Infallible;

use bytes::{Bytes, BytesMut};
use futures_util::{StreamExt, stream};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt, Full, StreamBody};
use serde_json::Value;

use super::inlet::Answer;

/// The answer with its only message as the body. A stream whose first message is none that ends it stays a stream.
pub(super) async fn plain(answer: Answer) -> Answer {
    let is_stream =
        answer.headers().get(CONTENT_TYPE) == Some(&HeaderValue::from_static("text/event-stream"));
    if !is_stream || answer.status() != StatusCode::OK {
        return answer;
    }
    let (mut parts, mut body) = answer.into_parts();
    let mut read = BytesMut::new();
    while let Some(Ok(frame)) = body.frame().await {
        if let Ok(data) = frame.into_data() {
            read.extend_from_slice(&data);
        }
        let Some(message) = first_message(&read) else {
            continue;
        };
        if message.get("method").is_none() {
            parts.headers.remove(CACHE_CONTROL);
            parts.headers.remove("x-accel-buffering");
            parts
                .headers
                .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            let body = Full::new(Bytes::from(message.to_string()));
            return Answer::from_parts(parts, body.boxed());
        }
        break;
    }
    let read = stream::once(async move { Ok::<_, Infallible>(Frame::data(read.freeze())) });
    let rest = body.into_data_stream().map(|data| data.map(Frame::data));
    Answer::from_parts(parts, BodyExt::boxed(StreamBody::new(read.chain(rest))))
}

/// The first message among events that are whole; an event without one only says where a client may go on.
fn first_message(events: &[u8]) -> Option<Value> {
    let events = std::str::from_utf8(events).ok()?;
    let (whole, _) = events.rsplit_once("\n\n")?;
    whole.split("\n\n").find_map(message)
}

/// The message in an event.
pub(super) fn message(event: &str) -> Option<Value> {
    let data = event.lines().find_map(|line| line.strip_prefix("data:"))?;
    serde_json::from_str(data.trim_start()).ok()
}
