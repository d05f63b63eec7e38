use serde_json::json;
use serde_json_path::JsonPath;

use crate::{
    check::sample::{fails, hold, refuses, report, says},
    suite::model::expectation::{Expectation, PathRule, ValueRule},
};

fn not(key: &'static str, inner: Expectation) -> Expectation {
    Expectation::Not(vec![(key, inner)])
}

fn contains(text: &str) -> Expectation {
    Expectation::Contains(vec![text.to_owned()])
}

fn admin() -> Expectation {
    Expectation::JsonPath(vec![PathRule {
        written: "$.admin".to_owned(),
        path: JsonPath::parse("$.admin").unwrap(),
        rule: ValueRule::Equals(json!(true)),
    }])
}

#[test]
fn what_does_not_hold_is_as_wanted() {
    hold(&[
        (not("contains", contains("x")), says("y")),
        (not("json_path", admin()), says(r#"{"admin": false}"#)),
        (not("is_error", Expectation::IsError(true)), says("y")),
    ]);
}

#[test]
fn what_holds_or_cannot_be_told_is_explained() {
    let both = Expectation::Not(vec![
        ("contains", contains("a")),
        ("equals", Expectation::Equals("a".into())),
    ]);
    insta::assert_snapshot!(report(&[
        (not("contains", contains("x")), says("xyz")),
        (both, says("a")),
        (not("contains", contains("x")), refuses(&json!({"code": -32603, "message": "x"}))),
        (not("is_error", Expectation::IsError(true)), refuses(&json!({"code": -32603, "message": "x"}))),
        (not("json_path", admin()), fails("no such user")),
        (not("min_progress", Expectation::Snapshot(Box::new(json!(true)))), says("x")),
    ]), @r#"
    not: expected not `contains` (the text to contain `x`), it holds
    not: expected not `contains` (the text to contain `a`), it holds
    not: expected not `equals` (the text to be `a`), it holds
    not: expected not `contains` (the text to contain `x`), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    not: expected not `is_error` (a tool error (a result with `isError: true`)), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    not: expected not `json_path` (the text to be JSON with `$.admin`: `true`), the text is no JSON (expected ident at line 1 column 2)
    unknowable: snapshots cannot be compared in this version
    "#);
}
