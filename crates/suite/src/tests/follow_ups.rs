//! One mistake is told once: what only follows from it is not.

use super::Sample;
use crate::model::Entry;
use text::diagnostic::Severity;

const UNDEFINED: &str =
    "bad-alias: the alias `*undefined` has no anchor before it in this document";

/// The codes and messages of what is wrong with a document.
fn told(text: &str) -> Vec<String> {
    let loaded = Sample::one(text).load();
    let problems = loaded.suite.problems.iter();
    problems
        .map(|problem| format!("{}: {}", problem.code, problem.message))
        .collect()
}

/// Asserts which codes are told of a document with a server.
fn tells_codes(document: &str, wanted: &[&str]) {
    let text = format!("server: {{command: s}}\n{document}\n");
    let codes = told(&text);
    let codes: Vec<&str> = codes
        .iter()
        .map(|it| it.split(':').next().unwrap())
        .collect();
    assert_eq!(codes, wanted, "{text}");
}

#[test]
fn one_mistake_is_told_once() {
    let case = |text: &str, wanted: &str| assert_eq!(told(text), [wanted], "{text}");
    let server = "server: {command: s}";
    let asks = |expect: &str| format!("{server}\nassert: {{tool: x, expect: {expect}}}\n");
    case(
        &asks("{not: {contain: x}}"),
        "unknown-key: unknown key `contain`",
    );
    case(
        &asks("{stderr: {contain: x}}"),
        "unknown-key: unknown key `contain`",
    );
    case(
        &asks("{progress: {mim: 1}}"),
        "unknown-key: unknown key `mim`",
    );
    case(
        &asks("{notifications: {max: 1}}"),
        "unknown-key: unknown key `max`",
    );
    case(&asks("{exit: {cod: 1}}"), "unknown-key: unknown key `cod`");
    case(&asks("*undefined"), UNDEFINED);
    case(&asks("{contains: [*undefined]}"), UNDEFINED);
    for text in [
        "assert: *undefined",
        "assert: {tool: *undefined}",
        "assert_resources: {read: *undefined}",
    ] {
        case(&format!("{server}\n{text}\n"), UNDEFINED);
    }
    case("server: *undefined\nassert: {tool: x}\n", UNDEFINED);
    for (server, key) in [
        ("bultin: conformance", "bultin"),
        ("comand: s", "comand"),
        ("dokcer: {image: s}", "dokcer"),
        ("transport: http, ulr: 'http://localhost/'", "ulr"),
    ] {
        let text = format!("server: {{{server}}}\nassert: {{tool: x}}\n");
        case(&text, &format!("unknown-key: unknown key `{key}`"));
    }
}

#[test]
fn a_number_beyond_its_end_is_told_the_end() {
    let case = |number: &str, wanted: &str| {
        let text = format!("server: {{command: s}}\nretries: {number}\nassert: {{tool: x}}\n");
        let problem = format!("bad-number: expected {wanted}, found `{number}`");
        assert_eq!(told(&text), [problem]);
    };
    let whole = "a whole number from 0 to 18446744073709551615";
    case("99999999999999999999", whole);
    case("-1", whole);
    case("1.5", whole);
}

#[test]
fn what_a_lost_merge_lacks_is_not_missing() {
    let case = |text: &str, wanted: &[&str]| assert_eq!(told(text), wanted, "{text}");
    for text in [
        "server:\n  <<: *undefined\nassert: {tool: x}\n",
        "server:\n  <<: [*undefined, {cwd: .}]\nassert: {tool: x}\n",
        "server: {command: s}\nassert:\n  <<: *undefined\n",
        "server: {command: s}\nassert_resources:\n  <<: *undefined\n",
        "server: {command: s}\nassert:\n  tool: x\n  expect:\n    not:\n      <<: *undefined\n",
        "server: {command: s}\nsetup:\n- tool: x\n  capture:\n    <<: *undefined\nassert: {tool: x}\n",
        "server: {command: s}\n<<: *undefined\n",
    ] {
        case(text, &[UNDEFINED]);
    }
    let no_map = "bad-alias: the merge key `<<` takes a map or a list of maps";
    case("server:\n  <<: 5\nassert: {tool: x}\n", &[no_map]);
    case(
        "server: {command: s}\nassert: {tool: x, '<<': 1}\n",
        &["unknown-key: unknown key `<<`"],
    );
    case(
        "server:\n  <<: *undefined\n  comand: s\nassert: {}\n",
        &[
            UNDEFINED,
            "unknown-key: unknown key `comand`",
            "missing-key: `tool` is missing",
        ],
    );
}

#[test]
fn a_refused_key_is_not_missing() {
    let case = |text: &str, wanted: &str| assert_eq!(told(text), [wanted], "{text}");
    let server = "server: {command: s}";
    case(
        &format!("{server}\nassert: {{tol: x}}\n"),
        "unknown-key: unknown key `tol`",
    );
    case(
        "server: {comand: x}\nassert: {tool: x}\n",
        "unknown-key: unknown key `comand`",
    );
    case(
        &format!("{server}\nassert_resources: {{list: false}}\n"),
        "wrong-type: expected `true` or a map, found `false`",
    );
    case(
        &format!("{server}\nassert_prompts: {{list: [a]}}\n"),
        "wrong-type: expected `true` or a map, found a list",
    );
    case(
        "server: {command: s, docker: {image: i, cpus: .nan}}\nassert: {tool: x}\n",
        "no-json-number: `.nan` is a number that JSON does not have",
    );
}

#[test]
fn two_mistakes_are_told_both() {
    tells_codes("assert: {args: 5}", &["missing-key", "wrong-type"]);
    tells_codes("assert: {zzzzzzz: 5}", &["missing-key", "unknown-key"]);
    tells_codes(
        "setup: [{tool: [a]}, {}]\nassert: {tool: x}",
        &["wrong-type", "missing-key"],
    );
    tells_codes(
        "assert_resources: {within: [1]}",
        &["missing-key", "wrong-type"],
    );
}

#[test]
fn an_entry_that_cannot_be_read_hides_nothing_of_the_others() {
    let asks = |expect: &str| format!("assert: {{tool: x, expect: {{{expect}}}}}");
    tells_codes(
        &asks("matches_regex: ['(', [a]]"),
        &["bad-regex", "wrong-type"],
    );
    tells_codes(
        &asks("content: [5, {min_bytes: x}]"),
        &["wrong-type", "wrong-type"],
    );
    tells_codes(
        &asks("server_requests: [{count: 1}, 5]"),
        &["missing-key", "wrong-type"],
    );
    tells_codes(
        &asks("file_contains: {a: {}, b: [x, [y]]}"),
        &["wrong-type", "wrong-type"],
    );
    tells_codes(
        &asks("findings: [stdout-nois, [a]]"),
        &["unknown-word", "wrong-type"],
    );
    tells_codes(
        &asks("min_results: {path: '$['}"),
        &["missing-key", "bad-path"],
    );
    tells_codes(
        "assert: {args: {a: '{{nope}}'}}",
        &["missing-key", "unknown-variable"],
    );
    tells_codes(
        "setup: [5, {tool: do, capture: {a: '$[', b: [c]}}]\nassert: {tool: x}",
        &["wrong-type", "bad-path", "wrong-type"],
    );
    tells_codes(
        "steps: [ping, {wait: 5, expect: {matches_regex: '('}}]",
        &["wrong-type", "bad-duration", "no-effect", "bad-regex"],
    );
    tells_codes(
        "steps: [ping, {tool: x, expect: {matches_regex: '('}}]",
        &["wrong-type", "bad-regex"],
    );
    tells_codes(
        "trace: [{outcome: so}]\ntrajectory: [5, {type: args_contain}]",
        &[
            "no-effect",
            "missing-key",
            "unknown-word",
            "wrong-type",
            "missing-key",
            "missing-key",
        ],
    );
}

#[test]
fn a_name_with_blanks_is_told_wherever_its_value_may_be_meant() {
    let case = |expect: &str| {
        let document = format!(
            "setup: [{{tool: a, capture: {{token: $.id}}}}]\nassert: {{tool: x, args: {{a: '{{{{token}}}}'}}, expect: {expect}}}"
        );
        tells_codes(&document, &["no-variable"]);
    };
    case("{not_contains: ['{{ token }}']}");
    case("{not: {contains: '{{ token }}'}}");
    case("{contains: x, stderr: {not_contains: ['{{ token }}']}}");
    case("{not_contains: ['{{ token }}', '{{token}}x']}");
    case("{json_path: {$.a: '{{ token }}'}}");
}

#[test]
fn a_list_that_a_name_stands_in_stays_a_list() {
    let case = |expect: &str, wanted: &[&str]| {
        let document = format!(
            "setup: [{{tool: a, capture: {{id: $.id}}}}]\nassert: {{tool: x, expect: {expect}}}"
        );
        tells_codes(&document, wanted);
    };
    case("{not_contains: [['{{id}}']]}", &["wrong-type"]);
    case("{contains: {a: ['{{id}}']}}", &["wrong-type"]);
    case("{contains: ['{{id}}']}", &[]);
    case("{min_results: '{{id}}'}", &[]);
    case("{json_path: {$.a: ['{{id}}', {b: '{{id}}'}]}}", &[]);
}

#[test]
fn two_programs_of_one_server_are_told_whatever_the_transport() {
    for transport in ["stdio", "http, url: 'http://x'"] {
        let text = format!(
            "server: {{command: x, builtin: conformance, transport: {transport}}}\nassert: {{tool: x}}\n"
        );
        let told = told(&text);
        let wanted = |line: &String| line.starts_with("conflicting-keys: ");
        assert!(told.iter().any(wanted), "{text}: {told:?}");
    }
}

#[test]
fn what_settings_that_cannot_be_read_may_say_is_not_missing() {
    let loaded = Sample::new(&[
        ("a.yaml", "assert: {tool: x}\n---\nassert: {tool: y}\n"),
        ("mcp-assert.yaml", "defaults: {\n"),
    ])
    .load();
    let problems = loaded.suite.problems.iter();
    let codes: Vec<&str> = problems.map(|problem| problem.code).collect();
    assert_eq!(codes, ["yaml-syntax"]);
    let reasons = loaded.suite.entries.iter().filter_map(|entry| match entry {
        Entry::Invalid { reasons, .. } => Some(reasons.join("; ")),
        Entry::Assertion(_) => None,
    });
    insta::assert_snapshot!(reasons.collect::<Vec<_>>().join("\n"), @"
    mcp-assert.yaml:1: invalid YAML: unclosed bracket '{'
    a.yaml:1: no server is given
    a.yaml:3: no server is given
    ");
}

#[test]
fn a_tag_without_a_meaning_is_left_out_by_the_rules_of_the_go_tool() {
    let text = "server: {command: s}\nassert: {tool: x, args: {a: !note hello, b: !!set {c, d}}}\n";
    let loaded = Sample::one(text).load();
    assert_eq!(loaded.suite.problems[0].severity, Severity::Error);
    let compat = Sample::one(text).compat();
    let loaded = compat.load();
    let problems = loaded.suite.problems.iter();
    let all: Vec<Severity> = problems.map(|problem| problem.severity).collect();
    assert_eq!(all, [Severity::Warning; 2]);
    assert_eq!(compat.assertions().len(), 1);
}
