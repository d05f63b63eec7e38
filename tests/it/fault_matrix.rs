//! Every fault of the embedded server against a plain suite: the class that the catalogue promises, the
//! finding that names the deviation, no wait where the outcome is certain, and nothing left running.

use serde_json::Value;

use crate::harness::Project;

/// The deadline where it decides the outcome, and where it must not, in seconds.
const SHORT: u64 = 3;
const LONG: u64 = 60;

/// What the finding beside the outcome is called.
const FINDINGS: &[(&str, &str)] = &[
    ("stdout-banner", "stdout-noise"),
    ("stdout-noise-between", "stdout-noise"),
    ("stdout-noise-midline", "not-json"),
    ("stdout-ansi", "stdout-noise"),
    ("stdout-bom", "byte-order-mark"),
    ("stdout-blank-lines", "blank-line"),
    ("pretty-json", "not-json"),
    ("lsp-framing", "lsp-framing"),
    ("no-trailing-newline", "no-final-newline"),
    ("invalid-utf8", "not-utf8"),
    ("nul-byte", "stdout-noise"),
    ("exit-after-reply", "exited-early"),
    ("ignore-stdin-eof", "ignores-stdin-end"),
    ("ignore-sigterm", "ignores-termination"),
    ("orphan-grandchild", "orphans"),
    ("truncated-json", "not-json"),
    ("not-json", "stdout-noise"),
    ("json-null", "not-a-message"),
    ("batch-reply", "batch"),
    ("missing-jsonrpc", "jsonrpc-missing"),
    ("jsonrpc-1.0", "jsonrpc-version"),
    ("wrong-id", "unknown-id"),
    ("null-id", "null-id"),
    ("id-type-flip", "id-type"),
    ("unknown-id", "unknown-id"),
    ("duplicate-reply", "duplicate-answer"),
    ("result-and-error", "result-and-error"),
    ("neither", "neither-result-nor-error"),
    ("error-no-code", "error-code"),
    ("error-string-code", "error-code"),
    ("reply-after-cancel", "answer-after-cancel"),
    ("reply-to-notification", "answer-to-notification"),
    ("init-wrong-version", "unknown-revision"),
    ("init-no-capabilities", "schema"),
    ("init-twice", "duplicate-answer"),
    ("request-before-initialized", "request-before-initialized"),
    ("cap-lie-missing", "capability-not-served"),
    ("cap-lie-extra", "capability-undeclared"),
    ("unsolicited-sampling", "capability-not-declared"),
    ("unsolicited-elicitation", "capability-not-declared"),
    ("unsolicited-roots", "capability-not-declared"),
    ("dup-tool-names", "duplicate-name"),
    ("bad-tool-name", "bad-name"),
    ("no-input-schema", "bad-tool-schema"),
    ("schema-not-object", "bad-tool-schema"),
    ("schema-invalid", "bad-tool-schema"),
    ("schema-remote-ref", "remote-reference"),
    ("schema-cycle", "bad-tool-schema"),
    ("schema-deep", "too-deep"),
    ("cursor-loop", "cursor-loop"),
    ("cursor-repeat", "cursor-loop"),
    ("cursor-empty", "empty-cursor"),
    ("rug-pull", "list-changed-silently"),
    ("unstable-order", "list-changed-silently"),
    ("content-missing", "schema"),
    ("content-null", "schema"),
    ("content-unknown-type", "unknown-content-type"),
    ("bad-base64", "bad-base64"),
    ("mime-lie", "mime-mismatch"),
    ("structured-mismatch", "output-schema-mismatch"),
    ("structured-missing", "structured-content-missing"),
    ("is-error-no-text", "error-without-text"),
    ("nan-number", "not-json"),
    ("deep-json", "too-deep"),
    ("lone-surrogate", "lone-surrogate"),
    ("progress-backwards", "progress-not-growing"),
    ("progress-foreign-token", "foreign-progress-token"),
    ("progress-after-reply", "progress-after-answer"),
    ("progress-flood", "notification-flood"),
    ("list-changed-storm", "notification-flood"),
    ("log-bad-level", "log-level-unknown"),
    ("log-below-level", "log-below-level"),
];

/// The subject that meets the fault.
fn subject(fault: &Value) -> &'static str {
    match (
        fault["id"].as_str().unwrap(),
        fault["group"].as_str().unwrap(),
    ) {
        ("cap-lie-missing" | "cap-lie-extra", _) => {
            "assert_prompts:\n  list: {}\n  expect: {not_error: true}\n"
        }
        ("log-below-level", _) => {
            "assert_logging:\n  tool: test_simple_text\n  set_level: error\n  within: 10ms\n  expect: {max_messages: 9}\n"
        }
        ("tool-vanishes", _) => "assert:\n  tool: test_simple_text\n  expect: {not_error: true}\n",
        (_, "lists") => "assert_tools:\n  expect: {not_empty: true}\n",
        _ => "assert:\n  tool: test_simple_text\n  expect: {not_error: true}\n",
    }
}

fn deadline(fault: &Value) -> u64 {
    let class = fault["class"].as_str().unwrap();
    if class.starts_with("timeout") {
        SHORT
    } else {
        LONG
    }
}

/// Faults that only a second list in the same session shows.
const OF_TWO_LISTS: &[&str] = &["rug-pull", "unstable-order"];

fn suite(fault: &Value, names: &[&str]) -> String {
    let id = fault["id"].as_str().unwrap();
    let subject = subject(fault);
    let deadline = deadline(fault);
    let assertions = names.iter().map(|name| {
        format!(
            "name: {name}\nserver:\n  builtin: conformance\n  args: [\"--fault\", {id:?}]\ntimeout: {deadline}s\n{subject}"
        )
    });
    assertions.collect::<Vec<_>>().join("---\n")
}

/// What is wrong with the report about one fault, if anything.
fn judge(fault: &Value, first: &Value) -> Option<String> {
    let id = fault["id"].as_str().unwrap();
    let class = fault["class"].as_str().unwrap();
    let base = class.split(" + ").next().unwrap();
    let found = findings(first);
    let disruption = &first["evidence"]["disruption"];
    let kind = disruption["kind"]
        .as_str()
        .unwrap_or_default()
        .replace('-', " ");
    let in_handshake = fault["phase"] == "handshake";
    let status = first["status"].as_str().unwrap();
    let right = match base {
        "pass" => status == "pass" && found.is_empty(),
        "pass+finding" => status == "pass",
        "tool error" | "protocol error" if !in_handshake => status == "fail",
        named => {
            status == "error" && named.starts_with(&kind) && disruption["phase"] == fault["phase"]
        }
    };
    let finding = FINDINGS
        .iter()
        .find(|(of, _)| *of == id)
        .map(|(_, code)| *code);
    let named = match finding {
        Some(code) => found.contains(&code),
        None => !class.contains("finding"),
    };
    let late = first["duration_us"].as_u64().unwrap() >= LONG * 1_000_000;
    let wrong = if !right {
        "the class is another"
    } else if !named {
        "the finding is not there"
    } else if late {
        "it took until the deadline"
    } else {
        return None;
    };
    let message = &disruption["message"];
    Some(format!(
        "{id}: {wrong}: wanted {class} ({finding:?}), got {status} {kind} {message} {found:?}"
    ))
}

fn findings(assertion: &Value) -> Vec<&str> {
    let findings = assertion["findings"].as_array().into_iter().flatten();
    findings
        .filter_map(|finding| finding["code"].as_str())
        .collect()
}

/// Runs the suites of the project and gives the reports by file.
fn run(project: &Project, more: &[&str]) -> Vec<Value> {
    let mut arguments = vec![
        "run",
        "--suite",
        "evals",
        "--jobs",
        "8",
        "--report-json",
        "run.json",
    ];
    arguments.extend(more);
    let ran = project.run(&arguments);
    assert!(matches!(ran.code, 0 | 1), "{}", ran.stderr);
    for raw in ['\u{1b}', '\u{7}', '\u{9b}', '\0'] {
        assert!(!ran.stdout.contains(raw), "{raw:?} reached the terminal");
    }
    let report: Value = serde_json::from_str(&project.read("run.json")).unwrap();
    report["assertions"].as_array().unwrap().clone()
}

#[test]
fn every_fault_has_the_class_that_the_catalogue_promises() {
    let listed = Project::new().run(&["serve", "--list", "--json"]).json();
    let faults = listed["faults"].as_array().unwrap();
    let (twice, once): (Vec<_>, Vec<_>) = faults
        .iter()
        .partition(|fault| OF_TWO_LISTS.contains(&fault["id"].as_str().unwrap()));
    let mut problems = Vec::new();
    for (faults, names, more) in [
        (&once, &["plain"][..], &[][..]),
        (&twice, &["first", "plain"], &["--reuse-server"]),
    ] {
        let mut project = Project::new();
        for fault in faults {
            let path = format!("evals/{}.yaml", fault["id"].as_str().unwrap());
            project = project.file(&path, suite(fault, names));
        }
        let seen = run(&project, more);
        for fault in faults {
            let file = format!("evals/{}.yaml", fault["id"].as_str().unwrap());
            let of_file = |one: &&Value| one["file"] == file.as_str() && one["name"] == "plain";
            match seen.iter().find(of_file) {
                Some(assertion) => problems.extend(judge(fault, assertion)),
                None => problems.push(format!("{file} is not in the report")),
            }
        }
    }
    assert!(
        problems.is_empty(),
        "{} wrong:\n{}",
        problems.len(),
        problems.join("\n")
    );
}
