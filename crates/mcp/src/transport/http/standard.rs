//! What each request of a revision without a handshake repeats in headers, so that whoever routes it need not read it
//! (MCP 2026-07-28, "Streamable HTTP", request headers).

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::VERSION;
use crate::protocol::meta::PROTOCOL_VERSION;

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers of a message; none for one that does not say which revision it speaks.
pub(super) fn headers(message: &Value) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let revision = message["params"]["_meta"][PROTOCOL_VERSION].as_str();
    let (Some(revision), Some(method)) = (revision, message["method"].as_str()) else {
        return headers;
    };
    let name = named_by(method).and_then(|member| message["params"][member].as_str());
    let values = [
        (VERSION, Some(revision)),
        (METHOD, Some(method)),
        (NAME, name),
    ];
    for (header, value) in values {
        let value = value.and_then(|value| HeaderValue::try_from(carried(value)).ok());
        if let Some(value) = value {
            headers.insert(header, value);
        }
    }
    headers
}

/// The member that says what a method is about.
fn named_by(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => Some("taskId"),
        _ => None,
    }
}

/// A value as a header carries it: in base 64 where it has other signs than visible ASCII, or blanks at its ends.
fn carried(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| (0x20..=0x7E).contains(&byte))
        && !value.starts_with(' ')
        && !value.ends_with(' ')
        && !value.starts_with("=?base64?");
    if is_plain {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", BASE64_STANDARD.encode(value))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::headers;

    #[test]
    fn headers_repeat_what_a_request_is_about() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let case = |method: &str, params: serde_json::Value, name: Option<&str>| {
            let mut params = params;
            params["_meta"] = meta.clone();
            let found = headers(&json!({"method": method, "params": params}));
            let of = |name: &str| found.get(name).and_then(|value| value.to_str().ok());
            assert_eq!(of("mcp-protocol-version"), Some("2026-07-28"));
            assert_eq!(of("mcp-method"), Some(method));
            assert_eq!(of("mcp-name"), name, "{method}");
        };
        case("tools/call", json!({"name": "add"}), Some("add"));
        case("prompts/get", json!({"name": "é"}), Some("=?base64?w6k=?="));
        case(
            "resources/read",
            json!({"uri": "data://x"}),
            Some("data://x"),
        );
        case("tools/list", json!({"name": "add"}), None);
        assert!(headers(&json!({"method": "tools/list", "params": {}})).is_empty());
    }
}
