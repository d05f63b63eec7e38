use serde_json::json;
use serde_json_path::JsonPath;

use crate::{
    check::sample::{self, fails, hold, refuses, report, says},
    suite::model::{
        expectation::{ContentRule, Expectation, PathRule, ResultCount, ValueRule},
        pattern::Pattern,
    },
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
fn what_the_text_has_as_json_escapes_it_holds() {
    let said = || sample::json(json!({"tools": [{"description": "say \"a\"\nthen b"}]}));
    let pattern = |pattern: &str| Expectation::MatchesRegex(vec![Pattern::plain(pattern)]);
    let texts = |items: &[&str]| items.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(report(&[
        (not("contains", Expectation::Contains(texts(&["tools", "\"a\"\n"]))), said()),
        (not("contains_any", Expectation::ContainsAny(texts(&["x", "\"a\"\n"]))), said()),
        (not("in_order", Expectation::InOrder(texts(&["\"a\"", "b"]))), said()),
        (not("matches_regex", pattern("(?m)^then")), said()),
    ]), @r#"
    not: $.tools[0].description: expected not `contains` (the text to contain `tools` and `"a"\n`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    not: $.tools[0].description: expected not `contains_any` (the text to contain `x` or `"a"\n`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    not: $.tools[0].description: expected not `in_order` (the text to contain, one after another, `"a"` and `b`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    not: $.tools[0].description: expected not `matches_regex` (the text to match `(?m)^then`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    "#);
    hold(&[
        (
            not("contains", Expectation::Contains(texts(&["x", "\"a\"\n"]))),
            said(),
        ),
        (
            not("in_order", Expectation::InOrder(texts(&["b", "\"a\""]))),
            said(),
        ),
        (not("matches_regex", pattern("^tools$")), said()),
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

#[test]
fn what_cannot_speak_of_the_answer_is_no_proof() {
    let rule = |path: &str| PathRule {
        written: path.to_owned(),
        path: JsonPath::parse(path).unwrap(),
        rule: ValueRule::Equals(json!(1)),
    };
    let null = || {
        let text = json!([{"type": "text", "text": "x"}]);
        sample::tool(json!({"content": text, "structuredContent": null}))
    };
    let blocks = || {
        let members = json!({"type": "text"});
        let min_bytes = None;
        Expectation::Content(vec![ContentRule { members, min_bytes }])
    };
    let inner = || not("json_path", Expectation::JsonPath(vec![rule("$.a")]));
    let most = Expectation::MaxResults(Box::new(ResultCount {
        bound: 3,
        path: None,
    }));
    insta::assert_snapshot!(report(&[
        (not("structured", Expectation::Structured(vec![rule("$.a")])), null()),
        (not("content", blocks()), sample::json(json!({"tools": []}))),
        (not("not", inner()), says("no json")),
        (not("not", not("not", inner())), says("no json")),
        (not("not", not("contains", contains("x"))), refuses(&json!({"code": -32603, "message": "x"}))),
        (not("max_results", most.clone()), null()),
        (most, null()),
    ]), @r#"
    not: expected not `structured` (structured content with `$.a`: `1`), the answer has no structured content
    not: expected not `content` (1 content block: `{"type":"text"}`), an answer of this kind has no content blocks
      hint: `json_path` looks into it
    not: expected not `not` (not `json_path` (the text to be JSON with `$.a`: `1`)), the text is no JSON (expected ident at line 1 column 2)
    not: expected not `not` (not `not` (not `json_path` (the text to be JSON with `$.a`: `1`))), the text is no JSON (expected ident at line 1 column 2)
    not: expected not `not` (not `contains` (the text to contain `x`)), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    not: expected not `max_results` (at most 3 results), the text is no JSON (expected value at line 1 column 1)
    max_results: expected at most 3 results, the text is no JSON (expected value at line 1 column 1)
    "#);
    hold(&[
        (
            not("content", blocks()),
            sample::tool(json!({"content": []})),
        ),
        (not("not", inner()), says(r#"{"a": 1}"#)),
    ]);
}
