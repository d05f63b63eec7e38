use serde_json::{Value, json};

use crate::sample::{fails, hold, report, says};
use mcp::observation::{Observation, ServerRequestSeen};
use suite::model::expectation::{Expectation, ServerRequestWanted, TrafficWanted};

const SAMPLE: &str = "sampling/createMessage";

fn wanted(method: &str, count: Option<u64>, params: Option<Value>) -> Expectation {
    Expectation::Traffic(TrafficWanted::ServerRequests(vec![ServerRequestWanted {
        method: method.to_owned(),
        count,
        params,
    }]))
}

fn asked(requests: &[(&str, Value)]) -> Observation {
    Observation {
        server_requests: requests
            .iter()
            .map(|(method, params)| ServerRequestSeen {
                method: (*method).to_owned(),
                params: params.clone(),
            })
            .collect(),
        ..says("done")
    }
}

fn two() -> Observation {
    asked(&[
        (SAMPLE, json!({"maxTokens": 5})),
        (SAMPLE, json!({"maxTokens": 6})),
    ])
}

#[test]
fn requests_as_wanted_hold() {
    hold(&[
        (wanted(SAMPLE, None, None), two()),
        (wanted(SAMPLE, Some(2), None), two()),
        (wanted(SAMPLE, None, Some(json!({"maxTokens": 6.0}))), two()),
        (wanted("roots/list", Some(0), None), two()),
        (
            wanted(SAMPLE, Some(1), Some(json!({"maxTokens": 5}))),
            two(),
        ),
        (
            wanted(SAMPLE, Some(0), Some(json!({"maxTokens": 9}))),
            two(),
        ),
        (
            Expectation::Traffic(TrafficWanted::ServerRequests(Vec::new())),
            says("x"),
        ),
    ]);
}

#[test]
fn a_tool_that_failed_explains_what_it_did_not_ask() {
    let failed = |seen: Observation| Observation {
        server_requests: seen.server_requests,
        ..fails("no camera")
    };
    insta::assert_snapshot!(report(&[
        (wanted(SAMPLE, None, None), failed(says("x"))),
        (wanted(SAMPLE, Some(3), None), failed(two())),
        (wanted(SAMPLE, Some(1), None), failed(two())),
        (wanted(SAMPLE, None, Some(json!({"maxTokens": 9}))), failed(two())),
        (wanted("sampling/createmessage", None, None), failed(two())),
    ]), @r#"
    server_requests: expected a request of the server for `sampling/createMessage`, it made none
      hint: the tool answered with an error: `no camera`
    server_requests: expected 3 requests of the server for `sampling/createMessage`, it made 2
      hint: the tool answered with an error: `no camera`
    server_requests: expected one request of the server for `sampling/createMessage`, it made 2
    server_requests: params.maxTokens: expected a request of the server for `sampling/createMessage` with `{"maxTokens":9}`, found the number `5`
    server_requests: expected a request of the server for `sampling/createmessage`, it made none
      hint: the tool answered with an error: `no camera`
    "#);
}

#[test]
fn other_requests_are_explained() {
    let mut earlier = two();
    earlier.answer.as_mut().unwrap().server_requests = 2..2;
    insta::assert_snapshot!(report(&[
        (wanted(SAMPLE, None, None), says("x")),
        (wanted(SAMPLE, None, None), earlier),
        (wanted("sampling/createmessage", None, None), two()),
        (wanted(SAMPLE, Some(1), None), two()),
        (wanted(SAMPLE, Some(0), None), two()),
        (wanted(SAMPLE, Some(2), Some(json!({"maxTokens": 5}))), two()),
        (wanted(SAMPLE, None, Some(json!({"max_tokens": 5}))), two()),
        (wanted(SAMPLE, Some(1), Some(json!({"maxTokens": 9}))), two()),
        (wanted(SAMPLE, Some(0), Some(json!({"maxTokens": 5}))), two()),
        (wanted(SAMPLE, Some(1), Some(json!({}))), two()),
        (Expectation::Traffic(TrafficWanted::ServerRequests(Vec::new())), two()),
    ]), @r#"
    server_requests: expected a request of the server for `sampling/createMessage`, it made none
    server_requests: expected a request of the server for `sampling/createMessage`, it made none from the call on; it had made 2 before
    server_requests: expected a request of the server for `sampling/createmessage`, it made none
    server_requests: expected one request of the server for `sampling/createMessage`, it made 2
    server_requests: expected no request of the server for `sampling/createMessage`, it made 2
    server_requests: expected 2 requests of the server for `sampling/createMessage` with `{"maxTokens":5}`, it made 1, and 1 with other parameters
    server_requests: params.max_tokens: expected a request of the server for `sampling/createMessage` with `{"max_tokens":5}`, nothing is there
    server_requests: params.maxTokens: expected one request of the server for `sampling/createMessage` with `{"maxTokens":9}`, found the number `5`
    server_requests: expected no request of the server for `sampling/createMessage` with `{"maxTokens":5}`, it made 1, and 1 with other parameters
    server_requests: expected one request of the server for `sampling/createMessage` with `{}`, it made 2
    server_requests: expected no request of the server, it made 2
    "#);
}
