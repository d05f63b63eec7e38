//! The suites of `examples/` against published servers, and their wrong copies in `tests/examples-red`.
//! `scripts/servers` installs the servers; without them these tests say so, and fail where `CI` is `true`.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::harness::{BINARY, Project};

const SERVERS: [&str; 5] = ["everything", "filesystem", "git", "memory", "time"];

/// Whether the servers are there; says so when they are not.
pub(crate) fn installed() -> bool {
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
fn nightly_every_example_is_green() {
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

/// The wrong expectations of `tests/examples-red`: server, assertion, and what its failure says.
const WRONG: &[(&str, &str, &str)] = &[
    ("everything", "another text", "the text is `Echo: hello`"),
    (
        "everything",
        "a tool error taken for success",
        "the tool answered with the error",
    ),
    (
        "everything",
        "a tool error taken for a protocol error",
        "Tool no-such-tool not found",
    ),
    (
        "everything",
        "a protocol error taken for a tool error",
        "the JSON-RPC error -32602",
    ),
    ("everything", "another code", "the error is -32602"),
    ("everything", "a number taken for a text", "the number `36`"),
    (
        "everything",
        "an image that is not there",
        "the string `\"text\"`",
    ),
    ("everything", "base64 that is there", "it is there"),
    ("everything", "more progress than there is", "2 came"),
    (
        "everything",
        "notifications that come although none should",
        "there is one",
    ),
    ("everything", "one answer too many", "the number `1`"),
    ("everything", "a flag that is false", "the boolean `false`"),
    (
        "everything",
        "a tool that never asks for a sample",
        "it made none",
    ),
    (
        "everything",
        "another form",
        "Please provide inputs for the following fields:",
    ),
    (
        "filesystem",
        "a digit changed in a large number",
        "the number `9007199254740993`",
    ),
    ("filesystem", "null where nothing is", "nothing is there"),
    (
        "filesystem",
        "a file that did change",
        "its content changed",
    ),
    ("filesystem", "a change nobody allowed", "it was added"),
    ("filesystem", "another content", "it is `x`"),
    (
        "filesystem",
        "nothing is expected of a tool error",
        "the tool answered with the error `ENOENT",
    ),
    ("filesystem", "too few entries", "there are 4"),
    ("memory", "another entity", "the string `\"Ada\"`"),
    ("memory", "a relation that is there", "an array of 1 item"),
    (
        "memory",
        "a graph that was written to",
        "its content changed",
    ),
    ("memory", "an error that is none", "the call succeeded"),
    (
        "memory",
        "another kind of resource",
        "`\"application/json\"`",
    ),
    (
        "memory",
        "an unknown resource taken for an empty one",
        "-32602",
    ),
    ("time", "another difference", "the string `\"+5.75h\"`"),
    ("time", "a false taken for a text", "the boolean `false`"),
    (
        "time",
        "a protocol error taken for a tool error",
        "the JSON-RPC error -32602",
    ),
    (
        "time",
        "an error taken for success",
        "the tool answered with the error",
    ),
    (
        "time",
        "a pattern that does not match",
        "nothing in the text does",
    ),
    ("time", "three tools", "there are 2"),
    (
        "git",
        "the order of commits",
        "does not follow `Message: start`",
    ),
    ("git", "a clean tree", "it is not in the text"),
    (
        "git",
        "a commit of nothing taken for success",
        "the tool answered with the error",
    ),
    ("git", "a file that exists", "a file of 6 bytes is there"),
];

/// Steps that cannot succeed, so that their assertions are errors: server, assertion, and what is said.
const BROKEN: &[(&str, &str, &str)] = &[
    (
        "filesystem",
        "a step that fails",
        "tool `read_text_file` answered with a tool error",
    ),
    (
        "git",
        "a branch that was never made",
        "tool `git_checkout` answered with a tool error",
    ),
];

#[test]
fn nightly_every_wrong_copy_is_red_for_its_own_reason() {
    if !installed() {
        return;
    }
    for server in SERVERS {
        let suite = format!("tests/examples-red/{server}");
        let (outcomes, code) = outcomes(&suite);
        assert_eq!((outcomes.len(), code), (documents(&suite), 1), "{suite}");
        for outcome in &outcomes {
            let name = outcome["name"].as_str().unwrap();
            let told = |rows: &[(&str, &str, &str)]| {
                rows.iter()
                    .any(|row| row.0 == server && row.1 == name && says(outcome, row.2))
            };
            let right = match outcome["kind"].as_str() {
                Some("fail") => told(WRONG),
                Some("error") => told(BROKEN),
                _ => false,
            };
            assert!(outcome["status"] == "FAIL" && right, "{suite}: {outcome:#}");
        }
    }
}

/// Whether the detail of an outcome holds this text.
fn says(outcome: &Value, text: &str) -> bool {
    outcome["detail"]
        .as_str()
        .is_some_and(|detail| detail.contains(text))
}

/// A pinned release of `FastMCP`, installed apart: what it depends on is another matter than our other servers.
fn fastmcp() -> PathBuf {
    let folder = root().join("target/fastmcp");
    let python = folder.join("bin/python");
    if !folder.join("bin/fastmcp").exists() {
        let run = |program: &Path, arguments: &[&str]| {
            let status = Command::new(program).args(arguments).status().unwrap();
            assert!(status.success(), "{} {arguments:?}", program.display());
        };
        run(
            Path::new("python3"),
            &["-m", "venv", folder.to_str().unwrap()],
        );
        let install = ["-m", "pip", "install", "--quiet", "fastmcp==4.2.3"];
        run(&python, &install);
    }
    python
}

/// The settings: each server of `tests/sdk-servers` over stdio and over HTTP, and the one that refuses handshakes.
fn sdk_targets() -> String {
    let folder = root().join("tests/sdk-servers");
    let mut targets = vec!["defaults: {timeout: 60s}\ntargets:".to_owned()];
    let mut add = |name: &str, program: &Path, file: &str, more: &[&str]| {
        for (transport, first) in [("stdio", "stdio"), ("http", "{{port}}")] {
            let file = folder.join(file);
            let args = [&[file.to_str().unwrap(), first][..], more].concat();
            let launch = serde_json::json!({"command": program, "args": args});
            let server = match transport {
                "stdio" => launch,
                _ => serde_json::json!({"transport": "http", "launch": launch}),
            };
            targets.push(format!("  {name} {transport}: {server}"));
        }
    };
    let node = Path::new("node");
    add("typescript-1", node, "typescript-1.mjs", &[]);
    add("typescript-2", node, "typescript-2.mjs", &[]);
    add("typescript-2 strict", node, "typescript-2.mjs", &["reject"]);
    let python = root().join("target/servers/python/bin/python");
    add("python", &python, "python.py", &[]);
    add("fastmcp", &fastmcp(), "fast.py", &[]);
    targets.join("\n")
}

#[test]
fn nightly_servers_of_the_official_kits_hold_over_both_transports_in_both_eras() {
    if !installed() {
        return;
    }
    // Node looks for modules beside the script and above it.
    let modules = root().join("target/conformance/node_modules");
    let link = root().join("tests/sdk-servers/node_modules");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink(modules, &link).unwrap();
    let suite = std::fs::read_to_string(root().join("tests/sdk-servers/suite.yaml")).unwrap();
    let project = Project::with_suite(&suite).file("evals/mcp-assert.yaml", sdk_targets());
    let ran = project.run(&["run", "evals", "--target", "all", "--protocol", "all"]);
    std::fs::remove_file(&link).unwrap();
    assert_eq!(ran.code, 0, "{}{}", ran.shown(), ran.complaints());
    // Over each transport, four servers shake hands in four revisions, and four do without: not the TypeScript SDK 1.x.
    let passed = 3 * 2 * (4 * 4 + 4);
    let wanted = format!("{passed} assertions, {passed} passed");
    assert!(ran.shown().contains(&wanted), "{}", ran.shown());
}

#[test]
fn nightly_a_suite_has_the_same_verdicts_over_every_transport_of_a_server() {
    if !installed() {
        return;
    }
    let arguments = [
        "run",
        "--json",
        "--suite",
        "examples/everything",
        "--target",
        "stdio,http,sse",
        "--not-tag",
        "own-server,stdio",
    ];
    let output = Command::new(BINARY)
        .args(arguments)
        .current_dir(root())
        .output()
        .unwrap();
    let outcomes: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert!(outcomes.len() > 100, "{}", outcomes.len());
    let red = outcomes.iter().filter(|it| it["status"] != "PASS");
    assert_eq!(red.collect::<Vec<_>>(), Vec::<&Value>::new());
}
