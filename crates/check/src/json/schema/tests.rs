use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::{
    check, findings_of_answer,
    outcome::verdict::Verdict,
    sample::{fails, hold, listed, refuses, report, says, tool},
};
use mcp::observation::{Observation, Proof, catalog::Catalog, finding::FindingCode};
use suite::model::expectation::{Expectation, JsonWanted, SchemaRule};

fn schema(schema: &Value) -> Expectation {
    Expectation::Json(JsonWanted::JsonSchema(Box::new(SchemaRule {
        written: "inline".to_owned(),
        schema: mcp::json::json_schema::compile(schema).unwrap(),
    })))
}

fn person() -> Expectation {
    schema(&json!({
        "type": "object",
        "properties": {"id": {"type": "integer", "minimum": 1}, "tags": {"items": {"type": "string"}}},
        "required": ["id"]
    }))
}

fn structured(value: &Value) -> Observation {
    tool(json!({"content": [{"type": "text", "text": "done"}], "structuredContent": value}))
}

/// The observation with a catalog whose tool `echo` declares this.
fn declaring(mut seen: Observation, tool: Value) -> Observation {
    seen.catalog = Some(Arc::new(Catalog {
        tools: Some(vec![tool]),
        ..Catalog::default()
    }));
    seen
}

fn echo(output: &Value) -> Value {
    json!({"name": "echo", "inputSchema": {"type": "object"}, "outputSchema": output})
}

#[test]
fn documents_that_satisfy_their_schema_hold() {
    hold(&[
        (person(), says(r#"{"id": 5, "tags": ["a"]}"#)),
        (person(), says(r#"{"id": 123456789012345678901234567890}"#)),
        (person(), structured(&json!({"id": 1}))),
    ]);
}

#[test]
fn documents_that_do_not_are_explained() {
    insta::assert_snapshot!(report(&[
        (person(), says(r#"{"id": "5", "tags": ["a", 7]}"#)),
        (person(), says("{}")),
        (person(), says("hello")),
        (person(), says("")),
        (person(), structured(&json!({"id": 0}))),
        (person(), refuses(&json!({"code": -32603, "message": "x"}))),
        (person(), says(r#"{"id": 1e999999999}"#)),
    ]), @r#"
    json_schema: $.id: expected JSON that satisfies the schema (inline), "5" is not of type "integer"
    json_schema: $.tags[1]: expected JSON that satisfies the schema (inline), 7 is not of type "string"
    json_schema: $: expected JSON that satisfies the schema (inline), "id" is a required property
    json_schema: expected JSON that satisfies the schema (inline), the text is not JSON (expected value at line 1 column 1)
    json_schema: expected JSON that satisfies the schema (inline), the text is empty
    json_schema: $.id: expected JSON that satisfies the schema (inline), 0 is less than the minimum of 1
    json_schema: expected JSON that satisfies the schema (inline), the answer is the JSON-RPC error -32603, `x`
      hint: if this error is what should happen, expect it with `error: {code: -32603}`
    unknowable: the answer holds a number of more than 4096 digits, written out, which no schema can be checked against
    "#);
}

fn not(schema: Expectation) -> Expectation {
    Expectation::Not(vec![("json_schema", schema)])
}

#[test]
fn either_document_may_satisfy_a_schema_whatever_the_number_of_items() {
    let whole = || schema(&json!({"required": ["result"]}));
    let other = || schema(&json!({"required": ["results"]}));
    for items in 0..4 {
        hold(&[(whole(), listed(items))]);
        let missed =
            |wanted: &Expectation| matches!(check(wanted, &listed(items)), Verdict::Missed(_));
        assert!(missed(&not(whole())) && missed(&other()), "{items}");
        // Of several values in the text nobody looks at each.
        assert_eq!(missed(&not(other())), items > 1, "{items}");
        assert_eq!(missed(&not(person())), items > 0, "{items}");
    }
    hold(&[(person(), listed(1))]);
    let compat = Observation {
        proof: Proof::AsWritten,
        ..listed(1)
    };
    insta::assert_snapshot!(report(&[
        (other(), listed(1)),
        (other(), listed(2)),
        (not(whole()), listed(2)),
        (not(person()), listed(2)),
        (whole(), compat),
    ]), @r#"
    json_schema: $: expected JSON that satisfies the schema (inline), "results" is a required property
    json_schema: $: expected JSON that satisfies the schema (inline), "results" is a required property
      hint: the text holds 2 JSON values, and this is the first; `structured` looks at the whole of `structuredContent`
    not: expected not `json_schema` (JSON that satisfies the schema (inline)), the text holds 2 JSON values, and only the first is looked at
      hint: `structured` looks at the whole of `structuredContent`
    not: expected not `json_schema` (JSON that satisfies the schema (inline)), the text holds 2 JSON values, and only the first is looked at
      hint: `structured` looks at the whole of `structuredContent`
    json_schema: $: expected JSON that satisfies the schema (inline), "result" is a required property
    "#);
}

#[test]
fn the_declared_schema_is_checked() {
    let number =
        json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
    let wanted = || Expectation::Json(JsonWanted::OutputSchema(true));
    hold(&[
        (
            wanted(),
            declaring(structured(&json!({"n": 1.5})), echo(&number)),
        ),
        (
            Expectation::Json(JsonWanted::OutputSchema(false)),
            says("x"),
        ),
    ]);
    let other = json!({"name": "echoes"});
    let remote = json!({"$ref": "https://example.com/schema.json"});
    let dangling = json!({"$ref": "#/$defs/none"});
    let unnamed = json!({"$ref": "#none"});
    insta::assert_snapshot!(report(&[
        (wanted(), declaring(structured(&json!({"n": "x"})), echo(&number))),
        (wanted(), declaring(says(r#"{"n": 1}"#), echo(&number))),
        (wanted(), declaring(fails("broken"), echo(&number))),
        (wanted(), declaring(structured(&json!({})), other)),
        (wanted(), declaring(structured(&json!({})), json!({"name": "echo"}))),
        (wanted(), declaring(structured(&json!({})), echo(&json!({"type": 5})))),
        (wanted(), declaring(structured(&json!({})), echo(&remote))),
        (wanted(), declaring(structured(&json!({})), echo(&dangling))),
        (wanted(), declaring(structured(&json!({})), echo(&unnamed))),
        (wanted(), structured(&json!({"n": 1}))),
    ]), @r#"
    output_schema: structuredContent.n: expected structured content that satisfies the tool's `outputSchema`, "x" is not of type "number"
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the answer has no structured content
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the answer has no structured content
      hint: the tool answered with an error: `broken`
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the server does not list the tool `echo`
      hint: the server lists `echoes`
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the tool `echo` declares none
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the declared schema is not valid: 5 is not valid under any of the schemas listed in the 'anyOf' keyword
    unknowable: the declared schema refers to a document that is not fetched: Resource 'https://example.com/schema.json'
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the declared schema is not valid: nothing stands at `#/$defs/none`, which it refers to
    output_schema: expected structured content that satisfies the tool's `outputSchema`, the declared schema is not valid: it refers to `#none`, and no part of it has that name
    unknowable: the server's tools could not be listed
    "#);
}

#[test]
fn answers_are_held_against_the_declaration() {
    let number = json!({"type": "object", "properties": {"n": {"type": "number"}}});
    let case = |seen: Observation, wanted: &[FindingCode]| {
        let seen = declaring(seen, echo(&number));
        let found = findings_of_answer(&seen.answer.unwrap(), &seen.catalog.unwrap());
        let codes: Vec<FindingCode> = found.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, wanted);
    };
    case(structured(&json!({"n": 1})), &[]);
    case(
        structured(&json!({"n": "1"})),
        &[FindingCode::OutputSchemaMismatch],
    );
    case(says("1"), &[FindingCode::StructuredContentMissing]);
    case(fails("x"), &[]);
    case(structured(&json!({"n": 1, "x": 1e3})), &[]);
}

#[test]
fn numbers_of_absurd_size_cost_nothing() {
    for text in [
        "1e999999999",
        "-1E-999999999",
        "1e99999999999999999999999999",
        &"7".repeat(1_000_000),
    ] {
        let seen = says(&format!(r#"{{"id": [{{"deep": {text}}}]}}"#));
        assert!(matches!(check(&person(), &seen), Verdict::Unknowable(_)));
    }
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"$dynamicRef": "#x", "$dynamicAnchor": "x"}),
        json!({"not": {"$ref": "#"}}),
        json!({"if": {"$ref": "#"}, "then": false}),
        json!({"$recursiveRef": "#", "$schema": "https://json-schema.org/draft/2019-09/schema"}),
        json!({"dependentSchemas": {"n": {"$ref": "#"}}}),
    ] {
        let seen = declaring(structured(&json!({"n": 1})), echo(&schema));
        check(&Expectation::Json(JsonWanted::OutputSchema(true)), &seen);
    }
}

#[test]
fn a_schema_that_refers_too_deep_cannot_end_the_run() {
    let linked = |length: usize, link: fn(&Value) -> Value| {
        let next = |n: usize| json!({"$ref": format!("#/$defs/d{}", n + 1)});
        let mut all: Map<String, Value> = (0..length)
            .map(|n| (format!("d{n}"), link(&next(n))))
            .collect();
        all.insert(format!("d{length}"), json!({"type": "integer"}));
        json!({"properties": {"n": {"$ref": "#/$defs/d0"}}, "$defs": all})
    };
    let chain = linked(50_000, Value::clone);
    let seen = declaring(structured(&json!({"n": "x"})), echo(&chain));
    let verdict = check(&Expectation::Json(JsonWanted::OutputSchema(true)), &seen);
    assert!(matches!(verdict, Verdict::Unknowable(_)), "{verdict:?}");
    let found = findings_of_answer(&seen.answer.unwrap(), &seen.catalog.unwrap());
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn without_a_declared_schema_nothing_is_proved_of_it() {
    let not = || {
        Expectation::Not(vec![(
            "output_schema",
            Expectation::Json(JsonWanted::OutputSchema(true)),
        )])
    };
    let undeclared = json!({"name": "echo", "inputSchema": {"type": "object"}});
    hold(&[(
        not(),
        declaring(structured(&json!(1)), echo(&json!({"type": "object"}))),
    )]);
    insta::assert_snapshot!(report(&[
        (not(), declaring(structured(&json!({})), undeclared)),
        (not(), declaring(structured(&json!({})), echo(&json!({"type": 5})))),
        (not(), declaring(structured(&json!({})), json!({"name": "other"}))),
    ]), @"
    not: expected not `output_schema` (structured content that satisfies the tool's `outputSchema`), the tool `echo` declares none
    not: expected not `output_schema` (structured content that satisfies the tool's `outputSchema`), the declared schema is not valid: 5 is not valid under any of the schemas listed in the 'anyOf' keyword
    not: expected not `output_schema` (structured content that satisfies the tool's `outputSchema`), the server does not list the tool `echo`
    ");
}
