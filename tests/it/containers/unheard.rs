//! Ends of servers that the engine does not tell, or that are of somebody else's doing: nothing is said of the server.

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use super::{
    IMAGE,
    ends::{label_of, sleeper, started},
    engines::{Remote, SOCKET},
    project, ready, run,
};
use crate::engine::docker_says;

/// An engine that cannot say how a container ended.
fn tells_no_end(asked: &[u8]) -> Option<&'static str> {
    let text = String::from_utf8_lossy(asked);
    let line = text.lines().next().unwrap_or_default();
    let answer = "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\n\
                  Content-Length: 17\r\n\r\n{\"message\":\"no\"}\n";
    (line.starts_with("POST") && line.contains("/wait?")).then_some(answer)
}

#[test]
fn an_end_that_the_engine_does_not_tell_is_held_against_nobody() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let ends = "tool: end, args: {code: 3}, expect:";
    let unknown = "how the server ended is not known";
    let cases = [
        ("{not: {exit: 3}}", unknown),
        ("{not: {exit: clean}}", unknown),
        ("{exit: 3}", unknown),
        ("{findings: none}", unknown),
        ("{stderr: {not_contains: boom}}", "stderr is not complete"),
        (
            "{not: {stderr: {contains: boom}}}",
            "stderr is not complete",
        ),
    ];
    let suite: Vec<String> = cases
        .iter()
        .enumerate()
        .map(|(index, (wanted, _))| format!("name: 'n{index}'\nassert: {{{ends} {wanted}}}\n"))
        .collect();
    let remote = Remote::with(tells_no_end);
    let host = ["--docker-host", &remote.address];
    let (ran, seen) = run(&project(&suite.join("---\n")), &host);
    for (index, (wanted, told)) in cases.iter().enumerate() {
        let record = &seen["assertions"][index];
        assert_eq!(record["status"], "error", "{wanted}: {}", ran.stdout);
        let message = record["evidence"]["disruption"].to_string();
        assert!(message.contains(told), "{wanted}: {message}");
        assert_eq!(record["findings"].as_array().unwrap().len(), 0, "{wanted}");
    }
}

#[test]
fn a_server_whose_end_nobody_asks_for_needs_none() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::with(tells_no_end);
    let suite = "assert: {tool: echo, args: {text: hi}, expect: {equals: hi}}\n";
    let host = ["--docker-host", &remote.address];
    let (ran, seen) = run(&project(suite), &host);
    assert_eq!(seen["assertions"][0]["status"], "pass", "{}", ran.stdout);
    let (ran, seen) = run(
        &project(suite),
        &[&host[..], &["--strict-protocol"]].concat(),
    );
    assert_eq!(seen["assertions"][0]["status"], "error", "{}", ran.stdout);
}

#[test]
fn nightly_a_server_that_does_not_answer_is_told_as_that_whatever_is_asked_of_its_files() {
    if !ready() {
        return;
    }
    let files = "expect: {file_exists: [/etc/passwd], only_changed: []}";
    let suite = format!(
        "name: hangs\ntimeout: 5s\nassert: {{tool: sleep, args: {{seconds: 300}}, {files}}}\n---\n\
         name: dies\nassert: {{tool: exit, args: {{code: 7}}, {files}}}\n---\n\
         name: never speaks\ntimeout: 5s\nserver: {{command: sleep, args: ['300'], docker: '{IMAGE}'}}\n\
         assert: {{tool: sleep, args: {{seconds: 300}}, {files}}}\n"
    );
    let project = project(&suite).file("fixture/keep.txt", "keep");
    let (ran, seen) = run(&project, &["--fixture", "fixture", "--jobs", "1"]);
    for (index, phase, told) in [
        (0, "subject", "no answer to `tools/call` of `sleep`"),
        (1, "subject", "exit code 7"),
        (2, "handshake", "no answer to `initialize`"),
    ] {
        let evidence = &seen["assertions"][index]["evidence"];
        let message = evidence["disruption"].to_string();
        assert!(message.contains(told), "{message}: {}", ran.stdout);
        assert_eq!(evidence["phase"], phase, "{}", ran.stdout);
    }
}

#[test]
fn a_container_that_somebody_else_removes_is_no_crash_of_the_server() {
    if !ready() {
        return;
    }
    let project = sleeper("until removed");
    let mut command = project.command(&["run", "evals", "--fixture", "fixture"]);
    let child = command.stdout(Stdio::piped()).spawn().unwrap();
    started("until removed");
    let label = format!("label={}", label_of("until removed"));
    let list = ["ps", "--quiet", "--filter", &label];
    docker_says(
        Path::new("/"),
        &["rm", "--force", &docker_says(Path::new("/"), &list)],
    );
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(40));
    let said = String::from_utf8_lossy(&output.stdout);
    let told = "the container was removed by somebody else";
    assert!(said.contains(told), "{said}");
    assert!(!said.contains("SIGKILL"), "{said}");
}
