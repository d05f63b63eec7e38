//! What servers in containers offer is known to reports, as that of processes is.

use serde_json::Value;

use super::{IMAGE, SERVER, labelled, ready};
use crate::harness::Project;

/// A suite whose only subject lists nothing itself, in containers or not.
fn project(server: &str) -> Project {
    let server = serde_json::json!({
        "command": "python3", "args": ["-c", server], "docker": IMAGE,
    });
    Project::with_suite(&format!("server: {server}\nassert_initialize: {{}}\n"))
}

#[test]
fn a_server_in_a_container_is_asked_what_it_offers() {
    if !ready() {
        return;
    }
    let before = project(SERVER);
    let arguments = ["run", "evals", "--save-baseline", "base.json"];
    let saved = before.run(&arguments);
    assert_eq!(saved.code, 0, "{}{}", saved.stdout, saved.stderr);
    let baseline: Value = serde_json::from_str(&before.read("base.json")).unwrap();
    let (target, catalog) = baseline["catalogs"]
        .as_object()
        .unwrap()
        .iter()
        .next()
        .unwrap();
    assert!(
        target.starts_with(&format!("container {IMAGE} python3")),
        "{target}"
    );
    let tools = catalog["tools"].as_array().unwrap().len();
    assert!(tools > 10, "{catalog}");

    let lost = SERVER.replace("names = \"echo ", "names = \"");
    assert_ne!(lost, SERVER);
    let after = project(&lost).file("base.json", before.read("base.json"));
    let ran = after.run(&[
        "ci",
        "--suite",
        "evals",
        "--baseline",
        "base.json",
        "--report-json",
        "run.json",
    ]);
    assert!(
        ran.stdout.contains("breaking: tool `echo` was removed"),
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let run: Value = serde_json::from_str(&after.read("run.json")).unwrap();
    let catalogs = run["catalogs"].as_object().unwrap();
    assert_eq!(catalogs.len(), 1);
    let fewer = &catalogs.values().next().unwrap()["tools"];
    assert_eq!(fewer.as_array().unwrap().len(), tools - 1, "{fewer}");
    let label = run["engine"]["label"].as_str().unwrap();
    assert_eq!(labelled(&format!("io.mcp-assert.run={label}")), "");
}
