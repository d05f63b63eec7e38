//! How servers in containers end, how runs end that were interrupted or killed, and what is left then: nothing.

use std::{
    fmt::Write,
    path::Path,
    process::{Child, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    IMAGE,
    engines::{Remote, SOCKET},
    ids, labelled, project, ready, run, run_json,
};
use crate::{
    engine::docker_says,
    harness::{Project, until},
};

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

#[test]
fn memory_that_runs_out_is_told_whatever_the_server_makes_of_it() {
    if !ready() {
        return;
    }
    let image = format!("{{image: '{IMAGE}', memory: 64m}}");
    let project = project(&format!(
        r#"
name: its wrapper ends with another code
server:
  command: sh
  args: [-c, 'python3 -c "$SERVER"; exit 1']
  env: {{SERVER: {}}}
  docker: {image}
assert: {{tool: eat}}
---
name: a child of it
server: {{docker: {image}}}
assert: {{tool: spawn, args: {{line: 'python3 -c "x = bytearray(200000000)"'}}, expect: {{contains: "-9"}}}}
---
name: nothing runs out
assert: {{tool: echo, args: {{text: hi}}}}
"#,
        serde_json::Value::from(super::SERVER),
    ));
    let (ran, seen) = run(&project, &[]);
    let records = seen["assertions"].as_array().unwrap();
    let ran_out = |index: usize| &records[index]["container"]["out_of_memory"];
    assert_eq!(ran_out(0), true, "{}", ran.stdout);
    assert_eq!(ran_out(1), true, "{}", ran.stdout);
    assert!(ran_out(2).is_null(), "{}", ran.stdout);
    assert_eq!(records[1]["status"], "pass", "{}", ran.stdout);
    let note = "memory ran out in its container, which may have 64 MiB";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
}

#[test]
fn a_server_that_is_at_work_to_end_is_not_hurried_and_one_that_rests_is() {
    if !ready() {
        return;
    }
    let server = |after: &str| {
        let env = serde_json::json!({"SERVER": super::SERVER, "AFTER": after});
        format!(
            "server: {{command: sh, args: [-c, 'python3 -c \"$SERVER\"; exec python3 -c \"$AFTER\"'], env: {env}}}\n\
             assert: {{tool: echo, args: {{text: hi}}, expect: {{findings: none, exit: clean}}}}\n"
        )
    };
    let works = "import time\nwhile time.process_time() < 3: pass";
    let rests = "import time\ntime.sleep(20)";
    let project = project(&format!("{}---\n{}", server(works), server(rests)));
    let (ran, seen) = run(&project, &["--timeout", "60s", "--jobs", "1"]);
    let records = seen["assertions"].as_array().unwrap();
    assert_eq!(records[0]["status"], "pass", "{}", ran.stdout);
    assert_eq!(records[1]["status"], "fail", "{}", ran.stdout);
    let findings = records[1]["findings"].to_string();
    assert!(findings.contains("ignores-stdin-end"), "{findings}");
}

#[test]
fn a_code_that_a_signal_leaves_too_is_taken_for_both() {
    if !ready() {
        return;
    }
    let mut suite = String::new();
    for (ends, wanted) in [
        ("code: 137", 137),
        ("code: 143", 143),
        ("code: 130", 130),
        ("signal: 9", 137),
        ("signal: 9", 3),
    ] {
        write!(
            suite,
            "---\nname: '{ends} and {wanted}'\nassert: {{tool: end, args: {{{ends}}}, expect: {{exit: {wanted}}}}}\n"
        )
        .unwrap();
    }
    let (ran, seen) = run(&project(&suite), &[]);
    let records = seen["assertions"].as_array().unwrap();
    let statuses: Vec<&str> = records
        .iter()
        .map(|record| record["status"].as_str().unwrap())
        .collect();
    let pass = "pass";
    assert_eq!(statuses, [pass, pass, pass, pass, "fail"], "{}", ran.stdout);
    let wanted = "it ended with SIGKILL (exit code 137), after its stdin was closed";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}

/// Containers whose end the engine of the tests below has told.
static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// When an engine tells that a container has ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tells {
    /// When it is asked to signal the container.
    Late,
    /// It does not.
    Never,
}

/// Keeps the end of a container to itself, which has ended when this signal reaches it.
fn tells(asked: &[u8], signal: &str, tells: Tells) -> Option<&'static str> {
    let text = String::from_utf8_lossy(asked);
    let asked_for = |what: &str| {
        let (_, rest) = text.split_once("/containers/")?;
        let (id, rest) = rest.split_once('/')?;
        rest.starts_with(what).then(|| id.to_owned())
    };
    if let Some(id) = asked_for(&format!("kill?signal={signal}")) {
        docker_says(Path::new("/"), &["wait", &id]);
        if tells == Tells::Late {
            TOLD.lock().unwrap().push(id);
        }
    } else if let Some(id) = asked_for("wait") {
        let begun = Instant::now();
        while !TOLD.lock().unwrap().contains(&id) && begun.elapsed() < Duration::from_mins(1) {
            thread::park_timeout(Duration::from_millis(10));
        }
    }
    None
}

/// Runs one assertion behind an engine that hears like this; what was said and found.
fn behind(hears: fn(&[u8]) -> Option<&'static str>, suite: &str) -> (String, String) {
    let remote = Remote::with(hears);
    let (ran, seen) = run(&project(suite), &["--docker-host", &remote.address]);
    let findings = seen["assertions"][0]["findings"].to_string();
    (ran.stdout, findings)
}

#[test]
fn a_server_that_had_ended_when_it_was_signalled_ended_by_itself() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let suite = |wanted: &str| {
        format!(
            "assert: {{tool: echo, args: {{text: hi}}, expect: {{equals: hi, exit: {wanted}}}}}\n"
        )
    };
    let late = |asked: &[u8]| tells(asked, "SIGTERM", Tells::Late);
    let (said, findings) = behind(late, &suite("clean"));
    assert!(said.contains("1 passed"), "{said}");
    assert_eq!(findings, "[]");
    let (said, _) = behind(late, &suite("7"));
    let wanted = "it ended with exit code 0, after its stdin was closed";
    assert!(said.contains(wanted), "{said}");
    let never = |asked: &[u8]| tells(asked, "SIGTERM", Tells::Never);
    let (said, _) = behind(never, &suite("clean"));
    assert!(said.contains("1 passed"), "{said}");
}

#[test]
fn a_server_that_had_ended_when_it_was_killed_heard_the_signal_before() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let env = serde_json::json!({"SERVER": super::SERVER});
    let suite = format!(
        "server: {{command: sh, args: [-c, 'python3 -c \"$SERVER\"; while :; do sleep 1; done'], env: {env}}}\n\
         assert: {{tool: echo, args: {{text: hi}}, expect: {{exit: 7}}}}\n"
    );
    let (said, findings) = behind(|asked| tells(asked, "SIGKILL", Tells::Late), &suite);
    let wanted = "it ended with SIGTERM (exit code 143), sent by us";
    assert!(said.contains(wanted), "{said}");
    assert!(findings.contains("ignores-stdin-end"), "{findings}");
    assert!(!findings.contains("ignores-termination"), "{findings}");
}

/// A run of four assertions that sleep, begun and left alone.
pub(super) fn sleeping(project: &Project) -> Child {
    let run = ["run", "evals", "--fixture", "fixture"];
    let mut command = project.command(&[&run[..], &["--trials", "4", "--jobs", "2"]].concat());
    command
        .env("TMPDIR", project.path().join("tmp"))
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().unwrap()
}

/// An assertion whose container, with a fixture in it, is there for long.
pub(super) fn sleeper(owner: &str) -> Project {
    let suite = format!(
        "name: sleeps {owner}\nassert: {{tool: sleep, args: {{seconds: 300}}, expect: {{file_exists: [keep.txt]}}}}\n"
    );
    project(&suite)
        .file("fixture/keep.txt", "keep")
        .file("tmp/empty/file", "")
}

/// Stops a run where it is, so that what it has made can be looked at: once it is dead, any other run that begins
/// removes that.
pub(super) fn freeze(child: &Child) {
    let pid = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
}

/// The label of its containers and volumes.
pub(super) fn label_of(owner: &str) -> String {
    format!("io.mcp-assert.assertion=a.yaml::sleeps {owner}")
}

/// Waits until a container of this assertion runs.
pub(super) fn started(owner: &str) {
    let label = format!("label={}", label_of(owner));
    let running = ["ps", "--quiet", "--filter", &label];
    until("nothing starts", || {
        !docker_says(Path::new("/"), &running).is_empty()
    });
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
    assert_eq!(labelled(&label_of("until interrupted")), "");
    assert_eq!(
        std::fs::read_dir(project.path().join("tmp"))
            .unwrap()
            .count(),
        1
    );
}

/// Whether the engine of the test below hears nothing any more.
static DEAF: AtomicBool = AtomicBool::new(false);

#[test]
fn an_engine_that_hangs_keeps_no_interrupted_run_from_telling() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::with(|_| {
        while DEAF.load(Ordering::Relaxed) {
            thread::park_timeout(Duration::from_secs(1));
        }
        None
    });
    let project = sleeper("while the engine hangs");
    let arguments = ["ci", "--jobs", "2", "--report-json", "run.json"];
    let mut command = project.command(&arguments);
    command
        .args(["--docker-host", &remote.address])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    started("while the engine hangs");
    DEAF.store(true, Ordering::Relaxed);
    let pid = rustix::process::Pid::from_child(&child);
    let begun = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    DEAF.store(false, Ordering::Relaxed);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(took < Duration::from_secs(5), "{took:?}: {said}");
    assert!(
        said.contains("`mcp-assert reap` removes the rest"),
        "{said}"
    );
    let seen = run_json(&project);
    assert_eq!(seen["end"]["state"], "interrupted");
    // What was asked of the engine while it hung is made when it hears again.
    let label = "io.mcp-assert.assertion=a.yaml::sleeps while the engine hangs";
    let begun = Instant::now();
    loop {
        assert_eq!(project.run(&["reap"]).code, 0);
        let left = labelled(label);
        if left.is_empty() {
            break;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{left}");
    }
}

/// Whether the engine of the test below was asked for files.
static READING: AtomicBool = AtomicBool::new(false);

#[test]
fn an_interrupt_is_heard_while_files_are_read() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::with(|asked| {
        if asked.starts_with(b"GET") && String::from_utf8_lossy(asked).contains("/archive?") {
            READING.store(true, Ordering::Relaxed);
            thread::park_timeout(Duration::from_mins(1));
        }
        None
    });
    let suite =
        "name: reads\nassert: {tool: echo, args: {text: hi}, expect: {file_exists: keep.txt}}\n";
    let project = project(suite).file("fixture/keep.txt", "keep");
    let mut command = project.command(&["run", "evals", "--fixture", "fixture"]);
    command
        .args(["--docker-host", &remote.address])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("nothing is read", || READING.load(Ordering::Relaxed));
    let pid = rustix::process::Pid::from_child(&child);
    let begun = Instant::now();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn the_next_run_sweeps_what_a_killed_one_left_and_so_does_reap() {
    if !ready() {
        return;
    }
    let label = label_of("until killed");
    for sweep in [&["reap"][..], &["run", "next"][..]] {
        let project = sleeper("until killed").file(
            "next/a.yaml",
            format!("name: next\nserver: {{docker: {IMAGE:?}, command: \"true\"}}\nassert: {{tool: x}}\n"),
        );
        let mut child = sleeping(&project);
        started("until killed");
        freeze(&child);
        assert_ne!(labelled(&label), "");
        child.kill().unwrap();
        child.wait().unwrap();
        project.run(sweep);
        // Where another run removes them already, it is the one to wait for.
        until(&format!("{sweep:?}"), || labelled(&label).is_empty());
    }
}
