//! Documents that are skipped: what of them matters all the same.

use super::Sample;
use crate::model::Entry;

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
fn a_reason_to_skip_is_a_text_that_says_something() {
    let case = |skip: &str, problems: &[&str], reason: Option<&str>| {
        let sample = Sample::one(&format!(
            "skip: {skip}\nserver: {{command: s}}\nassert: {{tool: x}}\n"
        ));
        let loaded = sample.load();
        let codes: Vec<&str> = loaded.suite.problems.iter().map(|it| it.code).collect();
        assert_eq!(codes, problems, "{skip}");
        if let [Entry::Assertion(one)] = &loaded.suite.entries[..] {
            let control = one.control.as_deref();
            let found = control.and_then(|control| control.skip.as_deref());
            assert_eq!(found, reason, "{skip}");
        }
    };
    case("true", &[], Some("`skip: true`"));
    case("yes", &[], Some("`skip: true`"));
    case("false", &[], None);
    case("not yet", &[], Some("not yet"));
    case("'1'", &[], Some("1"));
    case("0", &["wrong-type"], None);
    case("1", &["wrong-type"], None);
    case("1.5", &["wrong-type"], None);
    case("", &["empty-value"], None);
    case("''", &["empty-value"], None);
    case("' '", &["empty-value"], None);
    let switches =
        "server: {command: s, inherit_env: 0}\nassert: {tool: x, expect: {not_error: 1}}\n";
    insta::assert_snapshot!(Sample::one(switches).shown(), @r"
    error[wrong-type]: expected `true` or `false` or a text or a list of texts, found the number `0`
     --> a.yaml:1:35
      |
    1 | server: {command: s, inherit_env: 0}
      |                                   ^ this is the number `0`

    error[wrong-type]: expected `true` or `false`, found the number `1`
     --> a.yaml:2:39
      |
    2 | assert: {tool: x, expect: {not_error: 1}}
      |                                       ^ this is the number `1`
    ");
}

#[test]
fn a_variable_in_a_default_is_told_where_the_default_is_taken() {
    let document = "server: {command: s, env: {A: '${KEY:-x${OTHER}}'}}\nassert: {tool: x}\n";
    let shown = Sample::one(document).strict_env().shown();
    assert!(shown.contains("`OTHER` is not set"), "{shown}");
    let with = |name: &str, value: &str| Sample::one(document).with_variable(name, value);
    for sample in [with("OTHER", "a"), with("KEY", "a")] {
        assert_eq!(sample.strict_env().shown(), "");
    }
    let shown = with("KEY", "").strict_env().shown();
    assert!(shown.contains("`OTHER` is not set"), "{shown}");
    let broken = document.replace("${OTHER}", "${OTHER:-");
    let shown = Sample::one(&broken).shown();
    assert!(shown.contains("bad-variable"), "{shown}");
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
        "unknown variable",
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
fn what_is_no_name_of_a_variable_is_told() {
    let case = |text: &str, wanted: &[&str]| {
        let shown = Sample::one(text).shown();
        let told: Vec<&str> = shown
            .lines()
            .filter(|line| line.contains("variable name") || line.contains("alone"))
            .map(|line| line.trim_start_matches(|sign: char| !sign.is_alphanumeric()))
            .collect();
        assert_eq!(told, wanted, "{shown}");
    };
    case(
        &document("skip_unless_env: [KEY, $HOME, '']\n"),
        &[
            "error[bad-variable]: invalid environment variable name `$HOME`",
            "help: write its name alone, such as `HOME`",
        ],
    );
    case(
        &document("skip_unless_env: [A B]\n"),
        &[
            "error[bad-variable]: invalid environment variable name `A B`",
            "help: write its name alone, such as `HOME`",
        ],
    );
    case(
        "server: {command: s, env: {'A=B': c}, inherit_env: [PATH]}\nassert: {tool: x}\n",
        &[
            "error[bad-variable]: invalid environment variable name `A=B`",
            "help: write its name alone, such as `HOME`",
        ],
    );
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

#[test]
fn what_is_skipped_asserts_nothing_in_the_go_tool() {
    let case = |text: &str, skipped: bool| {
        let loaded = Sample::one(text).compat().load().suite;
        let reason = match &loaded.entries[..] {
            [Entry::Assertion(one)] => one.control.as_deref().and_then(|it| it.skip.as_deref()),
            [] | [Entry::Invalid { .. }] => None,
            more => panic!("{more:?}"),
        };
        assert_eq!(reason, skipped.then_some("`skip: true`"), "{text}");
    };
    for rest in [
        "",
        "server: {command: s}\n",
        "setup: [{tool: a}]\n",
        "assrt: {tool: x}\n",
    ] {
        case(&format!("name: later\nskip: true\n{rest}"), true);
        case(&format!("name: later\nskip: false\n{rest}"), false);
    }
    let native = Sample::one("name: later\nskip: true\nserver: {command: s}\n");
    assert!(native.shown().contains("error[no-subject]"));
    assert_eq!(
        Sample::one("name: later\nskip: true\n")
            .load()
            .suite
            .entries
            .len(),
        0
    );
}
