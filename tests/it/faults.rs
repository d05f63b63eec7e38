//! Faults that only a process of its own can make, and the journal of a server that made them.

use std::{
    fmt::Write,
    io::{BufRead, BufReader, Read},
    os::unix::process::ExitStatusExt,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    harness::{Project, assert_generated, until},
    serve::Server,
};

const ABORTED: i32 = 6;
const SEGFAULT: i32 = 11;

/// Sends one call and gives all that comes on stdout until its end.
fn call(server: &mut Server) -> String {
    server.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "test_simple_text", "arguments": {"max_tokens": 9, "apiKey": "planted-secret"},
        }}),
    );
    let mut rest = String::new();
    server.output.read_to_string(&mut rest).unwrap();
    rest
}

#[test]
fn processes_end_as_they_were_told() {
    fn case(rule: &str, code: Option<i32>, signal: Option<i32>, answers: usize) {
        let project = Project::new();
        let mut server = Server::start(&project, &["--fault", rule]);
        server.initialize();
        let rest = call(&mut server);
        let status = server.child.wait().unwrap();
        assert_eq!((status.code(), status.signal()), (code, signal), "{rule}");
        assert_eq!(rest.lines().count(), answers, "{rule}: {rest}");
        let left: Vec<_> = std::fs::read_dir(project.path()).unwrap().collect();
        assert!(left.is_empty(), "{rule} leaves {left:?}");
    }
    case("exit-mid-call", Some(1), None, 0);
    case("tools/call:test_*@1=exit-mid-call:3", Some(3), None, 0);
    case("exit-after-reply:4", Some(4), None, 1);
    case("no-trailing-newline", Some(0), None, 1);
    case("abort", None, Some(ABORTED), 0);
    case("segv", None, Some(SEGFAULT), 0);
    case("oom-cap:1MiB", None, Some(ABORTED), 0);
}

#[test]
fn a_server_can_end_before_it_reads() {
    let project = Project::new();
    let server = Server::start(&project, &["--fault", "exit-before-init:9"]);
    assert_eq!(server.end(), (String::new(), String::new(), Some(9)));
}

#[test]
fn a_closed_stdout_leaves_the_process_alive() {
    let project = Project::new();
    let mut server = Server::start(&project, &["--fault", "close-stdout"]);
    server.initialize();
    assert_eq!(call(&mut server), "");
    assert!(server.child.try_wait().unwrap().is_none(), "it has ended");
    drop(server.input.take());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
}

/// Reads journal records from stderr until one is of this kind.
fn read_until(errors: &mut impl BufRead, kind: &str) {
    let mut line = String::new();
    while errors.read_line(&mut line).unwrap() > 0 {
        let record: Value = serde_json::from_str(&line).unwrap();
        if record["kind"] == kind {
            return;
        }
        line.clear();
    }
    panic!("no record of kind {kind}");
}

#[test]
fn ends_are_ignored_as_far_as_the_fault_says() {
    fn case(rule: &str, survives_term: bool) {
        let project = Project::new();
        let mut server = Server::start(&project, &["--fault", rule, "--journal", "-"]);
        let mut errors = BufReader::new(server.child.stderr.take().unwrap());
        server.initialize();
        drop(server.input.take());
        read_until(&mut errors, "fault");
        assert!(server.child.try_wait().unwrap().is_none(), "{rule}");
        server.signal("-TERM");
        if survives_term {
            read_until(&mut errors, "fault");
            assert!(server.child.try_wait().unwrap().is_none(), "{rule}");
            server.signal("-KILL");
            assert_eq!(server.child.wait().unwrap().signal(), Some(9), "{rule}");
        } else {
            assert_eq!(server.child.wait().unwrap().code(), Some(0), "{rule}");
        }
    }
    case("ignore-stdin-eof", false);
    case("ignore-sigterm", true);
}

/// Processes whose environment holds this text.
#[cfg(target_os = "linux")]
fn marked(mark: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|id: &u32| {
            let environment = std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable.ends_with(mark.as_bytes()))
        })
        .collect()
}

#[cfg(target_os = "linux")]
#[test]
fn a_grandchild_keeps_stdout_open() {
    let project = Project::new();
    let mark = format!("planted-{}", project.path().display());
    let mut command = project.command(&["serve", "--fault", "orphan-grandchild"]);
    command.env("ORPHAN_MARK", &mark);
    let mut server = Server::of(command);
    server.initialize();
    drop(server.input.take());
    assert_eq!(server.child.wait().unwrap().code(), Some(0));
    // While a process replaces its program, the system shows it without an environment.
    let mut left = Vec::new();
    until("nothing is left", || {
        left = marked(&mark);
        !left.is_empty()
    });
    let [orphan] = left[..] else {
        panic!("left are {left:?}");
    };
    let (ended, end) = std::sync::mpsc::channel();
    let mut output = server.output;
    std::thread::spawn(move || {
        let mut rest = String::new();
        let read = output.read_to_string(&mut rest).map(|_| rest);
        ended.send(read).unwrap();
    });
    assert!(end.try_recv().is_err(), "stdout should be open still");
    let kill = ["-KILL".to_owned(), orphan.to_string()];
    let status = std::process::Command::new("kill").args(kill).status();
    assert!(status.unwrap().success());
    assert_eq!(end.recv().unwrap().unwrap(), "");
}

#[test]
fn rules_of_a_file_count_beyond_the_process_with_a_state() {
    let rules = "# the second call of all\n- tools/call@2=exit-mid-call:5\n";
    let project = Project::new().file("faults.yaml", rules);
    let arguments = ["--faults", "faults.yaml", "--state", "state.json"];
    let mut codes = Vec::new();
    for _ in 0..3 {
        let mut server = Server::start(&project, &arguments);
        server.initialize();
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "test_simple_text"}}));
        codes.push(server.end().2);
    }
    assert_eq!(codes, [Some(0), Some(5), Some(0)]);
}

#[test]
fn wrong_rules_are_usage_errors_told_all_at_once() {
    let project = Project::new().file("faults.yaml", "- start=drop\n- \"*@p:2=drop\"\n");
    let ran = project.run(&[
        "serve",
        "--fault",
        "stdout-baner",
        "--fault",
        "delay:soon",
        "--faults",
        "faults.yaml",
        "--journal",
        "no/such/folder.jsonl",
    ]);
    assert_eq!(ran.code, 2);
    for wanted in [
        "--fault `stdout-baner`: there is no fault `stdout-baner`",
        "did you mean `stdout-banner`?",
        "`soon` is not an argument of `delay`",
        "--faults `faults.yaml`: rule 1 `start=drop`: `drop` cannot sit at `start`",
        "rule 2 `*@p:2=drop`: `@p:2` is not an occurrence",
    ] {
        assert!(ran.stderr.contains(wanted), "{wanted}\n{}", ran.stderr);
    }
    let ran = project.run(&["serve", "--journal", "no/such/folder.jsonl"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("it cannot be written"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_state_that_cannot_be_kept_is_a_usage_error() {
    let project = Project::new().file("garbage.json", "[not counters");
    for state in ["garbage.json", ".", "no/such/state.json"] {
        let ran = project.run(&["serve", "--state", state, "--fault", "drop"]);
        assert_eq!(ran.code, 2, "{state}: {}", ran.stderr);
        let wanted = format!("--state `{state}` cannot keep counters");
        assert!(ran.stderr.contains(&wanted), "{}", ran.stderr);
    }
    assert_eq!(project.read("garbage.json"), "[not counters");
}

/// A journal's records; every line has to be one.
fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn the_journal_of_a_server_that_crashed_is_whole() {
    let project = Project::new();
    let arguments = ["--fault", "abort", "--journal", "calls.jsonl"];
    let mut server = Server::start(&project, &arguments);
    server.initialize();
    call(&mut server);
    server.child.wait().unwrap();
    let records = records(&project.path().join("calls.jsonl"));
    let kinds: Vec<_> = records
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["header", "call", "fault", "done", "end"]);
    let seqs: Vec<_> = records
        .iter()
        .map(|one| one["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, [1, 2, 3, 4, 5]);
    let call = &records[1];
    assert_eq!(call["tool"], "test_simple_text");
    assert_eq!(
        call["args"],
        json!({"max_tokens": 9, "apiKey": "[redacted]"})
    );
    assert_eq!(call["redacted"], json!(["/args/apiKey"]));
    assert_eq!(
        (&records[2]["fault"], &records[2]["of"]),
        (&json!("abort"), &json!(2))
    );
    assert_eq!(records[3]["error"]["layer"], "unfinished");
    assert!(!project.read("calls.jsonl").contains("planted-secret"));
}

#[test]
fn the_cancel_of_a_server_that_was_killed_is_in_its_journal() {
    let project = Project::new();
    let mut server = Server::start(&project, &["--journal", "calls.jsonl"]);
    server.initialize();
    let hang = json!({"jsonrpc": "2.0", "id": "h", "method": "tools/call", "params": {
        "name": "slow", "arguments": {"hang": true},
    }});
    server.send(&hang);
    let params = json!({"requestId": "h"});
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    server.call("echo", &json!({"message": "after"}));
    server.signal("-KILL");
    server.child.wait().unwrap();
    let records = records(&project.path().join("calls.jsonl"));
    let told: Vec<_> = records
        .iter()
        .map(|one| (one["kind"].as_str().unwrap(), &one["error"]["layer"]))
        .collect();
    let cancelled = json!("cancelled");
    let nothing = &Value::Null;
    let wanted = [
        ("header", nothing),
        ("call", nothing),
        ("done", &cancelled),
        ("call", nothing),
        ("done", nothing),
    ];
    assert_eq!(told, wanted);
}

#[test]
fn a_call_that_is_open_when_the_server_ends_is_unfinished() {
    for signal in [None, Some("-TERM")] {
        let project = Project::new();
        let mut server = Server::start(&project, &["--journal", "calls.jsonl"]);
        server.initialize();
        server.send(
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": "slow", "arguments": {"hang": true},
            }}),
        );
        // The call has arrived when this is answered.
        server.ask(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
        if let Some(signal) = signal {
            server.signal(signal);
            server.child.wait().unwrap();
        }
        assert_eq!(server.end().0, "", "nothing is sent");
        let done = &records(&project.path().join("calls.jsonl"))[2];
        assert_eq!(done["error"]["layer"], "unfinished", "{done}");
        assert!(done.get("bytes_out").is_none(), "{done}");
    }
}

/// Calls `echo` of a server that holds the answer up, and waits until that is in its journal.
fn held_up(project: &Project, delay: &str) -> Server {
    let rule = format!("tools/call=delay:{delay}");
    let arguments = ["--fault", &rule, "--journal", "calls.jsonl"];
    let mut server = Server::start(project, &arguments);
    server.initialize();
    server.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "echo", "arguments": {"message": "hello"},
        }}),
    );
    let until = Instant::now() + Duration::from_secs(20);
    while !project.read("calls.jsonl").contains("\"kind\":\"fault\"") {
        assert!(Instant::now() < until, "{}", project.read("calls.jsonl"));
        std::thread::sleep(Duration::from_millis(5));
    }
    server
}

#[test]
fn an_answer_is_in_the_journal_when_it_was_sent() {
    let project = Project::new();
    let mut server = held_up(&project, "60s");
    server.signal("-KILL");
    server.child.wait().unwrap();
    let written = records(&project.path().join("calls.jsonl"));
    assert_eq!(written.last().unwrap()["kind"], "fault");

    let project = Project::new();
    let arguments = ["--clock", "virtual", "--fault", "delay:5s", "--journal"];
    let mut server = Server::start(&project, &[&arguments[..], &["calls.jsonl"]].concat());
    server.initialize();
    server.call("echo", &json!({"message": "hello"}));
    server.end();
    let done = &records(&project.path().join("calls.jsonl"))[3];
    assert_eq!(
        (&done["ok"], &done["duration_ms"]),
        (&json!(true), &json!(5000))
    );
}

#[test]
fn an_answer_that_nobody_reads_is_unfinished() {
    let project = Project::new();
    let arguments = ["--fault", "huge-line:1MiB", "--journal", "calls.jsonl"];
    let mut server = Server::start(&project, &arguments);
    server.initialize();
    server.send(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "test_simple_text",
        }}),
    );
    drop(server.input.take());
    server.child.wait().unwrap();
    let done = &records(&project.path().join("calls.jsonl"))[3];
    assert_eq!(done["error"]["layer"], "unfinished", "{done}");
}

#[test]
fn a_cancel_takes_back_an_answer_that_is_held_up() {
    let project = Project::new();
    let mut server = held_up(&project, "700ms");
    let params = json!({"requestId": 1});
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}));
    server.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"}));
    // The end of input waits for what is held up.
    let (answers, ..) = server.end();
    assert!(!answers.contains("\"id\":1"), "{answers}");
    assert!(answers.contains("\"id\":2"), "{answers}");
    let records = records(&project.path().join("calls.jsonl"));
    let done = &records[3];
    assert_eq!(done["error"]["layer"], "cancelled", "{done}");
    assert!(done["cancelled_at_ms"].is_u64(), "{done}");
    let counts = json!({"header": 1, "call": 1, "fault": 1, "done": 1});
    assert_eq!(records.last().unwrap()["counts"], counts);
}

#[test]
fn a_call_that_cannot_be_read_whole_is_in_the_journal() {
    let project = Project::new();
    let mut server = Server::start(&project, &["--journal", "calls.jsonl"]);
    server.initialize();
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"echo","arguments":{{"message":{deep}}}}}}}"#
    );
    let input = server.input.as_mut().unwrap();
    std::io::Write::write_all(input, format!("{line}\n").as_bytes()).unwrap();
    let answer = server.ask(&json!({"jsonrpc": "2.0", "id": 8, "method": "ping"}));
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!(7), &json!(-32600))
    );
    server.end();
    let records = records(&project.path().join("calls.jsonl"));
    let (call, done) = (&records[1], &records[2]);
    assert_eq!((&call["tool"], &call["args"]), (&json!("echo"), &json!({})));
    assert_eq!(call["truncated"], json!({"/args": line.len()}));
    assert_eq!((&done["of"], &done["ok"]), (&json!(2), &json!(false)));
    assert_eq!(done["error"]["code"], -32600);
}

#[test]
fn two_runs_of_one_seed_write_the_same_journal() {
    let write = || {
        let project = Project::new();
        let arguments = [
            "--clock",
            "virtual",
            "--seed",
            "3",
            "--journal",
            "calls.jsonl",
            "--fault",
            "*@p:0.5=delay:2s",
        ];
        let mut server = Server::start(&project, &arguments);
        server.initialize();
        for tool in ["echo", "slow", "flaky", "test_simple_text", "flaky"] {
            server.call(tool, &json!({"milliseconds": 30}));
        }
        let answers = server.end().0;
        (answers, project.read("calls.jsonl"))
    };
    let (answers, journal) = write();
    assert_eq!(write(), (answers, journal.clone()));
    assert!(journal.lines().count() > 11, "{journal}");
}

#[test]
fn a_virtual_delay_is_over_before_the_next_message_is_read() {
    let lines = [
        json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "counter"}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "counter"}}),
    ];
    let text: Vec<_> = lines.iter().map(|line| format!("{line}\n")).collect();
    for _ in 0..12 {
        let project = Project::new();
        let arguments = [
            "--clock",
            "virtual",
            "--fault",
            "initialize=delay:10ms",
            "--journal",
            "calls.jsonl",
        ];
        let mut server = Server::start(&project, &arguments);
        let input = server.input.as_mut().unwrap();
        std::io::Write::write_all(input, text.concat().as_bytes()).unwrap();
        server.end();
        let records = records(&project.path().join("calls.jsonl"));
        let mut told: Vec<_> = records
            .iter()
            .map(|one| {
                (
                    one["dt_us"].as_u64().unwrap(),
                    one["kind"].as_str().unwrap(),
                )
            })
            .collect();
        // The two calls are under way at once, in any order.
        told.sort_unstable();
        let wanted = [
            (0, "fault"),
            (0, "header"),
            (10_000, "call"),
            (10_000, "call"),
            (10_000, "done"),
            (10_000, "done"),
            (10_000, "end"),
        ];
        assert_eq!(told, wanted);
    }
}

/// The part of the reference that is not a table.
const INTRODUCTION: &str = "\
# Faults of the embedded server

`mcp-assert serve --fault RULE` misbehaves on request: to see what a client, a gateway or a suite makes of a
server that does. Without a rule every byte is as the official SDK writes it.

## Rules

    rule  = [when [\":\" target] [\"@\" occurrence] \"=\"] id [\":\" argument]

| part | is | without it |
|---|---|---|
| `when` | a method of the client (the fault sits on its answer), `*` for any request, `start`, `stop` | the place in the tables below |
| `target` | a glob on the tool, the prompt or the URI | all |
| `occurrence` | `2`, `2..`, `2..4`, `every:5`, or `p:0.3`, drawn from `--seed`; counted from 1 | each |
| `argument` | a number, duration (`300ms`), size (`8MiB`), code or text, as the id says | the value in brackets |

`--fault` can be given several times, and `--faults FILE` reads a YAML list of rules. All rules that match fire, in
order; each has its own counter, which outlives the process with `--state FILE`. The journal names each firing.

    mcp-assert serve --fault tools/call:echo@2=exit-mid-call:3
    mcp-assert serve --fault init-hang
    mcp-assert serve --fault '*@every:5=delay:1s'

Each table says over which transports its faults can be made: stdio, `--http` or `--sse`.

    mcp-assert serve --http --fault tools/call@2=status:503
    mcp-assert serve --sse --fault tools/call=wrong-id

The last column says what a good tester reports for a call of `test_simple_text` that should succeed. *Finding*: the
deviation is reported beside the outcome.
";

const TABLE: &str = "| id | does | place | reported |\n|---|---|---|---|";

fn reference() -> String {
    let list = Project::new().run(&["serve", "--list", "--json"]).json();
    let mut page = INTRODUCTION.to_owned();
    let (mut group, mut common) = (String::new(), Vec::new());
    let faults = list["faults"].as_array().unwrap();
    for fault in faults {
        let text = |name: &str| fault[name].as_str().unwrap().replace('|', "\\|");
        let transports = |fault: &Value| -> Vec<String> {
            let all = fault["transports"].as_array().unwrap().iter();
            all.map(|one| one.as_str().unwrap().to_owned()).collect()
        };
        if text("group") != group {
            group = text("group");
            let of_group = faults
                .iter()
                .filter(|other| other["group"] == fault["group"]);
            common = of_group.map(&transports).min_by_key(Vec::len).unwrap();
            let over = common.join(", ");
            write!(page, "\n## {group}\n\nOver {over}.\n\n{TABLE}\n").unwrap();
        }
        let more: Vec<String> = transports(fault)
            .into_iter()
            .filter(|one| !common.contains(one))
            .collect();
        let mut does = text("does");
        if !more.is_empty() {
            write!(does, " (also over {})", more.join(", ")).unwrap();
        }
        let mut class = text("class");
        if class != text("class_over_http") {
            write!(class, "; over HTTP {}", text("class_over_http")).unwrap();
        }
        writeln!(
            page,
            "| `{}{}` | {} | `{}` | {} |",
            text("id"),
            text("argument"),
            does,
            text("place"),
            class,
        )
        .unwrap();
    }
    page
}

#[test]
fn the_reference_is_made_from_the_catalogue() {
    assert_generated("docs/reference/faults.md", &reference());
}
