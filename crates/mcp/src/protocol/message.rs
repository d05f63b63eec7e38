//! JSON-RPC messages as data: what a parsed frame is, and the errors and ids it carries.

use std::fmt;

use serde_json::{Map, Value, json};

use super::method::{is_asked_by_servers, kind_of};

/// The id of a request, number and string kept apart. A number keeps its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Id {
    /// A number, as written.
    Number(String),
    /// A string.
    Text(String),
}

impl Id {
    /// Reads an id; `None` for null and everything that is not an id.
    pub fn from_value(value: &Value) -> Option<Self> {
        match value {
            Value::Number(number) => Some(Self::Number(number.to_string())),
            Value::String(text) => Some(Self::Text(text.clone())),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Whether a value can be one.
    pub fn is_one(value: &Value) -> bool {
        match value {
            Value::Number(_) | Value::String(_) => true,
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => false,
        }
    }

    /// Whether both name the same request but for the JSON type (`3` and `"3"`).
    pub fn same_but_for_type(&self, other: &Self) -> bool {
        self.bare() == other.bare()
    }

    fn bare(&self) -> &str {
        match self {
            Self::Number(text) | Self::Text(text) => text,
        }
    }
}

impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(text) => formatter.write_str(text),
            Self::Text(text) => write!(formatter, "{text:?}"),
        }
    }
}

/// A JSON-RPC error object as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// The code when it was an integer, also one with a fraction of zeros; the deviation otherwise is a finding.
    pub code: Option<i64>,
    /// The message, empty when absent or no text.
    pub message: String,
    /// The data member.
    pub data: Option<Value>,
    /// The error object as it was.
    pub raw: Value,
}

/// What JSON-RPC answers to a method that does not exist.
pub const METHOD_NOT_FOUND: i64 = -32601;

/// What a server answers that does not speak the revision of a request.
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// The name of an error code that MCP gives a meaning of its own since 2026-07-28 (schema, `…Error`).
fn name_of(code: i64) -> Option<&'static str> {
    match code {
        -32020 => Some("header mismatch"),
        -32021 => Some("missing required client capability"),
        UNSUPPORTED_VERSION => Some("unsupported protocol version"),
        _ => None,
    }
}

/// A number that is whole, however it is written: `-32602.0` is `-32602`.
fn integer(value: &Value) -> Option<i64> {
    let text = value.as_number()?.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    if !fraction.bytes().all(|byte| byte == b'0') {
        return None;
    }
    whole.parse().ok()
}

/// Whether a value is an integer as JSON-RPC has it, of any length.
pub fn is_integer(value: &Value) -> bool {
    value
        .as_number()
        .is_some_and(|number| !number.as_str().contains(['.', 'e', 'E']))
}

impl RpcError {
    /// The code as people are shown it, with its name where it is one of MCP's own; one of more than 64 bits has all its
    /// digits.
    pub fn shown_code(&self) -> Option<String> {
        let raw = || self.raw.get("code").filter(|code| is_integer(code));
        match (self.code, self.code.and_then(name_of)) {
            (Some(code), Some(name)) => Some(format!("{code} ({name})")),
            (Some(code), None) => Some(code.to_string()),
            (None, _) => raw().map(Value::to_string),
        }
    }

    /// The revisions that a server names which refuses the one it was asked in (`UnsupportedProtocolVersionError`).
    pub fn supported(&self) -> Option<Vec<&str>> {
        let named = self.data.as_ref()?.get("supported")?.as_array()?;
        let named: Vec<&str> = named.iter().filter_map(Value::as_str).collect();
        (!named.is_empty()).then_some(named)
    }

    /// Reads an error object leniently; what is missing stays missing.
    pub fn from_value(raw: &Value) -> Self {
        Self {
            code: raw.get("code").and_then(integer),
            message: raw
                .get("message")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            data: raw.get("data").cloned(),
            raw: raw.clone(),
        }
    }
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.shown_code() {
            Some(code) => write!(formatter, "{code}: {}", self.message),
            None => write!(formatter, "(no code): {}", self.message),
        }
    }
}

/// What a JSON value on the wire is.
#[derive(Debug, Clone)]
pub enum Message {
    /// A request of the server.
    Request {
        /// Its id; `None` where null or something else stands that is not an id.
        id: Option<Id>,
        /// Its method.
        method: String,
        /// Its parameters, null when absent.
        params: Value,
    },
    /// A notification.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters, null when absent.
        params: Value,
    },
    /// An answer, however broken: exactly what members it had is kept.
    Response(Response),
    /// JSON, but no JSON-RPC message.
    Other,
}

/// An answer with its members as they came.
#[derive(Debug, Clone, Default)]
pub struct Response {
    /// The id; `None` for null, absent, and what is not an id.
    pub id: Option<Id>,
    /// The JSON type of what stands where the id belongs and is neither a number nor a text nor null.
    pub odd_id: Option<&'static str>,
    /// The result member.
    pub result: Option<Value>,
    /// The error member.
    pub error: Option<Value>,
}

impl Message {
    /// Classifies a value by its members, as JSON-RPC 2.0 § 4 and 5 name them. A log line in JSON may have members of
    /// these names too, so that without `jsonrpc` it takes more to be a message.
    pub fn from_value(mut value: Value) -> Self {
        let Some(object) = value.as_object_mut() else {
            return Self::Other;
        };
        if !object.contains_key("jsonrpc") && !is_message_all_the_same(object) {
            return Self::Other;
        }
        let id = object.get("id").and_then(Id::from_value);
        if let Some(Value::String(method)) = object.get("method").cloned() {
            let params = object.remove("params").unwrap_or(Value::Null);
            // Some libraries write an absent id as null.
            let tells = !object.contains_key("id") || id.is_none() && is_notification(&method);
            return if tells {
                Self::Notification { method, params }
            } else {
                Self::Request { id, method, params }
            };
        }
        let response = ["id", "result", "error"]
            .iter()
            .any(|member| object.contains_key(*member));
        if !response {
            return Self::Other;
        }
        let odd_id = object
            .get("id")
            .filter(|id| !id.is_null() && !Id::is_one(id))
            .map(kind_of);
        Self::Response(Response {
            id,
            odd_id,
            result: object.remove("result"),
            error: object.remove("error"),
        })
    }
}

/// Whether an object without `jsonrpc` is a message of a server that forgot it: it has members of JSON-RPC alone, and is a
/// request or notification of MCP or an answer with a body.
fn is_message_all_the_same(object: &Map<String, Value>) -> bool {
    let member = |name: &str| object.get(name).filter(|value| !value.is_null());
    let foreign = |name: &String| {
        !matches!(
            name.as_str(),
            "id" | "method" | "params" | "result" | "error"
        )
    };
    if object.keys().any(foreign) {
        return false;
    }
    if let Some(method) = member("method") {
        let known = |method| is_notification(method) || is_asked_by_servers(method);
        return method.as_str().is_some_and(known);
    }
    let failed = member("error").is_some_and(|error| {
        error.get("code").is_some_and(Value::is_number)
            && error.get("message").is_some_and(Value::is_string)
    });
    failed || member("result").is_some() && member("id").is_some()
}

fn is_notification(method: &str) -> bool {
    method.starts_with("notifications/")
}

/// The text of `{"jsonrpc":"2.0","id":…,"method":…,"params":…}`; null parameters are left out.
pub fn request(id: &Value, method: &str, params: &Value) -> Vec<u8> {
    with_params(
        json!({"jsonrpc": "2.0", "id": id, "method": method}),
        params,
    )
}

/// The text of a notification; null parameters are left out.
pub fn notification(method: &str, params: &Value) -> Vec<u8> {
    with_params(json!({"jsonrpc": "2.0", "method": method}), params)
}

fn with_params(mut message: Value, params: &Value) -> Vec<u8> {
    if !params.is_null() {
        message["params"] = params.clone();
    }
    message.to_string().into_bytes()
}

/// The text of an answer with a result.
pub fn answer(id: &Value, result: &Value) -> Vec<u8> {
    let message = json!({"jsonrpc": "2.0", "id": id, "result": result});
    message.to_string().into_bytes()
}

/// The text of an answer with an error.
pub fn refusal(id: &Value, code: i64, message: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": message});
    let message = json!({"jsonrpc": "2.0", "id": id, "error": error});
    message.to_string().into_bytes()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Id, Message, RpcError, answer, notification, refusal, request};

    #[test]
    fn what_we_send_has_its_members_in_their_order() {
        let text = |line: Vec<u8>| String::from_utf8(line).unwrap();
        let params = json!({"b": "\u{e9}\n", "a": [1.5, null]});
        assert_eq!(
            text(request(&json!(7), "tools/call", &params)),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"b":"é\n","a":[1.5,null]}}"#
        );
        assert_eq!(
            text(notification("notifications/initialized", &Value::Null)),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#
        );
        assert_eq!(
            text(answer(&json!("x"), &Value::Null)),
            r#"{"jsonrpc":"2.0","id":"x","result":null}"#
        );
        assert_eq!(
            text(refusal(&json!("x"), -1, "no")),
            r#"{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"no"}}"#
        );
    }

    #[test]
    fn a_code_with_a_fraction_of_zeros_is_an_integer() {
        let case = |error: &str, wanted: Option<i64>| {
            let error = serde_json::from_str(error).unwrap();
            assert_eq!(RpcError::from_value(&error).code, wanted);
        };
        case(r#"{"code": -32602}"#, Some(-32602));
        case(r#"{"code": -32602.0}"#, Some(-32602));
        case(r#"{"code": -32602.5}"#, None);
        case(r#"{"code": "-32602"}"#, None);
    }

    #[test]
    fn a_code_of_many_digits_is_shown() {
        let case = |error: &str, wanted: &str| {
            let error = RpcError::from_value(&serde_json::from_str(error).unwrap());
            assert_eq!(error.to_string(), wanted);
        };
        case(r#"{"code": -1, "message": "m"}"#, "-1: m");
        case(
            r#"{"code": 99999999999999999999, "message": "m"}"#,
            "99999999999999999999: m",
        );
        case(r#"{"code": 1.5, "message": "m"}"#, "(no code): m");
        case(
            r#"{"code": -32021, "message": "m"}"#,
            "-32021 (missing required client capability): m",
        );
    }

    #[test]
    fn values_are_classified_by_their_members() {
        let case = |value, wanted: &str| {
            let seen = match Message::from_value(value) {
                Message::Request { .. } => "request",
                Message::Notification { .. } => "notification",
                Message::Response(_) => "response",
                Message::Other => "other",
            };
            assert_eq!(seen, wanted);
        };
        case(
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}),
            "request",
        );
        case(
            json!({"jsonrpc": "2.0", "method": "notifications/x"}),
            "notification",
        );
        case(
            json!({"jsonrpc": "2.0", "id": null, "error": {}}),
            "response",
        );
        case(json!({"jsonrpc": "2.0", "id": 1}), "response");
        case(
            json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
            "request",
        );
        case(
            json!({"jsonrpc": "2.0", "id": null, "method": "notifications/x"}),
            "notification",
        );
        case(json!({"hello": 1}), "other");
        case(json!([1]), "other");
        case(json!(null), "other");
    }

    #[test]
    fn without_jsonrpc_a_message_has_nothing_else_and_a_log_line_is_none() {
        let case = |value: Value, wanted: bool| {
            let shown = value.to_string();
            let is_message = !matches!(Message::from_value(value), Message::Other);
            assert_eq!(is_message, wanted, "{shown}");
        };
        let failed = json!({"code": -32602, "message": "no"});
        case(json!({"id": 1, "result": {}}), true);
        case(json!({"id": 1, "result": {}, "error": null}), true);
        case(json!({"id": 1, "error": failed}), true);
        case(json!({"id": null, "error": failed}), true);
        case(json!({"error": failed}), true);
        case(json!({"id": "a", "method": "roots/list"}), true);
        case(json!({"id": 4, "method": "ping"}), true);
        case(
            json!({"method": "notifications/message", "params": {}}),
            true,
        );
        case(json!({"id": 1}), false);
        case(json!({"result": {}}), false);
        case(json!({"error": "connection reset"}), false);
        case(json!({"id": 1, "error": {"message": "reset"}}), false);
        case(json!({"method": "GET"}), false);
        case(json!({"id": 3, "method": "tools/call"}), false);
        for member in [
            json!({"id": 1}),
            json!({"id": 1, "result": {"content": []}}),
            json!({"id": 1, "error": failed}),
            json!({"error": "connection reset"}),
            json!({"method": "notifications/initialized"}),
            json!({"id": 1, "method": "ping"}),
        ] {
            let mut line = member;
            line["level"] = json!(30);
            case(line.clone(), false);
            line["jsonrpc"] = json!("2.0");
            case(line, true);
        }
    }

    #[test]
    fn ids_keep_their_type_and_digits() {
        let big: Value = serde_json::from_str("123456789012345678901234567890").unwrap();
        assert_eq!(
            Id::from_value(&big),
            Some(Id::Number("123456789012345678901234567890".into()))
        );
        assert!(Id::Number("3".into()).same_but_for_type(&Id::Text("3".into())));
        assert_ne!(Id::Number("3".into()), Id::Text("3".into()));
    }
}
