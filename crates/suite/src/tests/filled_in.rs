//! `{{…}}`: what is known to be wrong beside one, and where one has a value.

use std::collections::BTreeMap;

use serde_json::json;

use super::{Entry, Sample};
use crate::model::{
    container::ImageBase,
    expectation::{Expectation, JsonWanted, Wanted},
    server::Target,
};
use mcp::script::{
    client::{ElicitationReplies, SamplingReply},
    template::Bindings,
};
use text::diagnostic::Severity;

/// The code of every problem, with an exclamation mark for errors.
fn told(sample: &Sample) -> Vec<String> {
    let problems = sample.load().suite.problems.into_iter();
    let codes = problems.map(|problem| {
        let is_error = problem.severity == Severity::Error;
        format!("{}{}", problem.code, if is_error { "!" } else { "" })
    });
    codes.collect()
}

/// A document whose `expect` is this, with a captured `x`.
fn expecting(expect: &str) -> String {
    format!(
        "server: {{command: s}}\nsetup: [{{tool: a, capture: {{x: $}}}}]\nassert: {{tool: t, expect: {{{expect}}}}}\n"
    )
}

fn bound(wanted: &Wanted) -> Result<Expectation, String> {
    let bindings = Bindings {
        captured: BTreeMap::from([("x".into(), json!("abc"))]),
        ..Bindings::default()
    };
    wanted
        .bind(&bindings)
        .map(std::borrow::Cow::into_owned)
        .map_err(|reason| reason.to_string())
}

#[test]
fn a_path_of_a_capture_is_filled_in_wherever_one_of_an_expectation_is() {
    let case = |path: &str, wanted: &[&str]| {
        let text = format!(
            "server: {{command: s}}\nsetup:\n- {{tool: a, capture: {{x: $}}}}\n- {{tool: a, capture: {{y: '{path}'}}}}\nassert: {{tool: t}}\n"
        );
        assert_eq!(told(&Sample::one(&text)), wanted, "{path}");
    };
    case("$.items[{{x}}]", &[]);
    case("items[{{x}}].id", &[]);
    case("structured:$[{{x}}]", &[]);
    case("$.items[?@.i=={{x}}].id", &[]);
    case("$.items.{{x}}", &[]);
    case("$[\"{{x}}\"]", &[]);
    case("{{x}}", &[]);
    case("$.items[{{x}}", &["bad-path!"]);
    case("$.items[{{x}}abc]", &["bad-path!"]);
    case("$.items[{{x}}].length()", &["bad-path!"]);
    case("$.items[{{nope}}]", &["unknown-variable!"]);
}

#[test]
fn what_is_wrong_whatever_is_filled_in_is_told_at_load() {
    let case = |expect: &str, wanted: &[&str]| {
        assert_eq!(told(&Sample::one(&expecting(expect))), wanted, "{expect}");
    };
    case("min_results: {path: '$.{{x}}'}", &["missing-key!"]);
    case(
        "server_requests: [{params: {a: '{{x}}'}}]",
        &["missing-key!"],
    );
    case("exit: {code: '{{x!}}'}", &[]);
    case(
        "json_path: {$.a: {gte: 5, equals: '{{x}}'}}",
        &["no-matcher"],
    );
    case("json_path: {$.a: {ge: '{{x!}}'}}", &[]);
    case("json_schema: {type: '{{x}}'}", &[]);
    case("json_schema: '{{x}}'", &["bad-schema!"]);
    case("json_schema: {const: '{{x}}'}", &[]);
    case("not: {json_schema: {type: '{{x}}'}}", &[]);
    case("file_exists: '{{x}}*'", &["no-pattern"]);
    case("json_path: [a,\n  '{{x}}']", &["wrong-type!"]);
    case("json_path: {$.a: {length: {gt: '{{x!}}'}}}", &[]);
    case("json_schema: {type: &x '{{x}}', not: {type: *x}}", &[]);
    case("equals: &y '{{x!}}', json_path: {$.a: {ge: *y}}", &[]);
}

#[test]
fn what_a_rule_with_a_name_lacks_is_told_at_its_place() {
    let text = "trace: [{tool: a}]\ntrajectory:\n- {type: outcome, tool: '{{env.T}}'}\n";
    let shown = Sample::one(text).with_variable("T", "a").shown();
    assert!(shown.contains("a.yaml:3:3"), "{shown}");
    assert!(shown.contains("`outcome` is missing"), "{shown}");
}

#[test]
fn schemas_with_markers_refer_to_files_beside() {
    let expect = "json_schema: {properties: {a: {const: '{{x}}'}, b: {$ref: deep/b.json}}}";
    let sample = Sample::new(&[
        ("a.yaml", &expecting(expect)),
        ("deep/b.json", "{\"$ref\": \"c.json\"}"),
        ("deep/c.json", "{\"type\": \"string\"}"),
    ]);
    let assertions = sample.assertions();
    let body = &assertions[0].body;
    let found = bound(&body.wanted[0]);
    let Ok(Expectation::Json(JsonWanted::JsonSchema(rule))) = found else {
        panic!("{found:?}");
    };
    let validator = rule.schema.validator();
    assert!(validator.is_valid(&json!({"a": "abc", "b": "s"})));
    assert!(!validator.is_valid(&json!({"a": "abc", "b": 1})));
    assert!(!validator.is_valid(&json!({"a": "x", "b": "s"})));
}

#[test]
fn what_does_nothing_says_so() {
    let text = expecting("contains: a, output_schema: false");
    assert_eq!(told(&Sample::one(&text)), ["empty-value"]);
}

#[test]
fn variables_of_the_environment_are_filled_in_anywhere() {
    let text = "server: {docker: {build: {context: '{{env.TV}}', args: {a: '{{env.TV}}'}}}, command: s}\nclient: {client_capabilities: {sampling: {text: t, model: '{{env.TV}}', stop_reason: '{{env.TV}}'}, elicitation: {by_message: {'^{{env.TV}}$': {action: decline}}}}}\nassert: {tool: x}\n";
    let assertions = Sample::one(text).with_variable("TV", "tvval").assertions();
    let Some(ElicitationReplies::ByMessage(replies)) = &assertions[0].client.elicitation else {
        panic!("by message");
    };
    assert!(replies[0].0.is_match("tvval"));
    let Some([SamplingReply::Message { model, .. }]) = assertions[0].client.sampling.as_deref()
    else {
        panic!("a message");
    };
    assert_eq!(model.text, "{{env.TV}}");
    let Target::Container { container, .. } = &assertions[0].server.target else {
        panic!("a container");
    };
    let Some(ImageBase::Built(build)) = &container.image else {
        panic!("a build");
    };
    assert_eq!(build.args, [("a".to_owned(), "tvval".to_owned())]);
    assert!(build.context.ends_with("tvval"));
}

#[test]
fn names_without_a_value_are_told_anywhere() {
    let client = |text: &str| {
        format!(
            "server: {{command: s}}\nclient: {{client_capabilities: {{{text}}}}}\nassert: {{tool: x}}\n"
        )
    };
    let server = |text: &str| format!("server: {{{text}}}\nassert: {{tool: x}}\n");
    for text in [
        "server: {command: s}\nassert_sampling: {tool: t, mock_model: '{{nope}}'}\n".to_owned(),
        client("sampling: {model: '{{nope}}'}"),
        client("sampling: {stop_reason: '{{nope}}'}"),
        client("sampling: {reject: {message: '{{nope}}'}}"),
        client("elicitation: {by_message: {'{{nope}}': {action: decline}}}"),
        server("transport: http, url: 'http://a', launch: {command: s, ready: {log: '{{nope}}'}}"),
        server(
            "transport: http, url: 'http://a', auth: {client_credentials: {token_url: 'http://a', id: a, secret: b, scope: '{{nope}}'}}",
        ),
        server("command: s, docker: {build: '{{nope}}'}"),
        server("command: s, docker: {image: a, mounts: ['/{{nope}}:/b']}"),
        server("command: s, docker: {image: a, mounts: [{source: '/{{nope}}', target: /b}]}"),
    ] {
        let loaded = Sample::one(&text).load();
        let invalid = |entry: &Entry| matches!(entry, Entry::Invalid { .. });
        assert!(loaded.suite.entries.iter().all(invalid), "{text}");
        assert_eq!(told(&Sample::one(&text)), ["unknown-variable!"], "{text}");
    }
}

#[test]
fn durations_and_reasons_come_from_variables_too() {
    let text = "server: {command: s}\ntimeout: '{{env.T}}'\nassert: {tool: x}\n";
    let sample = Sample::one(text).with_variable("T", "200ms");
    let timeout = sample.assertions()[0]
        .control
        .as_ref()
        .and_then(|it| it.timeout);
    assert_eq!(timeout, Some(std::time::Duration::from_millis(200)));
    let wrong = Sample::one(text).with_variable("T", "soon").shown();
    assert!(wrong.contains("invalid duration `soon`"), "{wrong}");
    let unset = Sample::one(text).shown();
    assert!(unset.contains("`T` is not set"), "{unset}");
    assert!(!unset.contains("invalid duration"), "{unset}");
    let skipped = format!("skip_unless_env: T\n{text}");
    assert_eq!(Sample::one(&skipped).shown(), "");
    let reason = "server: {command: s}\nskip: see {{env.T}}\nassert: {tool: x}\n";
    let sample = Sample::one(reason).with_variable("T", "here");
    let skip = sample.assertions()[0]
        .control
        .as_ref()
        .and_then(|it| it.skip.clone());
    assert_eq!(skip.as_deref(), Some("see here"));
}

#[test]
fn names_in_a_trace_that_nothing_defines_are_told() {
    let text =
        "trace: [{tool: a, args: {x: '{{nope}}'}}]\ntrajectory: [{type: presence, tools: a}]\n";
    assert_eq!(told(&Sample::one(text)), ["unknown-variable"]);
}

#[test]
fn what_nothing_can_be_seen_of_is_a_problem() {
    for text in [
        "server: {command: s}\nassert_logging: {expect: {min_messages: 1}}\n",
        "trajectory: [{type: absence, tools: a}]\n",
    ] {
        assert_eq!(told(&Sample::one(text)), ["missing-key!"], "{text}");
        assert_eq!(told(&Sample::one(text).compat()), [""; 0], "{text}");
    }
}
