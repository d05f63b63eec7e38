//! How servers in containers end, how runs end that were interrupted or killed, and what is left then: nothing.

use std::{
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{IMAGE, ids, labelled, project, ready, run};
use crate::{engine::docker_says, harness::Project};

#[test]
fn the_end_of_a_server_is_seen_whatever_it_is() {
    if !ready() {
        return;
    }
    let project = project(
        r#"
name: exits
assert: {tool: exit, args: {code: 7}, expect: {exit: {code: 7}}}
---
name: eats its memory
server: {docker: {image: "mcp-assert-test/python:latest", memory: 64m}}
assert: {tool: eat}
---
name: floods stderr
assert: {tool: flood, args: {megabytes: 50}, expect: {contains: flooded, stderr: {contains: last words}}}
---
name: will not end
assert: {tool: deaf, expect: {contains: deaf}}
"#,
    );
    let (ran, seen) = run(&project, &["--timeout", "60s"]);
    let records = seen["assertions"].as_array().unwrap();
    let status = |index: usize| records[index]["status"].as_str().unwrap();
    let said = &ran.stdout;
    assert!(said.contains("exit code 7"), "{said}");
    assert_eq!(status(1), "error");
    assert!(said.contains("out of memory"), "{said}");
    assert!(said.contains("its container may have 64 MiB"), "{said}");
    assert_eq!(status(2), "pass", "{said}");
    assert_eq!(status(3), "pass", "{said}");
    let findings = records[3]["findings"].to_string();
    assert!(findings.contains("ignores-termination"), "{findings}");
    assert_eq!(ids(&seen).len(), 4);
}

/// A run of four assertions that sleep, begun and left alone.
fn sleeping(project: &Project) -> Child {
    let mut command = project.command(&["run", "evals", "--trials", "4", "--jobs", "2"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

fn sleeper(owner: &str) -> Project {
    project(&format!(
        "name: sleeps {owner}\nassert: {{tool: sleep, args: {{seconds: 300}}, expect: {{contains: slept}}}}\n"
    ))
}

/// Waits until a container of this assertion runs.
fn started(owner: &str) {
    let label = format!("label=io.mcp-assert.assertion=a.yaml::sleeps {owner}");
    let begun = Instant::now();
    while docker_says(Path::new("/"), &["ps", "--quiet", "--filter", &label]).is_empty() {
        assert!(begun.elapsed() < Duration::from_mins(1), "nothing starts");
        std::thread::yield_now();
    }
}

#[test]
fn an_interrupt_leaves_nothing() {
    if !ready() {
        return;
    }
    let project = sleeper("until interrupted");
    let mut child = sleeping(&project);
    started("until interrupted");
    let pid = rustix::process::Pid::from_child(&child);
    let begun = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(
        begun.elapsed() < Duration::from_secs(15),
        "{:?}",
        begun.elapsed()
    );
    let left = labelled("io.mcp-assert.assertion=a.yaml::sleeps until interrupted");
    assert_eq!(left, "");
}

#[test]
fn the_next_run_sweeps_what_a_killed_one_left_and_so_does_reap() {
    if !ready() {
        return;
    }
    let label = "io.mcp-assert.assertion=a.yaml::sleeps until killed";
    for sweep in [&["reap"][..], &["run", "next"][..]] {
        let project = sleeper("until killed").file(
            "next/a.yaml",
            format!("name: next\nserver: {{docker: {IMAGE:?}, command: \"true\"}}\nassert: {{tool: x}}\n"),
        );
        let mut child = sleeping(&project);
        started("until killed");
        child.kill().unwrap();
        child.wait().unwrap();
        assert_ne!(labelled(label), "");
        project.run(sweep);
        assert_eq!(labelled(label), "", "{sweep:?}");
    }
}
