//! A request that is sent as it is written: whether it is one by the rules, and of what method it certainly is, so that
//! its answer can be held against that. Knows nothing of answers.

use serde_json::Value;

use crate::protocol::{
    members,
    message::Id,
    method::{LogLevel, Method, kind_of},
};

/// A request that was sent.
#[derive(Debug)]
pub(super) struct SentRequest {
    /// Its id.
    pub(super) id: Id,
    /// Whether it is a request by the rules of JSON-RPC.
    pub(super) form: Form,
    /// Its method, where what is asked is beyond doubt: a frame that is wrong on purpose may be answered in any way.
    pub(super) method: Option<Method>,
    /// The progress token that it carries.
    pub(super) token: Option<Id>,
}

/// Whether a request is one by the rules of JSON-RPC. What is none may be answered without its id: "If there was
/// an error in detecting the id in the Request object (e.g. Parse error/Invalid Request), it MUST be Null".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// It is one.
    Valid,
    /// It is none.
    Invalid,
}

/// Whether everybody reads a frame as the same messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Frame {
    /// One message a line, or a batch where the revision has those.
    Plain,
    /// A text over several lines, a batch where there is none, a member that is written twice.
    Odd,
}

impl Frame {
    /// The kind of frame of this value.
    pub(super) fn of(text: &str, value: &Value, has_batches: bool) -> Self {
        let is_one_line = !text.trim().contains(['\n', '\r']);
        let is_batch = value.is_array();
        let is_plain = is_one_line
            && (has_batches || !is_batch)
            && members::named_twice(text.as_bytes()).is_none();
        if is_plain { Self::Plain } else { Self::Odd }
    }
}

impl SentRequest {
    /// The request with this id in a frame.
    pub(super) fn new(id: Id, request: &Value, frame: Frame) -> Self {
        let form = Form::of(request);
        let is_plain = form == Form::Valid && frame == Frame::Plain;
        Self {
            id,
            form,
            method: method(request).filter(|_| is_plain),
            token: request
                .pointer("/params/_meta/progressToken")
                .and_then(Id::from_value),
        }
    }

    /// The level that a request for one asks for; `None` where it may be any.
    pub(super) fn log_level(&self, request: &Value) -> Option<LogLevel> {
        self.method.and_then(|_| level(request.get("params")?))
    }
}

impl Form {
    fn of(request: &Value) -> Self {
        let is_valid = request.get("jsonrpc").and_then(Value::as_str) == Some("2.0")
            && request.get("method").is_some_and(Value::is_string)
            && request
                .get("params")
                .is_none_or(|params| params.is_object() || params.is_array());
        if is_valid { Self::Valid } else { Self::Invalid }
    }
}

/// The method of a request whose parameters are what the method wants.
fn method(request: &Value) -> Option<Method> {
    let method = Method::from_name(request.get("method")?.as_str()?)?;
    let nothing = Value::Object(serde_json::Map::new());
    let params = request.get("params").unwrap_or(&nothing);
    let has_body = request.get("result").is_some() || request.get("error").is_some();
    let is_legal = params.is_object()
        && !has_body
        && params.get("_meta").is_none_or(Value::is_object)
        && has_what_it_needs(method, params);
    is_legal.then_some(method)
}

/// Whether parameters hold what a method needs, and nothing of it in another form.
fn has_what_it_needs(method: Method, params: &Value) -> bool {
    // Who asks for a task is answered with a task.
    let asks_for_task = method == Method::ToolsCall && params.get("task").is_some();
    let given = params.get("arguments").and_then(Value::as_object);
    let are_texts = given.is_none_or(|given| given.values().all(Value::is_string));
    let more = !asks_for_task
        && (are_texts || method != Method::PromptsGet)
        && (method != Method::LoggingSetLevel || level(params).is_some());
    let fits = |(pointer, kind): &(&str, &str)| match (params.pointer(pointer), *kind) {
        (Some(value), kind) => kind_of(value) == kind.trim_end_matches('?'),
        (None, kind) => kind.ends_with('?'),
    };
    more && needs(method).iter().all(fits)
}

/// The parameters of a method as JSON Pointers, and their types; those with `?` may be absent.
fn needs(method: Method) -> &'static [(&'static str, &'static str)] {
    match method {
        Method::Initialize => &[
            ("/protocolVersion", "a text"),
            ("/capabilities", "an object"),
            ("/clientInfo/name", "a text"),
            ("/clientInfo/version", "a text"),
        ],
        Method::Ping | Method::Discover | Method::LoggingSetLevel => &[],
        Method::SubscriptionsListen => &[("/notifications", "an object")],
        Method::ToolsList
        | Method::ResourcesList
        | Method::ResourceTemplatesList
        | Method::PromptsList => &[("/cursor", "a text?")],
        Method::ToolsCall | Method::PromptsGet => {
            &[("/name", "a text"), ("/arguments", "an object?")]
        }
        Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
            &[("/uri", "a text")]
        }
        Method::CompletionComplete => &[
            ("/ref/type", "a text"),
            ("/argument/name", "a text"),
            ("/argument/value", "a text"),
            ("/context", "an object?"),
        ],
        Method::TasksGet | Method::TasksUpdate | Method::TasksCancel => &[("/taskId", "a text")],
    }
}

fn level(params: &Value) -> Option<LogLevel> {
    params
        .get("level")
        .and_then(Value::as_str)
        .and_then(LogLevel::from_name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Frame, Id, Method, SentRequest};

    fn method_of(text: &str) -> Option<Method> {
        let request: Value = serde_json::from_str(text).unwrap();
        let frame = Frame::of(text, &request, false);
        let request = request.get(0).unwrap_or(&request);
        SentRequest::new(Id::Number("5".into()), request, frame).method
    }

    #[test]
    fn the_method_of_a_request_by_the_rules_is_certain() {
        let case = |method: &str, params: Value, wanted: bool| {
            let mut request = json!({"jsonrpc": "2.0", "id": 5, "method": method});
            if !params.is_null() {
                request["params"] = params;
            }
            let found = method_of(&request.to_string());
            assert_eq!(
                found.map(Method::name),
                wanted.then_some(method),
                "{request}"
            );
        };
        case("ping", Value::Null, true);
        case("ping", json!([]), false);
        case("nope", Value::Null, false);
        case("tools/list", Value::Null, true);
        case("tools/list", json!({"cursor": "a"}), true);
        case("tools/list", json!({"cursor": 5}), false);
        case("tools/list", json!({"_meta": 5}), false);
        case("tools/call", Value::Null, false);
        case("tools/call", json!({"name": "t"}), true);
        case("tools/call", json!({"name": 5}), false);
        case("tools/call", json!({"name": "t", "arguments": []}), false);
        case("tools/call", json!({"name": "t", "task": {}}), false);
        case("resources/read", json!({"uri": "a:b"}), true);
        case("resources/read", json!({}), false);
        let get = |arguments: Value| json!({"name": "p", "arguments": arguments});
        case("prompts/get", get(json!({"a": "b"})), true);
        case("prompts/get", get(json!({"a": 1})), false);
        case("logging/setLevel", json!({"level": "error"}), true);
        case("logging/setLevel", json!({"level": "loud"}), false);
        let complete = |argument: Value| json!({"ref": {"type": "x"}, "argument": argument});
        case(
            "completion/complete",
            complete(json!({"name": "a", "value": ""})),
            true,
        );
        case("completion/complete", complete(json!("a")), false);
        let client = json!({"name": "a", "version": "1"});
        let hands = json!({"protocolVersion": "x", "capabilities": {}, "clientInfo": client});
        case("initialize", hands, true);
        case("initialize", json!({"protocolVersion": "x"}), false);
    }

    #[test]
    fn what_is_written_oddly_is_in_doubt() {
        let ping = Some(Method::Ping);
        assert_eq!(
            method_of(r#" {"jsonrpc":"2.0","id":5,"method":"ping"} "#),
            ping
        );
        for odd in [
            r#"{"id":5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"ping","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","method":"ping"}"#,
            r#"[{"jsonrpc":"2.0","id":5,"method":"ping"}]"#,
            "{\"jsonrpc\":\"2.0\",\n\"id\":5,\"method\":\"ping\"}",
        ] {
            assert_eq!(method_of(odd), None, "{odd}");
        }
    }
}
