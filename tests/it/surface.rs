//! What servers offer, against what they offered when the baseline was saved.

use serde_json::Value;

use crate::harness::Project;

/// A suite of one assertion that lists nothing itself.
const SUITE: &str = "name: greets\nserver: {builtin: PROFILE}\nassert_initialize: {}\n";

/// The same whose session cannot be asked for its lists.
const RAW: &str = "name: greets\nserver: {builtin: PROFILE}\nraw:\n  handshake: false\n  send: [{jsonrpc: '2.0', id: 1, method: ping}]\n  expect: {contains: ['2.0']}\n";

fn with_profile(suite: &str, profile: &str) -> String {
    suite.replace("PROFILE", profile)
}

#[test]
fn a_suite_of_one_assertion_sees_what_the_server_lost() {
    let project = Project::with_suite(&with_profile(SUITE, "conformance"));
    let saved = project.run(&["run", "evals", "--save-baseline", "base.json"]);
    assert_eq!(saved.code, 0, "{}", saved.stderr);
    let baseline: Value = serde_json::from_str(&project.read("base.json")).unwrap();
    let tools = &baseline["catalogs"]["builtin conformance"]["tools"];
    assert!(tools.as_array().is_some_and(|it| it.len() > 10), "{tools}");

    let project = project.file("evals/a.yaml", with_profile(SUITE, "minimal"));
    let compare = ["run", "evals", "--baseline", "base.json"];
    let report = ["--report-json", "run.json", "--markdown", "page.md"];
    let ran = project.run(&[&compare[..], &report].concat());
    // A regression is red; what the surface lost is told.
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let wanted = "breaking: tool `echo` was removed";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
    let run: Value = serde_json::from_str(&project.read("run.json")).unwrap();
    let target = &run["surface"]["targets"][0];
    assert_eq!(target["name"], "builtin minimal");
    assert!(
        target["breaking"].as_u64().is_some_and(|it| it > 10),
        "{target}"
    );
    let page = project.read("page.md");
    assert!(page.contains("#### Surface of"), "{page}");
}

#[test]
fn the_same_server_has_no_changes_whatever_the_subject() {
    for suite in [SUITE, RAW] {
        let project = Project::with_suite(&with_profile(suite, "conformance"));
        let arguments = ["run", "evals", "--save-baseline", "base.json"];
        let saved = project.run(&arguments);
        let baseline: Value = serde_json::from_str(&project.read("base.json")).unwrap();
        let known = baseline["catalogs"].as_object().map(serde_json::Map::len);
        assert_eq!(known, Some(1), "{}{}", saved.stdout, saved.stderr);
        let ran = project.run(&["run", "evals", "--baseline", "base.json"]);
        assert!(!ran.stdout.contains("Surface"), "{}", ran.stdout);
    }
}

#[test]
fn a_run_that_compares_nothing_asks_for_no_lists() {
    let project = Project::with_suite(&with_profile(SUITE, "conformance"));
    let ran = project.run(&["run", "evals", "--report-json", "run.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let run: Value = serde_json::from_str(&project.read("run.json")).unwrap();
    assert_eq!(run["catalogs"], serde_json::json!({}));
}

#[test]
fn a_breaking_change_is_red_when_asked_for() {
    let place = ["ci", "--isolation", "process"];
    let project = Project::with_suite(&with_profile(SUITE, "conformance"));
    let saved = project.run(&[&place[..], &["--update-baseline", "base.json"]].concat());
    assert_eq!(saved.code, 0, "{}{}", saved.stdout, saved.stderr);
    let project = project.file("evals/a.yaml", with_profile(SUITE, "minimal"));
    let compare = [&place[..], &["--baseline", "base.json"]].concat();
    assert_eq!(project.run(&compare).code, 0);
    let ran = project.run(&[&compare[..], &["--fail-on-breaking"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let wanted = "breaking changes of the server's surface";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);
}
