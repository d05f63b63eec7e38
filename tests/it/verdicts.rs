//! Verdicts that are easily too green: calls that failed in a way no expectation speaks of, and answers that
//! break what their tool declares.

use crate::harness::Project;

/// A server whose tool `refuse` is refused, and whose tool `mislead` breaks its own output schema.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  answer() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case "$line" in
    *'"initialize"'*) answer '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"tools/list"'*) answer '"result":{"tools":[{"name":"refuse","inputSchema":{"type":"object"}},{"name":"mislead","inputSchema":{"type":"object"},"outputSchema":{"type":"object","required":["n"]}}]}' ;;
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
