//! What is started in images, prepared ones too, and what a first start leaves in them.

use super::{IMAGE, SERVER, forget_prepared, ready, run};
use crate::{
    engine::{Tag, docker_says},
    harness::Project,
};

/// An image of the one for Python.
fn image(purpose: &str, lines: &str) -> Tag {
    let tag = Tag::new(purpose);
    let folder = Project::new().file("Dockerfile", format!("FROM {IMAGE}\n{lines}"));
    docker_says(folder.path(), &["build", "--tag", &tag.0, "."]);
    tag
}

/// One assertion after the other, each with its words about the server and its call.
fn suite(all: &[(serde_json::Value, &str)]) -> Project {
    let documents: Vec<String> = all
        .iter()
        .enumerate()
        .map(|(index, (server, call))| {
            format!("name: a{index}\nserver: {server}\nassert: {{{call}}}\n")
        })
        .collect();
    Project::with_suite(&documents.join("---\n"))
}

#[test]
fn nightly_the_entry_point_of_an_image_stands_in_front_of_the_command() {
    if !ready() {
        return;
    }
    let word = format!("wrapped-{}", std::process::id());
    let wrapping = image(
        "wrapping",
        &format!(
            "RUN printf '#!/bin/sh\\nexport WRAPPED={word}\\nexec \"$@\"\\n' > /{word}; chmod +x /{word}\n\
             USER 1234:1234\nWORKDIR /usr\nENTRYPOINT [\"/{word}\"]\n"
        ),
    );
    let python = image(
        "python-first",
        "ENTRYPOINT [\"python3\"]\nCMD [\"--version\"]\n",
    );
    let wrapped = format!("tool: env, expect: {{contains: '{word}'}}");
    let bare = format!("tool: env, expect: {{not_contains: '{word}'}}");
    let place = "tool: who, expect: {equals: 1234:1234 in /usr}";
    let server = |docker: serde_json::Value| serde_json::json!({"command": "python3", "args": ["-c", SERVER], "docker": docker});
    let prepared = serde_json::json!({"image": wrapping.0, "prepare": ["true"]});
    let project = suite(&[
        (server(wrapping.0.clone().into()), &wrapped),
        (server(prepared.clone()), &wrapped),
        (server(prepared), place),
        (
            server(serde_json::json!({"image": wrapping.0, "entrypoint": ""})),
            &bare,
        ),
        (
            server(
                serde_json::json!({"image": python.0, "entrypoint": ["env", format!("A={word}")]}),
            ),
            &wrapped,
        ),
        (
            serde_json::json!({"command": "-c", "args": [SERVER], "docker": python.0}),
            "tool: echo, args: {text: hello}, expect: {equals: hello}",
        ),
    ]);
    let (ran, _) = run(&project, &[]);
    forget_prepared(&format!("/{word}"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn nightly_a_command_that_the_entry_point_takes_for_its_arguments_is_told_as_what_was_started() {
    if !ready() {
        return;
    }
    let python = image("python-before", "ENTRYPOINT [\"python3\"]\n");
    let shell = image("shell-before", "ENTRYPOINT exit 3\n");
    let of = |image: &Tag| serde_json::json!({"command": "python3", "args": ["/no-such.py"], "docker": image.0});
    let call = "tool: echo, expect: {not_error: true}";
    let project = suite(&[(of(&python), call), (of(&shell), call)]);
    let (ran, _) = run(&project, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    for (image, started) in [
        (&python, "python3 python3 /no-such.py"),
        (&shell, "/bin/sh -c 'exit 3' python3 /no-such.py"),
    ] {
        let shown = format!("server    container {} {started}\n", image.0);
        assert!(ran.stdout.contains(&shown), "{shown}: {}", ran.stdout);
    }
}

#[test]
fn nightly_a_server_of_which_only_the_image_is_named_is_shown_by_it_and_by_what_that_starts() {
    if !ready() {
        return;
    }
    let python = image(
        "python-alone",
        "ENTRYPOINT [\"python3\"]\nCMD [\"--version\"]\n",
    );
    let call = "tool: echo, expect: {not_error: true}";
    let project = suite(&[
        (serde_json::json!({"docker": python.0}), call),
        (
            serde_json::json!({"args": ["-c", "pass"], "docker": python.0}),
            call,
        ),
    ]);
    let (ran, _) = run(&project, &[]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    for started in ["--version", "-c pass"] {
        let shown = format!("server    container {} python3 {started}\n", python.0);
        assert!(ran.stdout.contains(&shown), "{shown}: {}", ran.stdout);
    }
    let planned = project.run(&["run", "evals", "--dry-run"]);
    let shown = format!("container {}\n", python.0);
    assert!(planned.stdout.contains(&shown), "{}", planned.stdout);
}

#[test]
fn nightly_a_first_start_leaves_its_caches_and_nothing_else() {
    if !ready() {
        return;
    }
    let word = format!("module{}", std::process::id());
    let start = format!(
        "import sys\nsys.path.insert(0, '/opt/{word}')\nimport {word}\nopen('/var/count', 'a').write('x')\n{SERVER}"
    );
    let docker = serde_json::json!({
        "image": IMAGE, "read_only": false, "user": "root",
        "prepare": {"copy": {format!("../{word}.py"): format!("/opt/{word}/")}, "run": ["sleep 1"]},
    });
    let mut cold = docker.clone();
    cold["warm"] = false.into();
    let server = |docker| serde_json::json!({"command": "python3", "args": ["-c", &start], "docker": docker});
    let (server, cold) = (server(docker), server(cold));
    let cached = format!(
        "tool: list, args: {{path: /opt/{word}/__pycache__}}, expect: {{contains: {word}.cpython}}"
    );
    let project = suite(&[
        (
            server.clone(),
            "tool: read, args: {path: /var/count}, expect: {equals: x}",
        ),
        (server, &cached),
        (
            cold,
            "tool: read, args: {path: /var/count}, expect: {equals: x}",
        ),
    ])
    .file(&format!("{word}.py"), "SEEN = True\n");
    let (ran, _) = run(&project, &[]);
    forget_prepared(&format!("/opt/{word}"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    // One preparation is for both, and nobody waits for himself.
    let notes: Vec<&str> = ran.stderr.lines().collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[1].starts_with("note: starting `python3 -c import sys` once in"),
        "{notes:?}"
    );
}

#[test]
fn an_image_prepared_without_a_variable_is_not_taken_for_one_prepared_with_it() {
    if !ready() {
        return;
    }
    let word = format!("licence-{}", std::process::id());
    let docker = serde_json::json!({
        "image": IMAGE, "user": "root", "warm": false,
        "prepare": {"run": [format!("echo ${{LICENCE:-none}} > /{word}")], "env": ["LICENCE"]},
    });
    let server =
        serde_json::json!({"command": "python3", "args": ["-c", SERVER], "docker": docker});
    let read = format!("tool: read, args: {{path: /{word}}}, expect: {{contains: full}}");
    let project = suite(&[(server, &read)]);
    let without = project.run(&["run", "evals"]);
    let with = |value: &str| {
        let mut command = project.command(&["run", "evals"]);
        command.env("LICENCE", value);
        project.finish(command)
    };
    let (first, second) = (with("full"), with("other"));
    forget_prepared(&format!("/{word}"));
    assert_eq!(without.code, 1, "{}{}", without.stdout, without.stderr);
    let told = "the environment variable `LICENCE` is not set, and the image is prepared without";
    assert!(without.stderr.contains(told), "{}", without.stderr);
    assert_eq!(first.code, 0, "{}{}", first.stdout, first.stderr);
    // Its value does not count.
    assert_eq!(second.code, 0, "{}{}", second.stdout, second.stderr);
    assert!(!second.stderr.contains("preparing"), "{}", second.stderr);
}

#[test]
fn nightly_one_first_start_is_for_all_groups_of_a_run() {
    if !ready() {
        return;
    }
    let word = format!("shared-{}", std::process::id());
    let server = |image: &str, value: &str| {
        serde_json::json!({
            "command": "python3", "args": ["-c", SERVER], "env": {"VALUE": value},
            "docker": {"image": image, "prepare": [format!("touch /{word}")]},
        })
    };
    let echo = "tool: echo, args: {text: hi}, expect: {equals: hi}";
    let with_fixture = "tool: echo, args: {text: hi}, expect: {file_exists: keep.txt}";
    let untagged = IMAGE.trim_end_matches(":latest");
    let project = suite(&[
        (server(IMAGE, "a"), echo),
        (server(IMAGE, "a"), with_fixture),
        (server(IMAGE, "b"), echo),
        (server(untagged, "a"), echo),
    ])
    .file("fixture/keep.txt", "keep");
    let (ran, seen) = run(&project, &["--fixture", "fixture", "--jobs", "4"]);
    forget_prepared(&format!("/{word}"));
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let begun = |what: &str| ran.stderr.matches(what).count();
    assert_eq!(begun("note: preparing `"), 1, "{}", ran.stderr);
    assert_eq!(begun("note: starting `python3"), 1, "{}", ran.stderr);
    assert_eq!(ran.stderr.lines().count(), 2, "{}", ran.stderr);
    let records = seen["assertions"].as_array().unwrap();
    let image = |index: usize| &records[index]["container"]["image_id"];
    for index in 1..records.len() {
        assert_eq!(image(index), image(0), "{index}");
    }
}
