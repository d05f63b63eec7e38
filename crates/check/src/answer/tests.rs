use std::fmt::Write as _;

use serde_json::json;

use crate::{
    check,
    outcome::verdict::Verdict,
    sample::{fails, frames, hold, refuses, says, told},
};
use mcp::{observation::Observation, protocol::message::RpcError, script::pattern::Pattern};
use suite::model::expectation::{AnswerWanted, ErrorWanted, Expectation, TextRule};

fn report(cases: &[(Expectation, Observation)]) -> String {
    cases.iter().fold(String::new(), |mut out, (wanted, seen)| {
        writeln!(out, "{}", told(&check(wanted, seen))).unwrap();
        out
    })
}

fn error(code: Option<i64>, message: Option<&str>, data: Option<serde_json::Value>) -> Expectation {
    Expectation::Answer(AnswerWanted::Error(Box::new(ErrorWanted {
        code,
        message: message.map(|text| TextRule::Literal(text.to_owned())),
        data,
    })))
}

#[test]
fn answers_of_the_wanted_kind_hold() {
    let case = |wanted: Expectation, seen: Observation| {
        assert_eq!(check(&wanted, &seen), Verdict::Held, "{wanted:?}");
    };
    let refusal =
        json!({"code": -32602, "message": "Invalid params: x", "data": {"a": 1.0, "b": 2}});
    case(Expectation::Answer(AnswerWanted::NotError(true)), says("x"));
    case(Expectation::Answer(AnswerWanted::IsError(false)), says("x"));
    case(Expectation::Answer(AnswerWanted::IsError(true)), fails("x"));
    case(
        Expectation::Answer(AnswerWanted::NotError(false)),
        fails("x"),
    );
    for wanted in [
        AnswerWanted::Refused(true),
        AnswerWanted::NotError(false),
        AnswerWanted::IsError(true),
    ] {
        case(Expectation::Answer(wanted), fails("x"));
    }
    case(
        Expectation::Answer(AnswerWanted::Refused(true)),
        refuses(&refusal),
    );
    case(Expectation::Answer(AnswerWanted::Refused(false)), says("x"));
    case(error(None, None, None), refuses(&refusal));
    case(
        error(Some(-32602), Some("params"), Some(json!({"a": 1}))),
        refuses(&refusal),
    );
    case(
        Expectation::Answer(AnswerWanted::Error(Box::new(ErrorWanted {
            message: Some(TextRule::Pattern(Pattern::plain("^Invalid .*x$"))),
            ..ErrorWanted::default()
        }))),
        refuses(&refusal),
    );
}

#[test]
fn the_other_kind_is_explained() {
    let refusal = || refuses(&json!({"code": -32602, "message": "Unknown tool: ech"}));
    insta::assert_snapshot!(report(&[
        (Expectation::Answer(AnswerWanted::NotError(true)), fails("ENOENT: no such file")),
        (Expectation::Answer(AnswerWanted::NotError(true)), fails("")),
        (Expectation::Answer(AnswerWanted::NotError(true)), refusal()),
        (Expectation::Answer(AnswerWanted::NotError(false)), says("fine")),
        (Expectation::Answer(AnswerWanted::IsError(true)), says("fine")),
        (Expectation::Answer(AnswerWanted::IsError(true)), refusal()),
        (Expectation::Answer(AnswerWanted::IsError(false)), fails("broken")),
        (Expectation::Answer(AnswerWanted::IsError(false)), refuses(&json!({"message": "odd"}))),
        (Expectation::Answer(AnswerWanted::Refused(true)), says("fine")),
        (Expectation::Answer(AnswerWanted::Refused(false)), fails("broken")),
        (Expectation::Answer(AnswerWanted::Refused(false)), refusal()),
    ]), @r#"
not_error: expected a result that is not a tool error, the tool answered with the error `ENOENT: no such file`
not_error: expected a result that is not a tool error, the tool answered with an error without any text
not_error: expected a result that is not a tool error, the answer is the JSON-RPC error -32602, `Unknown tool: ech`
  hint: if this error is what should happen, expect it with `error: {code: -32602}`
not_error: expected a tool error (a result with `isError: true`), the call succeeded
is_error: expected a tool error (a result with `isError: true`), the call succeeded
is_error: expected a tool error (a result with `isError: true`), the answer is the JSON-RPC error -32602, `Unknown tool: ech`
  hint: if this error is what should happen, expect it with `error: {code: -32602}`
is_error: expected a result that is not a tool error, the tool answered with the error `broken`
is_error: expected a result that is not a tool error, the answer is the JSON-RPC error without an integer code, `odd`
  hint: if an error is what should happen, expect it with `error`
refused: expected a refusal: a tool error (`isError: true`) or a JSON-RPC error, the call succeeded
refused: expected a result that is not a tool error, the tool answered with the error `broken`
refused: expected a result that is not a tool error, the answer is the JSON-RPC error -32602, `Unknown tool: ech`
  hint: if this error is what should happen, expect it with `error: {code: -32602}`
"#);
}

#[test]
fn another_error_is_explained() {
    let refusal =
        || refuses(&json!({"code": -32603, "message": "Boom", "data": {"where": {"line": "3"}}}));
    insta::assert_snapshot!(report(&[
        (error(Some(-32602), None, None), refusal()),
        (error(None, Some("boom"), None), refusal()),
        (error(None, Some("bang"), None), refusal()),
        (error(None, None, Some(json!({"where": {"line": 3}}))), refusal()),
        (error(None, None, Some(json!({"a": 1}))), refuses(&json!({"code": 1, "message": "m"}))),
        (error(Some(-32602), None, None), fails("no such thing")),
        (error(Some(-32602), Some("x"), None), says("fine")),
    ]), @r#"
    error: error.code: expected a JSON-RPC error with the code -32602, the error is -32603, `Boom`
    error: error.message: expected a JSON-RPC error with a message that contains `boom`, the message is `Boom`
    error: error.message: expected a JSON-RPC error with a message that contains `bang`, the message is `Boom`
    error: error.data.where.line: expected a JSON-RPC error with the data `{"where":{"line":3}}`, found the object `{"where":{"line":"3"}}`
      hint: they differ at `where.line`: expected `3`, found the string `"3"`
    error: error.data: expected a JSON-RPC error with the data `{"a":1}`, the error has no data
    error: expected a JSON-RPC error with the code -32602, the tool answered with the error `no such thing`
      hint: a result with `isError: true` is not a JSON-RPC error: use `is_error` and `contains`
    error: expected a JSON-RPC error with the code -32602 and with a message that contains `x`, the call succeeded
    "#);
}

#[test]
fn without_an_answer_nothing_can_be_told() {
    let verdict = check(
        &Expectation::Answer(AnswerWanted::NotError(true)),
        &Observation::default(),
    );
    assert!(matches!(verdict, Verdict::Unknowable(_)));
    let verdict = check(&error(None, None, None), &Observation::default());
    assert!(matches!(verdict, Verdict::Unknowable(_)));
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn what_is_wanted_of_frames_is_wanted_of_every_answer() {
    use mcp::observation::answer::FrameAnswer::{ProtocolError, Success, ToolError, Unclear};
    let refused = || {
        ProtocolError(RpcError::from_value(
            &json!({"code": -32601, "message": "what?"}),
        ))
    };
    let code = |code| error(Some(code), None, None);
    let no = |expectation| Expectation::Not(vec![("inner", expectation)]);
    hold(&[
        (
            Expectation::Answer(AnswerWanted::NotError(true)),
            frames(vec![Success, Success], &[]),
        ),
        (
            Expectation::Answer(AnswerWanted::NotError(true)),
            frames(vec![], &[]),
        ),
        (
            Expectation::Answer(AnswerWanted::IsError(true)),
            frames(vec![ToolError], &[]),
        ),
        (
            Expectation::Answer(AnswerWanted::Refused(true)),
            frames(vec![ToolError, refused()], &[]),
        ),
        (code(-32601), frames(vec![refused(), refused()], &[])),
        (no(code(-32600)), frames(vec![refused()], &[])),
        (
            no(Expectation::Answer(AnswerWanted::IsError(true))),
            frames(vec![Success], &[]),
        ),
    ]);
    insta::assert_snapshot!(report(&[
        (Expectation::Answer(AnswerWanted::NotError(true)), frames(vec![Success, refused()], &[])),
        (Expectation::Answer(AnswerWanted::IsError(false)), frames(vec![ToolError], &[])),
        (Expectation::Answer(AnswerWanted::NotError(true)), frames(vec![Success], &[7])),
        (Expectation::Answer(AnswerWanted::IsError(true)), frames(vec![], &[])),
        (code(-32601), frames(vec![refused(), Success], &[])),
        (code(-32600), frames(vec![refused()], &[])),
        (code(-32601), frames(vec![], &[7, 8])),
        (no(code(-32600)), frames(vec![], &[7])),
        (no(Expectation::Answer(AnswerWanted::IsError(true))), frames(vec![refused()], &[])),
        (Expectation::Answer(AnswerWanted::NotError(true)), frames(vec![Success, Unclear("it is odd")], &[])),
        (Expectation::Answer(AnswerWanted::IsError(true)), frames(vec![Unclear("it is odd")], &[])),
        (code(-32601), frames(vec![Unclear("it is odd")], &[])),
        (no(code(-32601)), frames(vec![Unclear("it is odd")], &[])),
    ]), @r"
    not_error: expected a result that is not a tool error, the answer is the JSON-RPC error -32601, `what?`
      hint: if this error is what should happen, expect it with `error: {code: -32601}`
    is_error: expected a result that is not a tool error, the answer to id 1 is a tool error
    not_error: expected a result that is not a tool error, the request with the id 7 was not answered
      hint: `within` says how long an answer is waited for
    is_error: expected a tool error (a result with `isError: true`), no answer came
    error: expected a JSON-RPC error with the code -32601, the answer to id 2 is a result and not an error
    error: error.code: expected a JSON-RPC error with the code -32600, the error is -32601, `what?`
    error: expected a JSON-RPC error with the code -32601, 2 requests were not answered
      hint: `within` says how long an answer is waited for
    not: expected not `inner` (a JSON-RPC error with the code -32600), the request with the id 7 was not answered
      hint: `within` says how long an answer is waited for
    not: expected not `inner` (a tool error (a result with `isError: true`)), the answer is the JSON-RPC error -32601, `what?`
      hint: if this error is what should happen, expect it with `error: {code: -32601}`
    not_error: expected a result that is not a tool error, it is odd
    is_error: expected a tool error (a result with `isError: true`), it is odd
    error: expected a JSON-RPC error with the code -32601, it is odd
    not: expected not `inner` (a JSON-RPC error with the code -32601), it is odd
    ");
    let mixed = frames(vec![refused(), Success], &[7]);
    insta::assert_snapshot!(report(&[(Expectation::Answer(AnswerWanted::Refused(true)), mixed)]), @r"
    refused: expected a refusal: a tool error (`isError: true`) or a JSON-RPC error, the request with the id 7 was not answered
      hint: `within` says how long an answer is waited for
    refused: expected a refusal: a tool error (`isError: true`) or a JSON-RPC error, the answer to id 2 is a result and not an error
    ");
}
