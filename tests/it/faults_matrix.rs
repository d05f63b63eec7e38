//! Every fault of the embedded server against the runner: the status, the cause, the phase and the findings that
//! the catalogue promises, at once where nothing can change it, and nothing left behind.

use std::{collections::BTreeSet, fmt::Write};

use serde_json::Value;

use crate::{
    harness::Project,
    running::{Ended, Running},
};

/// The deadline where one is waited for.
const SHORT_MS: u64 = 2_000;

/// How late a deadline may be noticed on a machine that does other work.
const SLACK_MS: u64 = 20_000;

/// The deadline elsewhere: no machine is so busy that it is met.
const LONG_MS: u64 = 120_000;

/// The findings of each fault; those that are not here have none.
const FINDINGS: &[(&str, &[&str])] = &[
    ("stdout-banner", &["stdout-noise"]),
    ("stdout-noise-between", &["stdout-noise"]),
    ("stdout-noise-midline", &["not-json"]),
    ("stdout-ansi", &["stdout-noise"]),
    ("stdout-bom", &["byte-order-mark"]),
    ("stdout-blank-lines", &["blank-line"]),
    ("pretty-json", &["not-json", "stdout-noise"]),
    ("lsp-framing", &["blank-line", "lsp-framing"]),
    ("no-trailing-newline", &["exited-early", "no-final-newline"]),
    ("no-trailing-newline:open", &["no-final-newline"]),
    ("invalid-utf8", &["not-utf8"]),
    ("nul-byte", &["stdout-noise"]),
    ("huge-line:65MiB", &["line-too-long"]),
    ("slow-start:1h", &["ignores-stdin-end"]),
    ("exit-after-reply", &["exited-early"]),
    ("ignore-stdin-eof", &["ignores-stdin-end"]),
    ("ignore-sigterm", &["ignores-termination"]),
    ("orphan-grandchild", &["orphans"]),
    ("truncated-json", &["not-json"]),
    ("not-json", &["stdout-noise"]),
    ("json-null", &["not-a-message"]),
    ("batch-reply", &["batch"]),
    ("missing-jsonrpc", &["jsonrpc-missing"]),
    ("jsonrpc-1.0", &["jsonrpc-version"]),
    ("wrong-id", &["unknown-id"]),
    ("null-id", &["null-id"]),
    ("id-type-flip", &["id-type"]),
    ("unknown-id", &["unknown-id"]),
    ("duplicate-reply", &["duplicate-answer"]),
    ("result-and-error", &["result-and-error"]),
    ("neither", &["neither-result-nor-error"]),
    ("error-no-code", &["error-code"]),
    ("error-string-code", &["error-code"]),
    ("reply-after-cancel", &[]),
    ("reply-to-notification", &["answer-to-notification"]),
    ("init-wrong-version", &["unknown-revision"]),
    ("init-no-capabilities", &["schema"]),
    ("init-twice", &["duplicate-answer"]),
    (
        "request-before-initialized",
        &["capability-not-declared", "request-before-initialized"],
    ),
    ("cap-lie-missing", &["capability-not-served"]),
    ("cap-lie-extra", &["capability-undeclared"]),
    ("unsolicited-sampling", &["capability-not-declared"]),
    ("unsolicited-elicitation", &["capability-not-declared"]),
    ("unsolicited-roots", &["capability-not-declared"]),
    ("dup-tool-names", &["duplicate-name"]),
    ("bad-tool-name", &["bad-name"]),
    (
        "no-input-schema",
        &["bad-tool-schema", "typed-client-rejects"],
    ),
    ("schema-not-object", &["bad-tool-schema"]),
    ("schema-invalid", &["bad-tool-schema"]),
    ("schema-remote-ref", &["remote-reference"]),
    ("schema-cycle", &["bad-tool-schema"]),
    ("schema-deep", &["too-deep"]),
    ("cursor-loop", &["cursor-loop", "duplicate-name"]),
    ("cursor-repeat", &["cursor-loop"]),
    ("cursor-empty", &["empty-cursor"]),
    ("content-missing", &["schema"]),
    ("content-null", &["schema"]),
    (
        "content-unknown-type",
        &["typed-client-rejects", "unknown-content-type"],
    ),
    ("bad-base64", &["bad-base64"]),
    ("mime-lie", &["mime-mismatch"]),
    ("structured-mismatch", &["output-schema-mismatch"]),
    ("structured-missing", &["structured-content-missing"]),
    ("is-error-no-text", &["error-without-text"]),
    ("nan-number", &["not-json"]),
    ("deep-json", &["too-deep"]),
    ("lone-surrogate", &["lone-surrogate"]),
    ("progress-backwards", &["progress-not-growing"]),
    ("progress-foreign-token", &["foreign-progress-token"]),
    ("progress-after-reply", &["progress-after-answer"]),
    ("progress-flood", &["notification-flood"]),
    ("list-changed-storm", &["notification-flood"]),
    ("log-bad-level", &["log-level-unknown"]),
    ("log-below-level", &["log-below-level"]),
    ("no-result-type", &["schema"]),
    ("no-cache-hints", &["schema"]),
    ("listen-no-ack", &["not-acknowledged"]),
    ("listen-leaks-filter", &["unasked-notification"]),
];

/// Findings that are others where a message is an event or a body, which noise cannot be.
const FINDINGS_OVER_HTTP: &[(&str, &[&str])] = &[
    ("not-json", &["not-json"]),
    (FLOOD, &["notification-flood"]),
    ("reply-after-cancel", &["answer-after-cancel"]),
    ("gzip", &["not-json"]),
    ("html-200", &["wrong-content-type"]),
    ("wrong-content-type", &["wrong-content-type"]),
    ("body-on-202", &["body-on-202"]),
    ("redirect", &["redirected"]),
    ("session-changes", &["session-changed"]),
    ("session-bad-ascii", &["bad-session-id", "session-changed"]),
    ("session-expires", &["session-forgotten"]),
];

/// As many notifications as it takes over HTTP: the flood of the catalogue is read once, over stdio.
const FLOOD: &str = "progress-flood:20000";

/// How the servers are reached: in the catalogue, and in a suite.
const TRANSPORTS: [(&str, &str); 3] = [("stdio", "stdio"), ("HTTP", "http"), ("HTTP+SSE", "sse")];

/// How the process of a fault ends.
const ENDS: &[(&str, &str)] = &[
    ("exit-before-init", "exit code 1, by itself"),
    ("exit-before-init:7", "exit code 7, by itself"),
    ("exit-mid-call", "exit code 1, by itself"),
    ("abort", "SIGABRT, by itself"),
    ("segv", "SIGSEGV, by itself"),
    ("oom-cap", "SIGABRT, by itself"),
    ("close-stdout", "exit code 0, after its stdin was closed"),
];

/// Faults of the second list of a session: no assertion fetches one twice, so that two of them share a server here.
const SECOND_LIST: [&str; 2] = ["rug-pull", "unstable-order"];

/// Arguments that change the class: fault, class, phase.
const VARIANTS: &[(&str, &str, &str)] = &[
    ("no-trailing-newline:open", "timeout + finding", "subject"),
    ("huge-line:65MiB", "transport error", "subject"),
    ("slow-start:1h", "timeout", "handshake"),
    ("exit-before-init:7", "crash", "handshake"),
    ("deep-json:100", "pass", "subject"),
];

/// A fault and what is to come of it.
#[derive(Debug)]
struct Case {
    fault: String,
    class: String,
    phase: String,
    group: String,
    transport: &'static str,
}

impl Case {
    fn id(&self) -> &str {
        self.fault.split(':').next().unwrap()
    }

    fn findings(&self) -> &'static [&'static str] {
        let over_http = match self.transport {
            "stdio" => &[],
            _ => FINDINGS_OVER_HTTP,
        };
        let mut tables = over_http.iter().chain(FINDINGS);
        let found = tables.find(|(fault, _)| *fault == self.fault);
        found.map_or(&[], |(_, findings)| findings)
    }

    fn server(&self) -> String {
        let fault = &self.fault;
        let transport = match self.transport {
            "stdio" => String::new(),
            other => format!("transport: {other}, "),
        };
        let protocol = match self.group.as_str() {
            "2026-07-28" => "protocol: stateless, ",
            _ => "",
        };
        format!("{{builtin: conformance, {transport}{protocol}args: [--fault, '{fault}']}}")
    }

    fn times_out(&self) -> bool {
        self.class.starts_with("timeout")
    }

    fn deadline_ms(&self) -> u64 {
        if self.times_out() { SHORT_MS } else { LONG_MS }
    }

    /// What is asked of a server that has the fault.
    fn subject(&self) -> &'static str {
        match (self.id(), self.group.as_str()) {
            ("cap-lie-missing" | "cap-lie-extra", _) => {
                "assert_prompts: {list: true, expect: {not_error: true}}"
            }
            ("out-of-order", _) => {
                "parallel: true\nsteps:\n\
                 - {tool: echo, args: {message: one}, expect: {structured: {$.message: one}}}\n\
                 - {tool: echo, args: {message: two}, expect: {structured: {$.message: two}}}"
            }
            ("reply-after-cancel", _) => {
                "assert: {tool: slow, args: {hang: true}, expect: {not_error: true}}"
            }
            ("log-below-level", _) => {
                "assert_logging: {set_level: error, tool: test_simple_text, expect: {min_messages: 1}}"
            }
            ("listen-no-ack" | "listen-leaks-filter", _) => {
                "assert_resources: {subscribe: test://watched-resource, expect: {not_error: true}}"
            }
            ("tool-vanishes", _) => CALL,
            // Where findings are judged, it is waited for an end that nobody asked for.
            ("exit-after-reply", _) => {
                "assert: {tool: test_simple_text, expect: {not_error: true, findings: [exited-early]}}"
            }
            ("no-trailing-newline", _) if self.fault == self.id() => {
                "assert: {tool: test_simple_text, expect: {not_error: true, findings: [exited-early, no-final-newline]}}"
            }
            ("no-cache-hints", _) | (_, "lists") => "assert_tools: {expect: {not_error: true}}",
            _ => CALL,
        }
    }

    /// Status and cause in `run --json`.
    fn outcome(&self) -> (&'static str, Option<&'static str>) {
        let class = self.class.trim_end_matches(" + finding");
        match (class, self.phase.as_str()) {
            ("pass" | "pass+finding", _) => ("pass", None),
            ("tool error", _) | ("protocol error", "subject") => ("fail", None),
            ("protocol error", _) => ("error", Some("protocol-error")),
            ("violation", _) => ("error", Some("violation")),
            ("transport error", _) => ("error", Some("transport")),
            ("crash", _) => ("error", Some("crash")),
            ("timeout", _) => ("error", Some("timeout")),
            other => panic!("a class that nothing is known of: {other:?}"),
        }
    }
}

const CALL: &str = "assert: {tool: test_simple_text, expect: {not_error: true}}";

/// Every fault of the binary's own list, and the variants.
fn cases() -> Vec<Case> {
    let list = Project::new().run(&["serve", "--list", "--json"]).json();
    let faults = list["faults"].as_array().unwrap();
    let text = |fault: &Value, key: &str| fault[key].as_str().unwrap().to_owned();
    let group = |id: &str| {
        let fault = faults.iter().find(|fault| fault["id"] == id).unwrap();
        text(fault, "group")
    };
    let variants = VARIANTS.iter().map(|(fault, class, phase)| Case {
        fault: (*fault).to_owned(),
        class: (*class).to_owned(),
        phase: (*phase).to_owned(),
        group: group(fault.split(':').next().unwrap()),
        transport: "stdio",
    });
    let over = |(name, transport): (&'static str, &'static str)| {
        let carried = move |fault: &&Value| {
            let transports = fault["transports"].as_array().unwrap();
            transports.contains(&name.into())
        };
        let class = match transport {
            "stdio" => "class",
            _ => "class_over_http",
        };
        let named = move |fault: &Value| match (text(fault, "id").as_str(), transport) {
            ("progress-flood", "http" | "sse") => FLOOD.to_owned(),
            (id, _) => id.to_owned(),
        };
        faults.iter().filter(carried).map(move |fault| Case {
            fault: named(fault),
            class: text(fault, class),
            phase: text(fault, "phase"),
            group: text(fault, "group"),
            transport,
        })
    };
    TRANSPORTS
        .into_iter()
        .flat_map(over)
        .chain(variants)
        .filter(|case| !SECOND_LIST.contains(&case.id()))
        .collect()
}

fn suite(cases: &[&Case]) -> String {
    let mut yaml = String::new();
    for case in cases {
        let (fault, transport, server) = (&case.fault, case.transport, case.server());
        let (subject, timeout) = (case.subject(), case.deadline_ms());
        write!(
            yaml,
            "---\nname: '{transport} {fault}'\ntimeout: {timeout}ms\nserver: {server}\n{subject}\n"
        )
        .unwrap();
    }
    yaml
}

fn codes(outcome: &Value) -> BTreeSet<&str> {
    let findings = outcome["findings"].as_array().unwrap();
    findings
        .iter()
        .map(|finding| finding["code"].as_str().unwrap())
        .collect()
}

/// What is wrong with an outcome; nothing when it is as promised.
fn deviation(case: &Case, outcome: &Value, record: &Value) -> Option<String> {
    let mut wrong = Vec::new();
    let (kind, reason) = case.outcome();
    if outcome["kind"] != kind || outcome["cause"].as_str() != reason {
        wrong.push(format!(
            "{} {}, not {kind} {reason:?}",
            outcome["kind"], outcome["cause"]
        ));
    }
    if kind == "error" && outcome["phase"] != case.phase {
        wrong.push(format!("in phase {}", outcome["phase"]));
    }
    let wanted = case.findings();
    // By stdin, the server may have waited for what cancels it.
    let may_wait = case.fault == "reply-after-cancel";
    assert!(
        case.class.contains("finding") != wanted.is_empty() || !wanted.is_empty() || may_wait,
        "{}: the finding is not in the table above",
        case.fault
    );
    if codes(outcome) != wanted.iter().copied().collect() {
        wrong.push(format!("findings {:?}", codes(outcome)));
    }
    let took = outcome["duration_ms"].as_u64().unwrap();
    if !case.times_out() && took > LONG_MS / 2 || took > case.deadline_ms() + SLACK_MS {
        wrong.push(format!("only after {took} ms"));
    }
    if case.times_out() && took < SHORT_MS {
        wrong.push(format!("before its deadline, after {took} ms"));
    }
    if let Some((_, end)) = ENDS.iter().find(|(fault, _)| *fault == case.fault) {
        let seen = &record["evidence"]["exit"];
        let told = outcome["detail"].as_str().unwrap().contains(end);
        if seen != end || !told {
            wrong.push(format!("ended with {seen}"));
        }
    }
    let shows_frame = reason == Some("violation") && case.phase == "subject";
    if shows_frame && record["evidence"]["disruption"]["frame"].is_null() {
        wrong.push("shows no frame".to_owned());
    }
    let (transport, fault) = (case.transport, &case.fault);
    (!wrong.is_empty()).then(|| format!("{transport} {fault}: {}\n{outcome:#}", wrong.join("; ")))
}

/// Text of servers must not control the terminal of a reader.
fn assert_clean(what: &str, text: &str) {
    let raw = text
        .chars()
        .find(|one| one.is_control() && !matches!(one, '\n' | '\t'));
    assert_eq!(raw, None, "a raw control character in {what}");
}

/// The same inside the strings of JSON, where escapes hide it.
fn assert_clean_inside(what: &str, value: &Value) {
    match value {
        Value::String(text) => assert_clean(what, text),
        Value::Array(items) => items
            .iter()
            .for_each(|item| assert_clean_inside(what, item)),
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            assert_clean(what, key);
            assert_clean_inside(what, value);
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

const REPORTS: [&str; 7] = [
    "--json",
    "--report-json",
    "run.json",
    "--junit",
    "junit.xml",
    "--markdown",
    "report.md",
];

fn run(project: &Project, more: &[&str]) -> Ended {
    let mut arguments = vec!["run", "evals", "--jobs", "8"];
    arguments.extend(REPORTS);
    arguments.extend(more);
    let ended = Running::start(project, &arguments).end();
    ended.left_nothing();
    for report in ["run.json", "junit.xml", "report.md"] {
        assert_clean(report, &project.read(report));
    }
    assert_clean_inside("--json", &ended.json());
    assert_clean_inside("run.json", &run_json(project));
    ended
}

fn run_json(project: &Project) -> Value {
    serde_json::from_str(&project.read("run.json")).unwrap()
}

#[test]
fn matrix_of_faults_and_transports_each_is_reported_as_what_it_is() {
    println!(
        "{}",
        matrix(|case, stdio| case.transport == "stdio"
            || (case.transport == "http" && !stdio.contains(case.id())))
    );
}

#[test]
fn nightly_matrix_of_the_faults_of_stdio_over_http_too() {
    println!(
        "{}",
        matrix(|case, stdio| case.transport == "http" && stdio.contains(case.id()))
    );
}

#[test]
fn nightly_matrix_of_faults_over_the_older_transport_too() {
    println!("{}", matrix(|case, _| case.transport == "sse"));
}

/// Walks the rows that are wanted, where the ids of the faults of stdio are known; says how many rows these are, and how
/// long they took.
fn matrix(is_wanted: impl Fn(&Case, &BTreeSet<&str>) -> bool) -> String {
    let cases = cases();
    let stdio = cases.iter().filter(|it| it.transport == "stdio");
    let stdio: BTreeSet<&str> = stdio.map(Case::id).collect();
    let all = cases.iter().filter(|it| is_wanted(it, &stdio));
    let all: Vec<&Case> = all.collect();
    let project = Project::with_suite(&suite(&all));
    let ended = run(&project, &[]);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let outcomes = ended.json();
    let outcomes = outcomes.as_array().unwrap();
    assert_eq!(outcomes.len(), all.len());
    let stored = run_json(&project);
    let wrong: Vec<String> = all
        .iter()
        .enumerate()
        .filter_map(|(at, case)| deviation(case, &outcomes[at], &stored["assertions"][at]))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let took = |times_out: bool| {
        let of = all
            .iter()
            .zip(outcomes)
            .filter(|(case, _)| case.times_out() == times_out);
        of.map(|(_, outcome)| outcome["duration_ms"].as_u64().unwrap())
            .max()
            .unwrap()
    };
    let (rows, waited, longest) = (all.len(), took(true), took(false));
    format!(
        "{rows} rows; the longest took {longest} ms of {LONG_MS}, and of those that wait for {SHORT_MS} ms {waited} ms"
    )
}

#[test]
fn a_list_that_changes_between_two_fetches_of_a_session_is_told() {
    for fault in SECOND_LIST {
        let lists = |name: &str| {
            format!(
                "name: {name}\nserver: {{builtin: conformance, args: [--fault, {fault}]}}\n\
                 assert_tools: {{expect: {{not_error: true}}}}\n"
            )
        };
        let project = Project::with_suite(&format!("{}---\n{}", lists("one"), lists("two")));
        let outcomes = run(&project, &["--reuse-server"]).json();
        assert!(codes(&outcomes[0]).is_empty(), "{outcomes:#}");
        let wanted = ["list-changed-silently"].into_iter().collect();
        assert_eq!(codes(&outcomes[1]), wanted, "{outcomes:#}");
        assert_eq!(outcomes[1]["kind"], "pass", "{outcomes:#}");
    }
}

#[test]
fn what_is_legal_in_one_revision_or_wanted_by_nobody_changes_the_verdict() {
    let suite = "\
name: a batch where batches exist
server: {builtin: conformance, args: [--fault, batch-reply], protocol: 2025-03-26}
assert: {tool: test_simple_text, expect: {not_error: true, findings: none}}
---
name: structured content against its schema
server: {builtin: conformance, args: [--fault, structured-mismatch]}
assert: {tool: test_simple_text, expect: {output_schema: true}}
---
name: no structured content
server: {builtin: conformance, args: [--fault, structured-missing]}
assert: {tool: test_simple_text, expect: {output_schema: true}}
---
name: logs below the level
server: {builtin: conformance, args: [--fault, log-below-level]}
assert_logging: {set_level: error, tool: test_simple_text, expect: {not_below: error}}
---
name: every digit
server: {builtin: conformance, args: [--fault, big-int]}
assert:
  tool: test_simple_text
  expect: {structured: {$.integers.above_63_bits: 9223372036854775809, $.integers.forty_digits: 1234567890123456789012345678901234567890}}
";
    let project = Project::with_suite(suite);
    let ended = run(&project, &[]);
    let outcomes = ended.json();
    let kinds: Vec<&str> = outcomes
        .as_array()
        .unwrap()
        .iter()
        .map(|outcome| outcome["kind"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["pass", "fail", "fail", "fail", "pass"],
        "{outcomes:#}"
    );
}

#[test]
fn hostile_text_is_shown_and_steers_nothing() {
    let mut suite = String::new();
    for fault in [
        "terminal-escape",
        "prompt-injection",
        "stdout-ansi",
        "nul-byte",
        "invalid-utf8",
        "lone-surrogate",
        "stdout-noise-midline",
    ] {
        write!(
            suite,
            "---\nname: {fault}\nserver: {{builtin: conformance, args: [--fault, {fault}]}}\n\
             assert: {{tool: test_simple_text, expect: {{equals: something else}}}}\n"
        )
        .unwrap();
    }
    let project = Project::with_suite(&suite);
    run(&project, &["--trace"]);
    let arguments = ["run", "evals", "--trace"];
    let ended = Running::start(&project, &arguments).end();
    ended.left_nothing();
    assert_eq!(ended.code, Some(1));
    for text in [&ended.stdout, &ended.stderr, &project.read("junit.xml")] {
        assert_clean("the output", text);
        let command = text.lines().find(|line| {
            let line = line.trim_start();
            line.starts_with("::") || line.starts_with("##[")
        });
        assert_eq!(command, None, "a workflow command");
    }
    assert!(ended.stdout.contains("::error"), "{}", ended.stdout);
}

#[test]
fn nightly_with_strict_protocol_each_finding_is_red() {
    let cases = cases();
    let with_finding: Vec<&Case> = cases
        .iter()
        .filter(|case| case.class == "pass+finding")
        .collect();
    // An assertion that says which findings it allows is judged by that alone.
    let unsaid = suite(&with_finding)
        .replace(", findings: [exited-early, no-final-newline]", "")
        .replace(", findings: [exited-early]", "");
    let project = Project::with_suite(&unsaid);
    let ended = run(&project, &["--strict-protocol"]);
    let outcomes = ended.json();
    for (case, outcome) in with_finding.iter().zip(outcomes.as_array().unwrap()) {
        assert_eq!(outcome["kind"], "fail", "{}\n{outcome:#}", case.fault);
    }
}
