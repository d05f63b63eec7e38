//! What a result is where it says so itself: complete, or a request for input ("Multi Round-Trip Requests", since
//! 2026-07-28).

use serde_json::Value;

use super::{
    method::{Method, kind_of},
    revision::Revision,
};

/// The word of a result that asks for input.
const INPUT_REQUIRED: &str = "input_required";

/// The requests that a result may hold ("Multi Round-Trip Requests", core types).
const INPUTS: [&str; 3] = ["sampling/createMessage", "elicitation/create", "roots/list"];

/// What a result is.
#[derive(Debug, PartialEq)]
pub enum ResultKind {
    /// The answer.
    Complete,
    /// The input that the server needs before it can answer.
    InputRequired(InputRequired),
    /// A task that will have the answer (extension `io.modelcontextprotocol/tasks`).
    Task,
    /// Nothing that can be used, for this reason.
    Unusable(String),
}

/// What a server needs.
#[derive(Debug, PartialEq)]
pub struct InputRequired {
    /// What it asks of the client, by the server's keys; `None` where it asks nothing and wants to be called again.
    pub requests: Option<Vec<(String, Input)>>,
    /// What it wants to have back, as it came.
    pub state: Option<Value>,
}

/// A request of a server in a result.
#[derive(Debug, PartialEq)]
pub struct Input {
    /// Its method.
    pub method: String,
    /// Its parameters, null when absent.
    pub params: Value,
}

impl ResultKind {
    /// What the result of a method is. An absent type is `complete`, and before 2026-07-28 there is no type.
    pub fn of(method: Method, revision: Revision, result: &Value) -> Self {
        let named = result.get("resultType");
        let Some(named) = named.filter(|_| revision.is_stateless()) else {
            return Self::Complete;
        };
        match named.as_str() {
            Some("complete") => Self::Complete,
            Some(INPUT_REQUIRED) if !method.may_ask_for_input() => Self::Unusable(format!(
                "`resultType` is `{INPUT_REQUIRED}`, which no answer to `{}` may be",
                method.name()
            )),
            Some(INPUT_REQUIRED) => match InputRequired::of(result) {
                Ok(asked) => Self::InputRequired(asked),
                Err(reason) => Self::Unusable(reason),
            },
            Some("task") if method == Method::ToolsCall => Self::Task,
            Some(other) => Self::Unusable(format!(
                "`resultType` is `{}`, which {revision} does not have",
                text::head(other, 60)
            )),
            None => Self::Unusable(format!("`resultType` is {}, not a text", kind_of(named))),
        }
    }
}

impl InputRequired {
    fn of(result: &Value) -> Result<Self, String> {
        let state = result.get("requestState").cloned();
        let requests = match result.get("inputRequests") {
            None => None,
            Some(Value::Object(requests)) => Some(inputs(requests)?),
            Some(other) => {
                return Err(format!(
                    "`inputRequests` is {}, not an object",
                    kind_of(other)
                ));
            }
        };
        if requests.is_none() && state.is_none() {
            return Err(
                "it asks for input and has neither `inputRequests` nor `requestState`".into(),
            );
        }
        Ok(Self { requests, state })
    }
}

/// The questions of a server, by its keys.
pub fn inputs<'a>(
    requests: impl IntoIterator<Item = (&'a String, &'a Value)>,
) -> Result<Vec<(String, Input)>, String> {
    let read = requests.into_iter().map(|(key, request)| {
        let method = request.get("method").and_then(Value::as_str);
        match method {
            Some(method) if INPUTS.contains(&method) => {
                let params = request.get("params").cloned().unwrap_or_default();
                let method = method.to_owned();
                Ok((key.clone(), Input { method, params }))
            }
            Some(_) | None => Err(format!(
                "the input request `{}` is none of {}",
                text::head(key, 60),
                INPUTS.join(", ")
            )),
        }
    });
    read.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Input, InputRequired, Method, ResultKind, Revision};

    fn kind(method: Method, revision: Revision, result: &Value) -> ResultKind {
        ResultKind::of(method, revision, result)
    }

    #[test]
    fn a_result_says_what_it_is() {
        let case = |method, revision, result: Value, wanted: Option<&str>| {
            let seen = match kind(method, revision, &result) {
                ResultKind::Complete => None,
                ResultKind::InputRequired(_) => Some("input".to_owned()),
                ResultKind::Task => Some("task".to_owned()),
                ResultKind::Unusable(reason) => Some(reason),
            };
            assert_eq!(seen.as_deref(), wanted, "{result}");
        };
        let (old, new) = (Revision::V2025_11_25, Revision::V2026_07_28);
        let call = Method::ToolsCall;
        case(call, new, json!({}), None);
        case(call, new, json!({"resultType": "complete"}), None);
        case(call, new, json!(null), None);
        let task = json!({"resultType": "task"});
        case(call, old, task.clone(), None);
        case(call, new, task.clone(), Some("task"));
        let unknown = "`resultType` is `task`, which 2026-07-28 does not have";
        case(Method::PromptsGet, new, task, Some(unknown));
        let odd = Some("`resultType` is null, not a text");
        case(call, new, json!({"resultType": null}), odd);
        let asks = json!({"resultType": "input_required", "requestState": "s"});
        for method in [call, Method::PromptsGet, Method::ResourcesRead] {
            case(method, new, asks.clone(), Some("input"));
        }
        let forbidden = "`resultType` is `input_required`, which no answer to `tools/list` may be";
        case(Method::ToolsList, new, asks, Some(forbidden));
        let nothing = "it asks for input and has neither `inputRequests` nor `requestState`";
        case(
            call,
            new,
            json!({"resultType": "input_required"}),
            Some(nothing),
        );
        let asks =
            |requests: Value| json!({"resultType": "input_required", "inputRequests": requests});
        case(
            call,
            new,
            asks(json!([])),
            Some("`inputRequests` is an array, not an object"),
        );
        let ping = "the input request `a` is none of sampling/createMessage, elicitation/create, roots/list";
        case(
            call,
            new,
            asks(json!({"a": {"method": "ping"}})),
            Some(ping),
        );
    }

    #[test]
    fn what_is_asked_keeps_its_order_and_the_state_its_bytes() {
        let result = json!({
            "resultType": "input_required",
            "inputRequests": {"b": {"method": "roots/list"}, "a": {"method": "elicitation/create", "params": {"x": 1}}},
            "requestState": "é\n{\"a\": 1.0}",
        });
        let input = |method: &str, params| Input {
            method: method.into(),
            params,
        };
        let wanted = InputRequired {
            requests: Some(vec![
                ("b".into(), input("roots/list", Value::Null)),
                ("a".into(), input("elicitation/create", json!({"x": 1}))),
            ]),
            state: Some("é\n{\"a\": 1.0}".into()),
        };
        let seen = kind(Method::ToolsCall, Revision::V2026_07_28, &result);
        assert_eq!(seen, ResultKind::InputRequired(wanted));
    }
}
