//! The container action: which inputs do what, and which are refused.
#![cfg(unix)]

use std::{fs, os::unix::fs::symlink, process::Command};

use crate::{
    harness::{BINARY, Project, Ran},
    workflow_log::runner::read,
};

const SUITE: &str = "name: a\nserver: {builtin: conformance}\n\
    assert: {tool: echo, args: {message: x}, expect: {contains: x}}\n";

/// Runs the action with these inputs, as the runner does.
fn action(project: &Project, inputs: &[(&str, &str)], words: &[&str]) -> Ran {
    let link = project.path().join("mcp-assert-action");
    if !link.exists() {
        symlink(BINARY, &link).unwrap();
    }
    let mut command = Command::new(link);
    command
        .args(words)
        .current_dir(project.path())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_WORKSPACE", project.path())
        .env("ACTIONS_RUNTIME_TOKEN", "runtime-secret")
        .env("GITHUB_OUTPUT", project.path().join("output"))
        .env("GITHUB_STEP_SUMMARY", project.path().join("summary"));
    for (name, value) in inputs {
        command.env(format!("INPUT_{}", name.to_uppercase()), value);
    }
    project.finish(command)
}

#[test]
fn inputs_choose_what_runs() {
    let project = Project::with_suite(SUITE);
    let isolation = ("isolation", "process");
    let ran = action(
        &project,
        &[isolation, ("suite", "evals\n"), ("junit", "")],
        &[],
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    let told = fs::read_to_string(project.path().join("output")).unwrap();
    assert!(told.contains("\npass\n"), "{told}");
    let ran = action(&project, &[isolation, ("filter", "none*")], &[]);
    assert_eq!(ran.code, 4, "{}", ran.stdout);
    let ran = action(
        &project,
        &[isolation, ("filter", "none*"), ("allow-empty", "true")],
        &[],
    );
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn an_input_of_the_go_tools_action_stops_nothing() {
    let project = Project::with_suite(SUITE);
    let inputs = [("isolation", "process"), ("version", "v0.12.3")];
    let ran = action(&project, &inputs, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let warning = "warning: the input `version` is ignored";
    assert!(ran.stdout.contains(warning), "{}", ran.stdout);
}

#[test]
fn a_threshold_that_is_given_is_asked_of_a_stored_run() {
    let project = Project::with_suite(&format!(
        "{SUITE}---\n{}",
        SUITE.replace("contains: x", "contains: y")
    ));
    let run = [
        ("isolation", "process"),
        ("threshold", "50"),
        ("report-json", "run.json"),
    ];
    let ran = action(&project, &run, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let case = |given: &[(&str, &str)], code| {
        let told = [("mode", "merge"), ("blobs", "run.json")];
        let ran = action(&project, &[&told[..], given].concat(), &[]);
        assert_eq!(ran.code, code, "{given:?}\n{}", ran.stdout);
    };
    case(&[], 0);
    case(&[("threshold", "")], 0);
    case(&[("threshold", "40")], 0);
    case(&[("threshold", "100")], 1);
}

#[test]
fn what_is_not_understood_is_refused() {
    let project = Project::with_suite(SUITE);
    let case = |inputs: &[(&str, &str)], words: &[&str], wanted: &str| {
        let [output, summary] = ["output", "summary"].map(|file| project.path().join(file));
        for file in [&output, &summary] {
            fs::write(file, "").unwrap();
        }
        let ran = action(&project, inputs, words);
        assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{}", ran.stdout);
        assert!(ran.stdout.starts_with("mcp-assert "), "{}", ran.stdout);
        assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
        assert!(!ran.stdout.contains("--help"), "{}", ran.stdout);
        let step = read(ran.stdout.as_bytes());
        let obeyed: Vec<&str> = step.obeyed.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(obeyed, ["error"], "{}", ran.stdout);
        let told = fs::read_to_string(output).unwrap();
        assert!(
            told.contains("verdict<<") && told.contains("\ninvalid\n"),
            "{told}"
        );
        assert!(
            told.contains("comment<<") && told.contains("\noff\n"),
            "{told}"
        );
        let summary = fs::read_to_string(summary).unwrap();
        assert!(
            summary.starts_with("### ⚠️ mcp-assert · invalid\n"),
            "{summary}"
        );
    };
    case(
        &[("fail_on_regression", "true")],
        &[],
        "did you mean `fail-on-regression`?",
    );
    case(&[("args", "run")], &[], "unknown input `args`");
    case(&[], &["##[error]run"], "takes inputs and no arguments");
    case(&[("threshold", "many")], &[], "'many' for '--threshold");
    case(&[("threshold", "-1")], &[], "'-1' for '--threshold");
    case(&[("trials", "0")], &[], "'0' for '--trials");
    case(&[("comment", "Always")], &[], "possible values: always");
    case(&[("prepare", "ls")], &[], "--image");
    case(&[("timeout", "30")], &[], "'30' for '--timeout");
    case(&[("isolation", "##[error]chroot")], &[], "process");
    case(&[("mode", "Run")], &[], "did you mean `run`?");
    case(&[("max-shards", "2")], &[], "only with plan");
    for (input, value, wanted) in [
        ("filter", "a", "only with run, plan"),
        ("baseline", "b.json", "only with run, plan, merge"),
        ("fail-on-regression", "true", "only with run, merge"),
        ("comment", "always", "only with run, merge"),
    ] {
        let inputs = [("mode", "shard"), ("shard", "1/2"), (input, value)];
        case(&inputs, &[], wanted);
    }
}

#[test]
fn an_empty_workspace_names_the_missing_checkout() {
    let project = Project::new();
    let empty = tempfile::tempdir().unwrap();
    let link = project.path().join("mcp-assert-action");
    symlink(BINARY, &link).unwrap();
    let mut command = Command::new(link);
    command
        .current_dir(empty.path())
        .env_clear()
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_WORKSPACE", empty.path())
        .env("INPUT_ISOLATION", "process");
    let ran = project.finish(command);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("`actions/checkout`"), "{}", ran.stdout);
    assert!(ran.stdout.contains("same path"), "{}", ran.stdout);
}

#[test]
fn a_server_beside_us_gets_nothing_of_the_job() {
    let project = Project::with_suite(
        "server: {command: /bin/sh, args: [-c, 'env >&2']}\nassert: {tool: echo}\n",
    );
    let inputs = [
        ("isolation", "process"),
        ("token", "ghs_secret"),
        ("verbose", "false"),
    ];
    let ran = action(&project, &inputs, &[]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    assert!(ran.stdout.contains("GITHUB_ACTIONS=true"), "{}", ran.stdout);
    for name in [
        "ACTIONS_",
        "INPUT_",
        "GITHUB_TOKEN",
        "GITHUB_OUTPUT",
        "runtime-secret",
    ] {
        let step = read(ran.stdout.as_bytes());
        assert!(
            !step.shown.join("\n").contains(name),
            "{name}: {}",
            ran.stdout
        );
    }
}
