//! What servers list is asked for once, in a session beside the assertions: it takes none of their time, and whatever a
//! server makes of the question is held against none of them.

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
            assert_eq!((came.code, came.asked), (0, 1), "{at_list}{wanted}");
        }
    }
}

#[test]
fn what_a_server_does_by_itself_is_told_all_the_same() {
    let allowed = ", findings: [exited-early]";
    for (wanted, options, code) in [(allowed, &[][..], 0), ("", &["--strict-protocol"], 1)] {
        let came = run(LISTS, "exit 0", wanted, options);
        assert_eq!(came.code, code, "{options:?}");
        assert_eq!(came.findings, ["exited-early"; 3], "{options:?}");
        assert!(came.asked == 1 && came.notes.is_empty(), "{options:?}");
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
fn an_assertion_asks_its_server_nothing_that_it_does_not_say() {
    let lists = LISTS.replace("\"t\"", "\"hi\"");
    // Whoever asks a second time ends the server.
    let once = format!("if [ -e listed ]; then exit 3; else >listed; {lists}; fi");
    let script = SERVER.replace("AT_LIST", &once).replace("AFTER_CALL", ":");
    for (wanted, options) in [
        (", exit: clean", &[][..]),
        (", findings: none", &[]),
        ("", &["--strict-protocol"]),
    ] {
        let server = format!("{{command: sh, args: [-c, {}]}}", Value::from(&*script));
        let project = Project::with_suite(&format!(
            "name: lists\nserver: {server}\nassert_tools: {{expect: {{contains: hi{wanted}}}}}\n"
        ));
        let ran = project.run(&[&["run", "evals", "--json"][..], options].concat());
        let seen = &ran.json()[0];
        assert_eq!(seen["status"], "PASS", "{wanted}: {seen:#}");
        assert_eq!(project.read("asked").lines().count(), 1, "{wanted}");
    }
}

#[test]
fn a_catalog_is_asked_for_where_nothing_was_called_and_its_lane_is_kept() {
    // Lists another tool in a process in which one was called, and refuses to run beside another one.
    let other = LISTS.replace("\"t\"", "\"other\"");
    let at_list = format!("if [ -n \"$called\" ]; then {other}; else {LISTS}; fi");
    let script = SERVER
        .replace("AT_LIST", &at_list)
        .replace("AFTER_CALL", "called=1");
    let script = format!("mkdir lock || exit 9; trap 'rmdir lock' EXIT; {script}");
    let call = |name: &str| {
        format!(
            "name: {name}\nserver: SERVER\nserial: db\nassert: {{tool: t, expect: {{contains: hi}}}}\n"
        )
    };
    let suite = format!("{}---\n{}", call("a"), call("b"));
    let server = format!("{{command: sh, args: [-c, {}]}}", Value::from(&*script));
    let project = Project::with_suite(&suite.replace("SERVER", &server));
    let ran = project.run(&["run", "evals", "--json", "--strict-vacuity", "--jobs", "4"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
    assert_eq!(project.read("asked").lines().count(), 1);
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
        "help      the server declares no capability `logging` in its answer to `initialize`",
        "help      the server declares no capability `prompts` in its answer to `initialize`",
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
