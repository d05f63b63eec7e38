//! What servers list is asked for once, beside the assertions: it takes none of their time, and whatever a server makes
//! of the question is held against none of them.

use serde_json::Value;

use crate::harness::Project;

/// Declares tools, answers every call, and writes down each time it is asked for its list. What it does then, and after
/// a call, is put in.
const SERVER: &str = r#"hi() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
while read -r ask; do
  id=${ask#*\"id\":}; id=${id%%[,\}]*}
  case $ask in
    *'"initialize"'*) hi '{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"sh","version":"1"}}';;
    *'"tools/call"'*) hi '{"content":[{"type":"text","text":"hi"}]}'; AFTER_CALL;;
    *'"tools/list"'*) echo >>asked; AT_LIST;;
  esac
done"#;

/// Lists the tool that is called.
const LISTS: &str = r#"hi '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}'"#;

/// What came of a run: exit code, findings by code, notes, the longest duration in ms, and how often the list was asked.
struct Came {
    code: i32,
    findings: Vec<String>,
    notes: Vec<String>,
    longest: u64,
    asked: usize,
}

fn run(at_list: &str, after_call: &str, wanted: &str, options: &[&str]) -> Came {
    let script = SERVER
        .replace("AT_LIST", at_list)
        .replace("AFTER_CALL", after_call);
    let project = ["a", "b", "c"]
        .into_iter()
        .fold(Project::new(), |project, name| {
            let server = format!("{{command: sh, args: [-c, {}]}}", Value::from(&*script));
            let suite = format!(
                "name: {name}\nserver: {server}\nassert: {{tool: t, expect: {{contains: hi{wanted}}}}}\n"
            );
            project.file(&format!("evals/{name}.yaml"), suite)
        });
    let always = ["run", "evals", "--report-json", "run.json", "--json"];
    let ran = project.run(&[&always[..], options].concat());
    let told = ran.json();
    let outcomes = told.as_array().unwrap();
    let all = |key: &str| -> Vec<Value> { outcomes.iter().map(|it| it[key].clone()).collect() };
    let codes = all("findings")
        .iter()
        .flat_map(|it| it.as_array().cloned().unwrap_or_default())
        .map(|finding| finding["code"].as_str().unwrap().to_owned())
        .collect();
    let report: Value = serde_json::from_str(&project.read("run.json")).unwrap();
    let notes = report["notes"].as_array().unwrap().iter();
    let durations = all("duration_ms");
    Came {
        code: ran.code,
        findings: codes,
        notes: notes
            .map(|note| note.as_str().unwrap().to_owned())
            .filter(|note| note.contains("lists is known"))
            .collect(),
        longest: durations.iter().filter_map(Value::as_u64).max().unwrap(),
        asked: std::fs::read_to_string(project.path().join("asked"))
            .map_or(0, |text| text.lines().count()),
    }
}

#[test]
fn a_server_that_never_answers_is_asked_once_and_that_takes_no_assertions_time() {
    for options in [&["--jobs", "1"][..], &["--reuse-server"]] {
        let came = run(":", ":", "", options);
        assert_eq!((came.code, came.asked), (0, 1), "{options:?}");
        assert_eq!(came.notes.len(), 1, "{:?}", came.notes);
        assert!(came.notes[0].contains("no answer to `tools/list`"));
        assert!(came.longest < 2_900, "{options:?}: {} ms", came.longest);
        assert!(came.findings.is_empty(), "{:?}", came.findings);
    }
}

#[test]
fn what_the_question_does_to_a_server_is_held_against_no_assertion() {
    for at_list in ["exit 3", "exec sleep 600"] {
        for options in [&[][..], &["--strict-protocol"]] {
            let came = run(at_list, ":", "", options);
            let when = format!("{at_list} {options:?}");
            assert_eq!(came.code, 0, "{when}: {:?}", came.findings);
            assert!(came.findings.is_empty(), "{when}: {:?}", came.findings);
            assert_eq!(came.notes.len(), 1, "{when}: {:?}", came.notes);
        }
        // Who looks at the end is not disturbed, wherever that is written.
        for wanted in [", exit: {code: 0}", ", not: {exit: {code: 3}}"] {
            let came = run(at_list, ":", wanted, &[]);
            assert_eq!((came.code, came.asked), (0, 0), "{at_list}{wanted}");
        }
    }
}

#[test]
fn what_a_server_does_by_itself_is_told_all_the_same() {
    for (options, code) in [(&[][..], 0), (&["--strict-protocol"], 1)] {
        let came = run(LISTS, "exit 0", "", options);
        assert_eq!(came.code, code, "{options:?}");
        assert!(
            came.findings.contains(&"exited-early".to_owned()),
            "{options:?}"
        );
        // One that has ended is not asked any more, so perhaps none was.
        assert!(came.asked <= 1 && came.notes.is_empty(), "{options:?}");
    }
    // Its list is known, however strict the run is.
    let unlisted = LISTS.replace("\"t\"", "\"other\"");
    for options in [&["--strict-protocol"][..], &["--strict-vacuity"]] {
        let came = run(&unlisted, ":", "", options);
        assert_eq!(came.findings, ["vacuous"; 3], "{options:?}");
        assert_eq!(came.asked, 1, "{options:?}");
    }
}

/// Runs one suite, one assertion at a time, and gives the outcomes.
fn outcomes(script: &str, suite: &str, options: &[&str]) -> Vec<Value> {
    let server = format!("{{command: sh, args: [-c, {}]}}", Value::from(script));
    let project = Project::with_suite(&suite.replace("SERVER", &server));
    let always = ["run", "evals", "--json", "--jobs", "1"];
    let ran = project.run(&[&always[..], options].concat());
    ran.json().as_array().unwrap().clone()
}

#[test]
fn a_second_look_at_a_list_is_no_time_of_the_assertion_and_not_taken_at_a_slow_one() {
    let suite = "name: lists\nserver: SERVER\nassert_tools: {expect: {contains: hi}}\n";
    let lists = LISTS.replace("\"t\"", "\"hi\"");
    // Lists once, and is silent when it is asked again.
    let once = format!("[ -e listed ] || {{ >listed; {lists}; }}");
    let script = SERVER.replace("AT_LIST", &once).replace("AFTER_CALL", ":");
    let seen = &outcomes(&script, suite, &[])[0];
    let subject = seen["timings"]["subject_us"].as_u64().unwrap();
    let total = seen["timings"]["total_us"].as_u64().unwrap();
    assert!(subject < 450_000 && total < 500_000, "{seen}");
    // Asked again it would be at that for so long that it does not see the end of its stdin.
    let slow = format!("if [ -e listed ]; then sleep 600; else >listed; sleep 0.6; {lists}; fi");
    let script = SERVER.replace("AT_LIST", &slow).replace("AFTER_CALL", ":");
    let seen = &outcomes(&script, suite, &["--strict-protocol"])[0];
    assert_eq!(seen["status"], "PASS", "{seen}");
}

#[test]
fn a_second_look_at_a_list_shows_in_no_verdict() {
    let lists = LISTS.replace("\"t\"", "\"hi\"");
    let once = |then: &str| {
        let at_list = format!("if [ -e listed ]; then {then}; else >listed; {lists}; fi");
        SERVER
            .replace("AT_LIST", &at_list)
            .replace("AFTER_CALL", ":")
    };
    let said = format!("{{ echo again >&2; echo again; echo again >notes; {lists}; }}");
    for then in ["exit 3", "exec sleep 600", &said] {
        for (wanted, options) in [
            (", exit: clean", &[][..]),
            (", stderr: {not_contains: again}", &[]),
            (", file_equals: {notes: before}", &[]),
            (", findings: none", &[]),
            (", not: {exit: {code: 3}}", &[]),
            ("", &["--strict-protocol"]),
        ] {
            let suite = format!(
                "name: lists\nserver: SERVER\nassert_tools: {{expect: {{contains: hi{wanted}}}}}\n"
            );
            let server = format!("{{command: sh, args: [-c, {}]}}", Value::from(once(then)));
            let project = Project::with_suite(&suite.replace("SERVER", &server));
            let project = project.file("notes", "before");
            let ran = project.run(&[&["run", "evals", "--json"][..], options].concat());
            let seen = &ran.json()[0];
            assert_eq!(seen["status"], "PASS", "{then}{wanted}: {seen:#}");
        }
    }
    // Where it is no verdict, the finding says what was done.
    let suite = "name: lists\nserver: SERVER\nassert_tools: {expect: {contains: hi}}\n";
    let seen = &outcomes(&once("exit 3"), suite, &[])[0];
    let said = seen["findings"][0]["message"].as_str().unwrap();
    let wanted =
        "exit code 3, after its tools were listed once more, to see whether they stay the same";
    assert!(said.ends_with(wanted), "{said}");
    let other = once(&LISTS.replace("\"t\"", "\"other\""));
    let seen = &outcomes(&other, suite, &["--strict-protocol"])[0];
    assert_eq!(seen["status"], "FAIL", "{seen:#}");
    let said = seen["findings"][0]["message"].as_str().unwrap();
    assert!(
        said.contains("fetched once more after the assertion"),
        "{said}"
    );
    // Who did not declare it need not tell.
    let undeclared = other.replace(r#"{"listChanged":true}"#, "{}");
    let seen = &outcomes(&undeclared, suite, &["--strict-protocol"])[0];
    assert_eq!(seen["status"], "PASS", "{seen:#}");
    // What it does by itself is told all the same.
    let ends = once(":").replace(">listed;", ">listed; ends=1;");
    let ends = ends.replace("esac", "esac; [ -z \"$ends\" ] || exit 4");
    let seen = &outcomes(&ends, suite, &["--strict-protocol"])[0];
    assert_eq!(seen["status"], "FAIL", "{seen:#}");
}

#[test]
fn the_fresh_server_in_place_of_a_dead_one_has_all_the_time_of_the_assertion() {
    let call = |name: &str, more: &str| {
        format!(
            "name: {name}\nserver: SERVER\n{more}assert: {{tool: t, expect: {{contains: hi}}}}\n"
        )
    };
    // The first process ends some time after its call, while nothing is said to it.
    let first = "[ -e called ] || { >called; { sleep 1.5; kill $$; } >/dev/null 2>&1 & }";
    let script = SERVER
        .replace("AT_LIST", LISTS)
        .replace("AFTER_CALL", first);
    let waits = "setup: [{wait: 2s}]\n";
    let suite = format!("{}---\n{}", call("a", ""), call("b", waits));
    let seen = outcomes(&script, &suite, &["--reuse-server", "--timeout", "3s"]);
    assert_eq!(seen[1]["status"], "PASS", "{}", seen[1]);
    let took = seen[1]["duration_ms"].as_u64().unwrap();
    assert!((2_000..3_000).contains(&took), "{took}");
}

#[test]
fn a_call_of_a_tool_that_is_not_there_names_those_that_are() {
    let project = Project::with_suite(
        "name: near\nserver: {builtin: conformance}\nassert: {tool: ehco_back}\n\
         ---\nname: far\nserver: {builtin: minimal}\nassert: {tool: nothing-like-it}\n\
         ---\nname: step\nserver: {builtin: minimal}\nsetup: [{tool: ecko, args: {text: a}}]\nassert: {tool: echo}\n",
    );
    let ran = project.run(&["run", "--suite", "evals", "--jobs", "1"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    for told in [
        "hint      the server does not list the tool `ehco_back`",
        "hint      the server does not list the tool `nothing-like-it`; it lists `test_simple_text`",
        "help      the server does not list the tool `ecko`; it lists `test_simple_text`",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
}

#[test]
fn a_refused_request_whose_capability_is_not_declared_says_so() {
    let server = "server: {builtin: minimal}\n";
    let project = Project::with_suite(&format!(
        "name: list\n{server}assert_resources: {{list: {{}}}}\n\
         ---\nname: level\n{server}assert_logging: {{set_level: debug, tool: echo}}\n\
         ---\nname: step\n{server}setup: [{{prompt: {{name: x}}}}]\nassert: {{tool: echo}}\n"
    ));
    let ran = project.run(&["run", "--suite", "evals"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    for told in [
        "hint      the server declares no capability `resources`; if this error",
        "help      the server declares no capability `logging` in the handshake",
        "help      the server declares no capability `prompts` in the handshake",
    ] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.stdout);
    }
}

#[test]
fn one_that_ends_a_moment_after_its_answer_is_told_of_in_every_assertion() {
    for options in [&["--jobs", "1"][..], &["--jobs", "3"], &["--trials", "4"]] {
        let came = run(LISTS, "sleep 0.05; exit 5", ", findings: none", options);
        assert_eq!(came.code, 1, "{options:?}");
        let each = if options[0] == "--trials" { 12 } else { 3 };
        let early = came.findings.iter().filter(|code| *code == "exited-early");
        assert_eq!(early.count(), each, "{options:?}: {:?}", came.findings);
    }
}
