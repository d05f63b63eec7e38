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

/// Two assertions with servers of these arguments.
fn two(first: &str, second: &str) -> String {
    format!(
        "name: one\nserver: {{command: mcp-assert, args: [serve, {first}]}}\nassert_initialize: {{}}\n---\n\
         name: other\nserver: {{command: mcp-assert, args: [serve, {second}]}}\nassert_initialize: {{}}\n"
    )
}

/// The arguments of a run that is compared with `base.json`.
const GATED: [&str; 6] = [
    "ci",
    "--isolation",
    "process",
    "--baseline",
    "base.json",
    "--fail-on-breaking",
];

/// Runs with the folder of the binary first in `PATH`; gives what the output `breaking` says beside.
fn run_with_outputs(project: &Project, arguments: &[&str]) -> (crate::harness::Ran, String) {
    let mut command = project.command(arguments);
    let folder = std::path::Path::new(crate::harness::BINARY)
        .parent()
        .unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", folder.display()));
    let outputs = project.path().join("outputs.txt");
    std::fs::write(&outputs, "").unwrap();
    command.env("GITHUB_OUTPUT", &outputs);
    let ran = project.finish(command);
    let text = std::fs::read_to_string(outputs).unwrap();
    let mut lines = text.lines();
    let breaking = match lines.find(|line| line.starts_with("breaking")) {
        Some(line) if line.contains("<<") => lines.next().unwrap_or_default().to_owned(),
        Some(line) => line.trim_start_matches("breaking=").to_owned(),
        None => "there is no such output".to_owned(),
    };
    (ran, breaking)
}

#[test]
fn servers_whose_command_lines_all_changed_are_compared() {
    let first = "--seed, \"1\"";
    let second = "--profile, minimal, --seed, \"1\"";
    let project = Project::with_suite(&two(first, second));
    let save = [
        "ci",
        "--isolation",
        "process",
        "--update-baseline",
        "base.json",
    ];
    let (saved, _) = run_with_outputs(&project, &save);
    assert_eq!(saved.code, 0, "{}{}", saved.stdout, saved.stderr);
    let first = "--seed, \"2\", --disable, list_roots";
    let second = "--profile, minimal, --seed, \"2\"";
    let project = project.file("evals/a.yaml", two(first, second));
    let (ran, breaking) = run_with_outputs(&project, &GATED);
    assert_eq!((ran.code, breaking.as_str()), (1, "1"), "{}", ran.stdout);
    let wanted = "tool `list_roots` was removed";
    assert!(ran.stdout.contains(wanted), "{}", ran.stdout);

    // A baseline that does not tell who talked to whom.
    let mut old: Value = serde_json::from_str(&project.read("base.json")).unwrap();
    let catalogs = old["catalogs"].as_object_mut().unwrap();
    let names = ["alpha".to_owned(), "beta".to_owned()];
    *catalogs = names
        .into_iter()
        .zip(std::mem::take(catalogs))
        .map(|(name, (_, mut catalog))| {
            catalog.as_object_mut().unwrap().remove("used_by");
            (name, catalog)
        })
        .collect();
    let project = project.file("base.json", old.to_string());
    let (ran, breaking) = run_with_outputs(&project, &GATED);
    assert_eq!((ran.code, breaking.as_str()), (1, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("not compared"), "{}", ran.stdout);
    let open: Vec<&str> = GATED[..5]
        .iter()
        .copied()
        .chain(["--markdown", "page.md"])
        .collect();
    let (ran, breaking) = run_with_outputs(&project, &open);
    assert_eq!((ran.code, breaking.as_str()), (0, ""), "{}", ran.stdout);
    assert!(ran.stdout.contains("not compared"), "{}", ran.stdout);
    assert!(project.read("page.md").contains("not compared"));
}

#[test]
fn a_list_that_failed_keeps_what_the_baseline_knows() {
    let with = |arguments: &str| {
        format!(
            "name: greets\nserver: {{builtin: conformance, args: [{arguments}]}}\nassert_initialize: {{}}\n"
        )
    };
    let project = Project::with_suite(&with(""));
    let save = [
        "ci",
        "--isolation",
        "process",
        "--update-baseline",
        "base.json",
    ];
    let saved = project.run(&save);
    assert_eq!(saved.code, 0, "{}{}", saved.stdout, saved.stderr);
    let crash = with("--fault, 'tools/list=exit-mid-call'");
    let project = project.file("evals/a.yaml", crash);
    let (ran, breaking) = run_with_outputs(&project, &GATED);
    assert_eq!((ran.code, breaking.as_str()), (1, ""), "{}", ran.stdout);
    let again = [&save[..], &["--baseline", "base.json"]].concat();
    let saved = project.run(&again);
    assert_eq!(saved.code, 0, "{}{}", saved.stdout, saved.stderr);
    let project = project.file("evals/a.yaml", with("--disable, echo"));
    let (ran, breaking) = run_with_outputs(&project, &GATED);
    assert_eq!((ran.code, breaking.as_str()), (1, "1"), "{}", ran.stdout);
}
