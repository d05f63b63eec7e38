//! How the action ends when it is told to, and what is removed after it when it was killed.

use std::{
    path::{Path, PathBuf},
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use super::{Machine, can_run};
use crate::{
    containers::labelled,
    engine::{docker, docker_says},
    harness::until,
};

/// Assertions that end when they are ended.
fn stuck(assertions: usize) -> String {
    let one = "server: {builtin: conformance, args: [--fault, init-hang]}\nassert: {tool: echo}\n";
    vec![one; assertions].join("---\n")
}

/// A run that goes on.
struct Going<'a> {
    machine: &'a Machine,
    name: String,
    child: Child,
}

impl<'a> Going<'a> {
    fn start(machine: &'a Machine, inputs: &[(&str, &str)]) -> Self {
        let name = machine.name("run");
        let mut command = machine.start(&name, inputs);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self {
            machine,
            name,
            child: command.spawn().unwrap(),
        }
    }

    /// Its label as the engine is asked for it; empty before it told.
    fn label(&self) -> String {
        let state = self.machine.state();
        let run = state.iter().find(|(name, _)| name == "run");
        run.map_or_else(String::new, |(_, run)| format!("io.mcp-assert.run={run}"))
    }

    /// Waits until so many of its containers run.
    fn until_running(&self, wanted: usize) {
        until("its containers never ran", || {
            let label = self.label();
            let filter = format!("label={label}");
            let running = ["ps", "--quiet", "--filter", &filter];
            !label.is_empty() && docker_says(Path::new("/"), &running).lines().count() >= wanted
        });
    }

    /// Where its process is while it lives. The engine, which has others to remove, is in no hurry to tell of the end
    /// of this one.
    fn process(&self) -> PathBuf {
        let state = ["inspect", "--format", "{{.State.Pid}}", &self.name];
        let process = docker_says(Path::new("/"), &state);
        let process = Path::new("/proc").join(process);
        assert!(
            process.exists(),
            "the engine's processes are not to be seen"
        );
        process
    }

    fn signal(&self, signal: &str) {
        docker_says(Path::new("/"), &["kill", "--signal", signal, &self.name]);
    }

    fn end(self) -> super::Ended {
        let output = self.child.wait_with_output().unwrap();
        self.machine.ended(&output)
    }
}

#[test]
fn an_interrupted_image_is_gone_within_five_seconds() {
    if !can_run() {
        return;
    }
    let machine = Machine::new(&stuck(1));
    let going = Going::start(
        &machine,
        &[("isolation", "process"), ("junit", "report.xml")],
    );
    // The server runs once there is a second process.
    until("it never started", || {
        let top = docker(Path::new("/"), &["top", &going.name]).stdout;
        String::from_utf8_lossy(&top).lines().count() >= 3
    });
    let begun = Instant::now();
    going.signal("INT");
    let ended = going.end();
    let took = begun.elapsed();
    assert_eq!(ended.code, 130, "{}", ended.log);
    assert!(took < Duration::from_secs(5), "{took:?}");
    assert_eq!(ended.output("verdict"), "interrupted");
    assert!(machine.path("workspace/report.xml").exists());
    let after = machine.post();
    let said = String::from_utf8_lossy(&after.stdout);
    assert!(after.status.success(), "{said}");
    assert!(said.contains("nothing to remove"), "{said}");
}

/// A run of so many assertions at once, all of them in their containers.
fn crowd(machine: &Machine, size: usize) -> Going<'_> {
    let jobs = size.to_string();
    let inputs = [
        ("jobs", jobs.as_str()),
        ("timeout", "10m"),
        ("report-json", "run.json"),
        ("junit", "report.xml"),
    ];
    let going = Going::start(machine, &inputs);
    going.until_running(size);
    going
}

#[test]
fn ten_containers_are_over_within_five_seconds_of_an_interrupt() {
    println!("{}", are_over_soon(10));
}

#[test]
fn nightly_fifty_containers_are_over_within_five_seconds_of_an_interrupt() {
    println!("{}", are_over_soon(50));
}

/// Interrupts a run of so many containers; says how long that took.
fn are_over_soon(size: usize) -> String {
    if !can_run() {
        return String::new();
    }
    let machine = Machine::new(&stuck(size));
    let going = crowd(&machine, size);
    let label = going.label();
    let process = going.process();
    let begun = Instant::now();
    going.signal("INT");
    until("it never ended", || !process.exists());
    let took = begun.elapsed();
    let left = labelled(&label);
    let ended = going.end();
    let told = begun.elapsed();
    assert_eq!(ended.code, 130, "{}", ended.log);
    // An engine that has more to do than it can is not waited for, which is said; the role after the job is.
    let is_said = ended
        .log
        .contains("interrupted before the container engine");
    assert!(left.is_empty() || is_said, "{left}\n{}", ended.log);
    let left = left.lines().count();
    assert!(machine.post().status.success());
    assert_eq!(labelled(&label), "");
    assert!(!ended.log.contains("ignores-termination"), "{}", ended.log);
    assert_eq!(ended.output("verdict"), "interrupted");
    assert_eq!(ended.output("errors"), size.to_string());
    for file in ["run.json", "report.xml"] {
        let text = std::fs::read_to_string(machine.path("workspace").join(file)).unwrap();
        assert!(text.contains("interrupted"), "{file}: {text}");
    }
    assert!(took < Duration::from_secs(5), "{took:?}: {}", ended.log);
    format!(
        "from SIGINT with {size} containers to the exit: {took:?} with {left} left, told after {told:?}"
    )
}

#[test]
fn a_second_interrupt_ends_at_once_and_what_is_left_goes_after_it() {
    if !can_run() {
        return;
    }
    let machine = Machine::new(&stuck(8));
    let going = crowd(&machine, 8);
    let label = going.label();
    let process = going.process();
    going.signal("INT");
    going.signal("INT");
    let begun = Instant::now();
    until("it never ended", || !process.exists());
    let took = begun.elapsed();
    let ended = going.end();
    assert_eq!(ended.code, 130, "{}", ended.log);
    println!("from the second SIGINT with 8 containers to the exit: {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(machine.post().status.success());
    assert_eq!(labelled(&label), "");
}

#[test]
fn what_a_killed_run_left_is_removed_after_it_and_another_jobs_stays() {
    if !can_run() {
        return;
    }
    let inputs = [("jobs", "3"), ("timeout", "5m")];
    let (killed, other) = (Machine::new(&stuck(3)), Machine::new(&stuck(1)));
    let killed_run = Going::start(&killed, &inputs);
    let other_run = Going::start(&other, &inputs);
    killed_run.until_running(3);
    other_run.until_running(1);
    let (label, others) = (killed_run.label(), other_run.label());
    assert_ne!(label, others);
    killed_run.signal("KILL");
    assert_eq!(killed_run.end().code, 137);
    assert_ne!(labelled(&label), "", "nobody could remove them");

    let begun = Instant::now();
    let after = killed.post();
    let took = begun.elapsed();
    let said = String::from_utf8_lossy(&after.stdout);
    assert!(after.status.success(), "{said}");
    assert!(said.contains("removed 3 containers"), "{said}");
    assert_eq!(said.lines().count(), 2, "{said}");
    assert_eq!(labelled(&label), "");
    println!("after SIGKILL, from the start of the role to nothing left: {took:?}");
    assert_ne!(labelled(&others), "", "another job's was removed");

    other_run.signal("INT");
    assert_eq!(other_run.end().code, 130);
    assert_eq!(labelled(&others), "");
    let after = other.post();
    let said = String::from_utf8_lossy(&after.stdout);
    assert!(said.contains("the run left nothing"), "{said}");
}
