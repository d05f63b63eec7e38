//! Engines that are far away, go away, or are not there; and a run that is in a container itself.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    os::unix::net::UnixStream,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use super::{IMAGE, end_without_engine, ids, project, ready, run};
use crate::{
    engine::docker_says,
    harness::{BINARY, Project, until},
};

pub(super) const SOCKET: &str = "/var/run/docker.sock";

/// The engine behind a port of this machine, until it is cut off.
pub(super) struct Remote {
    pub(super) address: String,
    open: Arc<Mutex<Option<Vec<TcpStream>>>>,
}

impl Remote {
    fn new() -> Self {
        Self::with(|_| None)
    }

    /// The same, told of everything that is asked before the engine is, and with nothing at the end of it.
    /// What it gives back goes to who asked, and the engine is not.
    pub(super) fn with(hears: fn(&[u8]) -> Option<&'static str>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("tcp://{}", listener.local_addr().unwrap());
        let open = Arc::new(Mutex::new(Some(Vec::new())));
        let streams = Arc::clone(&open);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let mut streams = streams.lock().unwrap();
                let Some(streams) = streams.as_mut() else {
                    return;
                };
                streams.push(client.try_clone().unwrap());
                thread::spawn(move || forward(client, hears));
            }
        });
        Self { address, open }
    }

    /// The engine is gone: every connection breaks, and none is taken any more.
    fn cut(&self) {
        for stream in self.open.lock().unwrap().take().unwrap_or_default() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The listener goes with its next connection.
        let _ = TcpStream::connect(self.address.trim_start_matches("tcp://"));
    }
}

/// Carries bytes both ways, the end of each direction too.
fn forward(client: TcpStream, hears: fn(&[u8]) -> Option<&'static str>) {
    let server = UnixStream::connect(SOCKET).unwrap();
    let (mut from, mut to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let mut back = client.try_clone().unwrap();
    let up = thread::spawn(move || {
        let mut piece = vec![0; 64 * 1024];
        while let Ok(read @ 1..) = from.read(&mut piece) {
            if let Some(answer) = hears(&piece[..read]) {
                let _ = back.write_all(answer.as_bytes());
                continue;
            }
            if to.write_all(&piece[..read]).is_err() {
                break;
            }
        }
        hears(&[]);
        let _ = to.shutdown(Shutdown::Write);
    });
    let (mut from, mut to) = (server, client);
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    let _ = up.join();
}

fn echo() -> &'static str {
    "name: echo\nassert: {tool: echo, args: {text: hi}, expect: {equals: hi, file_exists: [keep.txt]}}\n"
}

#[test]
fn nightly_an_engine_behind_the_network_takes_the_fixture_too() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::new();
    let project = project(echo()).file("fixture/keep.txt", "keep");
    let host = ["--docker-host", &remote.address, "--fixture", "fixture"];
    let (ran, seen) = run(&project, &host);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(seen["engine"]["remote"], true);
    assert_eq!(ids(&seen).len(), 1);
}

#[test]
fn an_engine_that_vanishes_gives_errors_and_no_hang() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::new();
    let suite = "name: sleeps until cut off\nassert: {tool: sleep, args: {seconds: 300}}\n---\n\
                 name: comes too late\nserial: later\nassert: {tool: echo, args: {text: hi}}\n";
    let project = project(suite);
    let mut command = project.command(&["run", "evals", "--jobs", "1"]);
    command
        .args(["--docker-host", &remote.address])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    let label = "label=io.mcp-assert.assertion=a.yaml::sleeps until cut off";
    let running = ["ps", "--quiet", "--filter", label];
    until("nothing starts", || {
        !docker_says(Path::new("/"), &running).is_empty()
    });
    remote.cut();
    let said = end_without_engine(child);
    assert!(said.contains("the container engine is gone"), "{said}");
    // What it left is found by its label, over the other way to the same engine.
    assert_eq!(project.run(&["reap"]).code, 0);
    let left = docker_says(
        Path::new("/"),
        &["ps", "--all", "--quiet", "--filter", label],
    );
    assert_eq!(left, "");
}

#[test]
fn no_engine_ends_the_run_with_everything_that_was_tried() {
    let project = project(echo());
    let case = |host: &str, wanted: &[&str]| {
        let mut command = project.command(&["run", "evals", "--json"]);
        command.env("DOCKER_HOST", host);
        let ran = project.finish(command);
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (3, "[]\n"),
            "{}",
            ran.stderr
        );
        for wanted in wanted {
            assert!(ran.stderr.contains(wanted), "{wanted}: {}", ran.stderr);
        }
    };
    case(
        "unix:///no/such.sock",
        &[
            "`unix:///no/such.sock` (DOCKER_HOST): does not exist",
            "--isolation process",
        ],
    );
    case("unix:///tmp", &["is a folder, not a socket", "Kubernetes"]);
    case(
        "ssh://far",
        &["`ssh://` addresses are not supported", "ssh -nNT"],
    );
}

#[test]
fn nightly_a_run_in_a_container_needs_nothing_but_the_socket() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let project: Project = project(echo()).file("fixture/keep.txt", "keep");
    let output = Command::new("docker")
        .args(["run", "--rm", "--network", "none", "--workdir", "/project"])
        .args(["--volume", &format!("{SOCKET}:{SOCKET}")])
        .args([
            "--volume",
            &format!("{BINARY}:/usr/local/bin/mcp-assert:ro"),
        ])
        .args([
            "--volume",
            &format!("{}:/project", project.path().display()),
        ])
        .args([IMAGE, "mcp-assert", "run", "evals", "--fixture", "fixture"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complaints}");
    assert!(said.contains("1 assertion, 1 passed"), "{said}");
}
