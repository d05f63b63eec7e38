//! The container action: which inputs do what, and which are refused.
#![cfg(unix)]

use std::{fs, os::unix::process::CommandExt, process::Command};

use crate::{
    engine::engine,
    harness::{BINARY, Project, Ran},
    workflow_log::runner::read,
};

const SUITE: &str = "name: a\nserver: {builtin: conformance}\n\
    assert: {tool: echo, args: {message: x}, expect: {contains: x}}\n";

/// Runs the action with these inputs, as the runner does.
fn action(project: &Project, inputs: &[(&str, &str)], words: &[&str]) -> Ran {
    let mut command = started(project, inputs);
    command.args(words);
    project.finish(command)
}

/// The action's command.
fn started(project: &Project, inputs: &[(&str, &str)]) -> Command {
    let mut command = Command::new(BINARY);
    command
        .arg0("mcp-assert-action")
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
    command
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
    case(
        &[("threshold", "many")],
        &[],
        "the input `threshold` is `many`: expected",
    );
    case(&[("threshold", "-1")], &[], "the input `threshold` is `-1`");
    case(&[("trials", "0")], &[], "the input `trials` is `0`");
    case(&[("comment", "Always")], &[], "not one of `always`, ");
    case(&[("prepare", "ls")], &[], "needs the input `image`");
    case(&[("timeout", "30")], &[], "the input `timeout` is `30`: ");
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

/// Asserts that a run ends with this code, and that annotations and the summary hold these texts.
fn tells(project: &Project, inputs: &[(&str, &str)], code: i32, told: &[&str]) {
    let summary = project.path().with_extension("summary");
    fs::write(&summary, "").unwrap();
    let mut command = started(project, inputs);
    command.env("GITHUB_STEP_SUMMARY", &summary);
    let ran = project.finish(command);
    assert_eq!(ran.code, code, "{inputs:?}: {}", ran.stdout);
    let errors = read(ran.stdout.as_bytes()).annotations("error");
    let errors: Vec<&str> = errors.iter().map(|it| it.data.as_str()).collect();
    let shown = fs::read_to_string(&summary).unwrap().replace("<wbr>", "");
    fs::remove_file(&summary).unwrap();
    // Signs are written as numbers there.
    let sign = regex::Regex::new("&#([0-9]+);").unwrap();
    let shown = sign.replace_all(&shown, |found: &regex::Captures<'_>| {
        char::from(found[1].parse::<u8>().unwrap()).to_string()
    });
    // A page marks names, and also words that look like code, with tags.
    let unmarked = |text: &str| {
        let signs = ["<code>", "</code>", "`"].into_iter();
        signs.fold(text.to_owned(), |text, sign| text.replace(sign, ""))
    };
    let shown = unmarked(&shown);
    for wanted in told {
        let annotated = errors.iter().any(|it| it.contains(wanted));
        assert!(annotated, "{wanted}: {errors:#?}");
        assert!(shown.contains(&unmarked(wanted)), "{wanted}: {shown}");
    }
}

/// What a reader of the job sees of a run that did not start: cause and next step, each in annotations and summary.
#[test]
fn what_keeps_a_run_from_starting_is_told_with_the_next_step() {
    let process = ("isolation", "process");
    tells(
        &Project::new(),
        &[process],
        2,
        &["cannot read `evals`", "`actions/checkout` in a step before"],
    );
    let other = Project::new().file("README.md", "x");
    tells(
        &other,
        &[process],
        2,
        &["cannot read `evals`", "a suite is a folder or a YAML file"],
    );
    let project = Project::with_suite(SUITE);
    let wrong = [
        ("coment", "off"),
        ("timeout", "soon"),
        ("isolation", "contaner"),
        ("verbose", "yes"),
        ("prepare", "x"),
    ];
    let told = [
        "unknown input `coment`, did you mean `comment`?",
        "the input `timeout` is `soon`",
        "the input `isolation` is `contaner`, and not one of `container`, `process`, did you mean `container`?",
        "the input `verbose` is `true` or `false`",
        "the input `prepare` needs the input `image`",
    ];
    tells(&project, &wrong, 2, &told);
    let own = Project::with_suite("server: {command: no-such-runtime}\nassert: {tool: echo}\n");
    let told = [
        "finds no `no-such-runtime`",
        "the input `image`",
        "mcp-assert/action/setup@v1",
    ];
    tells(&own, &[process], 3, &told);
    tells(&own, &[], 3, &["nothing names the image of its container"]);
    let without = [
        ("docker-host", "unix:///nowhere/docker.sock"),
        ("image", "x"),
    ];
    let told = [
        "no container engine can be used",
        "start Docker or Podman",
        "mcp-assert/action/setup@v1",
    ];
    tells(&own, &without, 3, &told);
    if engine() {
        let image = [("image", "mcp-assert-test/node:latest")];
        tells(
            &own,
            &image,
            3,
            &["was not found in the image", "install the program"],
        );
    }
}

#[test]
fn what_a_secret_hands_over_reaches_the_server_and_no_report() {
    let project = Project::with_suite(
        "server: {command: /bin/sh, args: [-c, 'echo $KEY $OTHER >&2; exit 1'], env: {KEY: '${KEY}'}}\n\
         assert: {tool: echo}\n",
    );
    let mut command = started(
        &project,
        &[("isolation", "process"), ("report-json", "run.json")],
    );
    let lines = "KEY=first-secret\n\nOTHER=second-secret\n";
    command.env("MCP_ASSERT_ENV", lines);
    let ran = project.finish(command);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let step = read(ran.stdout.as_bytes());
    let masked: Vec<&str> = step
        .obeyed
        .iter()
        .filter(|it| it.name == "add-mask")
        .map(|it| it.data.as_str())
        .collect();
    for secret in ["first-secret", "second-secret"] {
        assert!(masked.contains(&secret), "{masked:?}");
        assert!(!project.read("run.json").contains(secret));
    }
    assert!(
        project.read("run.json").contains("***"),
        "{}",
        project.read("run.json")
    );
    let mut command = started(&project, &[("isolation", "process")]);
    command.env("MCP_ASSERT_ENV", "KEY=x\nno pair\nGITHUB_TOKEN=y\n");
    let ran = project.finish(command);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    for line in ["line 2 of the secret `env`", "line 3 of the secret `env`"] {
        assert!(ran.stdout.contains(line), "{}", ran.stdout);
    }
}

#[test]
fn another_system_is_named_once_and_its_api_is_not_asked() {
    let project = Project::with_suite(SUITE);
    let inputs = [
        ("isolation", "process"),
        ("token", "t"),
        ("badge-publish", "auto"),
        ("comment", "always"),
    ];
    for (variable, system) in [
        ("GITEA_ACTIONS", "Gitea"),
        ("FORGEJO_ACTIONS", "Forgejo"),
        ("GITLAB_CI", "GitLab"),
    ] {
        let mut command = started(&project, &inputs);
        command
            .env(variable, "true")
            .env("GITHUB_REPOSITORY", "owner/name")
            .env("GITHUB_API_URL", "http://127.0.0.1:1");
        let ran = project.finish(command);
        assert_eq!(ran.code, 0, "{}", ran.stdout);
        let line = format!("note: this is {system}: no comment, baseline or badge is kept there");
        assert_eq!(ran.stdout.matches(&line).count(), 1, "{}", ran.stdout);
        assert!(!ran.stdout.contains("127.0.0.1"), "{}", ran.stdout);
    }
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
