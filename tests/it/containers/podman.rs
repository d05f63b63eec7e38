//! Podman, where it is installed: started for the test with files of its own, spoken to as Docker is.

use std::{
    fs,
    path::Path,
    process::{Child, Command, Output, Stdio},
};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use super::{ends::freeze, own::system};
use crate::harness::{Project, until};

/// Podman's settings: no limits but those that any process may set.
const SETTINGS: &str =
    "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n";

/// A running service; it ends with this value.
struct Podman {
    folder: tempfile::TempDir,
    service: Child,
}

impl Podman {
    /// Starts one; `None` where that cannot be.
    fn start() -> Option<Self> {
        let installed = Command::new("podman").arg("--version").output().is_ok();
        if !installed || !geteuid().is_root() {
            eprintln!("skipped: Podman is not installed, or we are not root");
            return None;
        }
        let folder = tempfile::Builder::new()
            .prefix("podman-")
            .tempdir()
            .unwrap();
        fs::write(folder.path().join("settings"), SETTINGS).unwrap();
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let mut command = podman(folder.path());
        command
            .args(["system", "service", "--time=0", &host(folder.path())])
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        let service = command.spawn().unwrap();
        let socket = folder.path().join("socket");
        until("the service listens", || socket.exists());
        Some(Self { folder, service })
    }

    fn host(&self) -> String {
        host(self.folder.path())
    }

    fn says(&self, arguments: &[&str]) -> String {
        let Output { stdout, .. } = podman(self.folder.path()).args(arguments).output().unwrap();
        String::from_utf8(stdout).unwrap()
    }
}

fn host(folder: &Path) -> String {
    format!("unix://{}", folder.join("socket").display())
}

/// Podman's own client for the same files.
fn podman(folder: &Path) -> Command {
    let mut command = Command::new("podman");
    command
        .env("CONTAINERS_CONF", folder.join("settings"))
        .arg("--root")
        .arg(folder.join("root"))
        .arg("--runroot")
        .arg(folder.join("run"));
    command
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = kill_process(Pid::from_child(&self.service), Signal::TERM);
        let _ = self.service.wait();
        let overlay = self.folder.path().join("root/overlay");
        system("umount", &[overlay.to_str().unwrap()]);
    }
}

/// Assertions whose servers need no image and no init process.
const SUITE: &str = "\
name: sees the fixture
server: {builtin: conformance}
assert: {tool: echo, args: {message: x}, expect: {contains: x, file_exists: [keep.txt]}}
---
name: ends in the middle
server: {builtin: conformance, args: [--fault, exit-mid-call:7]}
assert: {tool: echo, args: {message: x}}
---
name: has no program
server: {command: /no/such/program, docker: self}
assert: {tool: echo}
";

#[test]
fn nightly_podman_is_an_engine_too() {
    let Some(podman) = Podman::start() else {
        return;
    };
    let host = podman.host();
    let project = Project::with_suite(SUITE)
        .file("evals/mcp-assert.yaml", "docker: {init: false}\n")
        .file("fixture/keep.txt", "kept");
    let arguments = [
        "run",
        "evals",
        "--isolation",
        "container",
        "--fixture",
        "fixture",
        "--docker-host",
        &host,
    ];
    let ran = project.run(&arguments);
    let said = &ran.stdout;
    assert_eq!(ran.code, 1, "{said}{}", ran.stderr);
    for wanted in [
        "PASS  sees the fixture",
        "the server ended with exit code 7",
        "program `/no/such/program` was not found in the image",
        "3 assertions, 1 passed, 2 errors",
    ] {
        assert!(said.contains(wanted), "{wanted}: {said}{}", ran.stderr);
    }
    assert_eq!(podman.says(&["ps", "--all", "--quiet"]), "");

    let hangs = "server: {builtin: conformance}\nassert: {tool: slow, args: {hang: true}, expect: {file_exists: [keep.txt]}}\n";
    let project = project.file("evals/a.yaml", hangs);
    let mut command = project.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("the server runs", || {
        !podman.says(&["ps", "--quiet"]).is_empty()
    });
    freeze(&child);
    assert_ne!(podman.says(&["volume", "ls", "--quiet"]), "");
    child.kill().unwrap();
    child.wait().unwrap();
    let reaped = project.run(&["reap", "--docker-host", &host]);
    assert_eq!(reaped.code, 0, "{}{}", reaped.stdout, reaped.stderr);
    assert_eq!(podman.says(&["ps", "--all", "--quiet"]), "");
    assert_eq!(podman.says(&["volume", "ls", "--quiet"]), "");
}
