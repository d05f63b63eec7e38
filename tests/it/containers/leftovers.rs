//! What is left at the engine when a run is killed or interrupted, whatever it was at: known by its labels or its name,
//! and gone with the next start.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use super::{
    IMAGE, SERVER,
    ends::{freeze, label_of, sleeper, sleeping, started},
    engines::{Remote, SOCKET},
    labelled, project, ready, run_json,
};
use crate::{
    engine::{docker, docker_says},
    harness::{Project, until},
};

fn root() -> &'static Path {
    Path::new("/")
}

/// A label of a thing; empty without it.
fn label(kind: &str, id: &str, name: &str) -> String {
    let place = if kind == "container" { ".Config" } else { "" };
    let format = format!("{{{{index {place}.Labels \"io.mcp-assert.{name}\"}}}}");
    docker_says(root(), &[kind, "inspect", "--format", &format, id])
}

/// The marks that everything of ours carries.
const MARKS: [&str; 4] = ["run", "job", "owner", "created"];

/// Answers whoever wants something removed that it cannot be.
fn keep_all(asked: &[u8]) -> Option<&'static str> {
    asked.starts_with(b"DELETE").then_some(
        "HTTP/1.1 500 Internal Server Error\r\nContent-Type: application/json\r\nContent-Length: 22\r\n\r\n\
         {\"message\":\"oh dear!\"}",
    )
}

#[test]
fn what_the_engine_does_not_remove_is_told_and_no_failure() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::with(keep_all);
    let suite = "name: a\nassert: {tool: echo, args: {text: a}, expect: {contains: a}}\n";
    let project = project(suite);
    let mut command = project.command(&["ci", "--docker-host", &remote.address]);
    command.env("GITHUB_ACTIONS", "true");
    let ran = project.finish(command);
    let told = ran.stdout.split_once("of this run: container `");
    let name = told.and_then(|(_, rest)| rest.split_once('`'));
    let name = name.map_or("", |(name, _)| name);
    // Whatever run starts meanwhile may have removed it already.
    docker(root(), &["rm", "--force", "--volumes", name]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    for wanted in [
        "did not remove 2 things of this run: container `mcp-assert-",
        "`mcp-assert reap`",
        "::notice title=mcp-assert::the container engine",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
}

/// Whether the engine was asked for a container, whether it may hear of it, and whether it may hear that who asked left:
/// an engine that hears so while it makes the container may stop.
static ASKED: AtomicBool = AtomicBool::new(false);
static PASSED_ON: AtomicBool = AtomicBool::new(false);
static GONE: AtomicBool = AtomicBool::new(false);

/// Lets nobody who wants a container through until it may be.
fn hold_creates(asked: &[u8]) -> Option<&'static str> {
    if asked.is_empty() {
        until("it may be gone", || GONE.load(Ordering::SeqCst));
    }
    let head = String::from_utf8_lossy(&asked[..asked.len().min(200)]);
    if head.starts_with("POST") && head.contains("/containers/create") {
        ASKED.store(true, Ordering::SeqCst);
        until("it may pass", || PASSED_ON.load(Ordering::SeqCst));
    }
    None
}

/// Whether the engine ever made a container with this label: whatever run starts next may have removed it already.
fn was_made(label: &str) -> bool {
    let label = format!("label={label}");
    let events = ["events", "--since", "10m", "--until", "0s"];
    let wanted = ["--filter", "event=create", "--filter", &label];
    !docker_says(root(), &[&events[..], &wanted].concat()).is_empty()
}

#[test]
fn a_container_that_is_being_made_when_the_run_is_interrupted_is_removed_or_named() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let suite = "name: a\nassert: {tool: echo, args: {text: a}, expect: {contains: a}}\n";
    for passed_on in [true, false] {
        ASKED.store(false, Ordering::SeqCst);
        PASSED_ON.store(false, Ordering::SeqCst);
        GONE.store(passed_on, Ordering::SeqCst);
        let remote = Remote::with(hold_creates);
        let project = project(suite);
        let report = ["--report-json", "run.json"];
        let mut command = project.command(&["run", "evals", "--jobs", "1"]);
        command
            .args(["--docker-host", &remote.address])
            .args(report)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        until("a container is asked for", || ASKED.load(Ordering::SeqCst));
        kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
        PASSED_ON.store(passed_on, Ordering::SeqCst);
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let seen = run_json(&project);
        let run = seen["engine"]["label"].as_str().unwrap().to_owned();
        let label = format!("io.mcp-assert.run={run}");
        if passed_on {
            assert_eq!(labelled(&label), "", "{said}");
            continue;
        }
        PASSED_ON.store(true, Ordering::SeqCst);
        until("the engine makes it all the same", || was_made(&label));
        GONE.store(true, Ordering::SeqCst);
        assert_eq!(project.run(&["reap", "--run", &run]).code, 0);
        assert_eq!(labelled(&label), "");
        let wanted = "did not remove 1 thing of this run: container `mcp-assert-";
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn volumes_and_networks_are_found_without_their_container() {
    if !ready() {
        return;
    }
    let owner = format!("and loses its container {}", std::process::id());
    let project = sleeper(&owner);
    let mut child = sleeping(&project);
    started(&owner);
    freeze(&child);
    let filter = format!("label={}", label_of(&owner));
    let list =
        |words: &[&str]| docker_says(root(), &[words, &["--quiet", "--filter", &filter]].concat());
    let containers = list(&["ps", "--all"]);
    let containers: Vec<&str> = containers.lines().collect();
    let network = format!("mcp-assert-test-{}", std::process::id());
    let run = label("container", containers[0], "run");
    let format = "{{range .Mounts}}{{.Name}}{{end}}";
    let volume = docker_says(root(), &["inspect", "--format", format, containers[0]]);
    let mut create = vec!["network".to_owned(), "create".to_owned()];
    for mark in MARKS {
        let value = label("container", containers[0], mark);
        assert_ne!(value, "", "{mark}");
        create.extend([
            "--label".to_owned(),
            format!("io.mcp-assert.{mark}={value}"),
        ]);
    }
    create.extend(["--label".to_owned(), label_of(&owner), network.clone()]);
    let create: Vec<&str> = create.iter().map(String::as_str).collect();
    docker_says(root(), &create);
    docker_says(root(), &[&["rm", "--force"][..], &containers].concat());
    let volumes = list(&["volume", "ls"]);
    assert!(volumes.contains(&volume), "{volumes}");
    for mark in MARKS {
        assert_ne!(label("volume", &volume, mark), "", "{mark}");
    }
    let reaped = project.run(&["reap", "--run", &run]);
    let said = format!("{}{}", reaped.stdout, reaped.stderr);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(reaped.code, 0, "{said}");
    for left in [network, volume] {
        assert!(said.contains(&format!("`{left}`")), "{left}: {said}");
    }
    assert_eq!(labelled(&label_of(&owner)), "");
}

/// A run in the second step of the second stage of a build.
fn building(word: &str) -> (Project, Child) {
    let dockerfile = format!(
        "FROM {IMAGE} AS first\nRUN echo {word} > /one\nRUN echo {word} > /two\n\
         FROM {IMAGE}\nCOPY --from=first /one /three\nRUN echo {word} > /four\nRUN sleep 300; echo {word}\n"
    );
    let suite =
        "name: built\nserver: {docker: {build: ../app}, command: x}\nassert: {tool: echo}\n";
    let project = Project::with_suite(suite).file("app/Dockerfile", dockerfile);
    let mut command = project.command(&["run", "evals"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    (project, child)
}

/// The containers in which a step of this build runs.
fn steps(word: &str) -> String {
    let format = [
        "ps",
        "--all",
        "--no-trunc",
        "--format",
        "{{.ID}} {{.Command}}",
    ];
    let all = docker_says(root(), &format);
    let steps = all.lines().filter(|line| line.contains(word));
    steps.collect::<Vec<_>>().join("\n")
}

/// The images that a step of this build made.
fn layers(word: &str) -> Vec<String> {
    let all = docker_says(root(), &["images", "--all", "--quiet", "--no-trunc"]);
    let mut layers: Vec<String> = all
        .lines()
        .filter(|id| {
            let format = ["history", "--no-trunc", "--format", "{{.CreatedBy}}", id];
            // One that goes meanwhile is another test's.
            let history = docker(root(), &format).stdout;
            String::from_utf8_lossy(&history).contains(word)
        })
        .map(str::to_owned)
        .collect();
    layers.sort_unstable();
    layers.dedup();
    layers
}

/// Ends a run in the middle of a build, which leaves nothing: at once, or after `reap` where the run could do nothing.
fn ended_in_a_build(signal: Signal) {
    let word = format!("word-{}-{}", std::process::id(), signal.as_raw());
    let (project, mut child) = building(&word);
    until("the last step runs", || steps(&word).contains("sleep 300"));
    let layers_now = layers(&word);
    let inspect = ["inspect", "--format", "{{.RepoTags}}"];
    let ids: Vec<&str> = layers_now.iter().map(String::as_str).collect();
    let names = docker_says(root(), &[&inspect[..], &ids].concat());
    assert_eq!(names.matches("mcp-assert/building:").count(), 2, "{names}");
    let begun = Instant::now();
    kill_process(Pid::from_child(&child), signal).unwrap();
    let code = child.wait().unwrap().code();
    if signal == Signal::INT {
        assert_eq!(code, Some(130));
        assert!(
            begun.elapsed() < Duration::from_secs(40),
            "{:?}",
            begun.elapsed()
        );
        assert_eq!(steps(&word), "");
    } else {
        until("the engine gives up the step", || steps(&word).is_empty());
        let reaped = project.run(&["reap"]);
        assert_eq!(reaped.code, 0, "{}{}", reaped.stdout, reaped.stderr);
    }
    assert_eq!(layers(&word), Vec::<String>::new(), "{signal:?}");
}

#[test]
fn a_killed_build_leaves_nothing_after_reap() {
    if ready() {
        ended_in_a_build(Signal::KILL);
    }
}

#[test]
fn nightly_an_interrupted_build_leaves_nothing() {
    if ready() {
        ended_in_a_build(Signal::INT);
    }
}

#[test]
fn nightly_the_stages_of_a_build_have_names_and_go_with_a_newer_one() {
    if !ready() {
        return;
    }
    let suite =
        "name: built\nserver: {docker: {build: ../app}, command: x}\nassert: {tool: echo}\n";
    let mut project = Project::with_suite(suite);
    let words = ["first", "second"].map(|word| format!("{word}-{}", std::process::id()));
    for word in &words {
        let dockerfile = format!(
            "FROM {IMAGE} AS first\nRUN echo {word} > /one\nFROM {IMAGE}\nCOPY --from=first /one /two\n"
        );
        project = project.file("app/Dockerfile", dockerfile);
        project.run(&["run", "evals"]);
        let layers = layers(word);
        assert_eq!(layers.len(), 1, "{layers:?}");
        let format = ["inspect", "--format", "{{.RepoTags}}", &layers[0]];
        let names = docker_says(root(), &format);
        assert!(
            names.starts_with("[mcp-assert/built:") && names.ends_with("-1]"),
            "{names}"
        );
    }
    assert_eq!(layers(&words[0]), Vec::<String>::new());
    let stage = layers(&words[1]).concat();
    let format = ["inspect", "--format", "{{index .RepoTags 0}}", &stage];
    let name = docker_says(root(), &format);
    let built = name.strip_suffix("-1").unwrap();
    docker_says(root(), &["rmi", &name, built]);
}

/// The images of a run's own making that nobody can name.
fn nameless() -> Vec<String> {
    let list = [
        "images",
        "--quiet",
        "--no-trunc",
        "--filter",
        "dangling=true",
    ];
    let built = [&list[..], &["--filter", "label=io.mcp-assert.built"]].concat();
    let all = docker_says(root(), &built);
    all.lines().map(str::to_owned).collect()
}

/// Those of them that hold this word's file.
fn nameless_with(word: &str) -> Vec<String> {
    let mut found = nameless();
    let file = format!("/{word}");
    found.retain(|id| {
        let there = ["run", "--rm", "--network", "none", "--entrypoint", "test"];
        let there = [&there[..], &[id, "-e", &file]].concat();
        docker(root(), &there).status.success()
    });
    found
}

/// Removes the built images of a project.
fn forget_built(word: &str) {
    for id in layers(word) {
        docker(root(), &["rmi", "--force", &id]);
    }
}

#[test]
fn nightly_what_is_built_and_also_prepared_is_built_once() {
    if !ready() {
        return;
    }
    let word = format!("once-{}", std::process::id());
    let build = "build: ../app";
    let prepared = format!("{build}, warm: false, prepare: ['touch /prepared-{word}']");
    let server = |docker: &str| {
        serde_json::json!({"command": "python3", "args": ["-c", SERVER]})
            .to_string()
            .replacen('{', &format!("{{docker: {{{docker}}}, "), 1)
    };
    let call = format!("{{tool: there, args: {{paths: [/{word}]}}, expect: {{contains: {word}}}}}");
    let suite = format!(
        "name: bare\nserver: {}\nassert: {call}\n---\nname: prepared\nserver: {}\nassert: {call}\n",
        server(build),
        server(&prepared)
    );
    let project = Project::with_suite(&suite).file(
        "app/Dockerfile",
        format!("FROM {IMAGE}\nRUN touch /{word}\n"),
    );
    let ran = project.run(&["run", "evals"]);
    super::forget_prepared(&format!("/prepared-{word}"));
    let left = nameless_with(&word);
    forget_built(&word);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(
        ran.stderr.matches("note: building").count(),
        1,
        "{}",
        ran.stderr
    );
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn an_image_that_another_run_uses_goes_with_that_run_once_it_is_replaced() {
    if !ready() {
        return;
    }
    let owner = format!("in a built image {}", std::process::id());
    let word = format!("replaced-{}", std::process::id());
    let server = serde_json::json!({
        "command": "python3", "args": ["-c", SERVER], "docker": {"build": "../app"},
    });
    let project = Project::with_suite(&format!(
        "name: sleeps {owner}\nserver: {server}\nassert: {{tool: sleep, args: {{seconds: 300}}}}\n"
    ))
    .file(
        "app/Dockerfile",
        format!("FROM {IMAGE}\nRUN touch /{word}\n"),
    )
    .file(
        "next/a.yaml",
        format!("name: next\nserver: {server}\nassert: {{tool: echo, args: {{text: hi}}}}\n"),
    );
    let mut command = project.command(&["run", "evals"]);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    started(&owner);
    assert_eq!(
        layers(&word).len(),
        2,
        "the step's, and the one with the label"
    );
    let project = project.file("app/Dockerfile", format!("FROM {IMAGE}\nRUN true {word}\n"));
    let next = project.run(&["run", "next"]);
    assert_eq!(next.code, 0, "{}{}", next.stdout, next.stderr);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    let left = nameless_with(&word);
    let history = layers(&format!("touch /{word}"));
    forget_built(&word);
    assert_eq!((left, history), (Vec::new(), Vec::<String>::new()));
}

#[test]
fn an_image_is_made_in_a_container_of_ours_and_is_not_taken_for_one() {
    if !ready() {
        return;
    }
    let word = format!("labels-{}", std::process::id());
    let server = format!(
        "{{docker: {{image: '{IMAGE}', warm: false, prepare: ['echo > /{word}; sleep 5']}}, command: ''}}"
    );
    let suite = format!("name: prepared\nserver: {server}\nassert: {{tool: echo}}\n");
    let project = Project::with_suite(&suite);
    let mut command = project.command(&["run", "evals"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = child.spawn().unwrap();
    let pid = format!("{}:", child.id());
    let mut workshop = String::new();
    until("its container runs", || {
        let list = ["ps", "--quiet", "--filter", "label=io.mcp-assert.image"];
        let all = docker_says(root(), &list);
        let mine = all.lines().find(|id| {
            let format = "{{index .Config.Labels \"io.mcp-assert.owner\"}}";
            let said = docker(root(), &["inspect", "--format", format, id]).stdout;
            String::from_utf8_lossy(&said).starts_with(&pid)
        });
        workshop = mine.unwrap_or_default().to_owned();
        !workshop.is_empty()
    });
    for mark in MARKS {
        assert_ne!(label("container", &workshop, mark), "", "{mark}");
    }
    let image = label("container", &workshop, "image");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    // The image has neither a command nor an entry point, and the one made of it has none either.
    assert!(said.contains("starts nothing by itself"), "{said}");
    let format = "{{len .Config.Cmd}} {{len .Config.Entrypoint}}";
    let starts = docker_says(root(), &["image", "inspect", "--format", format, &image]);
    assert_eq!(starts, "0 0");
    let run = [
        "run",
        "--detach",
        "--network",
        "none",
        &image,
        "sleep",
        "60",
    ];
    let somebodys = docker_says(root(), &run);
    for mark in MARKS {
        assert_eq!(label("container", &somebodys, mark), "", "{mark}");
    }
    project.run(&["reap"]);
    let format = ["inspect", "--format", "{{.State.Running}}", &somebodys];
    let lives = docker_says(root(), &format);
    docker_says(root(), &["rm", "--force", &somebodys]);
    docker_says(root(), &["rmi", &image]);
    assert_eq!(lives, "true");
}

/// How many of the two hundred have passed when the run is killed.
const PASSED: usize = 24;

/// One assertion that stays in a process, with its copy of the fixture, and the rest in containers with the fixture.
fn two_hundred() -> String {
    let server = serde_json::json!({
        "command": "python3", "args": ["-c", SERVER], "docker": IMAGE,
    });
    let stays = "name: stays\nserver: {builtin: conformance, args: [--files, '{{fixture}}']}\n\
                 assert: {tool: slow, args: {hang: true}}\n";
    let call = "{tool: there, args: {paths: ['{{fixture}}/keep.txt']}, expect: {contains: keep}}";
    let contained =
        |number: usize| format!("name: number {number}\nserver: {server}\nassert: {call}\n");
    let mut suite: Vec<String> = (1..200).map(contained).collect();
    // Results come in this order.
    suite.insert(PASSED + 1, stays.to_owned());
    suite.join("---\n")
}

#[test]
fn nightly_nothing_is_left_of_two_hundred_assertions_once_the_next_run_begins() {
    if !ready() {
        return;
    }
    let next = format!("server: {{docker: {IMAGE:?}, command: 'true'}}\nassert: {{tool: x}}\n");
    let project = Project::with_suite(&two_hundred())
        .file("fixture/keep.txt", "keep")
        .file("tmp/empty/file", "")
        .file("next/a.yaml", next);
    let temporary = project.path().join("tmp");
    let folders = || fs::read_dir(&temporary).unwrap().count() - 1;
    let arguments = ["run", "evals", "--fixture", "fixture", "--jobs", "8"];
    let mut command = project.command(&arguments);
    command.env("TMPDIR", &temporary).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let passed = lines
        .map_while(Result::ok)
        .filter(|line| line.starts_with("PASS"))
        .take(PASSED)
        .count();
    assert_eq!(passed, PASSED);
    until("a process has its copy of the fixture", || folders() == 1);
    let owner = format!("{}:", child.id());
    freeze(&child);
    let format = [
        "ps",
        "--all",
        "--quiet",
        "--filter",
        "label=io.mcp-assert.run",
    ];
    let all = docker_says(root(), &format);
    let mine = all.lines().find(|id| {
        let format = "{{index .Config.Labels \"io.mcp-assert.owner\"}}";
        let said = docker(root(), &["inspect", "--format", format, id]).stdout;
        String::from_utf8_lossy(&said).starts_with(&owner)
    });
    let run = label("container", mine.expect("it has containers"), "run");
    let run = format!("io.mcp-assert.run={run}");
    let (things, left) = (labelled(&run).lines().count(), folders());
    println!("left by the killed run: {things} things at the engine, {left} temporary folders");
    assert!(things >= 2 && left == 1, "{things} {left}");
    child.kill().unwrap();
    child.wait().unwrap();
    let begun = Instant::now();
    let mut next = project.command(&["run", "next"]);
    next.env("TMPDIR", &temporary);
    project.finish(next);
    println!("the next run took {:?}", begun.elapsed());
    assert_eq!(labelled(&run), "");
    assert_eq!(folders(), 0);
}
