//! Crashes, hangs and what is left behind.

use std::time::{Duration, Instant};

use super::{run_in, shell_server};
use crate::harness::Project;

const GOOD: &str = "name: good\nserver: {builtin: conformance}\nassert: {tool: echo}\n";

/// Go tool: a YAML file without `server.command`, or an empty one, crashes the run.
/// Here: files that are not assertions are skipped with a note; a missing command is a problem of its document.
#[test]
fn files_that_are_no_assertions_do_not_end_the_run() {
    let project = Project::new()
        .file("evals/a-empty.yaml", "")
        .file("evals/b-comment.yaml", "# nothing yet\n")
        .file(
            "evals/c-compose.yaml",
            "services:\n  web:\n    image: nginx\n",
        )
        .file("evals/fixtures/config.yaml", "port: 8080\n")
        .file("evals/d-good.yaml", GOOD)
        .file(
            "evals/e-no-command.yaml",
            "name: no command\nassert: {tool: echo}\n",
        );
    let seen = run_in(&project, &["--junit", "junit.xml"]);
    assert_eq!(seen.statuses(), ["PASS", "ERROR"], "{}", seen.details());
    assert_eq!(seen.ran.code, 2);
    assert!(seen.details().contains("command"), "{}", seen.details());
    assert!(project.read("junit.xml").contains("name=\"good\""));
}

/// Go tool: one malformed file ends the run.
/// Here: it is one error in the report; the rest runs; exit code 2.
#[test]
fn a_malformed_file_is_one_error_among_the_results() {
    let project = Project::new()
        .file("evals/a.yaml", GOOD)
        .file("evals/b.yaml", "name: broken\nassert: {tool: [unclosed\n")
        .file(
            "evals/c.yaml",
            "name: wrong type\nserver: {builtin: conformance}\nassert: {tool: echo, expect: {contains: {a: b}}}\n",
        )
        .file("evals/d.yaml", GOOD);
    let seen = run_in(&project, &["--junit", "junit.xml"]);
    assert_eq!(
        seen.statuses(),
        ["PASS", "ERROR", "ERROR", "PASS"],
        "{}",
        seen.details()
    );
    assert_eq!(seen.ran.code, 2);
    assert!(project.read("junit.xml").contains("wrong type"));
}

/// Whether a process runs whose command line holds this word.
#[cfg(target_os = "linux")]
fn running(word: &str) -> bool {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| String::from_utf8_lossy(&line).contains(word))
}

#[cfg(target_os = "linux")]
/// Go tool: processes that the server started survive it.
/// Here: all are ended.
#[test]
fn children_of_the_server_end_with_it() {
    let project = Project::with_suite(
        "
name: hangs with children
server: {command: sh, args: [server.sh]}
timeout: 1s
assert: {tool: any}
",
    )
    .file(
        "server.sh",
        shell_server("*tools/call*) sleep 86391.5 & setsid sleep 86391.5 & ;;"),
    );
    let seen = run_in(&project, &[]);
    assert_eq!(seen.statuses(), ["ERROR"]);
    assert!(!running("86391.5"), "a child of the server lives on");
}

#[cfg(target_os = "linux")]
/// Go tool: Ctrl-C loses results and reports, and leaves servers and copies behind.
/// Here: reports of what finished are written, nothing is left, exit code 130.
#[test]
fn an_interrupted_run_reports_and_leaves_nothing() {
    let project = Project::with_suite(&format!(
        "{GOOD}---\nname: hangs\nserver: {{command: sh, args: [server.sh]}}\ntimeout: 60s\nassert: {{tool: any}}\n"
    ))
    .file("server.sh", shell_server("*tools/call*) touch called; exec sleep 86392.5 ;;"));
    let mut child = project
        .command(&[
            "run",
            "--suite",
            "evals",
            "--jobs",
            "1",
            "--junit",
            "junit.xml",
        ])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while !project.path().join("called").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the tool was never called"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    let process = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(process, rustix::process::Signal::INT).unwrap();
    let sent = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        sent.elapsed() < Duration::from_secs(10),
        "{:?}",
        sent.elapsed()
    );
    assert!(project.read("junit.xml").contains("name=\"good\""));
    assert!(!running("86392.5"), "the server lives on");
}

/// Go tool: a server that ignores the end of its input delays every assertion by seconds.
/// Here: it is ended beside the next assertion; with `--jobs 1` that one waits for at most a second.
#[test]
fn a_stubborn_server_is_ended_beside_the_next_assertion() {
    let one =
        "server: {builtin: conformance, args: [--fault, ignore-stdin-eof]}\nassert: {tool: echo}\n";
    let project = Project::with_suite(&[one; 4].join("---\n"));
    let begun = Instant::now();
    let seen = run_in(&project, &["--jobs", "1"]);
    assert_eq!(seen.statuses(), ["PASS"; 4], "{}", seen.details());
    // One after another they would take four times the five seconds between the end of stdin and the signal; the first
    // shows what the others do.
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
}

#[cfg(unix)]
/// Go tool: a fixture with a named pipe hangs for ever.
/// Here: a problem that names the path.
#[test]
fn a_named_pipe_in_the_fixture_is_a_problem() {
    let project = Project::with_suite(
        "
server: {builtin: conformance}
assert: {tool: echo, args: {message: '{{fixture}}'}}
",
    )
    .file("data/kept.txt", "original");
    let made = std::process::Command::new("mkfifo")
        .arg(project.path().join("data/pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    let begun = Instant::now();
    let ran = project.run(&["run", "--suite", "evals", "--fixture", "data"]);
    assert_ne!(ran.code, 0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("pipe"), "{said}");
    assert!(
        begun.elapsed() < Duration::from_secs(10),
        "{:?}",
        begun.elapsed()
    );
}
