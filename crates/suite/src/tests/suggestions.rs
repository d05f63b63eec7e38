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
    case(
        "assert: {tool: t, contains: x}",
        "`contains` is a key of `expect` and of `stderr`",
    );
    case(
        "command: s\nassert: {tool: t}",
        "`command` is a key of `server` and of `launch`",
    );
    case(
        "assert: {tool: t, mock_text: a}",
        "`mock_text` is a key of `assert_sampling`",
    );
    case(
        "assert: {tool: t, expect: {min_messages: 1}}",
        "`min_messages` is a key of `expect` of `assert_logging`",
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
    let later = "captured at a.yaml:";
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
    let parallel = "captured at a.yaml:5, later or at the same time";
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
    case("no_error", "not_error");
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
