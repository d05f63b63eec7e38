//! Servers that cannot start, do not answer, do not stop talking or will not go: what a user is told, how soon, and
//! that nothing of them is left.

use std::{fmt::Write, os::unix::fs::PermissionsExt};

use serde_json::Value;

use crate::{
    harness::{OBEDIENT, Project},
    running::Running,
};

/// Answers the handshake and the first call, whatever is asked, then goes on with what follows.
const ANSWERS: &str = r#"hi() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; };
read -r ask; hi 1 '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}';
read -r noted; read -r ask; hi 2 '{"content":[{"type":"text","text":"hi"}]}'; "#;

/// Ends at the first call and leaves the answer to its child, which gives it once it sees that end. So the end comes
/// before the answer, and is early however slow the machine is.
const OUTLIVED: &str = r#"hi() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$1" "$2"; };
read -r ask; hi 1 '{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}';
read -r noted; read -r ask;
{ while read -r pid name state rest </proc/$$/stat && [ "$state" != Z ]; do :; done;
  hi 2 '{"content":[{"type":"text","text":"hi"}]}'; exec sleep 600; } 2>/dev/null & exit 0"#;

/// What is found of a server that notifies without end.
const FLOOD: &[&str] = &[
    "early-notification",
    "notification-flood",
    "ignores-stdin-end",
];

/// The deadline where one is waited for.
const SHORT_MS: u64 = 2_000;

/// The deadline elsewhere; half of it is far from "at once", and no machine is so busy that it is met.
const LONG_MS: u64 = 120_000;

/// A server and what is to be said of it.
struct Case {
    /// What a user notices.
    name: &'static str,
    /// The server as YAML.
    server: String,
    /// Kind, cause, phase.
    outcome: (&'static str, &'static str, &'static str),
    /// What the text of a red outcome says.
    says: &'static [&'static str],
    /// Findings.
    findings: &'static [&'static str],
}

fn sh(script: &str) -> String {
    let script = Value::from(script);
    format!("{{command: sh, args: [-c, {script}]}}")
}

fn red(
    name: &'static str,
    server: String,
    outcome: (&'static str, &'static str),
    says: &'static [&'static str],
) -> Case {
    Case {
        name,
        server,
        outcome: ("error", outcome.0, outcome.1),
        says,
        findings: &[],
    }
}

fn green(name: &'static str, script: &str, findings: &'static [&'static str]) -> Case {
    Case {
        name,
        server: sh(script),
        outcome: ("pass", "", ""),
        says: &[],
        findings,
    }
}

impl Case {
    fn with(mut self, findings: &'static [&'static str]) -> Self {
        self.findings = findings;
        self
    }

    fn times_out(&self) -> bool {
        self.outcome.1 == "timeout"
    }

    fn check(&self, outcome: &Value) {
        let told = format!("{}\n{outcome:#}", self.name);
        let (kind, cause, phase) = self.outcome;
        assert_eq!(outcome["kind"], kind, "{told}");
        if kind == "error" {
            assert_eq!(outcome["cause"], cause, "{told}");
            assert_eq!(outcome["phase"], phase, "{told}");
        }
        let detail = outcome["detail"].as_str().unwrap();
        for text in self.says {
            assert!(detail.contains(text), "{text:?} is not said: {told}");
        }
        let mut codes: Vec<&str> = outcome["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["code"].as_str().unwrap())
            .collect();
        codes.dedup();
        assert_eq!(codes, self.findings, "{told}");
        let took = outcome["duration_ms"].as_u64().unwrap();
        if self.times_out() {
            assert!((SHORT_MS..SHORT_MS * 5).contains(&took), "{told}");
        } else {
            assert!(took < LONG_MS / 2, "{told}");
        }
    }
}

/// Something that nobody ever writes to.
fn make_fifo(project: &Project) {
    let fifo = project.path().join("fifo");
    rustix::fs::mkfifoat(rustix::fs::CWD, fifo, rustix::fs::Mode::RWXU).unwrap();
}

/// Runs all of them side by side and checks each.
fn check_all(project: Project, cases: &[Case]) {
    let mut yaml = String::new();
    for case in cases {
        let timeout = if case.times_out() { SHORT_MS } else { LONG_MS };
        write!(
            yaml,
            "---\nname: {:?}\ntimeout: {timeout}ms\nserver: {}\n\
             assert: {{tool: any, expect: {{not_error: true}}}}\n",
            case.name, case.server
        )
        .unwrap();
    }
    let project = project.file("evals/a.yaml", yaml);
    let arguments = ["run", "evals", "--json", "--jobs", "4"];
    let ended = Running::start(&project, &arguments).end();
    ended.left_nothing();
    let outcomes = ended.json();
    let outcomes = outcomes.as_array().unwrap();
    assert_eq!(outcomes.len(), cases.len(), "{}", ended.stderr);
    for (case, outcome) in cases.iter().zip(outcomes) {
        case.check(outcome);
    }
}

#[test]
fn a_server_that_cannot_start_is_said_at_once_with_the_reason() {
    let project = Project::new().file("server.sh", "#!/bin/sh\n");
    let project = project.file("lost.py", "#!/no/such/python\n");
    make_fifo(&project);
    let path = project.path().join("lost.py");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let start = ("start", "start");
    let command = |command: &str| format!("{{command: {command}}}");
    check_all(
        project,
        &[
            red(
                "a program that is not there",
                command("./no-such-server"),
                start,
                &["`./no-such-server` was not found"],
            ),
            red(
                "a program that is not on the PATH",
                command("no-such-server"),
                start,
                &["was not found on the PATH"],
            ),
            red(
                "a file that is not executable",
                command("./server.sh"),
                start,
                &["not marked as executable", "chmod +x"],
            ),
            red(
                "a script whose interpreter is missing",
                command("./lost.py"),
                start,
                &["`/no/such/python`"],
            ),
            red(
                "a whole command line as command",
                command("'sh -c exit'"),
                start,
                &["`args`"],
            ),
            red(
                "a FIFO, which is not waited for",
                command("./fifo"),
                start,
                &["it is not a regular file"],
            ),
            red(
                "a device",
                command("/dev/ptmx"),
                start,
                &["it is not a regular file"],
            ),
            red(
                "a directory that is not there",
                "{command: sh, cwd: nowhere}".to_owned(),
                start,
                &["nowhere"],
            ),
        ],
    );
}

#[test]
fn a_log_that_is_a_fifo_is_not_waited_for() {
    let yaml = "name: log\naudit_log: fifo\ntrajectory: [{type: presence, tools: [x]}]\n";
    let project = Project::with_suite(yaml);
    make_fifo(&project);
    let ended = Running::start(&project, &["run", "evals", "--json"]).end();
    let outcome = &ended.json()[0];
    assert_eq!(outcome["kind"], "error", "{outcome}");
    let detail = outcome["detail"].as_str().unwrap();
    assert!(detail.contains("it is not a regular file"), "{detail}");
}

#[test]
fn a_server_that_ends_early_is_a_crash_with_its_last_words() {
    let crash = ("crash", "handshake");
    check_all(
        Project::new(),
        &[
            red(
                "it lacks a setting",
                sh("echo 'cannot find config.toml' >&2; exit 3"),
                crash,
                &["exit code 3", "cannot find config.toml"],
            ),
            red("it does nothing", sh("exit 0"), crash, &["exit code 0"]),
            red(
                "it prints its usage",
                sh("echo 'usage: server FILE'; exit 2"),
                crash,
                &["exit code 2", "usage: server FILE"],
            )
            .with(&["stdout-noise"]),
            red(
                "it is killed by a signal",
                sh("echo bad >&2; kill -SEGV $$"),
                crash,
                &["SIGSEGV", "bad"],
            ),
            red(
                "it leaves a daemon with its pipes",
                sh("(setsid sleep 600 &); exit 4"),
                crash,
                &["exit code 4"],
            )
            .with(&["orphans"]),
            red(
                "it ends instead of answering a call",
                sh(&format!(
                    "{}echo 'out of luck' >&2; exit 5",
                    ANSWERS.rsplit_once("hi 2").unwrap().0
                )),
                ("crash", "subject"),
                &["exit code 5", "out of luck"],
            ),
            red(
                "it fills stderr and ends",
                sh("head -c 3000000 /dev/zero | tr '\\0' x >&2; echo LAST >&2; exit 6"),
                crash,
                &["exit code 6", "LAST"],
            ),
        ],
    );
}

#[test]
fn a_server_that_never_served_shows_what_it_said_first_and_what_it_was_given() {
    let crash = ("crash", "handshake");
    check_all(
        Project::new(),
        &[
            red(
                "it says what is wrong above its usage",
                sh("echo 'error: no database'; seq -f 'as %g' 1 30; echo 'no database, no start' >&2; seq 1 50 >&2; exit 2"),
                crash,
                &["<- error: no database", "… 24 frames", "| no database, no start", "… 31 lines"],
            )
            .with(&["stdout-noise"]),
            red(
                "its arguments are one text",
                "{command: cat, args: /no/server.mjs --port 1}".to_owned(),
                crash,
                &["exit code 1"],
            ),
        ],
    );
}

#[test]
fn a_server_that_does_not_answer_is_waited_for_until_the_deadline_or_until_it_cannot_answer() {
    let timeout = ("timeout", "handshake");
    let transport = ("transport", "handshake");
    check_all(
        Project::new(),
        &[
            red(
                "it says nothing",
                sh("exec sleep 600"),
                timeout,
                &["nothing was heard at all"],
            )
            .with(&["ignores-stdin-end"]),
            red(
                "it says what is wrong on stderr and waits",
                sh("echo 'waiting for the database' >&2; cat >/dev/null"),
                timeout,
                &["waiting for the database"],
            ),
            red(
                "its answer stands in a buffer until its input ends",
                sh(r#"cat >/dev/null; echo '{"jsonrpc":"2.0","id":1,"result":{}}'"#),
                timeout,
                &["as soon as stdin was closed", "flush stdout"],
            ),
            red(
                "it complains without end",
                sh("yes 'no connection' >&2"),
                timeout,
                &["no connection"],
            )
            .with(&["ignores-stdin-end"]),
            red(
                "it notifies without end",
                sh(r#"exec yes '{"jsonrpc":"2.0","method":"notifications/x"}'"#),
                timeout,
                &["`initialize`"],
            )
            .with(FLOOD),
            red(
                "it writes one line without end",
                sh("(tr '\\0' x </dev/zero); :"),
                transport,
                &["64 MiB"],
            )
            .with(&["line-too-long", "ignores-stdin-end"]),
            red(
                "it closes its output",
                sh("exec >&-; cat >/dev/null"),
                transport,
                &["closed its output"],
            ),
            red(
                "it writes bytes that mean nothing",
                sh("printf '\\000\\001\\377\\033[2J\\n\\200\\n'; cat >/dev/null"),
                timeout,
                &["stdout-noise"],
            )
            .with(&["stdout-noise"]),
        ],
    );
}

#[test]
fn half_an_answer_at_the_deadline_is_cut_off_by_us() {
    let case = red(
        "it stops in the middle of its answer and ends with its input",
        sh(r#"printf '{"jsonrpc":"2.0","id":1,'; cat >/dev/null"#),
        ("timeout", "handshake"),
        &["a message had begun and not ended"],
    );
    check_all(Project::new(), &[case]);
}

#[test]
fn a_server_that_reads_no_reply_is_not_listened_to_for_ever() {
    let id = "long".repeat(1_000);
    let asks = format!(r#"exec yes '{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}'"#);
    check_all(
        Project::new(),
        &[red(
            "it asks without end and reads no reply",
            sh(&asks),
            ("timeout", "handshake"),
            &["the server goes on asking and reads none of the replies"],
        )
        .with(&["reused-id", "notification-flood"])],
    );
}

#[test]
fn what_is_no_line_of_json_is_called_what_it_is() {
    let violation = ("violation", "handshake");
    let answer = r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#;
    let wide = answer.bytes().fold(String::new(), |mut wide, byte| {
        write!(wide, "\\{byte:03o}\\000").unwrap();
        wide
    });
    check_all(
        Project::new(),
        &[
            red(
                "it sends back what it is sent",
                "{command: cat}".to_owned(),
                violation,
                &["sends back what it is sent"],
            )
            .with(&["request-before-initialized", "unknown-request"]),
            red(
                "it lays messages out over several lines",
                sh(r#"printf '{\n  "jsonrpc": "2.0",\n  "id": 1\n}\n'; cat >/dev/null"#),
                violation,
                &["a message is one line"],
            )
            .with(&["stdout-noise", "not-json"]),
            red(
                "it writes UTF-16",
                sh(&format!("printf '{wide}\\n'; cat >/dev/null")),
                violation,
                &["UTF-16"],
            )
            .with(&["not-utf8"]),
        ],
    );
}

#[test]
fn a_server_that_closed_its_input_is_not_waited_for() {
    let deaf = ANSWERS
        .rsplit_once("read -r noted")
        .unwrap()
        .0
        .replace("; hi 1", "; exec <&-; hi 1");
    let case = red(
        "it closes its input",
        sh(&format!("{deaf}sleep 600")),
        ("transport", "subject"),
        &["closed its input"],
    );
    check_all(Project::new(), &[case.with(&["ignores-stdin-end"])]);
}

#[test]
fn a_server_that_answers_has_answered_however_it_behaves_besides() {
    let all = |before: &str, after: &str| format!("{before}{ANSWERS}{after}");
    check_all(
        Project::new(),
        &[
            green(
                "fifty megabytes on stderr first",
                &all(
                    "head -c 50000000 /dev/zero | tr '\\0' x >&2; ",
                    "cat >/dev/null",
                ),
                &["capability-undeclared"],
            ),
            green(
                "bytes that mean nothing first",
                &all("printf '\\000\\377\\033c\\n'; ", "cat >/dev/null"),
                &["stdout-noise", "capability-undeclared"],
            ),
            green(
                "a daemon that keeps its pipes",
                &all("(setsid sleep 600 &); ", "cat >/dev/null"),
                &["capability-undeclared", "orphans"],
            ),
            green(
                "a child that outlives it",
                OUTLIVED,
                &["capability-undeclared", "exited-early", "orphans"],
            ),
            green(
                "it ends in the middle of a message after its input ended",
                &all("", r#"cat >/dev/null; printf '{"jsonrpc":"2.0","meth'"#),
                &["capability-undeclared", "no-final-newline"],
            ),
            green(
                "it says goodbye without a newline",
                &all("", "cat >/dev/null; printf bye"),
                &["capability-undeclared", "no-final-newline"],
            ),
            green(
                "it is made to end in the middle of a message",
                &all(
                    "",
                    "trap 'printf {half; exit' TERM; cat >/dev/null; while :; do sleep 1; done",
                ),
                &["capability-undeclared", "ignores-stdin-end"],
            ),
            green(
                "it does not end with its input",
                &all("", "while :; do sleep 600; done"),
                &["capability-undeclared", "ignores-stdin-end"],
            ),
            green(
                "it does not end with SIGTERM either",
                &all("trap '' TERM; ", "while :; do sleep 600; done"),
                &["capability-undeclared", "ignores-termination"],
            ),
        ],
    );
}

#[test]
fn what_a_server_does_not_read_is_said() {
    let long = "x".repeat(4_000_000);
    let deaf = sh("exec sleep 600");
    let raw = |frame: &str| {
        format!(
            "server: {deaf}\nraw: {{handshake: false, send: [{frame}], expect: {{not_empty: true}}}}\n"
        )
    };
    let suite = [
        format!("name: text\n{}", raw(&long)),
        format!(
            "name: request\n{}",
            raw(&format!("{{jsonrpc: '2.0', id: 1, method: {long}}}"))
        ),
        format!(
            "name: call\nserver: {}\nassert: {{tool: any, args: {{text: {long}}}}}\n",
            sh(&ANSWERS.replace("read -r ask; hi 2", "exec sleep 600; hi 2"))
        ),
    ];
    let project = Project::with_suite(&suite.join("---\n"));
    let ran = project.run(&["run", "evals", "--json", "--timeout", "1s"]);
    let outcomes: Value = serde_json::from_str(&ran.stdout).unwrap();
    let wanted = [
        "the timeout of 1 s was over: the server had not read all of the raw frames; nothing was heard at all",
        "the timeout of 1 s was over: the server had not read all of the raw frames, sent ",
        "the timeout of 1 s was over: the server had not read all of `tools/call` of `any`, sent ",
    ];
    for (outcome, wanted) in outcomes.as_array().unwrap().iter().zip(wanted) {
        assert_eq!(outcome["cause"], "timeout", "{outcome:#}");
        let detail = outcome["detail"].as_str().unwrap();
        assert!(detail.contains(wanted), "{wanted}: {outcome:#}");
    }
}

#[test]
fn a_slow_server_is_told_that_it_is_late_and_of_no_buffer() {
    let slow = ANSWERS.replacen("read -r ask;", "read -r ask; sleep 2;", 1);
    let suite = format!(
        "name: slow\nserver: {}\nassert: {{tool: any}}\n",
        sh(&format!("{slow}cat >/dev/null"))
    );
    let ran = Project::with_suite(&suite).run(&["run", "evals", "--json", "--timeout", "1s"]);
    let outcomes: Value = serde_json::from_str(&ran.stdout).unwrap();
    let detail = outcomes[0]["detail"].as_str().unwrap();
    assert!(detail.contains("help      the answer came "), "{detail}");
    assert!(detail.contains(" after the deadline\n"), "{detail}");
    assert!(!detail.contains("buffer"), "{detail}");
}

#[test]
fn a_killed_client_of_an_engine_is_said_to_leave_its_container() {
    let stubborn = "#!/bin/sh\ntrap '' TERM\nwhile :; do sleep 600; done\n";
    let suite = |name: &str| {
        format!(
            "server: {{command: ./{name}, args: [run, -i, image]}}\ntimeout: 200ms\n\
             assert: {{tool: echo, expect: {{not_error: true}}}}\n"
        )
    };
    let case = |name: &str, told: bool| {
        let project = Project::with_suite(&suite(name)).file(name, stubborn);
        let file = project.path().join(name);
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
        let ended = project.run(&["run", "evals"]);
        let said = ended
            .stdout
            .contains("the container that it ran may live on");
        assert_eq!(said, told, "{}", ended.stdout);
    };
    case("docker", true);
    case("server", false);
}

#[test]
fn no_server_is_said_to_have_ended_because_of_what_it_said_besides() {
    let suite = r#"
name: crash
server: {command: python3, args: [server.py]}
assert: {tool: do, args: {what: "print('hello', flush=True); os._exit(3)"}}
"#;
    let project = Project::with_suite(suite).file("server.py", OBEDIENT);
    let ran = project.run(&["run", "evals"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("stdout-noise"), "{}", ran.stdout);
    assert!(ran.stdout.contains("exit code 3"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("likely cause"), "{}", ran.stdout);
}
