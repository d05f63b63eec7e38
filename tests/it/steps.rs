//! Steps of `setup` and of `steps`: what an error means in each, what each is to hold, and what is told of it.

use serde_json::Value;

use crate::harness::Project;

/// A tool error, and a JSON-RPC error.
const TOOL_ERROR: &str = "tool: error, args: {message: boom}";
const REFUSAL: &str = "tool: error, args: {layer: rpc, code: -32602, message: boom}";

/// Runs documents on the embedded server and gives what the JSON says of each.
fn outcomes(documents: &[String], arguments: &[&str]) -> Vec<Value> {
    let server = |document: &String| format!("server: {{builtin: conformance}}\n{document}\n");
    let suite: Vec<String> = documents.iter().map(server).collect();
    let mut all = vec!["run", "--json", "evals"];
    all.extend(arguments);
    let ran = Project::with_suite(&suite.join("---\n")).run(&all);
    let Value::Array(outcomes) = ran.json() else {
        panic!("{}", ran.stdout);
    };
    assert_eq!(outcomes.len(), documents.len(), "{}", ran.stderr);
    outcomes
}

/// `error` where the assertion could not be observed, else the status.
fn verdict(outcome: &Value) -> &str {
    let kind = outcome["kind"].as_str().filter(|kind| *kind == "error");
    kind.or(outcome["status"].as_str()).unwrap()
}

#[test]
fn an_error_of_a_setup_step_passes_only_where_the_suite_speaks_of_errors() {
    let error = "setup step 1";
    let cases = [
        ("expect: {}", "error"),
        ("expect: {max_duration: 10s}", "error"),
        ("expect: {not_empty: true, contains: boom}", "error"),
        ("expect: {max_bytes: 10000}, allow_error: false", "error"),
        ("expect: {stderr: {not_contains: x}}", "error"),
        ("expect: {notifications: {max_count: 0}}", "error"),
        ("expect: {not: {contains: x}}", "error"),
        ("expect: {not_error: true}", "FAIL"),
        ("expect: {not: {not_error: true}}", "PASS"),
        ("expect: {is_error: true}", "PASS"),
        ("allow_error: true", "PASS"),
    ];
    let document = |step: &str| format!("setup: [{{{step}}}]\nassert: {{tool: test_simple_text}}");
    let documents: Vec<String> = cases
        .iter()
        .map(|(more, _)| document(&format!("{TOOL_ERROR}, {more}")))
        .chain(
            cases[..7]
                .iter()
                .map(|(more, _)| document(&format!("{REFUSAL}, {more}"))),
        )
        .chain([document(&format!(
            "{REFUSAL}, expect: {{error: {{code: -32602}}}}"
        ))])
        .collect();
    let seen = outcomes(&documents, &[]);
    let wanted: Vec<&str> = cases
        .iter()
        .chain(&cases[..7])
        .map(|(_, wanted)| *wanted)
        .chain(["PASS"])
        .collect();
    for ((document, outcome), wanted) in documents.iter().zip(&seen).zip(wanted) {
        assert_eq!(verdict(outcome), wanted, "{document}: {outcome}");
        let detail = outcome["detail"].as_str().unwrap_or_default();
        assert!(
            wanted != "error" || detail.contains("boom"),
            "{document}: {detail}"
        );
        assert!(
            wanted != "error" || outcome.to_string().contains(error),
            "{document}: {outcome}"
        );
    }
}

#[test]
fn a_refused_step_is_red_unless_its_refusal_is_expected() {
    let held = [
        "max_duration: 10s",
        "max_bytes: 10000",
        "stderr: {not_contains: x}",
        "notifications: {max_count: 0}",
        "findings: none",
        "server_requests: [{method: roots/list, count: 0}]",
        "file_exists: evals",
        "exit: {clean: true}",
        "progress: {monotonic: true}",
        "min_progress: 0",
        "not: {file_exists: gone}",
    ];
    let refused = |more: &str| format!("steps: [{{{REFUSAL}, expect: {{{more}}}}}]");
    let mut documents: Vec<String> = held.iter().map(|more| refused(more)).collect();
    documents.push(format!("parallel: true\n{}", refused(held[0])));
    let green = documents.len();
    documents.push(refused("max_duration: 10s, error: {code: -32602}"));
    documents.push(refused("not: {error: {code: 1}}"));
    let seen = outcomes(&documents, &[]);
    for (index, (document, outcome)) in documents.iter().zip(&seen).enumerate() {
        let wanted = if index < green { "FAIL" } else { "PASS" };
        assert_eq!(verdict(outcome), wanted, "{document}: {outcome}");
        let told = outcome["mismatches"].to_string();
        let tells = told.contains("step 1 (tool `error`)") && told.contains("-32602");
        assert_eq!(tells, index < green, "{document}: {outcome}");
    }
}

#[test]
fn what_a_wait_is_to_hold_is_looked_at() {
    let documents = [
        "steps: [{wait: 1ms, expect: {file_exists: evals}}, {wait: 1ms}]",
        "steps: [{wait: 1ms, expect: {file_exists: gone}}]",
        "setup: [{wait: 1ms, expect: {file_exists: gone}}]\nassert: {tool: test_simple_text}",
        "steps: [{wait: 1ms, expect: {contains: x}}]",
    ];
    let documents: Vec<String> = documents.iter().map(|one| (*one).to_owned()).collect();
    let seen = outcomes(&documents, &[]);
    let verdicts: Vec<&str> = seen.iter().map(verdict).collect();
    assert_eq!(verdicts, ["PASS", "FAIL", "FAIL", "error"]);
}

#[test]
fn an_allowed_error_of_a_step_is_an_answer_like_any_other() {
    let case = |step: &str| format!("steps: [{{{step}, allow_error: true}}, {{ping: true}}]");
    let documents = [
        case(TOOL_ERROR),
        case(REFUSAL),
        case(&format!("{TOOL_ERROR}, capture: {{said: $}}")).replace(
            "ping: true",
            "tool: echo, args: {message: '{{said}}'}, expect: {contains: boom}",
        ),
        case(&format!(
            "{TOOL_ERROR}, expect: {{contains: boom, max_duration: 10s}}"
        )),
        format!("parallel: true\n{}", case(TOOL_ERROR)),
        case(&format!("{TOOL_ERROR}, expect: {{contains: never said}}")),
        case(&format!("{TOOL_ERROR}, expect: {{not_error: true}}")),
        case(TOOL_ERROR)
            .replace("true", "false")
            .replace("ping: false", "ping: true"),
    ];
    let seen = outcomes(&documents, &[]);
    let verdicts: Vec<&str> = seen.iter().map(verdict).collect();
    assert_eq!(verdicts[..5], ["PASS"; 5], "{seen:?}");
    assert_eq!(verdicts[5..], ["FAIL"; 3], "{seen:?}");
}
