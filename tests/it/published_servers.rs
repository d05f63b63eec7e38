//! The suites of `examples/` against published servers, and their wrong copies in `tests/examples-red`.
//! `scripts/servers` installs the servers; without them these tests say so, and fail where `CI` is `true`.

use std::{path::Path, process::Command};

use serde_json::Value;

use crate::harness::BINARY;

const SERVERS: [&str; 5] = ["everything", "filesystem", "git", "memory", "time"];

/// Whether the servers are there; says so when they are not.
fn installed() -> bool {
    let there = root().join("target/servers/.installed").exists();
    if !there {
        let said = "the published servers are not installed: run scripts/servers";
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{said}");
        eprintln!("skipped: {said}");
    }
    there
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The outcomes of a suite, and the exit code.
fn outcomes(suite: &str) -> (Vec<Value>, i32) {
    let output = Command::new(BINARY)
        .args(["run", "--json", "--suite", suite])
        .current_dir(root())
        .output()
        .unwrap();
    let outcomes = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{suite}: {error}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    });
    (outcomes, output.status.code().unwrap_or(-1))
}

/// How many documents the files of a folder have, the settings left out.
fn documents(suite: &str) -> usize {
    std::fs::read_dir(root().join(suite))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension().is_some_and(|kind| kind == "yaml")
                && !path.ends_with("mcp-assert.yaml")
        })
        .map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            1 + text.lines().filter(|line| *line == "---").count()
        })
        .sum()
}

#[test]
fn every_example_is_green() {
    if !installed() {
        return;
    }
    for server in SERVERS {
        let suite = format!("examples/{server}");
        let (outcomes, code) = outcomes(&suite);
        let red: Vec<&Value> = outcomes
            .iter()
            .filter(|outcome| outcome["status"] != "PASS")
            .collect();
        assert!(
            red.is_empty() && code == 0,
            "{suite}, exit {code}: {red:#?}"
        );
        assert_eq!(outcomes.len(), documents(&suite), "{suite}");
    }
}
