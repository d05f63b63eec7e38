//! The rules of the source tree that neither Cargo nor clippy can state: who owns which outside crate, which rooms of the
//! program may use which, how files begin, and that every test runs in one of the two scripts.
//!
//! Which crate may use which is in each `Cargo.toml`; that pure code has no effects is in `clippy.toml`.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// Outside crates with one owner, and where the owner lives.
const OWNERS: &[(&str, &[&str])] = &[
    ("annotate_snippets", &["crates/text/src/diagnostic"]),
    (
        "bollard",
        &[
            "crates/host/src/container/",
            "crates/mcp/src/transport/stdio/attach",
        ],
    ),
    ("clap", &["src/cli/", "src/commands/"]),
    ("clap_complete", &["src/cli/", "src/commands/"]),
    ("console", &["src/terminal/"]),
    ("indicatif", &["src/terminal/"]),
    ("octocrab", &["src/deliver/github/"]),
    ("quick_junit", &["crates/report/src/junit"]),
    (
        "reqwest",
        &[
            "crates/mcp/src/transport/http/",
            "src/deliver/github/client",
        ],
    ),
    (
        "rmcp",
        &["crates/serve/src/", "crates/mcp/src/session/second_opinion"],
    ),
    ("rustls", &["crates/mcp/src/transport/tls"]),
    ("rustls_native_certs", &["crates/mcp/src/transport/tls"]),
    (
        "serde_saphyr",
        &["crates/suite/src/yaml/", "crates/serve/src/faults/"],
    ),
    ("webpki_roots", &["crates/mcp/src/transport/tls"]),
];

/// The rooms of the program, and those that each may use. `commands` may use all.
const ROOMS: &[(&str, &[&str])] = &[
    ("cli", &[]),
    ("deliver", &["cli"]),
    ("inspect", &[]),
    ("run", &[]),
    ("terminal", &["deliver"]),
];

/// Names that do not say what lives in a file.
const VAGUE: [&str; 8] = [
    "common", "helper", "helpers", "manager", "misc", "types", "util", "utils",
];

struct Source {
    path: String,
    text: String,
}

impl Source {
    /// The lines without their comments, numbered from 1.
    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines = self.text.lines().enumerate();
        lines.map(|(index, line)| (index + 1, line.split("//").next().unwrap_or_default()))
    }

    fn is_test(&self) -> bool {
        self.path.ends_with("tests.rs") || self.path.contains("/tests/")
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The sources of the program and of all crates, without their tests.
fn sources() -> Vec<Source> {
    let mut files = Vec::new();
    collect(&root().join("src"), &mut files);
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        collect(&entry.unwrap().path().join("src"), &mut files);
    }
    files.sort();
    let sources = files.into_iter().map(|file| Source {
        path: file.strip_prefix(root()).unwrap().display().to_string(),
        text: fs::read_to_string(&file).unwrap(),
    });
    let sources: Vec<_> = sources.filter(|source| !source.is_test()).collect();
    assert!(sources.len() > 200, "the sources were not found");
    sources
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that stand directly behind `crate::` in a text.
fn modules_used(text: &str) -> Vec<&str> {
    let name = |path: &'_ str| path.find(|c: char| !c.is_alphanumeric() && c != '_');
    let mut used = Vec::new();
    for (at, found) in text.match_indices("crate::") {
        let path = &text[at + found.len()..];
        let mut depth = 0;
        let group = path.split(';').next().unwrap_or_default();
        let members = group.split(|character| {
            match character {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            character == ',' && depth == 1
        });
        let count = if path.starts_with('{') { usize::MAX } else { 1 };
        for member in members.take(count) {
            let member = member.trim_start_matches(['{', ' ', '\n']);
            used.push(&member[..name(member).unwrap_or(member.len())]);
        }
    }
    used
}

fn complain(violations: &[String]) {
    assert!(
        violations.is_empty(),
        "{} rule(s) broken:\n{}",
        violations.len(),
        violations.join("\n")
    );
}

#[test]
fn outside_crates_have_one_owner() {
    let mut violations = Vec::new();
    for source in sources() {
        for (line, code) in source.code() {
            for (name, owners) in OWNERS {
                let is_named = code.match_indices(&format!("{name}::")).any(|(at, _)| {
                    !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':')
                });
                if is_named && !owners.iter().any(|owner| source.path.starts_with(owner)) {
                    let owners = owners.join(", ");
                    violations.push(format!(
                        "{}:{line}: `{name}` belongs to {owners}",
                        source.path
                    ));
                }
            }
        }
    }
    complain(&violations);
}

#[test]
fn rooms_use_only_what_they_may() {
    let mut violations = Vec::new();
    for source in sources() {
        let room = |room: &&str| {
            let inner = source.path.strip_prefix("src/");
            inner.is_some_and(|inner| inner.split(['/', '.']).next() == Some(room))
        };
        let Some((name, allowed)) = ROOMS.iter().find(|(name, _)| room(name)) else {
            continue;
        };
        let code: Vec<_> = source.code().map(|(_, code)| code).collect();
        for used in modules_used(&code.join("\n")) {
            let is_room = used == "commands" || ROOMS.iter().any(|(room, _)| *room == used);
            if is_room && used != *name && !allowed.contains(&used) {
                violations.push(format!("{}: `{name}` must not use `{used}`", source.path));
            }
        }
    }
    complain(&violations);
}

#[test]
fn files_open_with_what_lives_in_them() {
    let mut violations = Vec::new();
    for source in sources() {
        if !source.text.starts_with("//!") {
            violations.push(format!("{}: does not open with `//!`", source.path));
        }
        let name = Path::new(&source.path).file_stem().unwrap_or_default();
        if VAGUE.iter().any(|vague| name == *vague) {
            violations.push(format!("{}: the name says nothing", source.path));
        }
    }
    complain(&violations);
}

#[test]
fn every_test_runs_in_one_of_the_two_scripts() {
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let steps = read("scripts/steps");
    let word = steps
        .lines()
        .find_map(|line| line.strip_prefix("nightly=::"));
    let begins = format!("fn {}", word.expect("the word for nightly tests"));
    assert!(read("scripts/test").contains("tests --tests --no-fail-fast -- --skip \"$nightly\""));
    assert!(read("scripts/test-long").contains("--tests -- \"$nightly\""));
    let count = |folder: &str| {
        let mut files = Vec::new();
        collect(&root().join(folder), &mut files);
        let texts = files.iter().map(|path| fs::read_to_string(path).unwrap());
        texts
            .map(|text| text.matches(&begins).count())
            .sum::<usize>()
    };
    assert!(count("tests/it") > 0, "no test is called `{begins}…`");
    assert_eq!(count("src") + count("crates"), 0, "unit tests are quick");
}
