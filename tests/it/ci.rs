//! `mcp-assert ci`: the verdict with its exit code, what counts when several things are wrong, and what is written.

use crate::{
    harness::{Project, Ran},
    running::{Ended, Running},
};

/// A suite of assertions about `echo`, named and expecting the text given; a `skip` is skipped.
pub(crate) fn suite(assertions: &[(&str, &str)]) -> String {
    let documents: Vec<String> = assertions
        .iter()
        .map(|(name, wanted)| {
            let skip = if *wanted == "skip" { "skip: true\n" } else { "" };
            format!(
                "name: {name}\n{skip}server: {{builtin: conformance}}\nassert:\n  tool: echo\n  args: {{message: hello}}\n  \
                 expect:\n    contains: [{wanted}]\n"
            )
        })
        .collect();
    documents.join("---\n")
}

/// Runs `ci` with processes.
fn ci(project: &Project, arguments: &[&str]) -> Ran {
    let mut all = vec!["ci", "--isolation", "process"];
    all.extend(arguments);
    project.run(&all)
}

/// The line with the verdict.
#[track_caller]
fn expect(ran: &Ran, code: i32, verdict: &str) {
    let line = format!("verdict: {verdict}\n");
    assert!(
        ran.code == code && ran.stdout.contains(&line),
        "expected {code} and {verdict}, got {}\n{}\n{}",
        ran.code,
        ran.stdout,
        ran.stderr
    );
}

#[test]
fn each_verdict_has_its_exit_code() {
    let green = suite(&[("a", "hello")]);
    let mixed = suite(&[("a", "hello"), ("b", "bye")]);
    let case = |yaml: &str, arguments: &[&str], code, verdict| {
        expect(&ci(&Project::with_suite(yaml), arguments), code, verdict);
    };
    case(&green, &[], 0, "pass");
    case(&mixed, &[], 1, "fail");
    case(&mixed, &["--threshold", "50"], 0, "pass");
    case(&mixed, &["--threshold", "50.01"], 1, "fail");
    case(&green, &["--suite", "nowhere"], 2, "invalid");
    case("name: a\nsever: {}\n", &[], 2, "invalid");
    case(&green, &["--junit", "evals/a.yaml/report.xml"], 3, "error");
    case(&green, &["--filter", "zzz"], 4, "empty");
    case(&suite(&[("a", "skip")]), &[], 4, "empty");
    case(&suite(&[("a", "skip")]), &["--allow-empty"], 0, "pass");
    case(&green, &["--filter", "zzz", "--allow-empty"], 0, "pass");
    let unstarted = "name: a\nserver: {command: no-such-program-here}\nassert:\n  tool: x\n  expect:\n    is_error: false\n";
    case(unstarted, &[], 3, "error");
    case(&format!("{unstarted}---\n{green}"), &[], 1, "fail");
}

#[test]
fn of_two_causes_the_earlier_row_wins() {
    let mixed = suite(&[("a", "hello"), ("b", "bye")]);
    let broken = format!("{mixed}---\nname: c\nsever: {{}}\n");
    let case = |yaml: &str, arguments: &[&str], code, verdict| {
        expect(&ci(&Project::with_suite(yaml), arguments), code, verdict);
    };
    let unwritable = ["--junit", "evals/a.yaml/report.xml"];
    case(&broken, &unwritable, 2, "invalid");
    case(&mixed, &unwritable, 3, "error");
    case(&broken, &[], 2, "invalid");
    case(
        &mixed,
        &["--filter", "zzz", unwritable[0], unwritable[1]],
        3,
        "error",
    );
}

#[test]
fn a_baseline_file_is_compared_with_before_it_is_written() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "hello")]));
    // Two names of one file.
    let both = ["--baseline", "./b.json", "--save-baseline", "b.json"];
    expect(&ci(&project, &both), 0, "pass");
    let project = project.file("evals/a.yaml", suite(&[("a", "hello"), ("b", "bye")]));
    let lenient = ["--baseline", "b.json", "--threshold", "0"];
    let ran = ci(&project, &lenient);
    expect(&ran, 0, "pass");
    assert!(
        ran.stdout.contains("Regressions detected"),
        "{}",
        ran.stdout
    );
    let mut strict = lenient.to_vec();
    strict.push("--fail-on-regression");
    expect(&ci(&project, &strict), 1, "fail");
    expect(&ci(&project, &["--baseline", "none.json"]), 2, "invalid");
}

#[test]
fn a_baseline_is_not_written_by_a_run_that_is_not_whole() {
    let project = Project::with_suite("name: a\nsever: {}\n");
    expect(&ci(&project, &["--save-baseline", "b.json"]), 2, "invalid");
    assert!(!project.path().join("b.json").exists());
}

#[test]
fn a_run_of_nothing_leaves_the_baseline_as_it_is() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let save = ["--save-baseline", "b.json"];
    expect(&ci(&project, &save), 0, "pass");
    let known = project.read("b.json");
    let nothing = [&save[..], &["--tags", "nightly", "--allow-empty"]].concat();
    expect(&ci(&project, &nothing), 0, "pass");
    assert_eq!(project.read("b.json"), known);
    let compared = [&nothing[..], &["--baseline", "b.json"]].concat();
    expect(&ci(&project, &compared), 0, "pass");
    assert_eq!(project.read("b.json"), known);
    let new = ["--tags", "nightly", "--allow-empty", save[0], "new.json"];
    expect(&ci(&project, &new), 0, "pass");
    assert!(!project.path().join("new.json").exists());
}

/// One assertion that fails, one that never ends, one that does not begin.
fn endless() -> Project {
    let waiting = "name: stuck\nserver: {command: sh, args: [-c, 'echo x >>started; exec sleep 600']}\n\
                   assert: {tool: any, expect: {not_error: true}}\n";
    let around = suite(&[("first", "bye"), ("last", "hello")]);
    let (first, last) = around.split_once("---\n").unwrap();
    Project::with_suite(&format!("{first}---\n{waiting}---\n{last}"))
}

/// Interrupts a run of one job at a time in its second assertion.
fn interrupted(project: &Project, arguments: &[&str]) -> Ended {
    let mut all = vec!["ci", "--isolation", "process", "--jobs", "1"];
    all.extend(arguments);
    let mut running = Running::start(project, &all);
    running.until_file(&project.path().join("started"));
    running.signal("-INT");
    let ended = running.end();
    ended.left_nothing();
    assert_eq!(ended.code, Some(130), "{}{}", ended.stdout, ended.stderr);
    ended
}

#[test]
fn an_interrupt_comes_before_failures_and_broken_files() {
    let project = endless();
    let green = ["--save-baseline", "b.json", "--baseline", "b.json"];
    let ended = interrupted(&project, &[&green[..], &["--junit", "started/x"]].concat());
    assert!(
        ended.stdout.contains("verdict: interrupted\n"),
        "{}",
        ended.stdout
    );
    assert!(ended.stdout.contains("  error: cannot"), "{}", ended.stdout);
    assert!(!project.path().join("b.json").exists());
}

#[test]
fn an_interrupted_shard_leaves_a_result_that_no_merge_takes_for_whole() {
    let project = endless();
    let ran = project.run(&["ci", "plan", "--shards", "1"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    interrupted(&project, &["--shard", "1/1"]);
    let blob = project.read("mcp-assert-blob.json");
    assert!(blob.contains("\"state\":\"interrupted\""), "{blob}");
    std::fs::create_dir(project.path().join("mcp-assert-blobs")).unwrap();
    let project = project.file("mcp-assert-blobs/1.json", blob);
    let merged = project.run(&["ci", "merge", "--badge", "badge.json"]);
    expect(&merged, 3, "incomplete");
    assert!(
        merged.stdout.contains("shard 1 was interrupted"),
        "{}",
        merged.stdout
    );
    assert!(!project.path().join("badge.json").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_that_cannot_be_written_is_an_error_and_the_files_tell_the_run() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "bye")]));
    let full = || std::fs::File::create("/dev/full").unwrap();
    let mut command = project.command(&["ci", "--isolation", "process", "--baseline", "off"]);
    command
        .args(["--junit", "x.xml", "--report-json", "run.json"])
        .env("GITHUB_OUTPUT", project.path().join("output"))
        .stdout(full());
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(!ran.stderr.contains("interrupted"), "{}", ran.stderr);
    let junit = project.read("x.xml");
    assert!(junit.contains("tests=\"2\""), "{junit}");
    let run: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
    assert_eq!(run["judgement"]["verdict"], "error", "{run}");
    assert_eq!(run["end"]["state"], "finished", "{run}");
    let output = project.read("output");
    assert!(output.contains("\nerror\n"), "{output}");
    let mut command = project.command(&["run", "evals", "--junit", "y.xml"]);
    command.stdout(full());
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("cannot write to stdout"),
        "{}",
        ran.stderr
    );
    assert!(project.read("y.xml").contains("tests=\"2\""));
}

#[test]
fn a_strangers_files_do_not_run_with_a_workflows_rights() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let trusted = "1111111111111111111111111111111111111111";
    let case = |head: Option<&str>, allowed: &[&str], code, verdict| {
        let git = project.path().join(".git");
        std::fs::create_dir_all(&git).unwrap();
        match head {
            Some(head) => std::fs::write(git.join("HEAD"), head).unwrap(),
            None => std::fs::remove_dir_all(&git).unwrap(),
        }
        for event in ["pull_request_target", "workflow_run"] {
            let mut command = project.command(&["ci", "--isolation", "process"]);
            command
                .args(allowed)
                .env("GITHUB_EVENT_NAME", event)
                .env("GITHUB_SHA", trusted);
            expect(&project.finish(command), code, verdict);
        }
    };
    case(Some(trusted), &[], 0, "pass");
    case(Some(&trusted.replace('1', "2")), &[], 2, "invalid");
    case(Some("ref: refs/heads/x"), &[], 2, "invalid");
    case(None, &[], 2, "invalid");
    case(None, &["--dangerously-run-untrusted-head"], 0, "pass");
}

#[test]
fn what_the_settings_say_to_run_is_told_not_to_hold_here() {
    let project = Project::with_suite(&suite(&[("a", "hello"), ("b", "bye")])).file(
        "evals/mcp-assert.yaml",
        "threshold: 50\nbaseline: known.json\nreport: [junit=report.xml]\n",
    );
    let ran = ci(&project, &["--baseline", "off"]);
    expect(&ran, 1, "fail");
    for wanted in [
        "`threshold: 50` of the settings is not applied: `ci` takes --threshold",
        "known.json` of the settings is not applied: `ci` takes --baseline",
        "`report` of the settings is not applied: `ci` takes --junit",
    ] {
        assert!(ran.stderr.contains(wanted), "{wanted}: {}", ran.stderr);
    }
    assert!(!project.path().join("report.xml").exists());
}

#[test]
fn a_threshold_of_the_settings_is_a_percentage() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    for (threshold, code) in [("0", 0), ("99.5", 0), ("100", 0), ("101", 2), ("-1", 2)] {
        let settings = project.path().join("evals/mcp-assert.yaml");
        std::fs::write(settings, format!("threshold: {threshold}\n")).unwrap();
        let ran = project.run(&["validate", "evals"]);
        assert_eq!(ran.code, code, "{threshold}: {}{}", ran.stdout, ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        let told = said.contains("expected a percentage from 0 to 100")
            && said.contains("mcp-assert.yaml:1:12");
        assert_eq!(told, code == 2, "{said}");
    }
}

#[test]
fn a_payload_that_is_not_there_is_noted_once() {
    let project = Project::with_suite(&suite(&[("a", "hello")]));
    let mut command = project.command(&["ci", "--isolation", "process"]);
    command.env("GITHUB_EVENT_PATH", "/nowhere/event.json");
    let ran = project.finish(command);
    expect(&ran, 0, "pass");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(said.matches("/nowhere/event.json").count(), 1, "{said}");
}
