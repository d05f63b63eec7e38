//! What MCP forbids of a response that can be read all the same ("Streamable HTTP", "Session Management").

use reqwest::{StatusCode, header::HeaderValue};

use crate::observation::finding::FindingCode;

/// What kind of thing is wrong, and what exactly.
type Note = (FindingCode, String);

/// The session that a response names, where that is `known`.
pub(super) fn of_session(known: Option<&HeaderValue>, named: Option<&HeaderValue>) -> Vec<Note> {
    let Some(named) = named.filter(|named| known != Some(named)) else {
        return Vec::new();
    };
    let shown = beginning(named.as_bytes());
    let mut notes = Vec::new();
    if named.is_empty() || !named.as_bytes().iter().all(u8::is_ascii_graphic) {
        let message = format!("`Mcp-Session-Id` is `{shown}`, which is no visible ASCII");
        notes.push((FindingCode::BadSessionId, message));
    }
    if let Some(known) = known {
        let known = beginning(known.as_bytes());
        let message = format!("`Mcp-Session-Id` is `{shown}` in the session `{known}`");
        notes.push((FindingCode::SessionChanged, message));
    }
    notes
}

/// The status of the response to what asks for nothing.
pub(super) fn of_status(status: StatusCode) -> Option<Note> {
    let is_wrong = status.is_success() && status != StatusCode::ACCEPTED;
    let message = || format!("HTTP {status} to a notification or a reply, which is taken with 202");
    is_wrong.then(|| (FindingCode::NotificationStatus, message()))
}

/// The body of such a response.
pub(super) fn of_body(body: &[u8]) -> Option<Note> {
    let message = || format!("HTTP 202 with the body `{}`", beginning(body));
    (!body.is_empty()).then(|| (FindingCode::BodyOn202, message()))
}

/// The type of a body that should be an answer.
pub(super) fn of_type(kind: Option<&HeaderValue>, body: &[u8]) -> Option<Note> {
    let kind = kind.map_or("of no type".to_owned(), |kind| {
        format!("as `{}`", beginning(kind.as_bytes()))
    });
    let message = || format!("a request is answered {kind}");
    (!body.is_empty()).then(|| (FindingCode::WrongContentType, message()))
}

/// What is shown of what a server sent.
fn beginning(bytes: &[u8]) -> String {
    text::head(&String::from_utf8_lossy(bytes), 60)
}

#[cfg(test)]
mod tests {
    use super::{FindingCode as F, HeaderValue, of_session};

    #[test]
    fn a_session_keeps_one_visible_name() {
        let case = |known: Option<&str>, named: Option<&[u8]>, wanted: &[F]| {
            let known = known.map(|known| HeaderValue::from_str(known).unwrap());
            let named = named.map(|named| HeaderValue::from_bytes(named).unwrap());
            let notes = of_session(known.as_ref(), named.as_ref());
            let codes: Vec<F> = notes.iter().map(|(code, _)| *code).collect();
            assert_eq!(codes, wanted, "{known:?}, {named:?}");
        };
        case(None, None, &[]);
        case(None, Some(b"s-1"), &[]);
        case(Some("s-1"), None, &[]);
        case(Some("s-1"), Some(b"s-1"), &[]);
        case(Some("s-1"), Some(b"s-2"), &[F::SessionChanged]);
        case(None, Some(b"a b"), &[F::BadSessionId]);
        case(None, Some(b""), &[F::BadSessionId]);
        case(None, Some(b"\xe9"), &[F::BadSessionId]);
        case(Some("a b"), Some(b"a b"), &[]);
    }
}
