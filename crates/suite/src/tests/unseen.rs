//! Keys that want something where nothing looks at it are problems: what they want would hold whatever happens.

use super::{Entry, Sample};
use text::diagnostic::Severity;

/// The code and the text at the place of every problem, for errors with an exclamation mark.
fn told(sample: &Sample) -> Vec<String> {
    let problems = sample.load().suite.problems.into_iter();
    let lines = problems.map(|problem| {
        let origin = problem.origin.unwrap();
        let text = &origin.file.text[origin.span.start..origin.span.end];
        let mark = if problem.severity == Severity::Error {
            "!"
        } else {
            ""
        };
        format!("{}{mark} {text}", problem.code)
    });
    lines.collect()
}

#[test]
fn rules_of_a_trajectory_take_their_own_keys_only() {
    let case = |rule: &str, wanted: &[&str]| {
        let text = format!("trace: [{{tool: a}}]\ntrajectory: [{{{rule}}}]\n");
        let natively: Vec<String> = wanted
            .iter()
            .map(|key| format!("unknown-key! {key}"))
            .collect();
        assert_eq!(told(&Sample::one(&text)), natively, "{rule}");
        let compat: Vec<String> = wanted
            .iter()
            .map(|key| format!("unknown-key {key}"))
            .collect();
        assert_eq!(told(&Sample::one(&text).compat()), compat, "{rule}");
    };
    case("type: presence, tools: [a], min: 3", &["min"]);
    case("type: presence, tools: [a], outcome: error", &["outcome"]);
    case("type: order, tools: [a, b], args: {id: 7}", &["args"]);
    case("type: absence, tools: [x], tool: rm", &["tool"]);
    case("type: count, tool: a, args: {x: 3}, min: 2", &["args"]);
    case(
        "type: args_contain, tool: a, args: {x: 1}, max: 1",
        &["max"],
    );
    case(
        "type: adjacent, tools: [a, b], within_ms: 1",
        &["within_ms"],
    );
    case(
        "type: never_after, tool: a, after: b, from: c, count: 1",
        &["from", "count"],
    );
    case("type: outcome, tool: a, outcome: ok, to: '{{{{a'", &["to"]);
    case(
        "type: within_ms, within_ms: 3, from: a, to: b, tools: [c]",
        &["tools"],
    );
    case("type: count, tool: a, min: 1, max: 2", &[]);
}

#[test]
fn a_setup_that_is_not_run_is_told() {
    let trajectory =
        "setup: [{tool: a}]\ntrace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n";
    assert_eq!(told(&Sample::one(trajectory)), ["no-effect! setup"]);
    assert_eq!(told(&Sample::one(trajectory).compat()), ["no-effect setup"]);
    let bare = "server: {command: s}\nsetup: [{tool: a}]\nraw: {handshake: false, send: [a], expect: {not_empty: true}}\n";
    assert_eq!(told(&Sample::one(bare)), ["no-effect! setup"]);
    let shaken = bare.replace("handshake: false, ", "");
    assert_eq!(told(&Sample::one(&shaken)), [""; 0]);
    let settings = "defaults: {server: {command: s}, setup: [{tool: a}]}\n";
    let plain = "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n";
    let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", plain)]);
    assert_eq!(told(&sample), [""; 0]);
}

#[test]
fn a_path_that_reads_like_a_pattern_is_told() {
    let case = |expect: &str, wanted: &[&str]| {
        let text = format!("server: {{command: s}}\nassert: {{tool: t, expect: {{{expect}}}}}\n");
        assert_eq!(told(&Sample::one(&text).with_fixture()), wanted, "{expect}");
    };
    case("file_not_exists: ['*.tmp', a.tmp]", &["no-pattern '*.tmp'"]);
    case("file_exists: a?.txt", &["no-pattern a?.txt"]);
    case("file_not_exists: '[ab].txt'", &["no-pattern '[ab].txt'"]);
    case("file_unchanged: '*.txt'", &["no-pattern '*.txt'"]);
    case("file_exists: 'app/[id]/page.tsx'", &[]);
    case("file_not_exists: 'a[1'", &[]);
    case("file_contains: {'*.md': x}", &["no-pattern '*.md'"]);
    case("file_not_contains: {'*.md': x}", &["no-pattern '*.md'"]);
    case("file_equals: {'*.md': x}", &["no-pattern '*.md'"]);
    case(
        "file_not_exists: '{{fixture}}/*.tmp'",
        &["no-pattern '{{fixture}}/*.tmp'"],
    );
    case(
        "not: {file_exists: '{{fixture}}/*.tmp'}",
        &["no-pattern '{{fixture}}/*.tmp'"],
    );
    case("only_changed: ['*.tmp', '{{fixture}}/a?']", &[]);
}

#[test]
fn a_path_that_is_probably_meant_inside_of_the_fixture_is_told() {
    let document = |expect: &str, server: &str| {
        format!("server: {{{server}}}\nassert: {{tool: t, expect: {{{expect}}}}}\n")
    };
    let case = |expect: &str, wanted: &[&str]| {
        let text = document(expect, "command: s");
        assert_eq!(told(&Sample::one(&text).with_fixture()), wanted, "{expect}");
    };
    let outside = "outside-fixture /a.tmp";
    case("file_not_exists: [/a.tmp]", &[outside]);
    case("file_not_exists: '{{fixture}}/a.tmp'", &[]);
    case("file_exists: /etc/hostname", &[]);
    case("only_changed: [a, /a.tmp]", &[outside]);
    case("only_changed: [../a.tmp]", &["outside-fixture ../a.tmp"]);
    case("only_changed: '{{fixture}}/a.tmp'", &[]);
    case("only_changed: [/a.tmp, '{{fixture}}/a']", &[outside]);
    let absent = document("file_not_exists: [/a.tmp]", "command: s");
    assert_eq!(told(&Sample::one(&absent)), [""; 0], "none may be given");
    assert_eq!(told(&Sample::one(&absent).without_fixture()), [""; 0]);
    let inside = document("file_not_exists: [/a.tmp]", "docker: image, command: s");
    assert_eq!(told(&Sample::one(&inside).with_fixture()), [""; 0]);
}

#[test]
fn a_trajectory_starts_no_server() {
    let trace = "trace: [{tool: a}]\ntrajectory: [{type: presence, tools: [a]}]\n";
    let text = format!("server: {{command: s}}\nclient: {{protocol: auto}}\n{trace}");
    let wanted = ["no-effect server", "no-effect client"];
    assert_eq!(told(&Sample::one(&text)), wanted);
    let settings = "defaults: {server: {command: s}, client: {protocol: auto}}\n";
    let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", trace)]);
    assert_eq!(told(&sample), [""; 0]);
}

#[test]
fn keys_of_a_document_without_a_value_are_told() {
    let case = |key: &str, wanted: &[&str]| {
        let settings = "defaults: {server: {command: s}}\n";
        let text = format!("{key}\nassert_tools: {{}}\n");
        let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", &text)]);
        assert_eq!(told(&sample), wanted, "{key}");
    };
    case("skip_unless_env: ''", &["empty-value skip_unless_env"]);
    case("skip_unless_env: []", &["empty-value skip_unless_env"]);
    case("skip_unless_env:", &["empty-value skip_unless_env"]);
    case("skip_unless_env: HOME", &[]);
    case("server:", &["empty-value server"]);
    case("client:", &["empty-value client"]);
    case("server: {env: {X: }}", &[]);
}

#[test]
fn steps_of_the_setup_are_not_parallel() {
    let case = |flag: &str, wanted: &[&str]| {
        let text = format!(
            "server: {{command: s}}\nsetup: [{{tool: a, parallel: {flag}}}]\nassert: {{tool: x}}\n"
        );
        assert_eq!(told(&Sample::one(&text)), wanted, "{flag}");
    };
    case("true", &["no-effect parallel"]);
    case("false", &[]);
}

#[test]
fn a_wait_has_no_answer_to_look_at() {
    for part in ["setup", "steps"] {
        let subject = if part == "setup" {
            "assert: {tool: x}\n"
        } else {
            ""
        };
        let text = format!(
            "server: {{command: s}}\n{part}: [{{tool: a}}, {{wait: 1ms, expect: {{}}, capture: {{x: $.a}}, allow_error: true}}]\n{subject}"
        );
        let wanted = [
            "no-effect! expect",
            "no-effect! capture",
            "no-effect! allow_error",
        ];
        assert_eq!(told(&Sample::one(&text)), wanted, "{part}");
    }
}

#[test]
fn what_is_not_supported_yet_is_told_at_load() {
    let case = |text: &str, wanted: &str| {
        let shown = Sample::one(&format!("server: {{command: s}}\n{text}\n")).shown();
        assert_eq!(shown.matches("error[").count(), 1, "{text}: {shown}");
        let wanted = format!("error[unknown-key]: {wanted} is not supported yet");
        assert!(shown.contains(&wanted), "{text}: {shown}");
    };
    case("assert: {tool: x, expect: {snapshot: true}}", "`snapshot`");
    case(
        "assert: {tool: x, expect: {not: {snapshot: a}}}",
        "`snapshot`",
    );
}

#[test]
fn what_no_request_can_be_made_of_is_told() {
    let case = |server: &str, wanted: &str| {
        let text = format!("server: {{transport: http, {server}}}\nassert: {{tool: x}}\n");
        let sample = Sample::one(&text).with_variable("HOST", "h");
        let shown = sample.shown();
        assert_eq!(shown.contains("error["), !wanted.is_empty(), "{shown}");
        assert!(shown.contains(wanted), "{server}: {shown}");
        let compat = Sample::one(&text).with_variable("HOST", "h").compat();
        let loaded = compat.load().suite;
        assert!(
            matches!(loaded.entries[..], [Entry::Assertion(_)]),
            "{server}"
        );
        assert_eq!(loaded.problems.is_empty(), wanted.is_empty(), "{server}");
    };
    case("url: 'htp:/x'", "write it like `http://localhost:8080/mcp`");
    case(
        "url: 'localhost:80/mcp'",
        "write it like `http://localhost:8080/mcp`",
    );
    case("url: $URL", "error[bad-url]");
    case("url: '$'", "error[bad-url]");
    case("url: 'ws://x'", "error[bad-url]");
    case("url: ''", "error[bad-url]");
    case("url: 'localhost:{{env.HOST}}'", "does not begin with");
    case("url: 'http://x:99999'", "its port");
    case("url: 'http://x', headers: {'bad name': x}", "a.yaml:1:");
    case(
        "url: 'http://x', headers: {'bad name': x}",
        "error[bad-header]",
    );
    for right in [
        "HTTP://x",
        "{{env.HOST}}/mcp",
        "http://{{env.HOST}}:{{env.HOST}}",
    ] {
        case(&format!("url: '{right}', headers: {{X-Team: a}}"), "");
    }
    let auth = |url: &str| {
        format!(
            "url: 'http://x', auth: {{client_credentials: {{id: a, secret: b, token_url: {url}}}}}"
        )
    };
    case(&auth("x/token"), "error[bad-url]");
    case(&auth("$HOST/token"), "");
}

#[test]
fn a_request_has_headers_that_can_be_sent() {
    let text =
        "server: {transport: http, url: 'http://h', headers: {'a:': b}}\nassert: {tool: x}\n";
    let shown = Sample::one(text).shown();
    assert!(
        shown.contains("error[bad-header]: invalid header name `a:`"),
        "{shown}"
    );
}
