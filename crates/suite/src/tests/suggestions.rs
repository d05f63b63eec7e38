//! What is said of a key that does not exist at its place: where it belongs, or which one is meant.

use super::Sample;

/// The last line of help for the only problem of a document.
fn help(document: &str) -> String {
    let problems = Sample::one(document).load().suite.problems;
    let helps: Vec<String> = problems
        .iter()
        .filter(|problem| problem.code == "unknown-key")
        .map(|problem| problem.help.join(" / "))
        .collect();
    assert_eq!(helps.len(), 1, "{document}: {problems:?}");
    helps.concat()
}

#[test]
fn a_key_of_another_map_is_told_its_place() {
    let case = |document: &str, wanted: &str| {
        let document = format!("server: {{command: s}}\n{document}\n");
        assert_eq!(help(&document), wanted, "{document}");
    };
    let under_assert = |key: &str| format!("`{key}` belongs under `assert`");
    let tool = "assert: {tool: t}";
    case(&format!("args: {{a: 1}}\n{tool}"), &under_assert("args"));
    case(&format!("expect: {{}}\n{tool}"), &under_assert("expect"));
    case(
        &format!("contains: x\n{tool}"),
        "`contains` belongs under `expect`, in `assert`",
    );
    case(
        "not_error: true\nassert_resources: {list: {}}",
        "`not_error` belongs under `expect`, in `assert_resources`",
    );
    case(
        "read: a\nassert_resources: {list: {}}",
        "`read` belongs under `assert_resources`",
    );
    case(
        "contains: a\nsteps: [{tool: t}]",
        "`contains` belongs under `expect`, in one of the `steps`",
    );
    case(
        "tool: t\nsteps: [{tool: t}]",
        "`tool` belongs into one of the `steps`",
    );
    case(
        &format!("command: s\n{tool}"),
        "`command` belongs under `server`",
    );
    case(
        "assert: {tool: t, contains: x}",
        "`contains` belongs under `expect`",
    );
    case(
        "assert: {tool: t, expect: {expect: {}}}",
        "it stands one level too deep, in another `expect`: take one of them away",
    );
    case(
        "assert_resources: {list: {}, expect: {expect_notification: true}}",
        "`expect_notification` belongs beside `expect`, in `assert_resources`",
    );
    case(
        "assert: {tool: t, expect: {args: {}}}",
        "`args` belongs beside `expect`",
    );
    case(
        "assert: {tool: t, expect: {not_methods: a}}",
        "`not_methods` belongs under `notifications`",
    );
    case(
        "assert: {tool: t, expect: {min_messages: 1}}",
        "`min_messages` belongs under `expect` of `assert_logging`",
    );
    case(
        "assert: {tool: t, mock_text: a}",
        "`mock_text` belongs under `assert_sampling`",
    );
}

#[test]
fn a_trajectory_takes_no_expectations() {
    for key in ["expect: {}", "contains: a"] {
        let document =
            format!("{key}\ntrace: [{{tool: a}}]\ntrajectory: [{{type: presence, tools: [a]}}]\n");
        let wanted = "a `trajectory` takes no `expect`: its rules say what must hold";
        assert_eq!(help(&document), wanted, "{key}");
    }
}

#[test]
fn a_word_of_another_tool_is_told_ours() {
    let case = |subject: &str, ours: &str| {
        let document = format!("server: {{command: s}}\n{subject}\n");
        assert_eq!(
            help(&document),
            format!("did you mean `{ours}`?"),
            "{subject}"
        );
    };
    let expect = |key: &str, ours: &str| {
        case(&format!("assert: {{tool: t, expect: {{{key}: a}}}}"), ours);
    };
    expect("contains_all", "contains");
    expect("content_contains", "contains");
    expect("schema", "json_schema");
    expect("regex", "matches_regex");
    expect("matches", "matches_regex");
    expect("structuredContent", "structured");
    expect("excludes", "not_contains");
    case("assert: {tool: t, arguments: {a: 1}}", "args");
    case("steps: [{tool: t, arguments: {a: 1}}]", "args");
    case(
        "assert_prompts: {get: {name: p, args: {a: b}}}",
        "arguments",
    );
}

#[test]
fn a_value_that_comes_too_late_is_told_its_place() {
    let case = |document: &str, wanted: &str| {
        let shown = Sample::one(document).shown();
        assert_eq!(shown.matches("error[").count(), 1, "{document}: {shown}");
        assert!(shown.contains(wanted), "{document}: {shown}");
    };
    let server = "server: {command: s}\n";
    let (early, capture) = (
        "{tool: a, args: {id: '{{id}}'}}",
        "{tool: b, capture: {id: $.id}}",
    );
    let later = "captured later, at a.yaml:";
    case(
        &format!("{server}steps:\n- {early}\n- {capture}\n"),
        &format!("{later}4"),
    );
    case(
        &format!("{server}setup: [{early}]\nsteps:\n- {capture}\n"),
        &format!("{later}4"),
    );
    case(
        &format!(
            "{server}setup:\n- {{tool: a, args: {{id: '{{{{id}}}}'}}, capture: {{id: $.id}}}}\nassert_tools: {{}}\n"
        ),
        &format!("{later}3"),
    );
    case(
        &format!(
            "server: {{command: s, args: ['{{{{id}}}}']}}\nsetup: [{capture}]\nassert_tools: {{}}\n"
        ),
        &format!("{later}2"),
    );
    let parallel = "captured at a.yaml:5, by a step that runs at the same time";
    case(
        &format!("{server}parallel: true\nsteps:\n- {early}\n- {capture}\n"),
        parallel,
    );
}

#[test]
fn no_suggestion_wants_the_opposite() {
    let expect = |key: &str| {
        help(&format!(
            "server: {{command: s}}\nassert: {{tool: t, expect: {{{key}: a}}}}\n"
        ))
    };
    let case = |key: &str, ours: &str| assert_eq!(expect(key), format!("did you mean `{ours}`?"));
    case("not_contain", "not_contains");
    case("nto_contains", "not_contains");
    case("no_error", "not_error");
    case("notContains", "not_contains");
    case("file_not_exist", "file_not_exists");
    case("net_dleta", "net_delta");
    case("notificatons", "notifications");
    case("is_eror", "is_error");
    case("contans", "contains");
    for key in ["a_contains", "file_nexists", "o_error"] {
        assert!(!expect(key).contains("`not_"), "{key}: {}", expect(key));
    }
    assert!(!expect("not_equals").contains("did you mean `equals`"));
}
