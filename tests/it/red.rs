//! What people are told when something is red: for every expectation, every subject and the ways a server can
//! give no answer, a suite that fails and the exact text shown.

use std::{collections::BTreeSet, path::PathBuf, sync::LazyLock};

use regex::Regex;
use serde_json::Value;

use crate::harness::{Project, Ran};

/// The suites under `tests/it/red`, each a family of failures.
const FAMILIES: &[&str] = &[
    "broken",
    "client",
    "errors",
    "files",
    "http",
    "json",
    "process",
    "subjects",
    "text",
    "trajectory",
];

/// Calls as a log has them.
const CALLS: &str = r#"{"kind":"call","seq":1,"ts":"2031-01-01T10:00:00.000Z","tool":"login","args":{"user":"ada"}}
{"kind":"done","seq":2,"of":1,"ok":true}
{"kind":"call","seq":3,"ts":"2031-01-01T10:00:00.250Z","tool":"list","args":{}}
{"kind":"done","seq":4,"of":3,"ok":true}
"#;

/// The text of a family's suite.
fn suite(family: &str) -> String {
    let path =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/red/{family}.yaml"));
    std::fs::read_to_string(path).unwrap()
}

/// A project with this suite as `evals/FAMILY.yaml`, a fixture and a log of calls.
fn project(family: &str) -> Project {
    Project::new()
        .file(
            "evals/mcp-assert.yaml",
            "defaults:\n  server: {builtin: conformance}\nfixture: ../fixture\n",
        )
        .file("fixture/keep.txt", "keep me\n")
        .file("fixture/notes/shopping.txt", "milk\n")
        .file("calls.jsonl", CALLS)
        .file(&format!("evals/{family}.yaml"), suite(family))
}

fn run(family: &str, more: &[&str]) -> Ran {
    let mut arguments = vec!["run", "evals", "--jobs", "4"];
    arguments.extend(more);
    project(family).run(&arguments)
}

/// The output with what differs between runs and versions replaced.
fn shown(ran: &Ran) -> String {
    static PHASES: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?m)^  (?:phases|reached) +(?:.*; reached )?(\w+)$").expect("a valid pattern")
    });
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"/\S*/(calls|gone)\.jsonl").expect("a valid pattern"));
    static PORT: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"127\.0\.0\.1:\d{4,}").expect("a valid pattern"));
    static PID: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""pid":\d+"#).expect("a valid pattern"));
    let text = ran.shown().replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    let text = PHASES.replace_all(&text, "  phases    [TIMES]; reached $1");
    let text = PLACE.replace_all(&text, "[PROJECT]/$1.jsonl");
    let text = PORT.replace_all(&text, "127.0.0.1:[PORT]");
    PID.replace_all(&text, "\"pid\":[PID]").into_owned()
}

/// One test for each family: the text, and that nothing in it is green.
macro_rules! families {
    ($($name:ident: $family:literal;)+) => {$(
        #[test]
        fn $name() {
            let ran = run($family, &[]);
            assert_eq!(ran.code, 1, "{}", ran.stderr);
            let green: Vec<&str> = ran
                .stdout
                .lines()
                .filter(|line| line.starts_with("PASS") || line.starts_with("SKIP"))
                .collect();
            assert_eq!(green, [""; 0]);
            insta::assert_snapshot!($family, shown(&ran));
        }
    )+};
}

families! {
    servers_without_an_answer: "broken";
    what_servers_tell_and_ask: "client";
    errors_of_tools_and_of_the_protocol: "errors";
    files_in_the_fixture: "files";
    responses_of_http: "http";
    values_and_their_shapes: "json";
    processes_and_bounds: "process";
    every_subject: "subjects";
    the_text_of_answers: "text";
    lists_of_calls: "trajectory";
}

/// What a red run says about which keys: the keys of mismatches, and the keys under which the mismatches of
/// `expect` stand in the suites.
fn red_keys() -> (BTreeSet<String>, BTreeSet<String>) {
    let mut keys = BTreeSet::new();
    let mut subjects = BTreeSet::new();
    for family in FAMILIES.iter().filter(|family| **family != "broken") {
        let listed = run(family, &["--list", "--json"]).json();
        let outcomes = run(family, &["--json"]).json();
        for (listed, outcome) in listed
            .as_array()
            .unwrap()
            .iter()
            .zip(outcomes.as_array().unwrap())
        {
            assert_eq!(listed["id"], outcome["id"]);
            let subject = listed["subject"].as_str().unwrap();
            subjects.insert(subject.to_owned());
            let mismatches = outcome["mismatches"].as_array().unwrap();
            keys.extend(
                mismatches
                    .iter()
                    .map(|mismatch| format!("{subject}/{}", mismatch["key"].as_str().unwrap())),
            );
            let unsupported = outcome["detail"].as_str().unwrap();
            if let (true, Some(key)) = (mismatches.is_empty(), unsupported.split('`').nth(1)) {
                keys.insert(format!("{subject}/{key}"));
            }
        }
    }
    (keys, subjects)
}

/// The keys of a shape in the schema of suites.
fn schema_keys(schema: &Value, shape: &str) -> Vec<String> {
    let shape = &schema["$defs"][shape];
    let properties = shape["properties"]
        .as_object()
        .unwrap_or_else(|| panic!("no properties in {shape}"));
    properties.keys().cloned().collect()
}

#[test]
fn every_expectation_and_every_subject_has_a_red_example() {
    let schema = Project::new().run(&["schema"]).json();
    let (keys, subjects) = red_keys();
    let somewhere = |key: &str| keys.iter().any(|red| red.ends_with(&format!("/{key}")));
    let under = |subject: &str, key: &str| keys.contains(&format!("{subject}/{key}"));
    let mut missing: Vec<String> = schema_keys(&schema, "Expect")
        .into_iter()
        // `notifications` is told by the keys inside it.
        .filter(|key| key != "notifications" && !somewhere(key))
        .collect();
    for key in schema_keys(&schema, "LoggingExpect") {
        if !under("assert_logging", &key) {
            missing.push(format!("assert_logging: {key}"));
        }
    }
    for key in schema_keys(&schema, "HttpExpect") {
        // `body` is told by the keys inside it.
        if key != "body" && !under("http", &key) {
            missing.push(format!("http: {key}"));
        }
    }
    for key in schema_keys(&schema, "NotificationsExpect") {
        for subject in ["assert", "assert_notifications"] {
            if !under(subject, &key) {
                missing.push(format!("{subject}: {key}"));
            }
        }
    }
    let rules = schema["$defs"]["Rule"]["properties"]["type"]["description"]
        .as_str()
        .unwrap();
    for rule in rules.split('`').skip(1).step_by(2) {
        if !under("trajectory", rule) {
            missing.push(format!("trajectory: {rule}"));
        }
    }
    let every = schema_keys(&schema, "Assertion");
    let is_subject = |key: &&String| {
        key.starts_with("assert") || ["trajectory", "steps", "raw", "http"].contains(&key.as_str())
    };
    missing.extend(
        every
            .iter()
            .filter(is_subject)
            .filter(|key| !subjects.contains(*key))
            .cloned(),
    );
    assert_eq!(missing, [""; 0], "of {keys:?}");
}
