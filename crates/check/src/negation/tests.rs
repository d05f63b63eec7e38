use serde_json::json;
use serde_json_path::JsonPath;

use crate::sample::{self, fails, hold, refuses, report, says};
use suite::model::{
    counted::CountedPath,
    expectation::{
        AnswerWanted, ContentRule, ContentWanted, Expectation, JsonWanted, Matcher, PathRule,
        Precision, ResultCount, TextWanted, ValueRule,
    },
};

fn not(key: &'static str, inner: Expectation) -> Expectation {
    Expectation::Not(vec![(key, inner)])
}

fn contains(text: &str) -> Expectation {
    Expectation::Text(TextWanted::Contains(vec![text.to_owned()]))
}

fn admin() -> Expectation {
    Expectation::Json(JsonWanted::JsonPath(vec![PathRule::at(
        "$.admin",
        ValueRule::Equals(json!(true)),
    )]))
}

#[test]
fn what_does_not_hold_is_as_wanted() {
    hold(&[
        (not("contains", contains("x")), says("y")),
        (not("json_path", admin()), says(r#"{"admin": false}"#)),
        (
            not("is_error", Expectation::Answer(AnswerWanted::IsError(true))),
            says("y"),
        ),
    ]);
}

#[test]
fn what_the_text_has_as_json_escapes_it_holds() {
    let said = || sample::json(json!({"tools": [{"description": "say \"a\"\nthen b"}]}));
    let texts = |items: &[&str]| items.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(report(&[
        (not("contains", Expectation::Text(TextWanted::Contains(texts(&["tools", "\"a\"\n"])))), said()),
        (not("contains_any", Expectation::Text(TextWanted::ContainsAny(texts(&["x", "\"a\"\n"])))), said()),
    ]), @r#"
    not: $.tools[0].description: expected not `contains` (the text to contain `tools` and `"a"\n`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    not: $.tools[0].description: expected not `contains_any` (the text to contain `x` or `"a"\n`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    "#);
    hold(&[(
        not(
            "contains",
            Expectation::Text(TextWanted::Contains(texts(&["x", "\"a\"\n"]))),
        ),
        said(),
    )]);
}

#[test]
fn what_the_server_escapes_in_its_json_holds() {
    let said = || says(r#"{"owner":"M\u00fcller","note":"said \"no\"","state":"Done"}"#);
    insta::assert_snapshot!(report(&[
        (not("contains", contains("said \"no\"")), said()),
        (not("contains", contains("Müller")), said()),
    ]), @r#"
    not: content[0].text.note: expected not `contains` (the text to contain `said "no"`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    not: content[0].text.owner: expected not `contains` (the text to contain `Müller`), it holds here
      hint: the text has it as JSON escapes it; `not` looks at both
    "#);
    hold(&[(not("contains", contains("Möller")), said())]);
}

#[test]
fn what_holds_or_cannot_be_told_is_explained() {
    let both = Expectation::Not(vec![
        ("contains", contains("a")),
        ("equals", Expectation::Text(TextWanted::Equals("a".into()))),
    ]);
    insta::assert_snapshot!(report(&[
        (not("contains", contains("x")), says("xyz")),
        (both, says("a")),
        (not("contains", contains("x")), refuses(&json!({"code": -32603, "message": "x"}))),
        (not("is_error", Expectation::Answer(AnswerWanted::IsError(true))), refuses(&json!({"code": -32603, "message": "x"}))),
        (not("json_path", admin()), fails("no such user")),
        (not("output_schema", Expectation::Json(JsonWanted::OutputSchema(true))), sample::tool(json!({"structuredContent": {}}))),
    ]), @r#"
    not: expected not `contains` (the text to contain `x`), it holds
    not: expected not `contains` (the text to contain `a`), it holds
    not: expected not `equals` (the text to be `a`), it holds
    not: expected not `contains` (the text to contain `x`), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    not: expected not `is_error` (a tool error (a result with `isError: true`)), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    not: expected not `json_path` (the text to be JSON with `$.admin`: `true`), the text is not JSON (expected ident at line 1 column 2)
    unknowable: the server's tools could not be listed
    "#);
}

#[test]
fn what_cannot_speak_of_the_answer_is_no_proof() {
    let rule = |path: &str| PathRule::at(path, ValueRule::Equals(json!(1)));
    let null = || {
        let text = json!([{"type": "text", "text": "x"}]);
        sample::tool(json!({"content": text, "structuredContent": null}))
    };
    let blocks = || {
        let members = json!({"type": "text"});
        let min_bytes = None;
        Expectation::Content(ContentWanted::Blocks(vec![ContentRule {
            members,
            min_bytes,
        }]))
    };
    let inner = || {
        not(
            "json_path",
            Expectation::Json(JsonWanted::JsonPath(vec![rule("$.a")])),
        )
    };
    let most = Expectation::Json(JsonWanted::MaxResults(Box::new(ResultCount {
        bound: 3,
        path: None,
    })));
    insta::assert_snapshot!(report(&[
        (not("structured", Expectation::Json(JsonWanted::Structured(vec![rule("$.a")]))), null()),
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
    not: expected not `not` (not `json_path` (the text to be JSON with `$.a`: `1`)), the text is not JSON (expected ident at line 1 column 2)
    not: expected not `not` (not `not` (not `json_path` (the text to be JSON with `$.a`: `1`))), the text is not JSON (expected ident at line 1 column 2)
    not: expected not `not` (not `contains` (the text to contain `x`)), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    not: expected not `max_results` (at most 3 results), the text is not JSON (expected value at line 1 column 1)
    max_results: expected at most 3 results, the text is not JSON (expected value at line 1 column 1)
    "#);
    hold(&[
        (
            not("content", blocks()),
            sample::tool(json!({"content": []})),
        ),
        (not("not", inner()), says(r#"{"a": 1}"#)),
    ]);
}

fn rules(path: &str, rule: ValueRule) -> Vec<PathRule> {
    vec![PathRule::at(path, rule)]
}

fn at(path: &str, rule: ValueRule) -> Expectation {
    not(
        "json_path",
        Expectation::Json(JsonWanted::JsonPath(rules(path, rule))),
    )
}

#[test]
fn what_is_not_there_is_no_proof() {
    let failed = || ValueRule::Equals(json!("failed"));
    let least = |path: Option<&str>| {
        let compile = |path: &str| JsonPath::parse(path).ok();
        let path = path.map(|path| CountedPath::new(path, compile(path).unwrap(), compile));
        Expectation::Json(JsonWanted::MinResults(Box::new(ResultCount {
            bound: 1,
            path,
        })))
    };
    let structured = Expectation::Json(JsonWanted::Structured(rules("$.state", failed())));
    let delta = Expectation::Json(JsonWanted::NetDelta {
        wanted: 0.into(),
        precision: Precision::Exact,
    });
    insta::assert_snapshot!(report(&[
        (not("min_results", least(None)), says(r#"{"error": "down"}"#)),
        (not("min_results", least(Some("$.itmes"))), says(r#"{"items": []}"#)),
        (not("net_delta", delta), says(r#"{"error": "x"}"#)),
        (at("$.state", failed()), says(r#"{"status": "failed"}"#)),
        (at("$.l[*].state", failed()), says(r#"{"l": []}"#)),
        (not("structured", structured), sample::tool(json!({"structuredContent": {"status": 1}}))),
    ]), @r#"
    not: expected not `min_results` (at least 1 result), the JSON object has no array under `locations`, `items`, `results`, `references`, `symbols`, `resources`, `prompts`, `tools`, `data` or `resourceTemplates`
    not: expected not `min_results` (at least 1 result at `$.itmes`), nothing is at `$.itmes`
      hint: there is `$.items`
    not: expected not `net_delta` (the member `net_delta` to be `0`), the JSON object does not have it
    not: $.state: expected not `json_path` (the text to be JSON with `$.state`: `"failed"`), nothing is there
      hint: there is `$.status`
    not: $.l[*].state: expected not `json_path` (the text to be JSON with `$.l[*].state`: `"failed"`), nothing is there
    not: $.state: expected not `structured` (structured content with `$.state`: `"failed"`), nothing is there
      hint: there is `$.status`
    "#);
}

#[test]
fn what_is_not_there_is_proof_where_that_is_spoken_of() {
    let there = || ValueRule::Matchers(vec![Matcher::Exists(true)]);
    let both = [
        rules("$.a", ValueRule::Equals(json!(1))),
        rules("$.b", ValueRule::Equals(json!(1))),
    ];
    let both = not(
        "json_path",
        Expectation::Json(JsonWanted::JsonPath(both.concat())),
    );
    hold(&[
        (at("$.error", there()), says("{}")),
        (at("$.l[?@.bad]", there()), says(r#"{"l": []}"#)),
        (both, says(r#"{"a": 2}"#)),
    ]);
}
