//! Steps of `setup` and of `steps`: what an error means in each, what each is to hold, and what is told of it.

use serde_json::Value;

use crate::harness::Project;

/// A tool error, and a JSON-RPC error.
const TOOL_ERROR: &str = "tool: error, args: {message: boom}";
const REFUSAL: &str = "tool: error, args: {layer: rpc, code: -32602, message: boom}";

/// Runs documents on the embedded server, which may write into a fixture, and gives what the JSON says of each.
fn outcomes(documents: &[String], arguments: &[&str]) -> Vec<Value> {
    let server = |document: &String| {
        format!(
            "server: {{builtin: conformance, args: [--files, '{{{{fixture}}}}']}}\n{document}\n"
        )
    };
    let suite: Vec<String> = documents.iter().map(server).collect();
    let mut all = vec!["run", "--json", "evals", "--fixture", "fixture"];
    all.extend(arguments);
    let ran = Project::with_suite(&suite.join("---\n"))
        .file("fixture/old.txt", "old")
        .run(&all);
    let Value::Array(outcomes) = ran.json() else {
        panic!("{}", ran.stdout);
    };
    assert_eq!(outcomes.len(), documents.len(), "{}", ran.stderr);
    outcomes
}

/// `error` where the assertion could not be observed, else the status.
fn verdict(outcome: &Value) -> &str {
    let kind = outcome["kind"].as_str().filter(|kind| *kind == "error");
    kind.or(outcome["status"].as_str()).unwrap()
}

#[test]
fn an_error_of_a_setup_step_passes_only_where_the_suite_speaks_of_errors() {
    let error = "setup step 1";
    let cases = [
        ("expect: {}", "error"),
        ("expect: {max_duration: 10s}", "error"),
        ("expect: {not_empty: true, contains: boom}", "error"),
        ("expect: {max_bytes: 10000}, allow_error: false", "error"),
        ("expect: {stderr: {not_contains: x}}", "error"),
        ("expect: {notifications: {max_count: 0}}", "error"),
        ("expect: {not: {contains: x}}", "error"),
        ("expect: {not_error: true}", "FAIL"),
        ("expect: {not: {not_error: true}}", "PASS"),
        ("expect: {is_error: true}", "PASS"),
        ("allow_error: true", "PASS"),
    ];
    let document = |step: &str| format!("setup: [{{{step}}}]\nassert: {{tool: test_simple_text}}");
    let documents: Vec<String> = cases
        .iter()
        .map(|(more, _)| document(&format!("{TOOL_ERROR}, {more}")))
        .chain(
            cases[..7]
                .iter()
                .map(|(more, _)| document(&format!("{REFUSAL}, {more}"))),
        )
        .chain([document(&format!(
            "{REFUSAL}, expect: {{error: {{code: -32602}}}}"
        ))])
        .collect();
    let seen = outcomes(&documents, &[]);
    let wanted: Vec<&str> = cases
        .iter()
        .chain(&cases[..7])
        .map(|(_, wanted)| *wanted)
        .chain(["PASS"])
        .collect();
    for ((document, outcome), wanted) in documents.iter().zip(&seen).zip(wanted) {
        assert_eq!(verdict(outcome), wanted, "{document}: {outcome}");
        let detail = outcome["detail"].as_str().unwrap_or_default();
        assert!(
            wanted != "error" || detail.contains("boom"),
            "{document}: {detail}"
        );
        assert!(
            wanted != "error" || outcome.to_string().contains(error),
            "{document}: {outcome}"
        );
    }
}

#[test]
fn a_refused_step_is_red_unless_its_refusal_is_expected() {
    let held = [
        "max_duration: 10s",
        "max_bytes: 10000",
        "stderr: {not_contains: x}",
        "notifications: {max_count: 0}",
        "findings: none",
        "server_requests: [{method: roots/list, count: 0}]",
        "file_exists: old.txt",
        "exit: {clean: true}",
        "progress: {monotonic: true}",
        "min_progress: 0",
        "not: {file_exists: gone}",
    ];
    let refused = |more: &str| format!("steps: [{{{REFUSAL}, expect: {{{more}}}}}]");
    let mut documents: Vec<String> = held.iter().map(|more| refused(more)).collect();
    documents.push(format!("parallel: true\n{}", refused(held[0])));
    let green = documents.len();
    documents.push(refused("max_duration: 10s, error: {code: -32602}"));
    documents.push(refused("not: {error: {code: 1}}"));
    let seen = outcomes(&documents, &[]);
    for (index, (document, outcome)) in documents.iter().zip(&seen).enumerate() {
        let wanted = if index < green { "FAIL" } else { "PASS" };
        assert_eq!(verdict(outcome), wanted, "{document}: {outcome}");
        let told = outcome["mismatches"].to_string();
        let tells = told.contains("step 1 (tool `error`)") && told.contains("-32602");
        assert_eq!(tells, index < green, "{document}: {outcome}");
    }
}

#[test]
fn an_allowed_error_of_a_step_is_an_answer_like_any_other() {
    let case = |step: &str| format!("steps: [{{{step}, allow_error: true}}, {{ping: true}}]");
    let documents = [
        case(TOOL_ERROR),
        case(REFUSAL),
        case(&format!("{TOOL_ERROR}, capture: {{said: $}}")).replace(
            "ping: true",
            "tool: echo, args: {message: '{{said}}'}, expect: {contains: boom}",
        ),
        case(&format!(
            "{TOOL_ERROR}, expect: {{contains: boom, max_duration: 10s}}"
        )),
        format!("parallel: true\n{}", case(TOOL_ERROR)),
        case(&format!("{TOOL_ERROR}, expect: {{contains: never said}}")),
        case(&format!("{TOOL_ERROR}, expect: {{not_error: true}}")),
        case(TOOL_ERROR)
            .replace("true", "false")
            .replace("ping: false", "ping: true"),
    ];
    let seen = outcomes(&documents, &[]);
    let verdicts: Vec<&str> = seen.iter().map(verdict).collect();
    assert_eq!(verdicts[..5], ["PASS"; 5], "{seen:?}");
    assert_eq!(verdicts[5..], ["FAIL"; 3], "{seen:?}");
}

#[test]
fn what_a_step_names_later_is_compared_with_the_original_of_the_fixture() {
    let named = |name: &str, expect: &str| {
        let steps = format!(
            "setup:\n- {{tool: echo, args: {{message: {name}}}, capture: {{f: $.message}}}}\n- {{tool: write_file, args: {{path: new.txt, text: x}}}}\n"
        );
        format!("{steps}assert: {{tool: echo, args: {{message: x}}, expect: {expect}}}")
    };
    let captured = "{file_unchanged: ['{{f}}']}";
    let below = "{file_unchanged: ['{{fixture}}/{{f}}']}";
    let outside = "{file_unchanged: ['/etc/{{f}}']}";
    let cases = [
        (named("old.txt", captured), "PASS"),
        (named("old.txt", below), "PASS"),
        (named("new.txt", captured), "FAIL"),
        (named("new.txt", below), "FAIL"),
        (named("none.txt", captured), "FAIL"),
        (named("hostname", outside), "error"),
        (named("../old.txt", captured), "error"),
    ];
    let documents = cases.clone().map(|(document, _)| document);
    for (seen, (document, wanted)) in outcomes(&documents, &[]).iter().zip(&cases) {
        assert_eq!(verdict(seen), *wanted, "{document}: {seen}");
    }
}

/// A step that writes a file and expects something.
fn write(text: &str, path: &str, expect: &str) -> String {
    format!("{{tool: write_file, args: {{path: {path}, text: {text}}}, expect: {{{expect}}}}}")
}

/// Two steps, the first of which holds although the second undoes it.
fn held() -> [(String, String); 6] {
    let first = |expect: &str| write("one", "a.txt", expect);
    let then = |text: &str, path: &str| write(text, path, "not_error: true");
    let captured = |step: String| step.replace("expect", "capture: {said: $.path}, expect");
    [
        (first("file_contains: {a.txt: one}"), then("two", "a.txt")),
        (first("only_changed: [a.txt]"), then("two", "b.txt")),
        (first("file_not_exists: b.txt"), then("two", "b.txt")),
        (first("file_unchanged: old.txt"), then("two", "old.txt")),
        (
            "{ping: true, expect: {file_not_exists: a.txt}}".to_owned(),
            then("two", "a.txt"),
        ),
        (
            captured(first("file_contains: {'{{said}}': one}")),
            captured(then("two", "b.txt")),
        ),
    ]
}

/// Two steps, the first of which wants what only the second does.
fn missed() -> [(String, String); 4] {
    let first = |expect: &str| write("one", "a.txt", expect);
    let then = |path: &str| write("two", path, "not_error: true");
    [
        (first("file_exists: b.txt"), then("b.txt")),
        (first("file_contains: {a.txt: two}"), then("a.txt")),
        (first("file_equals: {old.txt: two}"), then("old.txt")),
        (first("not: {file_not_exists: b.txt}"), then("b.txt")),
    ]
}

#[test]
fn each_step_is_asked_about_the_files_that_it_left() {
    let (held, missed) = (held(), missed());
    let in_steps = |(first, second): &(String, String)| format!("steps:\n- {first}\n- {second}");
    let in_setup = |(first, _): &(String, String)| {
        let subject = "{tool: write_file, args: {path: b.txt, text: two}}";
        format!("setup:\n- {first}\nassert: {subject}")
    };
    let documents: Vec<String> = held
        .iter()
        .map(in_steps)
        .chain(held[1..3].iter().map(in_setup))
        .chain([format!("parallel: true\n{}", in_steps(&missed[0]))])
        .chain(missed.iter().map(in_steps))
        .chain([in_setup(&missed[0]), in_setup(&missed[3])])
        .collect();
    for arguments in [&["--jobs", "4"][..], &["--reuse-server"]] {
        let seen = outcomes(&documents, arguments);
        for (index, (document, outcome)) in documents.iter().zip(&seen).enumerate() {
            let wanted = if index < 9 { "PASS" } else { "FAIL" };
            assert_eq!(verdict(outcome), wanted, "{document}: {outcome}");
        }
    }
}

#[test]
fn a_step_that_proves_nothing_is_a_finding() {
    let strange = "tool: echo, args: {message: 1}";
    let empty = [
        "{tool: echo, args: {message: a}, expect: {contains: ''}}".to_owned(),
        "{tool: no_such_tool, expect: {error: {}}}".to_owned(),
        format!("{{{strange}, expect: {{is_error: true}}}}"),
    ];
    let sound = [
        "{tool: echo, args: {message: a}}".to_owned(),
        "{tool: no_such_tool, expect: {error: {code: -32602}}}".to_owned(),
        format!("{{{TOOL_ERROR}, allow_error: true}}"),
    ];
    let steps = |step: &String| format!("steps:\n- {}\n- {step}", sound[0]);
    let documents: Vec<String> = empty.iter().chain(&sound).map(steps).collect();
    let seen = outcomes(&documents, &["--strict-vacuity"]);
    for (index, (document, outcome)) in documents.iter().zip(&seen).enumerate() {
        let wanted = if index < empty.len() { "FAIL" } else { "PASS" };
        assert_eq!(verdict(outcome), wanted, "{document}: {outcome}");
        let told = outcome["findings"].to_string().contains("step 2 (tool `");
        assert_eq!(told, index < empty.len(), "{document}: {outcome}");
    }
    let alone = format!("{{{TOOL_ERROR}, allow_error: true}}");
    let steps = |steps: &[&str]| format!("steps:\n- {}", steps.join("\n- "));
    let meant = format!("assert: {{{strange}, expect: {{is_error: true, findings: [vacuous]}}}}");
    let documents = [
        (steps(&[&alone, "{wait: 1ms}"]), "FAIL"),
        (steps(&["{wait: 1ms}", &sound[0]]), "PASS"),
        (meant, "PASS"),
    ];
    let texts: Vec<String> = documents.iter().map(|it| it.0.clone()).collect();
    let seen = outcomes(&texts, &["--strict-vacuity"]);
    for ((document, wanted), outcome) in documents.iter().zip(&seen) {
        assert_eq!(verdict(outcome), *wanted, "{document}: {outcome}");
    }
}

#[test]
fn the_call_that_is_shown_is_the_one_that_failed() {
    let server = "server: {builtin: conformance}";
    let echo = |text: &str, more: &str| format!("{{tool: echo, args: {{message: {text}}}{more}}}");
    let suite = [
        format!(
            "name: a\n{server}\nsetup: [{}]\ntimeout: 1s\nassert: {{tool: slow, args: {{hang: true}}}}\n",
            echo("setup call", "")
        ),
        format!(
            "name: b\n{server}\nsteps: [{}, {}, {}]\n",
            echo("first", ""),
            echo("second", ", expect: {equals: x, contains: y}"),
            echo("third", ", expect: {max_bytes: 1}"),
        ),
        format!(
            "name: c\n{server}\nsetup: [{}]\nassert: {}\n",
            echo("prepared", ", expect: {contains: z}"),
            echo("subject", ""),
        ),
    ]
    .join("---\n");
    let ran = Project::with_suite(&suite).run(&["run", "evals", "--junit", "junit.xml"]);
    let called: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.starts_with("  called "))
        .collect();
    assert_eq!(
        called,
        [
            "  called    tool `echo` with {\"message\":\"second\"}",
            "  called    tool `echo` with {\"message\":\"third\"}",
            "  called    tool `echo` with {\"message\":\"prepared\"}",
        ],
        "{}",
        ran.stdout
    );
    let answers = ran.stdout.matches("  answer ").count();
    assert_eq!(answers, 1, "where no value was told: {}", ran.stdout);
}

#[test]
fn what_a_refused_step_was_to_capture_is_told_of_that_step() {
    let step = format!("{{{REFUSAL}, allow_error: true, capture: {{id: $.id}}}}");
    let documents = [
        format!("steps: [{step}, {{tool: echo, args: {{message: '{{{{id}}}}'}}}}]"),
        format!("setup: [{step}]\nassert: {{tool: echo, args: {{message: '{{{{id}}}}'}}}}"),
        format!(
            "setup: [{step}]\nassert: {{tool: echo, args: {{message: a}}, expect: {{contains: '{{{{id}}}}'}}}}"
        ),
    ];
    let seen = outcomes(&documents, &[]);
    for (outcome, which) in seen.iter().zip(["step 1", "setup step 1", "setup step 1"]) {
        assert_eq!(verdict(outcome), "error", "{outcome}");
        let detail = outcome["detail"].as_str().unwrap();
        let told = format!(
            "`{{{{id}}}}` has no value here: it is captured by {which}, which was answered with the error -32602: boom"
        );
        assert!(detail.contains(&told), "{detail}");
        assert!(!detail.contains("invalid"), "{detail}");
        assert!(detail.contains(r#""message":"boom""#), "{detail}");
    }
}
