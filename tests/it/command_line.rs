//! What every verb does with its command line.

use crate::harness::Project;

#[test]
fn the_version_names_the_newest_revision() {
    let ran = Project::new().run(&["--version"]);
    assert_eq!(
        (ran.stdout.as_str(), ran.code),
        ("mcp-assert 0.1.0 (MCP 2026-07-28)\n", 0)
    );
}

#[test]
fn an_unknown_option_is_a_usage_error_that_offers_the_nearest() {
    let ran = Project::new().run(&["run", "--suit", "evals"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("--suite"), "{}", ran.stderr);
    assert_eq!(ran.stdout, "");
}

#[test]
fn no_trials_is_refused() {
    for trials in ["0", "-1", "x"] {
        let ran = Project::new().run(&["run", "--suite", "evals", "--trials", trials]);
        assert_eq!(ran.code, 2, "--trials {trials}: {}", ran.stderr);
    }
}
