//! The output in a GitHub workflow: everything is shown, and the runner executes no command of suites or servers.

pub(crate) use text::workflow::runner;

use self::runner::{Step, read};
use crate::harness::{Project, Ran};

/// A text with commands in both syntaxes, after several kinds of line ends.
const HOSTILE: &str =
    "x\\r::error::cr\\n::add-mask::a\\u2028::set-env name=A::ls #\\u200d#[group]zwj ##[error]v1";

fn hostile() -> Project {
    Project::new()
        .file(
            "evals/a.yaml",
            format!(
                "server: {{builtin: conformance, args: [--stderr, \"{HOSTILE}\"]}}\n\
                 name: \"::error::named ##[group]{HOSTILE}\"\n\
                 assert: {{tool: echo, args: {{message: \"{HOSTILE}\"}}, expect: {{contains: \"::warning::no {HOSTILE}\"}}}}\n",
            ),
        )
        .file("evals/b.yaml", "name: b\nassert: {tool: echo, '##[error]key': 1}\n")
}

fn in_workflow(project: &Project, arguments: &[&str]) -> (Ran, Step) {
    let mut command = project.command(arguments);
    command.env("GITHUB_ACTIONS", "true");
    let ran = project.finish(command);
    let step = read(ran.stdout.as_bytes());
    (ran, step)
}

#[test]
fn nothing_of_a_suite_or_a_server_is_obeyed() {
    let project = hostile();
    let (ran, step) = in_workflow(&project, &["run", "evals"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (2, ""), "{}", ran.stdout);
    assert_eq!(step.obeyed, [], "{}", ran.stdout);
    assert!(step.shown[0].starts_with("mcp-assert "), "{}", ran.stdout);
    assert!(ran.stdout.contains("# #[error]v1") && ran.stdout.contains("# #[error]key"));
}

#[test]
fn frames_stand_where_nothing_is_obeyed() {
    let project = hostile();
    let (ran, step) = in_workflow(&project, &["run", "evals", "--trace"]);
    let names: Vec<&str> = step.obeyed.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["stop-commands"], "{}", ran.stdout);
    assert!(!step.is_stopped);
    assert!(step.obeyed[0].data.len() == 32, "{:?}", step.obeyed);
    assert!(
        step.annotations("error").is_empty() && step.masks.is_empty() && step.failed.is_empty()
    );
}

#[test]
fn reports_on_stdout_are_not_obeyed_and_stay_what_they_are() {
    let project = hostile().file(
        "link/a.yaml",
        "name: 'a ##[error]b'\nserver: {builtin: conformance}\nassert: {tool: echo}\n",
    );
    std::os::unix::fs::symlink("/dev/stdout", project.path().join("out")).unwrap();
    let reports = [
        "results=-",
        "json=/dev/stdout",
        "junit=/dev/fd/1",
        "markdown=out",
        "badge=/proc/self/fd/1",
        "sarif=-",
    ];
    for report in reports {
        let (ran, step) = in_workflow(&project, &["run", "evals", "--report", report]);
        assert_eq!(ran.code, 2, "{report}: {}{}", ran.stdout, ran.stderr);
        assert_eq!(step.obeyed, [], "{report}: {}", ran.stdout);
        let said = read(ran.stderr.as_bytes());
        assert_eq!(said.obeyed, [], "{report}: {}", ran.stderr);
        let format = report.split('=').next().unwrap();
        match format {
            "junit" => {
                let mut reader = quick_junit::Report::deserialize_from_str(&ran.stdout).unwrap();
                assert!(reader.test_suites.pop().is_some(), "{}", ran.stdout);
            }
            "markdown" => assert!(ran.stdout.starts_with('#'), "{}", ran.stdout),
            _ => assert!(!ran.json().is_null(), "{}", ran.stdout),
        }
    }
    for list in [&["--list"][..], &["--list", "--json"]] {
        let (ran, step) = in_workflow(&project, &[&["run", "link"], list].concat());
        assert_eq!((ran.code, step.obeyed.len()), (0, 0), "{}", ran.stdout);
        assert!(ran.stdout.contains("[error]b"), "{}", ran.stdout);
    }
    for report in ["json=/dev/stderr", "junit=/proc/self/fd/2"] {
        let (ran, _) = in_workflow(&project, &["run", "evals", "--report", report]);
        let said = ran.stdout + &ran.stderr;
        assert_eq!(ran.code, 2);
        assert!(
            said.contains("in a workflow, because it is the log"),
            "{said}"
        );
    }
}

#[test]
fn refusals_are_shown_and_not_obeyed() {
    let project = hostile();
    for arguments in [
        &["run", "##[error]no-suite"][..],
        &["run", "evals", "--##[error]x"],
        &["validate", "evals"],
        &["run", "evals", "--json"],
    ] {
        let (ran, _) = in_workflow(&project, arguments);
        let said = ran.stdout + &ran.stderr;
        assert_eq!(read(said.as_bytes()).obeyed, [], "{said}");
        assert!(said.contains("error"), "{arguments:?}: {said}");
    }
    let (ran, _) = in_workflow(&project, &["run", "evals", "--json"]);
    assert!(ran.json().is_array());
}

#[test]
fn a_log_has_colours_and_what_is_long_is_folded() {
    let case = |name: usize, wanted: &str| {
        format!(
            "name: case {name}\nserver: {{builtin: conformance}}\nassert: {{tool: echo, args: {{message: x}}, expect: {{contains: {wanted}}}}}\n"
        )
    };
    let all = (0..12).map(|name| case(name, "y"));
    let all: Vec<String> = all.chain((12..22).map(|name| case(name, "x"))).collect();
    let project = Project::with_suite(&all.join("---\n"));
    for verb in [&["run", "evals"][..], &["ci", "--isolation", "process"]] {
        let run = |change: fn(&mut std::process::Command)| {
            let mut command = project.command(verb);
            command.env("GITHUB_ACTIONS", "true").env_remove("NO_COLOR");
            change(&mut command);
            project.finish(command)
        };
        let ran = run(|_| {});
        let step = read(ran.stdout.as_bytes());
        let groups = step.obeyed.iter().filter(|it| it.name == "group");
        let groups: Vec<&str> = groups.map(|it| it.data.as_str()).collect();
        let folded = [
            "FAIL case 10 (evals/a.yaml:41)",
            "FAIL case 11 (evals/a.yaml:45)",
        ];
        assert_eq!(
            groups,
            [&["22 results"], &folded[..]].concat(),
            "{}",
            ran.stdout
        );
        let ends = step.obeyed.iter().filter(|it| it.name == "endgroup");
        assert_eq!(ends.count(), 3, "{}", ran.stdout);
        // The failure in full and nothing of it before.
        let told = "contains: expected the text to contain `y`";
        assert_eq!(step.shown.iter().filter(|it| it.contains(told)).count(), 0);
        let full = "contains does not hold (evals/a.yaml:";
        let full = step.shown.iter().filter(|it| it.contains(full));
        assert_eq!(full.count(), 12, "{}", ran.stdout);
        assert!(ran.stdout.contains("\u{1b}[32mPASS"), "{}", ran.stdout);
        let plain = run(|it| _ = it.env("NO_COLOR", "1"));
        assert!(!plain.stdout.contains('\u{1b}'), "{}", plain.stdout);
        let forced = run(|it| _ = it.env_remove("GITHUB_ACTIONS").env("FORCE_COLOR", "1"));
        assert!(
            forced.stdout.contains("\u{1b}[32mPASS"),
            "{}",
            forced.stdout
        );
        assert!(!forced.stdout.contains("::group::"), "{}", forced.stdout);
    }
}
