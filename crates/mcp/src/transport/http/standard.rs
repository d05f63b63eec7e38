//! What each request of a revision without a handshake repeats in headers, so that whoever routes it need not read it
//! (MCP 2026-07-28, "Streamable HTTP", request headers).

use std::collections::HashMap;

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

use super::VERSION;
use crate::protocol::{header_params::HeaderParam, meta::PROTOCOL_VERSION};

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The arguments that headers repeat, by the tools that have such.
pub type Mirrored = HashMap<String, Vec<HeaderParam>>;

/// The headers of a message; none for one that does not say which revision it speaks.
pub(super) fn headers(message: &Value, mirrored: &Mirrored) -> HeaderMap {
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
    let params = name.filter(|_| method == "tools/call");
    for param in params
        .and_then(|tool| mirrored.get(tool))
        .into_iter()
        .flatten()
    {
        let value = param.value(&message["params"]["arguments"]);
        let value = value.and_then(|value| HeaderValue::try_from(carried(&value)).ok());
        if let (Ok(name), Some(value)) = (HeaderName::try_from(param.header()), value) {
            headers.insert(name, value);
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

    use super::{HeaderParam, Mirrored, headers};

    #[test]
    fn headers_repeat_what_a_request_is_about() {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
        let case = |method: &str, params: serde_json::Value, name: Option<&str>| {
            let mut params = params;
            params["_meta"] = meta.clone();
            let found = headers(
                &json!({"method": method, "params": params}),
                &Mirrored::new(),
            );
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
        let nameless = json!({"method": "tools/list", "params": {}});
        assert!(headers(&nameless, &Mirrored::new()).is_empty());
    }

    #[test]
    fn headers_repeat_marked_arguments() {
        let property = |name: &str| json!({"type": "string", "x-mcp-header": name});
        let schema = json!({"properties": {"a": property("A"), "b": property("B")}});
        let mirrored = Mirrored::from([("t".to_owned(), HeaderParam::all(&schema).unwrap())]);
        let case = |arguments: serde_json::Value, a: Option<&str>, b: Option<&str>| {
            let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
            let params = json!({"name": "t", "arguments": arguments, "_meta": meta});
            let found = headers(
                &json!({"method": "tools/call", "params": params}),
                &mirrored,
            );
            let of = |name: &str| found.get(name).and_then(|value| value.to_str().ok());
            assert_eq!(
                (of("mcp-param-a"), of("mcp-param-b")),
                (a, b),
                "{arguments}"
            );
        };
        case(json!({"a": "x y", "b": ""}), Some("x y"), Some(""));
        case(
            json!({"a": " x", "b": "\t"}),
            Some("=?base64?IHg=?="),
            Some("=?base64?CQ==?="),
        );
        case(
            json!({"a": "=?base64?eA==?="}),
            Some("=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
            None,
        );
        case(json!({"b": null}), None, None);
    }
}
