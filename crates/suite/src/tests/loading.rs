//! Files, folders, documents, ids, settings.

use super::Sample;
use crate::model::{Entry, server::Target};

const GOOD: &str = "server: {command: srv}\nassert: {tool: x}\n";

#[test]
fn folders_are_walked_in_the_order_of_paths() {
    let files = [
        "b.yaml",
        "a-b.yaml",
        "a/x.yml",
        "a/deep/er/y.YAML",
        "fixtures/no.yaml",
        "fixture/no.yaml",
        "node_modules/no.yaml",
        ".hidden/no.yaml",
        "notes.txt",
        "a0.yaml",
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|path| (*path, GOOD)).collect();
    let sample = Sample::new(&files);
    let ids: Vec<String> = sample
        .assertions()
        .iter()
        .map(|one| one.case.id.clone())
        .collect();
    assert_eq!(
        ids,
        [
            "a-b.yaml::a-b.yaml",
            "a/deep/er/y.YAML::y.YAML",
            "a/x.yml::x.yml",
            "a0.yaml::a0.yaml",
            "b.yaml::b.yaml"
        ]
    );
    let ids: Vec<String> = sample
        .compat()
        .assertions()
        .iter()
        .map(|one| one.case.id.clone())
        .collect();
    assert!(
        ids.contains(&"fixtures/no.yaml::no.yaml".to_owned()),
        "{ids:?}"
    );
    assert!(!ids.iter().any(|id| id.contains("deep")), "{ids:?}");
}

#[test]
fn an_image_that_is_named_wrongly_is_one_problem() {
    for docker in ["{image: a, build: .}", "{build: {}}", "{image: ''}"] {
        let text = format!("server: {{command: x, docker: {docker}}}\nassert: {{tool: a}}\n");
        let shown = Sample::one(&text).shown();
        assert_eq!(shown.matches("error[").count(), 1, "{shown}");
    }
}

#[test]
fn a_loop_of_links_ends_and_a_file_is_taken_once() {
    let sample = Sample::new(&[("sub/a.yaml", GOOD)])
        .link("sub/loop", "..")
        .link("again.yaml", "sub/a.yaml");
    assert_eq!(sample.assertions().len(), 1);
}

#[test]
fn documents_have_ids_of_their_own() {
    let sample = Sample::one(&format!(
        "{GOOD}---\nname: n\n{GOOD}---\nname: n\n{GOOD}---\n# nothing\n---\nversion: 3\nservices: {{}}\n"
    ));
    let ids: Vec<String> = sample
        .assertions()
        .iter()
        .map(|one| one.case.id.clone())
        .collect();
    assert_eq!(ids, ["a.yaml::a.yaml", "a.yaml::n", "a.yaml::n#2"]);
    assert_eq!(sample.load().suite.notes.len(), 2);
}

#[test]
fn a_broken_document_keeps_its_name_and_its_place() {
    let sample = Sample::one(&format!(
        "name: first\nassert: {{tool: [}}\n---\nname: second\n{GOOD}"
    ));
    let loaded = sample.load();
    let names: Vec<(&str, bool)> = loaded
        .suite
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::Assertion(one) => (one.case.name.as_str(), true),
            Entry::Invalid { case, .. } => (case.name.as_str(), false),
        })
        .collect();
    assert_eq!(names, [("first", false), ("second", true)]);
}

#[test]
fn settings_give_defaults_that_assertions_override_key_by_key() {
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "defaults:\n  timeout: 5s\n  server:\n    command: std\n    args: [a]\n    env: {A: '1'}\njobs: 3\ncompat: false\ntargets:\n  other: {command: other}\n",
        ),
        ("a.yaml", "assert: {tool: x}\n"),
        (
            "b.yaml",
            "server: {command: own}\ntimeout: 1s\nassert: {tool: x}\n",
        ),
        ("c.yaml", "server: {cwd: sub}\nassert: {tool: x}\n"),
        ("sub/mcp-assert.yaml", "jobs: 9\n"),
    ]);
    assert_eq!(sample.shown(), "");
    let loaded = sample.load();
    assert_eq!(loaded.settings.jobs, Some(3));
    assert_eq!(loaded.settings.targets[0].name, "other");
    let shown: Vec<String> = sample
        .assertions()
        .iter()
        .map(|one| {
            let Target::Process(launch) = &one.server.target else {
                panic!("a process");
            };
            format!(
                "{} {} {} {:?}",
                launch.command.as_ref().unwrap().text,
                launch.args.len(),
                launch.env.len(),
                one.control.as_ref().unwrap().timeout.unwrap()
            )
        })
        .collect();
    assert_eq!(shown, ["std 1 1 5s", "own 0 1 1s", "std 1 1 5s"]);
}

#[test]
fn settings_give_tags_to_what_has_none_of_its_own() {
    let sample = Sample::new(&[
        ("mcp-assert.yaml", "defaults: {tags: [slow, ui]}\n"),
        ("a.yaml", GOOD),
        ("b.yaml", &format!("{GOOD}tags: quick\n")),
        ("c.yaml", &format!("{GOOD}tags: []\n")),
        ("d.yaml", "name: broken\nasert: {tool: x}\n"),
    ]);
    let loaded = sample.load();
    let tags = loaded.suite.entries.iter().map(|entry| match entry {
        Entry::Assertion(one) => one.case.tags.join(" "),
        Entry::Invalid { case, .. } => case.tags.join(" "),
    });
    assert_eq!(
        tags.collect::<Vec<_>>(),
        ["slow ui", "quick", "", "slow ui"]
    );
}

#[test]
fn problems_in_defaults_are_shown_in_the_settings_file() {
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "defaults: {server: {comand: s}, assert: {tool: x}}\njob: 3\n",
        ),
        ("a.yaml", "server: {command: s}\nassert: {tool: x}\n"),
    ]);
    let shown = sample.shown();
    assert!(shown.contains("mcp-assert.yaml:1:21"), "{shown}");
    assert!(shown.contains("unknown key `job`"), "{shown}");
    assert!(shown.contains("not a key of `defaults`"), "{shown}");
}

#[test]
fn settings_that_cannot_be_read_are_not_passed_over() {
    let case = |settings: &str, wanted: &[&str]| {
        let suite = "server: {command: s}\nassert: {tool: x}\n";
        let sample = Sample::new(&[("mcp-assert.yaml", settings), ("a.yaml", suite)]);
        let shown = sample.shown();
        for wanted in wanted {
            assert!(shown.contains(wanted), "{settings:?}: {shown}");
        }
    };
    case("jobs: [\n", &["mcp-assert.yaml:", "yaml-syntax"]);
    case(
        "fixture: ''\nbaseline: ''\n",
        &["`fixture` is empty", "`baseline` is empty"],
    );
    case("jobs: 3\njobs: 4\n", &["duplicate-key"]);
    case(
        "jobs: 3\n---\ncompat: true\n",
        &["mcp-assert.yaml:3:1", "further-document"],
    );
    let quiet = Sample::new(&[("mcp-assert.yaml", "jobs: 3\n---\n")]);
    assert!(!quiet.shown().contains("further-document"));
}

#[test]
fn assertions_are_small_and_share_what_is_the_same() {
    use crate::model::{Assertion, expectation::Wanted};
    assert!(size_of::<Assertion>() <= 264, "{}", size_of::<Assertion>());
    assert!(size_of::<Wanted>() <= 80, "{}", size_of::<Wanted>());
    let assertions = Sample::one(&format!("{GOOD}---\nname: b\n{GOOD}")).assertions();
    assert!(std::sync::Arc::ptr_eq(
        &assertions[0].server,
        &assertions[1].server
    ));
    assert!(std::sync::Arc::ptr_eq(
        &assertions[0].client,
        &assertions[1].client
    ));
}

#[test]
fn reports_that_cannot_be_written_are_told_at_their_place() {
    let sample = Sample::new(&[
        (
            "mcp-assert.yaml",
            "report: [junti=x.xml, junit, badge=, sarif=a.sarif, json=-, results=-]\n",
        ),
        ("a.yaml", GOOD),
    ]);
    insta::assert_snapshot!(sample.shown(), @r"
    error[unknown-word]: unknown report format `junti`
     --> mcp-assert.yaml:1:10
      |
    1 | report: [junti=x.xml, junit, badge=, sarif=a.sarif, json=-, results=-]
      |          ^^^^^
      |
      = help: did you mean `junit`?

    error[wrong-type]: expected `FORMAT=PATH`, found `junit`
     --> mcp-assert.yaml:1:23
      |
    1 | report: [junti=x.xml, junit, badge=, sarif=a.sarif, json=-, results=-]
      |                       ^^^^^ this is `junit`
      |
      = help: write it like `junit=report.xml`

    error[wrong-type]: expected `FORMAT=PATH`, found `badge=`
     --> mcp-assert.yaml:1:30
      |
    1 | report: [junti=x.xml, junit, badge=, sarif=a.sarif, json=-, results=-]
      |                              ^^^^^^ this is `badge=`
      |
      = help: write it like `junit=report.xml`

    error[conflicting-keys]: two reports want stdout
     --> mcp-assert.yaml:1:61
      |
    1 | report: [junti=x.xml, junit, badge=, sarif=a.sarif, json=-, results=-]
      |                                                             ^^^^^^^^^
      |
      = help: write one of them to a file
    ");
    assert_eq!(sample.load().settings.report, ["sarif=a.sarif", "json=-"]);
}

#[test]
fn a_schema_file_that_a_name_stands_for_is_told_when_it_is_loaded() {
    let case = |expect: &str, wanted: bool| {
        let text = format!("server: {{command: s}}\nassert: {{tool: x, expect: {{{expect}}}}}\n");
        for sample in [Sample::one(&text), Sample::one(&text).compat()] {
            let shown = sample.shown();
            let told = shown.contains("a schema file cannot be named by a `{{…}}`");
            assert_eq!(told, wanted, "{expect}: {shown}");
        }
    };
    case("json_schema: '{{fixture}}/schema.json'", true);
    case("not: {json_schema: '{{fixture}}/schema.json'}", true);
    case("json_schema: {const: '{{fixture}}'}", false);
    case("not: {contains: '{{fixture}}'}", false);
    let steps =
        "server: {command: s}\nsteps: [{tool: x, expect: {json_schema: '{{fixture}}/s.json'}}]\n";
    assert!(Sample::one(steps).shown().contains("bad-schema"));
}

#[test]
fn a_fixture_in_a_suite_is_told_and_not_read() {
    let case = |path: &str, text: &str, note: Option<&str>| {
        let sample = Sample::new(&[("a.yaml", GOOD), (path, text)]);
        let notes = sample.load().suite.notes;
        let told: Vec<&str> = notes.iter().map(String::as_str).collect();
        assert_eq!(told, note.into_iter().collect::<Vec<_>>(), "{path}");
    };
    case(".smoke/b.yaml", GOOD, None);
    case("node_modules/b.yaml", GOOD, None);
    let fixture = "`fixtures` is passed over: its name says that it holds no assertions";
    case("fixtures/b.yaml", "a: 1\n", Some(fixture));
}

#[test]
fn an_assertion_without_its_subject_is_no_other_file() {
    for text in [
        "name: a\ntool: echo\nargs: {text: x}\nexpect: {is_error: true}\n",
        "name: a\ntool: echo\n",
        "tool: echo\nargs: {text: x}\nexpect: {is_error: true}\n",
        "name: a\nassertion: {tool: echo}\n",
        "name: a\nassertions:\n- {tool: echo, expect: {contains: x}}\n",
        "name: a\ntests:\n- {tool: echo, args: {}}\n",
        "name: a\ncall: {tool: echo, expect: {contains: x}}\n",
        "name: a\ntimeout: 5s\n",
        "name: a\ntags: [x]\n",
        "skip_unless_env: HOME\n",
    ] {
        for sample in [Sample::one(text), Sample::one(text).compat()] {
            let suite = sample.load().suite;
            let is_invalid = matches!(suite.entries[..], [Entry::Invalid { .. }]);
            assert!(is_invalid && suite.notes.is_empty(), "{text}");
        }
    }
    for text in [
        "name: a\n",
        "name: a\ndescription: b\nskip: true\n",
        "name: ci\non: push\njobs: {a: {steps: [{run: x}]}}\n",
        "name: z\nservices: {a: {image: b}}\ntags: [x]\n",
        "tags: [a]\n",
        "timeout: 5m\nrun: {tests: true}\n",
        "name: tool\ntool: hammer\nweight: 3\n",
    ] {
        let suite = Sample::one(text).load().suite;
        assert!(suite.entries.is_empty() && suite.notes.len() == 1, "{text}");
    }
}
