//! Assertions in containers, on a real engine: fresh each, closed, and nothing left behind.

mod ahead;
mod base_built;
mod catalogs;
mod closed;
mod ends;
mod engines;
mod leftovers;
mod listening;
mod looks;
mod own;
mod podman;
mod prepared;
mod refused;
mod unheard;

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    engine::{docker, docker_says, engine, there},
    harness::{Project, Ran},
};

/// The image the servers of these tests run in.
const IMAGE: &str = "mcp-assert-test/python:latest";

/// The server.
const SERVER: &str = include_str!("server.py");

/// Whether an engine is there and has the image.
fn ready() -> bool {
    engine() && {
        let found = docker(Path::new("/"), &["image", "inspect", IMAGE]);
        there(
            found.status.success(),
            "the image for Python is not there: scripts/images makes it",
        )
    }
}

/// A project whose assertions run the server in containers.
fn project(suite: &str) -> Project {
    let server = serde_json::json!({
        "command": "python3", "args": ["-c", SERVER], "docker": IMAGE,
    });
    Project::with_suite(suite).file(
        "evals/mcp-assert.yaml",
        format!("defaults: {{server: {server}}}\n"),
    )
}

/// The containers, volumes and networks that carry a label.
pub(crate) fn labelled(label: &str) -> String {
    let filter = format!("label={label}");
    let list = |words: &[&str]| {
        let words = [words, &["--quiet", "--filter", &filter]].concat();
        docker_says(Path::new("/"), &words)
    };
    let all = [
        list(&["ps", "--all"]),
        list(&["volume", "ls"]),
        list(&["network", "ls"]),
    ];
    all.join("\n").trim().to_owned()
}

/// What `run.json` says.
fn run_json(project: &Project) -> Value {
    serde_json::from_str(&project.read("run.json")).unwrap()
}

/// Runs the suite; nothing that carries its label may be there afterwards.
fn run(project: &Project, more: &[&str]) -> (Ran, Value) {
    let mut arguments = vec!["run", "evals", "--report-json", "run.json"];
    arguments.extend(more);
    let ran = project.run(&arguments);
    let seen = run_json(project);
    let label = seen["engine"]["label"].as_str().unwrap();
    assert_eq!(labelled(&format!("io.mcp-assert.run={label}")), "");
    (ran, seen)
}

/// Waits for a run of two assertions whose engine went away: it ends soon, and neither has a verdict. What it said.
fn end_without_engine(child: Child) -> String {
    let begun = Instant::now();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(begun.elapsed() < Duration::from_secs(40), "{said}");
    // Nothing was observed of any server.
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("2 assertions, 2 errors"), "{said}");
    let noted = String::from_utf8_lossy(&output.stderr);
    let why = "the container engine was gone or silent each time";
    assert!(noted.contains(why), "{noted}");
    said
}

/// The ids of all containers of a run, those of earlier attempts included.
fn ids(seen: &Value) -> Vec<String> {
    let mut ids = Vec::new();
    for record in seen["assertions"].as_array().unwrap() {
        let attempts = record["attempts"].as_array().unwrap();
        for attempt in attempts.iter().chain([record]) {
            ids.push(attempt["container"]["id"].as_str().unwrap().to_owned());
        }
    }
    ids
}

/// Removes the prepared images that have this path.
fn forget_prepared(path: &str) {
    forget("mcp-assert/prepared", path);
}

/// Removes the images of this name that have this path.
fn forget(name: &str, path: &str) {
    let list = ["images", "--quiet", name];
    for image in docker_says(Path::new("/"), &list).lines() {
        let there = ["run", "--rm", "--network", "none", "--entrypoint", "test"];
        let there = [&there[..], &[image, "-e", path]].concat();
        if docker(Path::new("/"), &there).status.success() {
            docker(Path::new("/"), &["rmi", "--force", image]);
        }
    }
}

/// Assertions that would see what another one left.
const FRESH: &str = r#"
name: writes
assert:
  tool: write
  args: {path: "{{fixture}}/sub/new.txt", text: hello}
  expect:
    contains: written
    file_contains: {sub/new.txt: hello}
    file_unchanged: [keep.txt, "{{fixture}}/sub/old.txt"]
    only_changed: [sub/new.txt]
    file_exists: [/etc/passwd]
---
name: finds the fixture fresh
assert:
  tool: there
  args: {paths: ["{{fixture}}/keep.txt", "{{fixture}}/sub/new.txt", /tmp/left]}
  expect: {contains: keep.txt, not_contains: [new.txt, left], only_changed: []}
---
name: writes to its own tmp
setup: [{tool: write, args: {path: /tmp/left}}]
assert: {tool: there, args: {paths: [/tmp/left]}, expect: {contains: left}}
---
name: may not write elsewhere
assert: {tool: who, expect: {equals: "65534:65534 in /"}}
---
name: asks for what each step left
setup:
  - {tool: write, args: {path: "{{fixture}}/a", text: one}, expect: {file_equals: {a: one}, only_changed: [a]}}
steps:
  - {tool: there, args: {paths: []}, expect: {file_not_exists: b, file_equals: {a: one}}}
  - {tool: write, args: {path: "{{fixture}}/a", text: two}, expect: {file_equals: {a: two}}}
  - {tool: write, args: {path: "{{fixture}}/b"}, expect: {file_exists: b, only_changed: [a, b]}}
---
name: asks for what the next step leaves
steps:
  - {tool: there, args: {paths: []}, expect: {file_exists: b}}
  - {tool: write, args: {path: "{{fixture}}/b"}}
---
name: fails and is tried again
retries: 1
assert: {tool: echo, args: {text: one}, expect: {contains: other}}
"#;

#[test]
fn every_attempt_has_a_container_of_its_own_and_the_fixture_stays_as_it_is() {
    if !ready() {
        return;
    }
    let project = project(FRESH)
        .file("fixture/keep.txt", "keep")
        .file("fixture/sub/old.txt", "old");
    let (ran, seen) = run(&project, &["--fixture", "fixture", "--jobs", "3"]);
    let statuses: Vec<_> = seen["assertions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["status"].as_str().unwrap())
        .collect();
    assert_eq!(
        statuses,
        ["pass", "pass", "pass", "pass", "pass", "fail", "fail"],
        "{}",
        ran.stdout
    );
    let mut ids = ids(&seen);
    assert_eq!(ids.len(), 8);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 8, "each attempt has its own");
    assert!(!project.path().join("fixture/sub/new.txt").exists());
    assert_eq!(project.read("fixture/keep.txt"), "keep");
    let container = &seen["assertions"][0]["container"];
    assert_eq!(container["image"], IMAGE);
    assert!(
        container["image_id"]
            .as_str()
            .unwrap()
            .starts_with("sha256:")
    );
    assert!(container["start_us"].as_u64().unwrap() > 0);
    let said = &ran.stdout;
    assert!(
        said.contains("in 8 containers, added up: the engine "),
        "{said}"
    );
    assert!(!seen["engine"]["version"].as_str().unwrap().is_empty());
}

#[test]
fn a_container_sees_no_variable_of_ours() {
    if !ready() {
        return;
    }
    let project = project(
        r#"
name: its own secret
server: {env: {TOKEN: "${MY_TOKEN}"}}
assert: {tool: env, expect: {contains: '"TOKEN": "hidden-value"', not_contains: [MY_TOKEN, CARGO]}}
---
name: nobody else's
assert: {tool: env, expect: {not_contains: [hidden-value, MY_TOKEN, MCP_ASSERT]}}
"#,
    );
    let mut command = project.command(&["run", "evals", "--trace", "--report-json", "run.json"]);
    command.env("MY_TOKEN", "hidden-value");
    let ran = project.finish(command);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert!(!project.read("run.json").contains("hidden-value"));
    assert!(!ran.stdout.contains("hidden-value"));
}

#[test]
fn what_keeps_a_server_from_starting_is_told_with_its_fix() {
    if !ready() {
        return;
    }
    let project = project(
        r#"
name: no program
server: {command: no-such-program}
assert: {tool: echo}
---
name: no image
server: {docker: {image: "mcp-assert-test/none:1", pull: never}, command: x}
assert: {tool: echo}
---
name: no user
server: {docker: {image: "mcp-assert-test/python:latest", user: ghost}, command: x}
assert: {tool: echo}
---
name: no network
server: {docker: {image: "mcp-assert-test/python:latest", network: nowhere}, command: x}
assert: {tool: echo}
---
name: not executable
server: {docker: "mcp-assert-test/python:latest", command: /etc/passwd}
assert: {tool: echo}
---
name: nothing to start
server: {docker: "mcp-assert-test/python:latest", command: ""}
assert: {tool: echo}
---
name: nothing left to start
server: {docker: {image: "mcp-assert-test/python:latest", entrypoint: ""}, command: ""}
assert: {tool: echo}
"#,
    );
    let (ran, _) = run(&project, &[]);
    assert_eq!(ran.code, 1);
    for wanted in [
        "takes away what the image",
        "program `no-such-program` was not found in the image",
        "mcp-assert-test/none:1",
        "does not know the user",
        "network nowhere not found",
        "cannot be executed: permission denied",
        "starts nothing by itself",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
}

#[test]
fn what_a_script_in_a_container_lacks_is_told_as_for_a_process() {
    if !ready() {
        return;
    }
    let project = project(
        r#"
name: no interpreter
server: {docker: {image: "mcp-assert-test/python:latest", workdir: /mcp-assert}, command: fixture/script}
assert: {tool: write, args: {path: "{{fixture}}/x"}}
---
name: a directory
server: {docker: "mcp-assert-test/python:latest", command: /etc}
assert: {tool: write, args: {path: "{{fixture}}/x"}}
---
name: a directory without init
server: {docker: {image: "mcp-assert-test/python:latest", init: false}, command: /usr}
assert: {tool: write, args: {path: "{{fixture}}/x"}}
---
name: carriage return
server: {docker: {image: "mcp-assert-test/python:latest", init: false}, command: "{{fixture}}/returns"}
assert: {tool: write, args: {path: "{{fixture}}/x"}}
"#,
    )
    .file("fixture/script", "#!/no/such/interpreter\n")
    .file("fixture/returns", "#!/bin/sh\r\n");
    for script in ["script", "returns"] {
        let path = project.path().join("fixture").join(script);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let (ran, _) = run(&project, &["--fixture", "fixture"]);
    for wanted in [
        "program `fixture/script` was not found in the image `mcp-assert-test/python:latest`, or what it needs to run",
        "program `/mcp-assert/fixture/returns` was not found in the image",
        "the interpreter of its `#!` line",
        "program `/etc` of the image `mcp-assert-test/python:latest` cannot be executed: permission denied",
        "program `/usr` of the image `mcp-assert-test/python:latest`",
        "name a file where it is a directory",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
}

#[test]
fn a_server_of_the_command_line_gets_the_fixture_that_it_speaks_of() {
    if !ready() {
        return;
    }
    let suite = "name: echoes\nassert: {tool: echo, args: {text: a}, expect: {equals: a}}\n";
    let project = Project::with_suite(suite).file("fixture/server.py", SERVER);
    let server = "python3 '{{fixture}}/server.py'";
    let options = [
        "--docker",
        IMAGE,
        "--fixture",
        "fixture",
        "--server",
        server,
    ];
    let (ran, _) = run(&project, &options);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn servers_are_placed_by_the_command_line_too() {
    if !ready() {
        return;
    }
    let suite = "name: who\nassert: {tool: who, expect: {contains: '65534'}}\n";
    let server = serde_json::json!({"command": "python3", "args": ["-c", SERVER]});
    let project = Project::with_suite(suite).file(
        "evals/mcp-assert.yaml",
        format!("defaults: {{server: {server}}}\n"),
    );
    let (ran, seen) = run(&project, &["--docker", IMAGE]);
    assert_eq!((ran.code, ids(&seen).len()), (0, 1), "{}", ran.stdout);
    let nothing = project.run(&["run", "evals", "--isolation", "container"]);
    assert_eq!(nothing.code, 1);
    assert!(
        nothing.stdout.contains("--docker IMAGE"),
        "{}",
        nothing.stdout
    );
    let both = project.run(&["run", "evals", "--isolation", "process", "--docker", IMAGE]);
    assert_eq!(both.code, 2);
}

#[test]
fn a_folder_of_this_machine_is_not_looked_for_in_a_container() {
    if !ready() {
        return;
    }
    let suite = |folder: &str| {
        let server =
            serde_json::json!({"command": "python3", "args": ["-c", SERVER], "cwd": folder});
        format!("server: {server}\nassert: {{tool: who, expect: {{contains: ' in /usr'}}}}\n")
    };
    let inside = Project::with_suite(&suite("/usr"));
    let ran = inside.run(&["run", "evals", "--docker", IMAGE]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let beside = Project::with_suite(&suite("app")).file("evals/app/file", "");
    let absolute = beside.path().join("evals").display().to_string();
    for evals in ["evals", &absolute] {
        let ran = beside.run(&["run", evals, "--docker", IMAGE]);
        assert_eq!(ran.code, 1, "{}", ran.stdout);
        let wanted = "`cwd: app` is a folder beside the suite";
        assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
    }
}

#[test]
fn two_runs_at_once_do_not_touch_each_other() {
    if !ready() {
        return;
    }
    let suite =
        "name: sleeps\nassert: {tool: sleep, args: {seconds: 1}, expect: {contains: slept}}\n";
    let projects = [project(suite), project(suite)];
    let running: Vec<_> = projects
        .iter()
        .map(|project| {
            let mut command = project.command(&["run", "evals", "--trials", "2"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
    }
}

#[test]
fn assertions_that_share_a_server_share_its_container() {
    if !ready() {
        return;
    }
    let suite = r"
name: first
assert: {tool: write, args: {path: /tmp/left}, expect: {contains: written}}
---
name: second
assert: {tool: there, args: {paths: [/tmp/left]}, expect: {contains: left}}
";
    let (ran, seen) = run(&project(suite), &["--reuse-server"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[1].ends_with("on the server of a.yaml::first"),
        "{lines:?}"
    );
    assert!(!lines[0].contains("on the server"), "{lines:?}");
    assert!(
        ran.stdout.contains("in 1 container, added up"),
        "{}",
        ran.stdout
    );
    let ids = ids(&seen);
    assert!(ids.len() == 2 && ids[0] == ids[1], "{ids:?}");
    let second = &seen["assertions"][1];
    assert_eq!(second["server_of"], "a.yaml::first");
    assert_eq!(second["container"]["create_us"], 0);

    // Where each has a fixture of its own, each has a container.
    let suite = r"
name: first
assert: {tool: write, args: {path: '{{fixture}}/a'}, expect: {contains: written}}
---
name: second
assert: {tool: there, args: {paths: ['{{fixture}}/a']}, expect: {not_contains: a}}
";
    let project = project(suite).file("fixture/kept", "");
    let (ran, seen) = run(&project, &["--reuse-server", "--fixture", "fixture"]);
    let mut found = self::ids(&seen);
    found.dedup();
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    let wanted = match found.len() {
        1 => "in 1 container,",
        _ => "in 2 containers,",
    };
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}

#[test]
fn nightly_the_image_of_the_command_line_is_prepared_once() {
    if !ready() {
        return;
    }
    let word = format!("prepared-{}", std::process::id());
    let suite = format!(
        "name: finds what was prepared\nassert: {{tool: there, args: {{paths: [/opt/{word}, /tmp/{word}]}}, \
         expect: {{equals: '[\"/opt/{word}\"]'}}}}\n"
    );
    let server = serde_json::json!({"command": "python3", "args": ["-c", SERVER]});
    let project = Project::with_suite(&suite).file(
        "evals/mcp-assert.yaml",
        format!("defaults: {{server: {server}}}\n"),
    );
    let lines = format!(
        "cd \\\n  /opt\n\nif [ -z \"$TOKEN\" ]; then\n  cat > {word} <<'END'\n  it's done\nEND\nfi\n"
    );
    let arguments = ["ci", "--image", IMAGE, "--prepare", &lines, "--trials", "2"];
    let ran = project.run(&arguments);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let preparing = format!("note: preparing `{IMAGE}`");
    assert_eq!(ran.stderr.matches(&preparing).count(), 1, "{}", ran.stderr);
    let again = project.run(&["run", "evals", "--docker", IMAGE, "--prepare", &lines]);
    assert_eq!(again.code, 0, "{}{}", again.stdout, again.stderr);
    assert!(!again.stderr.contains(&preparing), "{}", again.stderr);
    forget_prepared(&format!("/opt/{word}"));
}

#[test]
fn nightly_lines_that_fail_or_prepare_nothing_are_told() {
    if !ready() {
        return;
    }
    let project = project("name: a\nassert: {tool: echo}\n").file(
        "evals/mcp-assert.yaml",
        "defaults: {server: {command: python3}}\n",
    );
    let broken = project.run(&["ci", "--image", IMAGE, "--prepare", "cd /opt\nexit 7"]);
    assert_eq!(broken.code, 3, "{}", broken.stdout);
    assert!(broken.stdout.contains("exit 7`"), "{}", broken.stdout);
    for arguments in [
        &["ci", "--prepare", "true"][..],
        &["run", "evals", "--prepare", "true"],
        &["ci", "--image", IMAGE, "--prepare", " \n"],
        &[
            "ci",
            "--isolation",
            "process",
            "--image",
            IMAGE,
            "--prepare",
            "true",
        ],
    ] {
        let refused = project.run(arguments);
        assert_eq!(
            refused.code, 2,
            "{arguments:?}: {}{}",
            refused.stdout, refused.stderr
        );
    }
}
