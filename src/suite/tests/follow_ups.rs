//! One mistake is told once: what only follows from it is not.

use super::Sample;

const UNDEFINED: &str =
    "bad-alias: the alias `*undefined` has no anchor before it in this document";

/// The codes and messages of what is wrong with a document.
fn told(text: &str) -> Vec<String> {
    let loaded = Sample::one(text).load();
    let problems = loaded.suite.problems.iter();
    problems
        .map(|problem| format!("{}: {}", problem.code, problem.message))
        .collect()
}

#[test]
fn one_mistake_is_told_once() {
    let case = |text: &str, wanted: &str| assert_eq!(told(text), [wanted], "{text}");
    let server = "server: {command: s}";
    let asks = |expect: &str| format!("{server}\nassert: {{tool: x, expect: {expect}}}\n");
    case(
        &asks("{not: {contain: x}}"),
        "unknown-key: unknown key `contain`",
    );
    case(
        &asks("{stderr: {contain: x}}"),
        "unknown-key: unknown key `contain`",
    );
    case(
        &asks("{progress: {mim: 1}}"),
        "unknown-key: unknown key `mim`",
    );
    case(
        &asks("{notifications: {max: 1}}"),
        "unknown-key: unknown key `max`",
    );
    case(&asks("{exit: {cod: 1}}"), "unknown-key: unknown key `cod`");
    case(&asks("*undefined"), UNDEFINED);
    case(&asks("{contains: [*undefined]}"), UNDEFINED);
    for text in [
        "assert: *undefined",
        "assert: {tool: *undefined}",
        "assert_resources: {read: *undefined}",
    ] {
        case(&format!("{server}\n{text}\n"), UNDEFINED);
    }
    case("server: *undefined\nassert: {tool: x}\n", UNDEFINED);
}

#[test]
fn a_refused_key_is_not_missing() {
    let case = |text: &str, wanted: &str| assert_eq!(told(text), [wanted], "{text}");
    let server = "server: {command: s}";
    case(
        &format!("{server}\nassert: {{tol: x}}\n"),
        "unknown-key: unknown key `tol`",
    );
    case(
        "server: {comand: x}\nassert: {tool: x}\n",
        "unknown-key: unknown key `comand`",
    );
    case(
        &format!("{server}\nassert_resources: {{list: false}}\n"),
        "wrong-type: expected `true` or a map, found `false`",
    );
    case(
        &format!("{server}\nassert_prompts: {{list: [a]}}\n"),
        "wrong-type: expected `true` or a map, found a list",
    );
    case(
        "server: {command: s, docker: {image: i, cpus: .nan}}\nassert: {tool: x}\n",
        "no-json-number: `.nan` is a number that JSON does not have",
    );
}

#[test]
fn two_mistakes_are_told_both() {
    let case = |text: &str, wanted: &[&str]| {
        let text = format!("server: {{command: s}}\n{text}\n");
        let codes = told(&text);
        let codes: Vec<&str> = codes
            .iter()
            .map(|it| it.split(':').next().unwrap())
            .collect();
        assert_eq!(codes, wanted, "{text}");
    };
    case("assert: {args: 5}", &["missing-key", "wrong-type"]);
    case("assert: {zzzzzzz: 5}", &["missing-key", "unknown-key"]);
    case(
        "setup: [{tool: [a]}, {}]\nassert: {tool: x}",
        &["wrong-type", "missing-key"],
    );
    case(
        "assert_resources: {within: [1]}",
        &["missing-key", "wrong-type"],
    );
}
