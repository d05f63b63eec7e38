//! Documents that are skipped: what of them matters all the same.

use super::Sample;

/// A document with lines of its own, and the variable `KEY` where the server and its subject read it.
fn document(lines: &str) -> String {
    format!(
        "{lines}server: {{command: s, env: {{K: '$KEY'}}}}\nassert: {{tool: x, args: {{a: '{{{{env.KEY}}}}'}}, expect: {{contains: '{{{{env.KEY}}}}'}}}}\n"
    )
}

#[test]
fn what_is_skipped_may_read_variables_that_are_not_set() {
    let case = |lines: &str| {
        let text = document(lines);
        assert_eq!(Sample::one(&text).shown(), "", "{text}");
        assert_eq!(Sample::one(&text).strict_env().shown(), "", "{text}");
    };
    case("skip_unless_env: KEY\n");
    case("skip_unless_env: [PATH_TO_IT, KEY]\n");
    case("skip: not yet\n");
    case("skip: true\n");
}

#[test]
fn settings_may_skip_what_reads_variables() {
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "defaults: {skip_unless_env: KEY, server: {command: s, env: {K: '$KEY'}}}\n",
        ),
        ("a.yaml", "assert: {tool: x, args: {a: '{{env.KEY}}'}}\n"),
    ]);
    assert_eq!(sample.strict_env().shown(), "");
}

#[test]
fn what_is_skipped_is_wrong_for_any_other_reason() {
    let case = |text: &str, wanted: &str| {
        let shown = Sample::one(text).strict_env().shown();
        assert!(shown.contains(wanted), "{text}: {shown}");
    };
    case(
        "skip: true\nserver: {command: s}\nassert: {tool: x, args: {a: '{{envv.KEY}}'}}\n",
        "nothing defines",
    );
    case(
        "skip: true\nserver: {command: s, env: {K: '${1}'}}\nassert: {tol: x}\n",
        "bad-variable",
    );
    case(
        "skip: true\nserver: {command: s}\nassert: {tol: x}\n",
        "unknown-key",
    );
    case(&document("skip: false\n"), "`KEY` is not set");
}

#[test]
fn a_variable_that_is_set_but_empty_skips_and_is_no_problem() {
    let sample = Sample::one(&document("skip_unless_env: KEY\n"));
    assert_eq!(sample.with_variable("KEY", "").strict_env().shown(), "");
}

#[test]
fn a_variable_in_braces_that_is_not_set_is_told_as_that() {
    let text = "server: {command: s}\nassert: {tool: x, args: {a: '{{env.KEY}}'}}\n";
    insta::assert_snapshot!(Sample::one(text).shown(), @r"
    error[unset-variable]: the environment variable `KEY` is not set
     --> a.yaml:2:30
      |
    2 | assert: {tool: x, args: {a: '{{env.KEY}}'}}
      |                              ^^^^^^^^^^^
      |
      = help: set it, or add `skip_unless_env: KEY` to skip the assertion without it
    ");
}
