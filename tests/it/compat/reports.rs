//! Reports.

use super::run_in;
use crate::harness::Project;

#[cfg(unix)]
/// Go tool: what the server wrote to stderr is never shown.
/// Here: its end is shown with every failure.
#[test]
fn the_last_words_of_a_server_are_shown() {
    let project = Project::with_suite(
        "
name: no key
server: {command: sh, args: [-c, 'echo missing API key FOO_TOKEN >&2; exit 7']}
assert: {tool: echo}
",
    );
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("missing API key FOO_TOKEN"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains('7'), "the exit code: {}", ran.stdout);
}

/// Go tool: code and data of errors are dropped, only the first failing check is reported, texts are cut at 200
/// characters.
/// Here: all mismatches are reported, with file, line and a difference.
#[test]
fn every_mismatch_is_told_with_its_place() {
    let long = format!("{}needle{}", "hay ".repeat(100), " hay".repeat(100));
    let project = Project::with_suite(&format!(
        "
name: two mismatches
server: {{builtin: conformance}}
assert:
  tool: reply
  args: {{text: '{long}'}}
  expect:
    contains: [nowhere]
    equals: '{}'
---
name: an error in full
server: {{builtin: conformance}}
assert:
  tool: error
  args: {{layer: rpc, code: -32050, message: refused, data: {{why: quota}}}}
",
        long.replace("needle", "noodle")
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1);
    for wanted in [
        "nowhere",
        "noodle",
        "needle",
        "evals/a.yaml:8",
        "evals/a.yaml:9",
        "-32050",
        "refused",
        "quota",
    ] {
        assert!(
            ran.stdout.contains(wanted),
            "{wanted} is not in\n{}",
            ran.stdout
        );
    }
}

/// Go tool: `--json` prints other things to standard output as well.
/// Here: one JSON array and nothing else.
#[test]
fn json_is_all_there_is_on_standard_output() {
    let suite = |wanted: &str| {
        format!(
            "name: a\nserver: {{builtin: conformance}}\nassert: {{tool: reply, args: {{text: one}}, expect: {{equals: {wanted}}}}}\n"
        )
    };
    let project = Project::with_suite(&suite("one"));
    assert_eq!(run_in(&project, &["--save-baseline", "b.json"]).ran.code, 0);
    let project = project.file("evals/a.yaml", suite("two"));
    let seen = run_in(&project, &["--baseline", "b.json"]);
    assert_eq!((seen.statuses(), seen.ran.code), (vec!["FAIL"], 1));
}

/// Go tool: `/dev/null` is taken for a terminal.
/// Here: colours and progress only on a terminal.
#[test]
fn what_is_no_terminal_gets_no_colours_and_no_progress() {
    let project = Project::with_suite(
        "server: {builtin: conformance}\nassert: {tool: echo, expect: {contains: [nothing of it]}}\n",
    );
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1);
    for stream in [&ran.stdout, &ran.stderr] {
        assert!(!stream.contains(['\u{1b}', '\r']), "{stream:?}");
    }
}

/// Go tool: JUnit has no reasons for skips, no files, no times, and the same name for each trial.
/// Here: it has them; names are unique.
#[test]
fn junit_names_reasons_files_and_trials() {
    let project = Project::with_suite(
        "
name: passes
server: {builtin: conformance}
assert: {tool: echo}
---
name: skipped
skip: waiting for spring
server: {builtin: conformance}
assert: {tool: echo}
",
    );
    let ran = project.run(&[
        "run",
        "--suite",
        "evals",
        "--trials",
        "2",
        "--junit",
        "junit.xml",
    ]);
    assert_eq!(ran.code, 0);
    let report = project.read("junit.xml");
    for wanted in ["waiting for spring", "a.yaml", "timestamp=", "time="] {
        assert!(report.contains(wanted), "{wanted} is not in\n{report}");
    }
    let names: Vec<&str> = report
        .split("<testcase name=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    let unique: std::collections::BTreeSet<_> = names.iter().collect();
    assert_eq!((names.len(), unique.len()), (4, 4), "{names:?}");
}

/// Go tool: assertions of the same name are one in baselines.
/// Here: identity is file and name, and a counter where both are the same.
#[test]
fn assertions_of_one_name_are_told_apart() {
    let one = "name: same\nserver: {builtin: conformance}\nassert: {tool: echo}\n";
    let project = Project::with_suite(&[one; 2].join("---\n")).file("evals/b.yaml", one);
    let seen = run_in(&project, &["--save-baseline", "b.json"]);
    assert_eq!(seen.statuses(), ["PASS"; 3]);
    let ids: std::collections::BTreeSet<&str> = seen
        .outcomes
        .iter()
        .map(|outcome| outcome["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), 3, "{ids:?}");
    let baseline = project.read("b.json");
    for id in ids {
        assert!(baseline.contains(id), "{id} is not in\n{baseline}");
    }
}

/// Go tool: `--markdown FILE` appends to the file.
/// Here: the file is of this run; what a job collects goes to `GITHUB_STEP_SUMMARY`.
#[test]
fn the_files_of_a_run_are_of_this_run_alone() {
    let project =
        Project::with_suite("name: once\nserver: {builtin: conformance}\nassert: {tool: echo}\n");
    for _ in 0..2 {
        run_in(&project, &["--markdown", "report.md"]);
    }
    let report = project.read("report.md");
    assert_eq!(report.matches(" mcp-assert · ").count(), 1, "{report}");
}

/// Go tool: skips and every trial count in the badge: `1/2` and yellow.
/// Here: neither does: `1/1` and green.
#[test]
fn skips_are_left_out_of_the_badge() {
    let suite = "
name: one
server: {builtin: conformance}
assert: {tool: echo}
---
name: two
server: {builtin: conformance}
assert: {tool: echo}
skip: true
";
    let project = Project::with_suite(suite);
    run_in(&project, &["--badge", "badge.json", "--trials", "2"]);
    let badge = project.read("badge.json");
    assert!(badge.contains("\"1/1"), "{badge}");
    assert!(badge.contains("\"brightgreen\""), "{badge}");
}
