//! The sinks of `ci` in a workflow: masks, annotations, step summary, outputs and report files, each read as the runner
//! reads it.

use std::{fs, process::Command};

use crate::{
    harness::{Project, Ran, headline},
    workflow_log::runner::{Step, pairs, read},
};

/// A step of a workflow with its files.
struct Workflow {
    project: Project,
}

/// The result of the step.
struct Told {
    ran: Ran,
    step: Step,
    outputs: Vec<(String, String)>,
    summary: String,
}

impl Workflow {
    fn new(project: Project) -> Self {
        fs::create_dir_all(project.path().join("runner/temp")).unwrap();
        Self { project }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        let path = |name: &str| self.project.path().join(name);
        command
            .env("GITHUB_ACTIONS", "true")
            .env("CI", "true")
            .env("GITHUB_WORKSPACE", self.project.path())
            .env("RUNNER_TEMP", path("runner/temp"))
            .env("GITHUB_OUTPUT", path("runner/output"))
            .env("GITHUB_STEP_SUMMARY", path("runner/summary"));
        command
    }

    fn tell(&self, command: Command) -> Told {
        let ran = self.project.finish(command);
        let text = |name: &str| {
            fs::read_to_string(self.project.path().join("runner").join(name)).unwrap_or_default()
        };
        Told {
            step: read(ran.stdout.as_bytes()),
            outputs: pairs(&text("output")).unwrap(),
            summary: text("summary"),
            ran,
        }
    }

    fn run(&self, arguments: &[&str]) -> Told {
        self.tell(self.command(&[&["ci", "--isolation", "process"], arguments].concat()))
    }
}

impl Told {
    fn output(&self, name: &str) -> &str {
        let found = self.outputs.iter().find(|(known, _)| known == name);
        found.map_or_else(
            || panic!("no output {name}: {:?}", self.outputs),
            |it| it.1.as_str(),
        )
    }
}

fn workflow(suite: &str) -> Workflow {
    Workflow::new(Project::with_suite(suite))
}

fn passing() -> String {
    "name: a\nserver: {builtin: conformance}\nassert: {tool: echo, args: {message: x}, expect: {contains: x}}\n"
        .to_owned()
}

fn failing(name: &str) -> String {
    format!(
        "name: \"{name}\"\nserver: {{builtin: conformance}}\nassert:\n  tool: echo\n  args: {{message: x}}\n  expect:\n    contains: y\n"
    )
}

#[test]
fn a_failure_is_told_everywhere() {
    let suite = format!("{}---\n{}", passing(), failing("##[error]b\\r::error::c"));
    let told = workflow(&suite).run(&["--junit", "out/report.xml", "--report-json", "run.json"]);
    assert_eq!(
        (told.ran.code, told.ran.stderr.as_str()),
        (1, ""),
        "{}",
        told.ran.stdout
    );
    let errors = told.step.annotations("error");
    assert_eq!(
        (errors.len(), told.step.obeyed.len()),
        (1, 1),
        "{}",
        told.ran.stdout
    );
    let at = |name: &str| errors[0].properties[name].as_str();
    assert_eq!(
        (at("file"), at("line"), at("col")),
        ("evals/a.yaml", "11", "5")
    );
    let counts = [
        "passed", "failed", "errors", "skipped", "total", "percent", "verdict",
    ];
    assert_eq!(
        counts.map(|name| told.output(name)),
        ["1", "1", "0", "0", "2", "50.00", "fail"]
    );
    assert_eq!(told.output("junit"), "out/report.xml");
    assert_eq!(
        (told.output("report-json"), told.output("badge")),
        ("run.json", "")
    );
    let wanted = "### ❌ mcp-assert · 1 failure\n\n1 of 2 passed · not compared: no token, so";
    assert!(told.summary.starts_with(wanted), "{}", told.summary);
}

#[test]
fn every_verdict_has_its_exit_code_and_its_outputs() {
    let case = |suite: &str, arguments: &[&str], (code, verdict, percent): (i32, &str, &str)| {
        let told = workflow(suite).run(arguments);
        assert_eq!(told.ran.code, code, "{verdict}: {}", told.ran.stdout);
        let outputs = (told.output("verdict"), told.output("percent"));
        assert_eq!(outputs, (verdict, percent), "{}", told.ran.stdout);
        assert_eq!(told.outputs.len(), 17);
        assert!(
            told.summary.starts_with(&headline(verdict)),
            "{}",
            told.summary
        );
    };
    case(&passing(), &[], (0, "pass", "100.00"));
    case(&failing("a"), &[], (1, "fail", "0.00"));
    case(&failing("a"), &["--threshold", "0"], (0, "pass", "0.00"));
    case("name: a\nasert: {}\n", &[], (2, "invalid", "0.00"));
    case(&passing(), &["--filter", "nothing*"], (4, "empty", ""));
    case(
        &passing(),
        &["--filter", "nothing*", "--allow-empty"],
        (0, "pass", ""),
    );
    case(&passing(), &["--junit", "evals"], (3, "error", "100.00"));
}

#[test]
fn a_command_line_that_cannot_be_used_has_its_outputs_too() {
    let told = workflow(&passing()).run(&["--threshold", "101"]);
    assert_eq!(told.ran.code, 2, "{}", told.ran.stdout);
    assert_eq!(told.output("verdict"), "invalid");
    assert_eq!(told.outputs.len(), 17);
    assert!(
        told.ran.stdout.contains("--threshold"),
        "{}",
        told.ran.stdout
    );
    assert!(told.summary.contains("threshold"), "{}", told.summary);
}

#[test]
fn switches_turn_sinks_off() {
    let told = workflow(&failing("a")).run(&["--annotations", "off", "--summary", "off"]);
    assert_eq!((told.step.obeyed.len(), told.summary.as_str()), (0, ""));
    assert_eq!(told.output("verdict"), "fail");
}

#[test]
fn secrets_are_masked_before_anything_is_said_and_stand_in_no_file() {
    let suite = "name: a\nserver: {builtin: conformance, env: {KEY: \"${KEY}\"}, args: [--stderr, \"it is line-one\"]}\n\
        assert: {tool: echo, args: {message: \"line-two ghs_token eC1hY2Nlc3MtdG9rZW46Z2hzX3Rva2Vu\"}, expect: {contains: y}}\n";
    let workflow = workflow(suite);
    let arguments = [
        "ci",
        "--isolation",
        "process",
        "--report-json",
        "run.json",
        "--markdown",
        "page.md",
    ];
    let mut command = workflow.command(&[&arguments[..], &["--junit", "j.xml"]].concat());
    command
        .env("KEY", "line-one\nline-two")
        .env("GITHUB_TOKEN", "ghs_token");
    let told = workflow.tell(command);
    assert_eq!(told.ran.code, 1, "{}", told.ran.stdout);
    let first: Vec<&str> = told.step.obeyed.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(first[0], "add-mask");
    for secret in [
        "ghs_token",
        "line-one",
        "line-two",
        "eC1hY2Nlc3MtdG9rZW46Z2hzX3Rva2Vu",
    ] {
        assert!(
            told.step.masks.iter().any(|mask| mask == secret),
            "{secret}"
        );
        let shown = told.step.shown.join("\n");
        assert!(!shown.contains(secret), "{shown}");
        for file in [
            "run.json",
            "page.md",
            "j.xml",
            "runner/summary",
            "runner/output",
        ] {
            assert!(
                !workflow.project.read(file).contains(secret),
                "{file}: {secret}"
            );
        }
        for annotation in told.step.annotations("error") {
            assert!(!annotation.data.contains(secret), "{annotation:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn reports_stay_in_the_workspace() {
    let workflow = workflow(&passing());
    let outside = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), workflow.project.path().join("link")).unwrap();
    let told = workflow.run(&["--junit", "link/report.xml", "--badge", "badge.json"]);
    assert_eq!(
        (told.ran.code, told.output("verdict")),
        (3, "error"),
        "{}",
        told.ran.stdout
    );
    assert!(
        told.summary.contains("leads outside of"),
        "{}",
        told.summary
    );
    assert_eq!(
        (told.output("junit"), told.output("badge")),
        ("", "badge.json")
    );
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_hyphen_is_no_file() {
    let project = Project::with_suite(
        "name: a\nserver: {builtin: conformance}\nassert: {tool: echo, expect: {not_error: true}}\n",
    );
    for option in [
        "--junit",
        "--report-json",
        "--markdown",
        "--update-baseline",
    ] {
        let ran = project.run(&["ci", "--isolation", "process", option, "-"]);
        assert_eq!(ran.code, 2, "{option}: {}{}", ran.stdout, ran.stderr);
        let said = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            said.contains(&format!("`{option} -` is not a file")),
            "{said}"
        );
    }
    let saved = project.run(&["run", "evals", "--save-baseline", "-"]);
    assert_eq!(saved.json()["format"], "mcp-assert/baseline");
    let both = ["run", "evals", "--save-baseline", "-", "--junit", "-"];
    assert_eq!(project.run(&both).code, 2);
    let settings = "report: [junit=-]\n";
    let project = project.file("evals/mcp-assert.yaml", settings);
    let ran = project.run(&["run", "evals"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("<?xml"), "{}", ran.stdout);
    assert!(
        ran.stdout.trim_end().ends_with("</testsuites>"),
        "{}",
        ran.stdout
    );
    assert!(!project.path().join("-").exists());
}

#[test]
fn a_report_in_the_summary_of_the_step_is_there_once_and_takes_nothing_away() {
    let summary = "runner/summary";
    let link = |project: &Project| {
        let link = project.path().join("link.md");
        std::os::unix::fs::symlink(project.path().join(summary), link).unwrap();
    };
    let spellings = ["runner/summary", "./runner/../runner/summary", "link.md"];
    let switches = ["--summary=auto", "--summary=off"];
    for (path, switch) in spellings
        .iter()
        .flat_map(|path| switches.map(|it| (*path, it)))
    {
        let workflow = Workflow::new(Project::with_suite(&passing()).file(summary, "theirs\n"));
        link(&workflow.project);
        let told = workflow.run(&["--markdown", path, switch]);
        assert_eq!(told.ran.code, 0, "{}", told.ran.stdout);
        let said = &told.summary;
        assert!(said.starts_with("theirs\n"), "{path} {switch}: {said}");
        assert_eq!(said.matches(" mcp-assert · ").count(), 1, "{said}");

        let workflow = Workflow::new(Project::with_suite(&passing()).file(summary, "theirs\n"));
        link(&workflow.project);
        let told = workflow.tell(workflow.command(&["run", "evals", "--markdown", path]));
        assert_eq!(told.ran.code, 0, "{}", told.ran.stdout);
        assert!(
            told.summary.starts_with("theirs\n"),
            "{path}: {}",
            told.summary
        );
        assert_eq!(
            told.summary.matches(" mcp-assert · ").count(),
            1,
            "{}",
            told.summary
        );
    }
}

#[test]
fn no_report_is_written_over_a_file_of_the_runner() {
    let case = |option: &str, name: &str, path: &str| {
        for verb in [&["run", "evals"][..], &["ci", "--isolation", "process"]] {
            let workflow = Workflow::new(Project::with_suite(&passing()).file(path, "theirs=1\n"));
            let mut command = workflow.command(&[verb, &[option, path]].concat());
            command.env("GITHUB_ENV", workflow.project.path().join("runner/env"));
            let ran = workflow.project.finish(command);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(ran.code, 2, "{said}");
            let wanted =
                format!("`{option}` would write over `{path}`, the runner's own file `{name}`");
            assert!(said.contains(&wanted), "{said}");
            assert!(workflow.project.read(path).starts_with("theirs=1\n"));
        }
    };
    case("--markdown", "GITHUB_OUTPUT", "runner/output");
    case("--junit", "GITHUB_ENV", "runner/env");
    case("--junit", "GITHUB_STEP_SUMMARY", "runner/summary");
}

#[test]
fn a_plan_that_cannot_be_made_is_told_on_every_way_out() {
    let case = |suite: &str, arguments: &[&str], (code, verdict): (i32, &str), why: &str| {
        let workflow = workflow(suite);
        let told = workflow.tell(workflow.command(&[&["ci", "plan"], arguments].concat()));
        assert_eq!(told.ran.code, code, "{arguments:?}: {}", told.ran.stdout);
        assert_eq!(told.output("verdict"), verdict);
        assert_eq!((told.output("total"), told.output("percent")), ("0", ""));
        let mut lines = told.ran.stdout.lines();
        let marked = lines.any(|line| line.starts_with("::error ") && line.contains(why));
        assert!(marked, "{why}: {}", told.ran.stdout);
        assert!(
            told.summary.starts_with(&headline(verdict)),
            "{}",
            told.summary
        );
        assert!(!workflow.project.path().join("plan.json").exists());
    };
    let good = passing();
    let broken = passing() + "bogus: 1\n";
    let invalid = (2, "invalid");
    case(&broken, &["--plan", "plan.json"], invalid, "bogus");
    case(&good, &["--suite", "nope"], invalid, "nope");
    case(
        &good,
        &["--target-duration", "5"],
        invalid,
        "--target-duration",
    );
    case(
        &good,
        &["--plan", "evals/a.yaml"],
        invalid,
        "a file of the suite",
    );
    case(&good, &["--plan", "../x.json"], (3, "error"), "x");
    case(&good, &["--baseline", "none.json"], invalid, "none");
    case(&good, &["--shards", "0"], invalid, "--shards");
    // Without outputs, stderr has everything.
    let project = Project::with_suite(&broken);
    let ran = project.run(&["ci", "plan"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn a_plan_of_a_strangers_head_is_told_of_and_not_made() {
    let workflow = workflow(&passing());
    let mut command = workflow.command(&["ci", "plan"]);
    command
        .env("GITHUB_EVENT_NAME", "pull_request_target")
        .env("GITHUB_SHA", "1".repeat(40));
    let told = workflow.tell(command);
    assert_eq!((told.ran.code, told.output("verdict")), (2, "invalid"));
    assert!(told.summary.contains("invalid"), "{}", told.summary);
}
