//! What an engine refuses, in its own words, told apart: names, platforms, sockets. What it refuses for want of space
//! or because it is being stopped stands in `own`, images in `crate::images`.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, process::CommandExt},
    path::Path,
};

use super::{
    IMAGE,
    engines::{Remote, SOCKET},
    project, ready,
};
use crate::{
    engine::{Tag, docker, docker_says, engine},
    harness::Project,
    registry::digest,
};

const ECHO: &str = "assert: {tool: echo, args: {text: hi}}\n";

/// Takes the name that a container is about to get.
fn seize(asked: &[u8]) -> Option<&'static str> {
    if let Some(name) = asked_name(asked) {
        docker_says(Path::new("/"), &["create", "--name", &name, IMAGE, "true"]);
    }
    None
}

/// The name in a request that makes a container.
fn asked_name(asked: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(asked);
    let (_, rest) = text.split_once("/containers/create?")?;
    let (_, rest) = rest.split_once("name=")?;
    let name = rest.split(['&', ' ']).next()?;
    Some(name.to_owned())
}

#[test]
fn a_name_that_somebody_has_is_theirs() {
    if !ready() || !Path::new(SOCKET).exists() {
        return;
    }
    let remote = Remote::with(seize);
    let project = project(ECHO);
    let ran = project.run(&[
        "run",
        "evals",
        "--docker-host",
        &remote.address,
        "--report-json",
        "run.json",
    ]);
    let said = &ran.stdout;
    assert_eq!(ran.code, 1, "{said}");
    assert!(
        said.contains("the name of the container is already in use"),
        "{said}"
    );
    assert!(said.contains("mcp-assert reap"), "{said}");
    let run: serde_json::Value = serde_json::from_str(&project.read("run.json")).unwrap();
    let label = run["engine"]["label"].as_str().unwrap();
    let theirs = format!("name=mcp-assert-{label}-");
    let list = ["ps", "--all", "--quiet", "--filter", &theirs];
    let left = docker_says(Path::new("/"), &list);
    docker(
        Path::new("/"),
        &[&["rm"], &left.lines().collect::<Vec<_>>()[..]].concat(),
    );
    assert_eq!(left.lines().count(), 1, "it is not ours to remove");
}

/// A program for a processor that there is not.
const NONE: [u8; 2] = [0xef, 0xbe];

/// A program for such a processor.
fn foreign(processor: [u8; 2]) -> Vec<u8> {
    let mut program = vec![0; 128];
    program[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    program[16..18].copy_from_slice(&[2, 0]);
    program[18..20].copy_from_slice(&processor);
    program
}

/// Gives the engine an image for this processor, whose files are that program.
fn load(tag: &Tag, architecture: &str, files: &[&str], program: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let add = |tar: &mut tar::Builder<Vec<u8>>, name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o755);
        tar.append_data(&mut header, name, bytes).unwrap();
    };
    let mut layer = tar::Builder::new(Vec::new());
    for file in files {
        add(&mut layer, file, program);
    }
    let layer = layer.into_inner().unwrap();
    let config = serde_json::json!({
        "architecture": architecture,
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [digest(&layer)]},
    });
    let manifest = serde_json::json!([
        {"Config": "config.json", "RepoTags": [tag.0], "Layers": ["layer.tar"]},
    ]);
    let mut image = tar::Builder::new(Vec::new());
    add(&mut image, "layer.tar", &layer);
    add(&mut image, "config.json", config.to_string().as_bytes());
    add(&mut image, "manifest.json", manifest.to_string().as_bytes());
    fs::write(folder.path().join("image.tar"), image.into_inner().unwrap()).unwrap();
    docker_says(folder.path(), &["load", "--input", "image.tar"]);
}

#[test]
fn nightly_a_program_for_another_processor_is_told_as_that() {
    if !engine() {
        return;
    }
    let own = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "amd64"
    };
    let whole = ["server", "bin/sh"];
    let case = |architecture: &str, files: &[&str], init: bool, wanted: &[&str]| {
        let tag = Tag::new("foreign");
        load(&tag, architecture, files, &foreign(NONE));
        let server = format!(
            "{{docker: {{image: '{}', init: {init}}}, command: /server}}",
            tag.0
        );
        let ran = Project::with_suite(&format!("server: {server}\n{ECHO}")).run(&["run", "evals"]);
        let said = &ran.stdout;
        assert_eq!(ran.code, 1, "{said}");
        for wanted in wanted {
            assert!(
                said.contains(wanted),
                "{architecture} {init} {wanted}: {said}"
            );
        }
    };
    let format = "cannot run on this engine: exec format error";
    let missing = "program `/server` was not found in the image";
    let platforms = "(the image is for linux/s390x, the engine runs linux/";
    case(
        "s390x",
        &whole,
        true,
        &[format, platforms, "engine's platform"],
    );
    // Without a shell the init process says that a file is not there.
    case("s390x", &["server"], true, &[missing, platforms]);
    case("s390x", &["server"], false, &[format, platforms]);
    // An image that does not tell the truth.
    case(own, &whole, true, &[format, "engine's platform"]);
    case(own, &["server"], true, &[missing, "what it needs to run"]);
    case(own, &["server"], false, &[format]);
}

#[test]
fn nightly_what_a_shell_takes_for_a_script_is_told_as_what_it_is() {
    if !ready() {
        return;
    }
    let server = |rest: &str| format!("server: {{docker: {{image: '{IMAGE}'{rest}}}, command: ");
    let call = "assert: {tool: x, expect: {file_not_exists: x}}\n";
    let project = Project::with_suite(&format!(
        "name: for another processor\n{}'{{{{fixture}}}}/other'}}\n{call}---\n\
         name: without a first line\n{}'{{{{fixture}}}}/script'}}\n{call}",
        server(""),
        server(", init: false"),
    ))
    .file("fixture/script", "echo hi\n")
    .file("fixture/other", "");
    let file = |name: &str| project.path().join("fixture").join(name);
    fs::write(file("other"), foreign(NONE)).unwrap();
    for name in ["script", "other"] {
        fs::set_permissions(file(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let ran = project.run(&["run", "evals", "--fixture", "fixture"]);
    for wanted in [
        "/mcp-assert/fixture/other: ",
        "cannot run on this engine: exec format error",
        "a first line such as `#!/bin/sh`",
    ] {
        assert!(ran.stdout.contains(wanted), "{wanted}\n{}", ran.stdout);
    }
}

#[test]
fn a_socket_that_may_not_be_used_is_told_with_the_way_to_it() {
    let project = Project::with_suite(&format!(
        "server: {{docker: {IMAGE:?}, command: x}}\n{ECHO}"
    ));
    let mut command = project.command(&["run", "evals"]);
    let host = if rustix::process::geteuid().is_root() {
        if !engine() || !Path::new(SOCKET).exists() {
            return;
        }
        // Nobody belongs to no group, and has a home in no folder of ours.
        fs::set_permissions(project.path(), fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(65_534).gid(65_534);
        SOCKET.to_owned()
    } else {
        let path = project.path().join("engine.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        path.display().to_string()
    };
    command.env("DOCKER_HOST", format!("unix://{host}"));
    let ran = project.finish(command);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("permission denied"), "{}", ran.stderr);
    assert!(ran.stderr.contains("usermod -aG docker"), "{}", ran.stderr);
}

#[test]
fn nightly_an_image_without_a_shell_takes_files_and_refuses_lines() {
    if !ready() {
        return;
    }
    let suite = |prepare: &str, expect: &str| {
        format!(
            "name: a\nserver: {{builtin: conformance, docker: {{image: self, prepare: {prepare}}}}}\nassert: {{tool: echo, \
             args: {{message: hi}}, expect: {expect}}}\n"
        )
    };
    let lines = Project::with_suite(&suite("echo hi", "{not_error: true}")).run(&["run", "evals"]);
    assert_eq!(lines.code, 1, "{}", lines.stdout);
    let reason = "`echo hi` cannot be run: the image has no `/bin/sh`";
    assert!(lines.stdout.contains(reason), "{}", lines.stdout);
    let files = suite(
        "{copy: {note.txt: /data/}}",
        "{file_contains: {/data/note.txt: a note of these tests}}",
    );
    let files = Project::with_suite(&files)
        .file("evals/note.txt", "a note of these tests")
        .run(&["run", "evals"]);
    assert_eq!(files.code, 0, "{}", files.stdout);
}
