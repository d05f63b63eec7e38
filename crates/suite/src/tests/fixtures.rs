//! `{{fixture}}` where there is one and where there is none.

use super::Sample;

const CALL: &str = "server: {command: s}\nassert: {tool: x, expect: {contains: '{{fixture}}/a'}}\n";

#[test]
fn without_a_fixture_its_name_is_a_problem() {
    insta::assert_snapshot!(Sample::one(CALL).without_fixture().shown(), @r"
    error[unknown-variable]: `{{fixture}}` has no value: there is no fixture
     --> a.yaml:2:39
      |
    2 | assert: {tool: x, expect: {contains: '{{fixture}}/a'}}
      |                                       ^^^^^^^^^^^
      |
      = help: give a fixture with --fixture DIR or `fixture:` in mcp-assert.yaml
    ");
    let case = |text: &str| {
        // A trajectory starts no server.
        let is_trajectory = text.contains("trajectory");
        let server = if is_trajectory {
            ""
        } else {
            "server: {command: s}\n"
        };
        let text = format!("{server}{text}");
        let shown = Sample::one(&text).without_fixture().shown();
        assert_eq!(shown.matches("there is no fixture").count(), 1, "{shown}");
        assert_eq!(Sample::one(&text).shown(), "", "{text}");
    };
    case("assert: {tool: x, args: {path: '{{fixture}}/a'}}");
    case("setup: [{read: 'file://{{fixture}}/a'}]\nassert: {tool: x}");
    case("assert: {tool: x, expect: {file_exists: '{{fixture}}/a'}}");
    case("assert: {tool: x, expect: {file_contains: {'{{fixture}}/a': b}}}");
    case("client: {client_capabilities: {roots: ['{{fixture}}']}}\nassert: {tool: x}");
    case("audit_log: '{{fixture}}/log'\ntrajectory: [{type: presence, tools: [a]}]");
    let own = "server: {command: s, args: ['{{fixture}}']}\nassert: {tool: x}\n";
    let shown = Sample::one(own).without_fixture().shown();
    assert!(shown.contains("a.yaml:1:30"), "{shown}");
}

#[test]
fn without_a_fixture_nothing_else_changes() {
    let case = |sample: Sample| assert_eq!(sample.without_fixture().shown(), "");
    case(Sample::one(
        "server: {command: s}\nassert: {tool: x, expect: {file_exists: a}}\n",
    ));
    case(Sample::one(CALL).compat());
    case(Sample::one(&format!("{CALL}skip: true\n")));
    // Another server may take the place of this one.
    case(Sample::new(&[
        ("mcp-assert.yaml", "targets: {t: {command: t}}\n"),
        (
            "a.yaml",
            "server: {command: s, args: ['{{fixture}}']}\nassert: {tool: x}\n",
        ),
    ]));
    // A server that is chosen by its name only.
    case(Sample::new(&[
        (
            "mcp-assert.yaml",
            "targets: {t: {command: t, args: ['{{fixture}}']}}\n",
        ),
        ("a.yaml", "server: {command: s}\nassert: {tool: x}\n"),
    ]));
}

#[test]
fn the_fixture_of_the_settings_holds_for_all_suites() {
    let sample = Sample::new(&[
        ("one/a.yaml", CALL),
        ("two/mcp-assert.yaml", "fixture: files\n"),
        ("two/b.yaml", CALL),
        ("three/mcp-assert.yaml", "jobs: 1\n"),
    ])
    .without_fixture();
    let problems = |paths: &[&str]| sample.load_all(paths).suite.problems.len();
    assert_eq!(problems(&["one", "two"]), 0);
    assert_eq!(problems(&["one"]), 1);
    // The first settings file is the one whose fixture is used.
    assert_eq!(problems(&["one", "three", "two"]), 3);
}

#[test]
fn a_fixture_that_does_not_hold_is_told() {
    let sample = Sample::new(&[
        ("one/mcp-assert.yaml", "fixture: files\n"),
        ("one/a.yaml", CALL),
        ("two/mcp-assert.yaml", "fixture: files\n"),
        ("two/b.yaml", CALL),
    ])
    .without_fixture();
    let problems = |paths: &[&str]| {
        let problems = sample.load_all(paths).suite.problems;
        let texts = problems.into_iter().map(|problem| problem.message);
        texts.collect::<Vec<_>>()
    };
    assert_eq!(problems(&["one"]), [""; 0]);
    assert_eq!(problems(&["one", "one/a.yaml"]), [""; 0]);
    let told = problems(&["one", "two", "two/b.yaml"]);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].starts_with("`fixture` does nothing: "), "{told:?}");
    assert!(told[0].contains("one/mcp-assert.yaml"), "{told:?}");
}

#[test]
fn what_further_settings_say_of_the_whole_run_is_told() {
    let sample = Sample::new(&[
        (
            "one/mcp-assert.yaml",
            "jobs: 1\nthreshold: 90\nreport: [junit=a.xml]\ndefaults: {timeout: 5s}\n",
        ),
        ("one/a.yaml", "server: {command: s}\nassert: {tool: x}\n"),
        (
            "two/mcp-assert.yaml",
            "defaults: {timeout: 6s}\njobs: 1\nthreshold: 80\nreport: [junit=b.xml]\nbaseline: b\n\
             targets: {t: {command: t}}\n",
        ),
        ("two/b.yaml", "server: {command: s}\nassert: {tool: x}\n"),
    ]);
    let told = |paths: &[&str]| {
        let problems = sample.load_all(paths).suite.problems;
        let texts = problems.into_iter().map(|problem| problem.message);
        let keys = texts.map(|text| text.split(" does nothing: ").next().map(str::to_owned));
        keys.flatten().collect::<Vec<_>>()
    };
    assert_eq!(told(&["one"]), [""; 0]);
    assert_eq!(told(&["two"]), [""; 0]);
    assert_eq!(told(&["one", "one/a.yaml"]), [""; 0]);
    assert_eq!(
        told(&["one", "two", "two/b.yaml"]),
        ["`targets`", "`report`", "`baseline`"]
    );
}
