//! Signals during requests to GitHub: no further requests are sent, and all reports agree.

use std::{
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    Step, suite,
    twin::{Fault, Pull, REPOSITORY, Twin, hash},
};
use crate::harness::{Project, until};

/// Answers later than the client waits.
fn later() -> Fault {
    Fault::Status(429, vec![("retry-after", "50".to_owned())])
}

/// Interrupts the command while it waits for GitHub, and returns all its requests.
fn interrupted(project: &Project, mut command: Command, twin: &Twin, asked: &str) -> Vec<String> {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until("never asked", || {
        twin.world().asked.iter().any(|it| it.contains(asked))
    });
    let before = twin.world().asked.clone();
    let begun = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(took < Duration::from_secs(5), "{took:?}: {said}");
    let run = project.read("run.json");
    assert!(run.contains("\"state\":\"interrupted\""), "{run}");
    assert!(project.path().join("report.xml").exists(), "{said}");
    assert_eq!(twin.world().asked, before, "{said}");
    before
}

fn files() -> [&'static str; 4] {
    ["--junit", "report.xml", "--report-json", "run.json"]
}

#[test]
fn an_interrupt_while_the_baseline_is_looked_for_asks_nothing_more() {
    let twin = Twin::start();
    twin.world().fault("GET", "/git/ref/", 1, later());
    let project = Project::with_suite(&suite(1));
    let step = Step::pull_request(&twin, 7);
    let command = step.command(&project, &files());
    let asked = interrupted(&project, command, &twin, "/git/ref/");
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(step.output(&project, "verdict"), "interrupted");
    assert_eq!(step.output(&project, "comment"), "off");
}

#[test]
fn an_interrupt_while_the_comment_is_made_is_the_verdict_everywhere() {
    let twin = Twin::start();
    twin.world().fault("POST", "/issues/7/comments", 1, later());
    twin.world().pulls = vec![Pull::open(7, hash("head"), REPOSITORY)];
    let project = Project::with_suite(&suite(1));
    let step = Step::pull_request(&twin, 7);
    let more = [&files()[..], &["--comment", "always"]].concat();
    let command = step.command(&project, &more);
    interrupted(
        &project,
        command,
        &twin,
        "POST /repos/octo-org/octo-repo/issues/7/comments",
    );
    assert!(twin.world().comments.is_empty());
    assert_eq!(step.output(&project, "verdict"), "interrupted");
}

/// Waits until the signal thread sleeps, and returns how often it has.
fn rest_of_signals_thread(pid: u32) -> u64 {
    let tasks = format!("/proc/{pid}/task");
    let mut rests = None;
    until("nobody hears signals", || {
        rests = std::fs::read_dir(&tasks).unwrap().find_map(|task| {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).ok()?;
            let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key));
            let is_asleep = value("Name:\tsignals").is_some() && value("State:\tS").is_some();
            value("voluntary_ctxt_switches:\t")
                .filter(|_| is_asleep)?
                .parse()
                .ok()
        });
        rests.is_some()
    });
    rests.unwrap()
}

#[test]
fn a_signal_before_the_first_server_is_not_lost() {
    let twin = Twin::start();
    let project = Project::with_suite(&suite(1));
    let step = Step::pull_request(&twin, 7);
    let mut command = step.command(&project, &files());
    // The payload is read before anything runs, and is never written.
    command
        .env("GITHUB_EVENT_PATH", "/dev/stdin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let writer = child.stdin.take().unwrap();
    rest_of_signals_thread(child.id());
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    drop(writer);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(130), "{said}");
    let run = project.read("run.json");
    assert!(run.contains("not run: interrupted"), "{run}");
    assert!(twin.world().asked.is_empty(), "{said}");
}
