//! What a container must not see or reach, and what must not be seen of it.

use std::{net::TcpListener, path::Path, process::Stdio};

use rustix::process::{Pid, Signal, kill_process};

use super::{IMAGE, ends::freeze, forget_prepared, project, ready, run};
use crate::{
    engine::{docker, docker_says},
    harness::{Project, until},
};

/// The address of this machine on the engine's bridge, where it is this machine's engine.
fn gateway() -> String {
    let format = "{{(index .IPAM.Config 0).Subnet}}";
    let subnet = docker_says(
        Path::new("/"),
        &["network", "inspect", "--format", format, "bridge"],
    );
    let network = subnet.split('/').next().unwrap();
    format!("{}.1", network.rsplit_once('.').unwrap().0)
}

/// Go tool: `server.docker: IMAGE` is a plain `docker run`: with a network, a writable root, and no limits.
/// Here: it is closed; `docker: {image: IMAGE, read_only: false, network: bridge, user: root}` opens it.
#[test]
fn a_container_reaches_this_machine_only_when_the_suite_opens_it() {
    if !ready() {
        return;
    }
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let call = format!("tool: connect, args: {{host: {}, port: {port}}}", gateway());
    let project = project(&format!(
        "name: open\nserver: {{docker: {{image: '{IMAGE}', network: bridge}}}}\n\
         assert: {{{call}, expect: {{equals: connected}}}}\n---\n\
         name: closed\nassert: {{{call}, expect: {{contains: refused}}}}\n"
    ));
    let (ran, _) = run(&project, &[]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

/// Values that no other container, no image and no label may hold.
const SECRETS: [&str; 2] = ["value-of-one-server", "value-of-the-lines"];

/// Two assertions that sleep, one of which has a secret; the image of both was prepared with another.
fn with_secrets() -> Project {
    let word = format!("secrets-{}", std::process::id());
    let image = format!(
        "{{image: '{IMAGE}', warm: false, prepare: {{env: [OF_LINES], run: ['test -n \"$OF_LINES\"; echo {word}']}}}}"
    );
    let sleep = "assert: {tool: sleep, args: {seconds: 300}}";
    project(&format!(
        "name: has it\nserver: {{env: {{TOKEN: '${{OF_SERVER}}'}}, docker: {image}}}\n{sleep}\n---\n\
         name: has it not\nserver: {{docker: {image}}}\n{sleep}\n"
    ))
}

/// What the engine tells of the containers of a process's run.
fn inspected(owner: u32) -> Vec<String> {
    let list = ["ps", "--quiet", "--filter", "label=io.mcp-assert.assertion"];
    let mark = format!("\"io.mcp-assert.owner\": \"{owner}:");
    let all = docker_says(Path::new("/"), &list);
    all.lines()
        .map(|id| {
            // Another test's may be gone.
            let said = docker(Path::new("/"), &["inspect", id]).stdout;
            String::from_utf8_lossy(&said).into_owned()
        })
        .filter(|text| text.contains(&mark))
        .collect()
}

#[test]
fn a_secret_is_seen_in_its_own_container_alone() {
    if !ready() {
        return;
    }
    let project = with_secrets();
    let mut command = project.command(&["run", "evals", "--jobs", "2"]);
    command
        .env("OF_SERVER", SECRETS[0])
        .env("OF_LINES", SECRETS[1])
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    until("nothing starts", || inspected(child.id()).len() >= 2);
    freeze(&child);
    let texts = inspected(child.id());
    let first: serde_json::Value = serde_json::from_str(&texts[0]).unwrap();
    let image = first[0]["Image"].as_str().unwrap().to_owned();
    let inspect = docker_says(Path::new("/"), &["image", "inspect", &image]);
    let history = docker_says(Path::new("/"), &["history", "--no-trunc", &image]);
    let pid = Pid::from_child(&child);
    kill_process(pid, Signal::CONT).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    child.wait().unwrap();
    docker_says(Path::new("/"), &["rmi", &image]);
    for text in &texts {
        let own = text.contains("::has it\"");
        let times = text.matches(SECRETS[0]).count();
        assert_eq!(times, usize::from(own), "{text}");
        assert!(!text.contains(SECRETS[1]), "{text}");
    }
    for secret in SECRETS {
        for text in [&inspect, &history] {
            assert!(!text.contains(secret), "{secret}: {text}");
        }
    }
}

#[test]
fn what_an_image_was_prepared_with_is_hidden_wherever_a_server_tells_it() {
    if !ready() {
        return;
    }
    let secret = format!("npm_{}", std::process::id());
    let image = format!(
        "{{image: '{IMAGE}', warm: false, prepare: {{env: [OF_LINES], run: ['mkdir /kept; touch /kept/$OF_LINES']}}}}"
    );
    let project = project(&format!(
        "name: tells it\nserver: {{docker: {image}}}\n\
         assert: {{tool: list, args: {{path: /kept}}, expect: {{contains: nothing}}}}\n"
    ));
    let arguments = ["ci", "--report-json", "run.json", "--junit", "junit.xml"];
    let mut command = project.command(&arguments);
    command
        .env("OF_LINES", &secret)
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", project.path().join("summary"));
    let ran = project.finish(command);
    forget_prepared("/kept");
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let mask = format!("::add-mask::{secret}\n");
    assert!(ran.stdout.contains(&mask), "{}", ran.stdout);
    let shown = ran.stdout.replace(&mask, "") + &ran.stderr;
    assert!(shown.contains("***"), "{shown}");
    assert!(!shown.contains(&secret), "{shown}");
    for file in ["run.json", "junit.xml", "summary"] {
        assert!(!project.read(file).contains(&secret), "{file}");
    }
}
