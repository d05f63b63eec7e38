//! The official clients drive `serve`: their scripts in `tests/clients` ask for tools, resources, prompts, samples, forms and
//! progress, and look at every answer. `scripts/servers` installs the Python client, `scripts/conformance --install` those
//! for TypeScript; without them these tests say so, and fail where `CI` is `true`.

use std::{
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use crate::{
    harness::{BINARY, Project},
    serve_http::Site,
};

/// The newest revision with a handshake, and the one without.
const MODES: [&str; 2] = ["legacy", "2026-07-28"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Whether a folder of `target` is there whole; says so when it is not.
fn installed(folder: &str, script: &str) -> bool {
    let there = root().join("target").join(folder).join(".installed");
    if !there.exists() {
        let said = format!("the official clients are not installed: run {script}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{said}");
        eprintln!("skipped: {said}");
    }
    there.exists()
}

fn python() -> Option<Command> {
    let python = root().join("target/servers/python/bin/python");
    let mut command = Command::new(python);
    command.arg(root().join("tests/clients/python.py"));
    installed("servers", "scripts/servers").then_some(command)
}

fn typescript(script: &str) -> Option<Command> {
    if !installed("conformance", "scripts/conformance --install") {
        return None;
    }
    let folder = root().join("target/conformance");
    let modules = std::fs::read_dir(folder.join("node_modules")).unwrap();
    let own = modules
        .map(|module| module.unwrap().path().join("bin/node"))
        .find(|node| node.exists());
    let mut command = Command::new(own.unwrap_or_else(|| PathBuf::from("node")));
    command.arg(root().join("tests/clients").join(script));
    command.current_dir(folder);
    Some(command)
}

fn is_content(mut client: Command) {
    let output = client.output().unwrap();
    let (out, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(
        output.status.success() && out.ends_with("ok\n"),
        "{client:?}\n{out}{errors}"
    );
}

/// A client with a server of its own, which has to end well.
fn over_http(mut client: Command, arguments: &[&str]) {
    let project = Project::new();
    let site = Site::start(&project, &[]);
    client.args(arguments).arg(&site.url);
    is_content(client);
    site.signal("-TERM");
    assert_eq!(site.end(), (String::new(), Some(0)));
}

#[test]
fn the_python_client_is_content() {
    thread::scope(|scope| {
        for mode in MODES {
            if let Some(client) = python() {
                scope.spawn(move || over_http(client, &[mode]));
            }
        }
    });
}

#[test]
fn nightly_the_python_client_is_content_over_stdio() {
    thread::scope(|scope| {
        for mode in MODES {
            if let Some(mut client) = python() {
                client.args([mode, BINARY, "serve"]);
                scope.spawn(move || is_content(client));
            }
        }
    });
}

#[test]
fn the_second_typescript_client_is_content() {
    thread::scope(|scope| {
        for mode in MODES {
            if let Some(client) = typescript("typescript-2.mjs") {
                scope.spawn(move || over_http(client, &[mode]));
            }
        }
    });
}

#[test]
fn the_first_typescript_client_is_content() {
    if let Some(client) = typescript("typescript-1.mjs") {
        over_http(client, &[]);
    }
}
