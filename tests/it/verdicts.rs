//! Verdicts that are easily too green: calls that failed in a way no expectation speaks of, and answers that
//! break what their tool declares.

use std::os::unix::fs::PermissionsExt as _;

use crate::harness::{BINARY, Project};

/// A server whose tool `refuse` is refused, and whose tool `mislead` breaks its own output schema;
/// `keep` keeps it, and that of `remote` is elsewhere.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) answer '"result":{"tools":[{"name":"refuse","inputSchema":{"type":"object"}},{"name":"mislead","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}},{"name":"keep","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}},{"name":"remote","inputSchema":{"type":"object"},"outputSchema":{"$ref":"https://example.com/x.json"}}]}' ;;
    *'"fail"'*) answer '"result":{"isError":true,"content":[{"type":"text","text":"boom"}]}' ;;
    *'"refuse"'*) answer '"error":{"code":-32603,"message":"boom"}' ;;
    *'"tools/call"'*) answer '"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{}}' ;;
  esac
done
"#;

/// The exit code and output for an assertion of this tool.
fn run(arguments: &[&str], tool: &str, expect: &str) -> (i32, String) {
    let suite = format!(
        "name: case\nserver: {{command: sh, args: [server.sh]}}\nassert:\n  tool: {tool}\n  expect: {expect}\n"
    );
    let ran = Project::with_suite(&suite)
        .file("server.sh", SERVER)
        .run(arguments);
    (ran.code, ran.stdout)
}

#[test]
fn a_refused_call_is_red_unless_the_refusal_is_expected() {
    let plain = ["run", "--suite", "evals"];
    let (code, output) = run(&plain, "refuse", "{max_duration: 30s}");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("JSON-RPC error -32603, `boom`"), "{output}");
    let (code, output) = run(
        &plain,
        "refuse",
        "{max_duration: 30s, error: {code: -32603}}",
    );
    assert_eq!(code, 0, "{output}");
}

#[test]
fn an_answer_that_breaks_the_declared_schema_is_a_finding() {
    let strict = ["run", "--suite", "evals", "--strict-protocol"];
    let (code, output) = run(&strict, "mislead", "{not_error: true}");
    assert_eq!(code, 1, "{output}");
    assert!(output.contains("output-schema-mismatch"), "{output}");
    let (code, output) = run(&["run", "--suite", "evals"], "mislead", "{not_error: true}");
    assert_eq!(code, 0, "{output}");
}

#[test]
fn a_setup_step_is_held_against_its_declaration_whatever_follows_it() {
    let case = |tool: &str, expect: &str, subject: &str, more: &[&str]| {
        let suite = format!(
            "server: {{command: sh, args: [server.sh]}}\nsetup: [{{tool: {tool}, expect: {expect}}}]\n{subject}\n"
        );
        let project = Project::with_suite(&suite).file("server.sh", SERVER);
        let ran = project.run(&[&["run", "evals"], more].concat());
        (ran.code, ran.stdout)
    };
    let wanted = "{output_schema: true}";
    for subject in ["assert_tools: {}", "assert_initialize: {}"] {
        let (code, output) = case("keep", wanted, subject, &[]);
        assert_eq!(code, 0, "{subject}: {output}");
        let (code, output) = case("mislead", wanted, subject, &[]);
        assert_eq!(code, 1, "{subject}: {output}");
        assert!(output.contains("setup step 1 (tool `mislead`)"), "{output}");
        let (code, output) = case(
            "mislead",
            "{not_error: true}",
            subject,
            &["--strict-protocol"],
        );
        assert_eq!(code, 1, "{subject}: {output}");
        assert!(output.contains("output-schema-mismatch"), "{output}");
    }
    let (_, output) = case("remote", wanted, "assert_tools: {}", &[]);
    let told = "`output_schema` of setup step 1 (tool `remote`) cannot be told";
    assert!(output.contains(told), "{output}");
}

#[test]
fn a_suite_that_changes_while_it_runs_is_judged_as_it_was() {
    let suite = |name: &str, server: &str| {
        format!(
            "name: {name}\nserver: {{command: sh, args: [{server}]}}\nassert:\n  tool: mislead\n  expect:\n    contains: never said\n"
        )
    };
    let wrecking = format!("echo 'name: [' >evals/b.yaml; rm evals/a.yaml\n{SERVER}");
    let ran = Project::new()
        .file("evals/a.yaml", suite("first", "wrecks.sh"))
        .file("evals/b.yaml", suite("second", "server.sh"))
        .file("server.sh", SERVER)
        .file("wrecks.sh", wrecking)
        .run(&["run", "--suite", "evals", "--jobs", "1"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    for told in ["evals/a.yaml:6", "evals/b.yaml:6", "2 failed"] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
    let shown = ran.stdout.matches("contains: never said").count();
    assert_eq!(shown, 2, "the lines are shown: {}", ran.stdout);
}

/// What is captured, what the tool answers then, an expectation, and the end with a part of its reason.
type Captured = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

const CAPTURED: &[Captured] = &[
    (
        r#"{"v":{"type":"object"}}"#,
        r#"{"s":{"type":"object","x":1}}"#,
        r#"json_path: {s: "{{v!}}"}"#,
        "FAIL",
        "found the object",
    ),
    (
        r#"{"v":{"type":"text"}}"#,
        r#"{"s":{"type":"text"}}"#,
        r#"json_path: {s: "{{v!}}"}"#,
        "PASS",
        "",
    ),
    (
        r#"{"v":{"length":2}}"#,
        r#"{"s":[1,2]}"#,
        r#"structured: {s: "{{v!}}"}"#,
        "FAIL",
        "",
    ),
    (
        r#"{"v":{"length":2}}"#,
        r#"{"s":[1,2]}"#,
        r#"structured: {s: {not: "{{v!}}"}}"#,
        "PASS",
        "",
    ),
    (
        r#"{"v":{"exists":false}}"#,
        "{}",
        r#"json_path: {s: "{{v!}}"}"#,
        "FAIL",
        "",
    ),
    (
        r#"{"v":{"s":{"exists":false}}}"#,
        "{}",
        r#"json_path: "{{v!}}""#,
        "ERROR",
        "a captured map",
    ),
    (
        r#"{"v":{"gt":1}}"#,
        r#"{"s":[1,2]}"#,
        r#"json_path: {s: {length: "{{v!}}"}}"#,
        "ERROR",
        "a whole number",
    ),
    (
        r#"{"v":2}"#,
        r#"{"s":[1,2]}"#,
        r#"json_path: {s: {length: "{{v!}}"}}"#,
        "PASS",
        "",
    ),
    (
        r#"{"v":2}"#,
        r#"{"s":1}"#,
        r#"json_path: {s: {ge: "{{v!}}"}}"#,
        "FAIL",
        "at least `2`",
    ),
    (
        r#"{"v":"length"}"#,
        r#"{"s":[1,2]}"#,
        r#"json_path: {s: {"{{v}}": 2}}"#,
        "FAIL",
        "",
    ),
    (
        r#"{"v":"a.b"}"#,
        "axb",
        r#"matches_regex: "^{{v}}$""#,
        "FAIL",
        r"a\.b",
    ),
    (
        r#"{"v":"C++ (1)"}"#,
        "in C++ (1)!",
        r"matches_regex: ['in {{v}}\W', '\QC{{env.PLUS}} (1)\E']",
        "PASS",
        "",
    ),
    (
        r#"{"v":".*"}"#,
        r#"{"s":"x"}"#,
        r#"json_path: {s: {matches: "{{v!}}"}}"#,
        "FAIL",
        "",
    ),
];

#[test]
fn what_a_server_sent_is_compared_as_a_value() {
    for (captured, answer, expect, end, reason) in CAPTURED {
        let suite = format!(
            "name: case\nserver: {{builtin: conformance}}\nsetup: [{{tool: reply, args: {{text: '{captured}'}}, capture: {{v: $.v}}}}]\nassert:\n  tool: reply\n  args: {{text: '{answer}', structuredContent: {structured}}}\n  expect: {{{expect}}}\n",
            structured = if answer.starts_with('{') {
                answer
            } else {
                "{}"
            },
        );
        let project = Project::with_suite(&suite);
        let mut command = project.command(&["run", "evals"]);
        command.env("PLUS", "++");
        let ran = project.finish(command);
        assert!(
            ran.stdout.starts_with(end),
            "{captured} {expect}: {}",
            ran.stdout
        );
        assert!(
            ran.stdout.contains(reason),
            "{captured} {expect}: {}",
            ran.stdout
        );
    }
}

#[test]
fn schemas_say_what_json_schema_says() {
    const ENDLESS: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!";
    let case = |schema: &str, text: &str, end: &str, reason: &str| {
        let suite = format!(
            "name: case\nserver: {{builtin: conformance}}\nassert:\n  tool: reply\n  args: {{text: '\"{text}\"'}}\n  expect: {{json_schema: {schema}}}\n"
        );
        let ran = Project::with_suite(&suite)
            .file("evals/schemas/main.json", r#"{"$ref": "word.json"}"#)
            .file(
                "evals/schemas/word.json",
                r#"{"type": "string", "pattern": "^\\w+$"}"#,
            )
            .file("evals/schemas/lost.json", r#"{"$ref": "gone.json"}"#)
            .file(
                "evals/schemas/far.json",
                r#"{"$ref": "https://example.com/a.json"}"#,
            )
            .run(&["run", "evals"]);
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            all.contains(end) && all.contains(reason),
            "{schema} {text}: {all}"
        );
    };
    case("{type: string, pattern: '^(?=a)ab$'}", "ab", "PASS", "");
    case(
        "{type: string, pattern: '^(?=a)ab$'}",
        "b",
        "FAIL",
        "does not match",
    );
    case(
        r"{pattern: '^(a|a)*\1b'}",
        ENDLESS,
        "ERROR",
        "takes too many tries",
    );
    case(
        r"{not: {pattern: '^(a|a)*\1b'}}",
        ENDLESS,
        "ERROR",
        "takes too many tries",
    );
    case("schemas/main.json", "a", "PASS", "");
    case("schemas/main.json", "é", "FAIL", "does not match");
    case("{$ref: schemas/word.json}", "é", "FAIL", "does not match");
    case("schemas/lost.json", "a", "ERROR", "gone.json");
    case("schemas/far.json", "a", "ERROR", "is not fetched");
    case("true", "a", "ERROR", "cannot read `true`");
}

#[test]
fn a_server_of_another_revision_than_the_pinned_one_is_a_finding() {
    for (pinned, code) in [("2025-06-18", 0), ("2024-11-05", 1), ("auto", 0)] {
        let suite = format!(
            "server: {{command: sh, args: [server.sh]}}\nclient: {{protocol: '{pinned}'}}\nassert_initialize: {{expect: {{findings: [bad-tool-schema, remote-reference]}}}}\n"
        );
        let ran = Project::with_suite(&suite)
            .file("server.sh", SERVER)
            .run(&["run", "evals"]);
        assert_eq!(ran.code, code, "{pinned}: {}", ran.stdout);
        assert_eq!(
            ran.stdout.contains("`other-revision`"),
            code == 1,
            "{}",
            ran.stdout
        );
    }
}

#[test]
fn what_is_wanted_of_raw_frames_is_wanted_of_their_answers() {
    let nosuch = "{jsonrpc: '2.0', id: 7, method: nosuch}";
    let ping = "{jsonrpc: '2.0', id: 8, method: ping}";
    let told = "{jsonrpc: '2.0', method: notifications/roots/list_changed}";
    let failing = "{jsonrpc: '2.0', id: 9, method: tools/call, params: {name: flaky, arguments: {mode: first, n: 1}}}";
    let lost = "{jsonrpc: '2.0', id: 5, result: {}}";
    let cases = [
        (nosuch, "{not_error: true}", "FAIL"),
        (nosuch, "{is_error: false}", "FAIL"),
        (nosuch, "{is_error: true}", "FAIL"),
        (nosuch, "{}", "FAIL"),
        (nosuch, "{error: {code: -32601}}", "PASS"),
        (nosuch, "{error: {code: -32600}}", "FAIL"),
        (nosuch, "{not: {error: {code: -32601}}}", "FAIL"),
        (nosuch, "{contains: '-32601'}", "PASS"),
        (ping, "{}", "PASS"),
        (ping, "{error: {code: -32601}}", "FAIL"),
        (failing, "{is_error: true}", "PASS"),
        (failing, "{not_error: true}", "FAIL"),
        (told, "{not_error: true}", "FAIL"),
        (told, "{not_contains: x}", "FAIL"),
        (told, "{equals: ''}", "PASS"),
        (lost, "{}", "FAIL"),
    ];
    let documents = cases.iter().map(|(frame, expect, _)| {
        format!("name: \"{frame} {expect}\"\nserver: {{builtin: conformance}}\nraw: {{within: 150ms, send: [{frame}], expect: {expect}}}\n")
    });
    let suite: Vec<String> = documents.collect();
    let wanted = cases
        .iter()
        .map(|(frame, expect, status)| format!("{status} {frame} {expect}"));
    assert_eq!(statuses(&suite), wanted.collect::<Vec<_>>());
}

/// What came of each document of a suite: `STATUS name`.
fn statuses(documents: &[String]) -> Vec<String> {
    let arguments = ["run", "evals", "--strict-vacuity", "--json"];
    let ran = Project::with_suite(&documents.join("---\n")).run(&arguments);
    let outcomes = ran.json();
    let text = |one: &serde_json::Value, key: &str| one[key].as_str().unwrap().to_owned();
    let outcomes = outcomes.as_array().unwrap().iter();
    outcomes
        .map(|one| format!("{} {}", text(one, "status"), text(one, "name")))
        .collect()
}

#[test]
fn of_several_frames_each_is_owed_an_answer_and_two_lines_are_two_frames() {
    let ping = "{jsonrpc: '2.0', id: 8, method: ping}";
    let nosuch = "{jsonrpc: '2.0', id: 7, method: nosuch}";
    let both = |expect: &str| {
        format!(
            "name: \"both {expect}\"\nserver: {{builtin: conformance}}\nraw: {{send: [{ping}, {nosuch}], expect: {expect}}}\n"
        )
    };
    let lines = |method: &str, expect: &str| {
        format!(
            "name: \"lines {method} {expect}\"\nserver: {{builtin: conformance}}\nraw:\n  send: |-\n    {{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"{method}\"}}\n    {{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"nosuch\"}}\n  expect: {expect}\n"
        )
    };
    let suite = [
        both("{not_error: true}"),
        both("{error: {code: -32601}}"),
        lines("ping", "{}"),
        lines("nosuch", "{error: {code: -32601}}"),
    ];
    let wanted = [
        "FAIL both {not_error: true}",
        "FAIL both {error: {code: -32601}}",
        "FAIL lines ping {}",
        "PASS lines nosuch {error: {code: -32601}}",
    ];
    assert_eq!(statuses(&suite), wanted);
}

#[test]
fn what_changed_in_a_fixture_is_one_rule_under_either_name() {
    let case = |name: &str, does: &str, expect: &str| {
        format!(
            "name: {name}\nserver: {{command: sh, args: [-c, '{does}; exec {BINARY} serve']}}\nassert: {{tool: echo, args: {{message: '{{{{fixture}}}}'}}, expect: {expect}}}\n"
        )
    };
    let write = "echo x > \"{{fixture}}/new.txt\"";
    let mode = "chmod 755 \"{{fixture}}/a.txt\"";
    let named = "{only_changed: ['{{fixture}}/new.txt']}";
    let suite = [
        case("named", write, named),
        case("all", write, "{only_changed: ['{{fixture}}/**']}"),
        case(
            "not named",
            write,
            "{not: {only_changed: ['{{fixture}}/new.txt']}}",
        ),
        case("another", write, "{only_changed: ['{{fixture}}/a.txt']}"),
        case("mode", mode, "{only_changed: []}"),
        case(
            "unchanged",
            mode,
            "{file_unchanged: ['{{fixture}}/a.txt', ./a.txt]}",
        ),
    ]
    .join("---\n");
    let project = Project::with_suite(&suite).file("data/a.txt", "a");
    let path = project.path().join("data/a.txt");
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(path, mode).unwrap();
    let ran = project.run(&["run", "evals", "--json", "--fixture", "data"]);
    let outcomes = ran.json();
    let outcomes = outcomes.as_array().unwrap();
    let of = |key: &str| -> Vec<&str> {
        let texts = outcomes.iter().map(|one| one[key].as_str());
        texts.map(Option::unwrap_or_default).collect()
    };
    let wanted = ["PASS", "PASS", "FAIL", "FAIL", "FAIL", "FAIL"];
    assert_eq!(of("status"), wanted, "{:?}", of("detail"));
    let told = "its mode changed from 644 to 755";
    for detail in &of("detail")[4..] {
        assert!(detail.contains(told), "{detail}");
    }
}

#[test]
fn the_fixture_of_a_trajectory_is_the_one_that_was_given() {
    let suite = r#"
name: the log is in it
audit_log: "{{fixture}}/log.jsonl"
trajectory:
  - {type: presence, tools: [edit]}
---
name: a rule names it
trace: [{tool: edit, args: {file: "{{fixture}}/x.go", text: "{{ other }} {{id}}"}}]
trajectory:
  - {type: args_contain, tool: edit, args: {file: "{{fixture}}/x.go"}}
---
name: the paths differ
trace: [{tool: edit, args: {file: "{{fixture}}/x.go"}}]
trajectory:
  - {type: args_contain, tool: edit, args: {file: "{{fixture}}/y.go"}}
"#;
    let project = Project::with_suite(suite).file("data/log.jsonl", "{\"tool\": \"edit\"}\n");
    for more in [&[][..], &["--compat"]] {
        let arguments = [&["run", "evals", "--fixture", "data"], more].concat();
        let ran = project.run(&arguments);
        assert!(ran.stdout.contains("2 passed, 1 failed"), "{}", ran.stdout);
    }
    let settled = project
        .file("evals/mcp-assert.yaml", "fixture: ../data\n")
        .run(&["run", "evals"]);
    assert!(
        settled.stdout.contains("2 passed, 1 failed"),
        "{}",
        settled.stdout
    );
}

#[test]
fn what_asks_for_nothing_does_not_stand_for_no_error() {
    for expect in [
        "{output_schema: false}",
        "{min_progress: 0}",
        "{file_exists: []}",
    ] {
        let (code, output) = run(&["run", "evals"], "fail", expect);
        assert_eq!(code, 1, "{expect}: {output}");
        assert!(output.contains("not_error"), "{expect}: {output}");
        let steps = format!(
            "server: {{command: sh, args: [server.sh]}}\nsteps: [{{tool: fail, expect: {expect}}}]\n"
        );
        let project = Project::with_suite(&steps).file("server.sh", SERVER);
        let ran = project.run(&["run", "evals"]);
        assert_eq!(ran.code, 1, "{expect}: {}", ran.stdout);
    }
}

#[test]
fn a_server_that_never_asks_fails_unless_the_suite_says_how_often() {
    let case = |request: &str, wanted: i32| {
        for subject in ["assert_sampling", "assert_elicitation"] {
            let suite = format!(
                "server: {{command: sh, args: [server.sh]}}\n{subject}: {{tool: keep, expect_request: {request}}}\n"
            );
            let project = Project::with_suite(&suite).file("server.sh", SERVER);
            let ran = project.run(&["run", "evals"]);
            assert_eq!(ran.code, wanted, "{subject} {request}: {}", ran.stdout);
        }
    };
    case("[]", 1);
    case("{method: roots/list, count: 0}", 1);
    case("{count: 0}", 0);
}

#[test]
fn an_expectation_of_the_settings_is_told_in_the_settings_file() {
    let settings = "# 1\n# 2\n# 3\ndefaults:\n  server: {command: sh, args: [server.sh]}\n  setup:\n    - tool: keep\n      expect: {contains: never said}\n";
    let ran = Project::with_suite("name: a\nassert: {tool: keep}\n")
        .file("evals/mcp-assert.yaml", settings)
        .file("server.sh", SERVER);
    let mut command = ran.command(&[
        "ci",
        "--suite=evals",
        "--isolation=process",
        "--sarif=a.sarif",
        "--junit=a.xml",
        "--markdown=a.md",
    ]);
    command
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", ran.path().join("summary"));
    let done = ran.finish(command);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    let place = "evals/mcp-assert.yaml:8:16";
    assert!(done.stdout.contains(place), "{}", done.stdout);
    let annotation = "file=evals/mcp-assert.yaml,line=8,col=16";
    assert!(done.stdout.contains(annotation), "{}", done.stdout);
    assert!(ran.read("a.xml").contains(place), "{}", ran.read("a.xml"));
    for file in ["a.md", "summary"] {
        let text = ran.read(file);
        assert!(text.contains("evals/mcp-assert.yaml:8"), "{text}");
    }
    let sarif: serde_json::Value = serde_json::from_str(&ran.read("a.sarif")).unwrap();
    let at = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(at["artifactLocation"]["uri"], "evals/mcp-assert.yaml");
    assert_eq!(at["region"]["startLine"], 8);
    let results = ran.run(&["run", "evals", "--json"]).json();
    let mismatch = &results[0]["mismatches"][0];
    assert_eq!(mismatch["file"], "evals/mcp-assert.yaml", "{results}");
    assert_eq!(mismatch["line"], 8);
}

#[test]
fn a_file_that_two_links_lead_to_runs_once_and_is_told() {
    let project = Project::new()
        .file(
            "shared/c.yaml",
            "name: a\nserver: {builtin: conformance}\nassert: {tool: echo, args: {message: x}}\n",
        )
        .file("evals/a/x.yaml", "")
        .file("evals/b/x.yaml", "");
    for folder in ["a", "b"] {
        let link = project.path().join("evals").join(folder).join("c.yaml");
        std::os::unix::fs::symlink("../../shared/c.yaml", link).unwrap();
    }
    let ran = project.run(&["run", "evals"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let note = "`evals/b/c.yaml` is passed over: it is the file `evals/a/c.yaml` once more";
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains(note), "{said}");
}

/// A server whose list of tools has no end: every page names the same next one. Its tools answer, or refuse.
const ENDLESS: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) answer '"result":{"tools":[{"name":"near","inputSchema":{"type":"object"}}],"nextCursor":"on"}' ;;
    *'"refuse"'*) answer '"error":{"code":-32602,"message":"no"}' ;;
    *'"tools/call"'*) answer '"result":{"content":[{"type":"text","text":"hi"}],"structuredContent":{}}' ;;
  esac
done
"#;

#[test]
fn what_hangs_on_a_part_of_a_list_that_was_not_fetched_cannot_be_told() {
    let list = |expect: &str| format!("assert_tools: {{expect: {{{expect}}}}}");
    let call = |tool: &str, expect: &str| format!("assert: {{tool: {tool}, expect: {{{expect}}}}}");
    let cases = [
        (list("contains: near"), "PASS"),
        (list("min_results: 1"), "PASS"),
        (list("max_results: 1"), "error"),
        (list("not_contains: far"), "error"),
        (list("not_contains: near"), "FAIL"),
        (list("json_path: {$.tools: {length: 1}}"), "error"),
        (list("not: {contains: far}"), "error"),
        (call("near", "contains: hi"), "PASS"),
        (call("far", "contains: hi"), "PASS"),
        (call("far", "output_schema: true"), "error"),
        (call("near", "output_schema: true"), "FAIL"),
        (call("refuse", "contains: hi"), "FAIL"),
    ];
    let documents = cases
        .iter()
        .map(|(what, _)| format!("server: {{command: sh, args: [server.sh]}}\n{what}\n"));
    let suite: Vec<String> = documents.collect();
    let ran = Project::with_suite(&suite.join("---\n"))
        .file("server.sh", ENDLESS)
        .run(&["run", "--json", "evals", "--strict-vacuity"]);
    let outcomes = ran.json();
    for ((what, wanted), outcome) in cases.iter().zip(outcomes.as_array().unwrap()) {
        let kind = outcome["kind"].as_str().filter(|kind| *kind == "error");
        let status = kind.or(outcome["status"].as_str()).unwrap();
        assert_eq!(status, *wanted, "{what}: {outcome:#}");
        let told = outcome.to_string();
        assert!(!told.contains("does not list"), "{what}: {told}");
        let is_of_list = what.starts_with("assert_tools") && *wanted == "error";
        let reason = "came back to a cursor together with its page, and the rest was not fetched";
        assert_eq!(told.contains(reason), is_of_list, "{what}: {told}");
    }
}
