//! SIGINT, SIGTERM, SIGQUIT and SIGKILL during a run: reports, time to exit, and leftovers.

use std::{
    fmt::Write,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    harness::{BINARY, Project, until},
    running::{Running, lives, processes_of, signal_to},
};

/// The time limit for a run to end.
const SOON: Duration = Duration::from_secs(5);

/// Two assertions that finish, then others that never do. Their servers ignore end of input and SIGTERM, and have a
/// child in another session.
fn suite() -> String {
    let stubborn = "trap '' TERM INT; (setsid sleep 600 &); echo $$ >>started; \
                    while :; do sleep 600; done";
    let mut yaml = "\
name: first
server: {builtin: conformance}
assert: {tool: test_simple_text}
---
name: second
server: {builtin: conformance}
assert: {tool: test_simple_text, expect: {equals: something else}}
"
    .to_owned();
    for name in ["stuck", "stuck too", "stuck as well"] {
        write!(
            yaml,
            "---\nname: {name}\nserver: {{command: sh, args: [-c, {stubborn:?}, '{{{{fixture}}}}']}}\n\
             assert: {{tool: any, expect: {{not_error: true}}}}\n"
        )
        .unwrap();
    }
    yaml + "---\nname: last\nserver: {builtin: conformance}\nassert: {tool: test_simple_text}\n"
}

fn project() -> Project {
    Project::with_suite(&suite()).file("fixture/note.txt", "a note")
}

/// A run with one job stuck, after two that finished.
fn stuck(project: &Project) -> Running {
    let arguments = [
        "run",
        "evals",
        "--jobs",
        "1",
        "--fixture",
        "fixture",
        "--junit",
        "junit.xml",
        "--report-json",
        "run.json",
    ];
    let mut command = heeding_signals(project);
    command.arg(BINARY).args(arguments);
    let mut running = Running::of(project, command);
    running.until_file(&project.path().join("started"));
    running
}

/// A command that resets ignored signals: the test runner may ignore some, as a shell does for background jobs.
fn heeding_signals(project: &Project) -> Command {
    let inner = project.command(&[]);
    let environment = inner
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    let mut command = Command::new("env");
    command.env_clear().envs(environment);
    command.current_dir(project.path()).stdin(Stdio::null());
    command.arg("--default-signal=HUP,INT,QUIT,TERM");
    command
}

#[test]
fn an_interrupted_run_reports_what_finished_and_leaves_nothing() {
    for signal in ["-INT", "-TERM", "-QUIT"] {
        let project = project();
        let running = stuck(&project);
        let begun = Instant::now();
        running.signal(signal);
        let ended = running.end();
        let took = begun.elapsed();
        assert_eq!(ended.code, Some(130), "{signal}: {}", ended.stderr);
        assert!(took < SOON, "{signal}: {took:?}");
        ended.left_nothing();
        assert!(
            ended.stdout.contains("interrupted: 3 jobs did not run"),
            "{signal}: {}",
            ended.stdout
        );

        let run: Value = serde_json::from_str(&project.read("run.json")).unwrap();
        assert_eq!(run["end"]["state"], "interrupted");
        let assertions = run["assertions"].as_array().unwrap();
        let status = |at: usize| assertions[at]["status"].as_str().unwrap();
        assert_eq!(assertions.len(), 6);
        assert_eq!(
            [status(0), status(1), status(2), status(3), status(5)],
            ["pass", "fail", "error", "skip", "skip"],
            "{signal}"
        );
        assert_eq!(
            assertions[2]["evidence"]["disruption"]["kind"],
            "interrupted"
        );
        assert_eq!(assertions[5]["reason"], "not run: interrupted");
        let junit = project.read("junit.xml");
        assert!(junit.contains("name=\"second\""), "{junit}");
        assert!(junit.contains("interrupted"), "{junit}");
    }
}

/// Many assertions that finish at once, with more output than a pipe holds.
fn skipped() -> String {
    let mut yaml = String::new();
    for number in 0..2_000 {
        write!(
            yaml,
            "---\nname: {number}, which is {}\nskip: not today\nserver: {{builtin: minimal}}\n\
             assert: {{tool: any, expect: {{not_error: true}}}}\n",
            "x".repeat(60)
        )
        .unwrap();
    }
    yaml
}

#[test]
fn an_interrupted_run_whose_output_nobody_reads_ends_and_writes_its_reports() {
    let yaml = skipped()
        + "---\nname: stuck\nserver: {command: sleep, args: ['600']}\n\
           assert: {tool: any, expect: {not_error: true}}\n";
    for both in [false, true] {
        let project = Project::with_suite(&yaml);
        let mut command = heeding_signals(&project);
        command.args([
            "sh",
            "-c",
            ["exec \"$@\"", "exec \"$@\" 2>&1"][usize::from(both)],
        ]);
        command.args(["sh", BINARY, "run", "evals", "--report-json", "run.json"]);
        let mut running = Running::of(&project, command);
        running.until_stalled();
        running.signal("-INT");
        let begun = Instant::now();
        let ended = running.end_unread();
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        assert_eq!(ended.code, Some(130), "{}", ended.stderr);
        let run: Value = serde_json::from_str(&project.read("run.json")).unwrap();
        assert_eq!(run["end"]["state"], "interrupted");
        assert_eq!(run["assertions"].as_array().unwrap().len(), 2_001);
    }
}

#[test]
fn results_that_were_told_in_part_are_not_good() {
    for form in [&[][..], &["--json"]] {
        let project = Project::with_suite(&skipped());
        let mut command = heeding_signals(&project);
        command.args([BINARY, "run", "evals", "--report-json", "run.json"]);
        command.args(form);
        let mut running = Running::of(&project, command);
        running.until_stalled();
        running.signal("-INT");
        let ended = running.end_unread();
        assert_eq!(ended.code, Some(130), "{form:?}: {}", ended.stderr);
        let run: Value = serde_json::from_str(&project.read("run.json")).unwrap();
        assert_eq!(run["assertions"].as_array().unwrap().len(), 2_000);
    }
}

#[test]
fn the_end_of_the_terminal_ends_a_run_that_was_not_told_to_outlive_it() {
    let through = |project: &Project, shell: &str| {
        let arguments = ["--jobs", "1", "--fixture", "fixture"];
        let mut command = heeding_signals(project);
        command.args(["sh", "-c", shell, "sh", BINARY]);
        command.args(["run", "evals"]).args(arguments);
        let mut running = Running::of(project, command);
        running.until_file(&project.path().join("started"));
        running
    };
    let project = project();
    let running = through(&project, "exec \"$@\"");
    running.signal("-HUP");
    let ended = running.end();
    assert_eq!(ended.code, Some(130), "{}", ended.stdout);
    assert!(ended.stdout.contains("interrupted"), "{}", ended.stdout);
    ended.left_nothing();

    let project = self::project();
    let running = through(&project, "trap '' HUP; exec \"$@\"");
    running.signal("-HUP");
    running.signal("-TERM");
    let ended = running.end();
    assert_eq!(
        ended.code,
        Some(130),
        "the first signal that counts: {}",
        ended.stdout
    );
    assert!(ended.stdout.contains("interrupted"), "{}", ended.stdout);
    ended.left_nothing();
}

#[test]
fn an_interrupt_is_no_regression_and_leaves_the_baseline_as_it_was() {
    let passed = [
        "a.yaml::first",
        "a.yaml::stuck",
        "a.yaml::stuck too",
        "a.yaml::last",
    ];
    let entries: Vec<String> = passed
        .iter()
        .map(|id| format!(r#"{{"id": "{id}", "name": "x", "status": "PASS", "runs": 5}}"#))
        .collect();
    let baseline = format!(r#"{{"entries": [{}]}}"#, entries.join(", "));
    let project = project().file("b.json", baseline);
    let arguments = "run evals --jobs 1 --fixture fixture --baseline b.json --save-baseline b.json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut running = Running::start(&project, &arguments);
    running.until_file(&project.path().join("started"));
    running.signal("-INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(130), "{}", ended.stderr);
    let told = format!("{}{}", ended.stdout, ended.stderr);
    assert!(!told.contains("Regression"), "{told}");
    let saved: Value = serde_json::from_str(&project.read("b.json")).unwrap();
    let saved: Vec<String> = saved["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| format!("{} {} {}", entry["id"], entry["status"], entry["runs"]))
        .collect();
    assert_eq!(
        saved,
        [
            r#""a.yaml::first" "PASS" 6"#,
            r#""a.yaml::last" "PASS" 5"#,
            r#""a.yaml::second" "FAIL" 1"#,
            r#""a.yaml::stuck" "PASS" 5"#,
            r#""a.yaml::stuck too" "PASS" 5"#,
        ]
    );
}

#[test]
fn how_a_server_ends_that_is_given_no_time_is_not_known() {
    let stays = "trap '' TERM INT; \"$0\" serve; echo closed >closed; sleep 600";
    let suite = format!(
        "name: ends\nserver: {{command: sh, args: [-c, {stays:?}, {BINARY:?}]}}\n\
         assert: {{tool: test_simple_text, expect: {{not_error: true, exit: 0}}}}\n"
    );
    let project = Project::with_suite(&suite);
    let mut running = Running::start(&project, &["run", "evals", "--json"]);
    running.until_file(&project.path().join("closed"));
    running.signal("-INT");
    let ended = running.end();
    assert_eq!(ended.json()[0]["kind"], "error", "{}", ended.stdout);
    assert_eq!(ended.json()[0]["cause"], "interrupted");
}

#[test]
fn json_on_stdout_is_whole_after_an_interrupt() {
    let project = project();
    let mut running = Running::start(
        &project,
        &[
            "run",
            "evals",
            "--json",
            "--jobs",
            "4",
            "--fixture",
            "fixture",
        ],
    );
    running.until_file(&project.path().join("started"));
    running.signal("-INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(130));
    ended.left_nothing();
    assert_eq!(ended.json().as_array().unwrap().len(), 6);
}

#[test]
fn an_interrupt_while_a_server_closes_does_not_wait_for_it() {
    let slow_to_end = "\
name: will not end
server: {builtin: conformance, args: [--fault, ignore-sigterm]}
assert: {tool: test_simple_text}
";
    let project = Project::with_suite(slow_to_end);
    let mut running = Running::start(&project, &["run", "evals", "--report", "junit=-"]);
    // The test cannot see when the server is closing, so the signal may come at any time.
    let pid = loop {
        if let Some(server) = running.servers().first() {
            break server.split(' ').next().unwrap().parse::<u32>().unwrap();
        }
    };
    let begun = Instant::now();
    running.signal("-INT");
    let ended = running.end();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    ended.left_nothing();
    assert!(!lives(pid));
}

#[test]
fn an_interrupt_while_an_answer_is_looked_at_does_not_wait_for_that() {
    // The pattern matches at fifty million places.
    let items = vec!["[1]"; 5_000].join(",");
    let suite = format!(
        "name: much to look at\n\
         server: {{command: sh, args: [-c, '{BINARY:?} serve; echo over >ended']}}\n\
         assert:\n  tool: echo\n  args: {{text: [{items}]}}\n  \
         expect: {{json_path: {{'$.injected.text[?count($..*) == 1]': []}}}}\n"
    );
    let project = Project::with_suite(&suite);
    let mut running = Running::start(&project, &["run", "evals", "--report-json", "run.json"]);
    running.until_file(&project.path().join("ended"));
    let begun = Instant::now();
    running.signal("-INT");
    let ended = running.end();
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!(ended.code, Some(130), "{ended:?}");
    let report: Value = serde_json::from_str(&project.read("run.json")).unwrap();
    assert_eq!(report["end"]["state"], "interrupted");
    assert_eq!(report["assertions"][0]["status"], "error", "{report}");
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let project = project();
    let running = stuck(&project);
    running.signal("-INT");
    let begun = Instant::now();
    running.signal("-INT");
    let ended = running.end();
    assert_eq!(ended.code, Some(130));
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!(ended.processes, [""; 0]);
}

#[test]
fn the_next_run_ends_what_a_killed_one_left() {
    for _ in 0..2 {
        let project = project();
        let mut running = stuck(&project);
        let started = running.until_file(&project.path().join("started"));
        let server: u32 = started.trim().parse().unwrap();
        running.signal("-KILL");
        let killed = running.end();
        assert_eq!(killed.code, None);
        assert!(lives(server), "nobody could end it");
        assert!(!killed.temporary.is_empty(), "nobody could remove it");

        let arguments = ["run", "evals", "--filter", "first", "--fixture", "fixture"];
        let next = Running::start(&project, &arguments).end();
        assert_eq!(next.code, Some(0), "{}", next.stderr);
        next.left_nothing();
        let begun = Instant::now();
        until("the server lives", || !lives(server));
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
        assert_eq!(processes_of(killed.pid), [""; 0]);
    }
}

#[test]
fn an_interrupt_is_no_reason_to_touch_others() {
    let others = project();
    let other = stuck(&others);
    let project = project();
    let running = stuck(&project);
    running.signal("-INT");
    assert_eq!(running.end().code, Some(130));
    let started = others.read("started");
    let server: u32 = started.trim().parse().unwrap();
    assert!(lives(server), "the other run's server was ended");
    other.signal("-TERM");
    let ended = other.end();
    ended.left_nothing();
    if lives(server) {
        signal_to(server, "-KILL");
        panic!("the server was left");
    }
}
