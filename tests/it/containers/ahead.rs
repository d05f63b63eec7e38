//! Containers that are started while other servers talk: that they are, that nobody talks to them before their turn,
//! and that a run that stops leaves neither verdicts nor containers of them. What is waited for are facts at the
//! engine: a server answers only when the test puts a file into its container.

use std::{
    path::Path,
    process::{Child, Stdio},
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{IMAGE, labelled, project, ready, run_json};
use crate::{
    engine::{docker, docker_says},
    harness::{Project, until},
};

/// What a tool call waits for.
const GO: &str = "/tmp/go";

/// How long a server waits for its turn at least.
const WAIT: Duration = Duration::from_secs(4);

/// What a server makes when its program has begun, which is later than its container runs.
const BEGUN: &str = "/tmp/begun";

/// The label of an assertion's containers.
fn label(name: &str) -> String {
    format!("io.mcp-assert.assertion=a.yaml::{name}")
}

/// The running containers of an assertion.
fn running(name: &str) -> String {
    let filter = format!("label={}", label(name));
    docker_says(Path::new("/"), &["ps", "--quiet", "--filter", &filter])
}

/// Waits until a container of the assertion runs.
fn until_running(name: &str) -> String {
    until(&format!("no container of {name}"), || {
        !running(name).is_empty()
    });
    running(name)
}

/// Waits until the server in the assertion's container has begun.
fn until_begun(name: &str) {
    let id = until_running(name);
    until(&format!("{name} has not begun"), || {
        let seen = docker(Path::new("/"), &["exec", &id, "test", "-e", BEGUN]);
        seen.status.success()
    });
}

/// Lets the server in the assertion's container answer.
fn let_go(name: &str) {
    let id = until_running(name);
    until(&format!("{name} cannot be let go"), || {
        let touched = docker(Path::new("/"), &["exec", &id, "touch", GO]);
        touched.status.success()
    });
}

/// A run that goes on.
fn begin(project: &Project, more: &[&str]) -> Child {
    let mut arguments = vec!["run", "evals", "--trace", "--report-json", "run.json"];
    arguments.extend(more);
    let mut command = project.command(&arguments);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

/// The status of each assertion, and why it was skipped.
fn statuses(seen: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let records = seen["assertions"].as_array().unwrap().iter();
    records
        .map(|record| (text(&record["status"]), text(&record["reason"])))
        .collect()
}

/// What the last answer of an assertion's server says.
fn times(record: &Value) -> Value {
    let wire = record["evidence"]["wire"].as_array().unwrap().iter();
    let answers = wire.filter(|frame| frame["sender"] == "server").rev();
    let texts = answers.filter_map(|frame| {
        let frame: Value = serde_json::from_str(frame["text"].as_str()?).ok()?;
        let text = frame["result"]["content"][0]["text"].as_str()?;
        serde_json::from_str::<Value>(text).ok()
    });
    let mut times = texts.filter(|value| value["greeted"].is_f64());
    times.next().expect("a server that told its times")
}

/// An assertion that ends when it is let go.
fn waiting(name: &str) -> String {
    format!(
        "name: {name}\nserver: {{env: {{BEGUN: {BEGUN}}}}}\nsetup: [{{tool: wait, args: {{path: {GO}}}}}]\nassert: {{tool: times, expect: {{contains: greeted}}}}\n"
    )
}

/// One that asks for something else than it gets, when it is let go.
fn failing(name: &str) -> String {
    format!(
        "name: {name}\nassert: {{tool: wait, args: {{path: {GO}}}, expect: {{equals: something else}}}}\n"
    )
}

#[test]
fn the_next_container_is_started_while_one_talks_and_waits_for_its_turn() {
    if !ready() {
        return;
    }
    let suite = [
        waiting("first ahead"),
        waiting("next ahead"),
        waiting("last ahead"),
    ];
    let project = project(&suite.join("---\n"));
    let child = begin(&project, &["--jobs", "1"]);
    until_running("first ahead");
    // The first one talks for as long as this takes.
    until_begun("next ahead");
    // So long that it cannot be taken for what its own end takes.
    let waiting = Instant::now();
    until("no time passes", || waiting.elapsed() > WAIT);
    assert_eq!(running("last ahead"), "", "as many ahead as may talk");
    let_go("first ahead");
    until_begun("last ahead");
    let_go("next ahead");
    let_go("last ahead");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));

    let seen = run_json(&project);
    let records = seen["assertions"].as_array().unwrap();
    let all: Vec<Value> = records.iter().map(times).collect();
    for (before, after) in all.iter().zip(&all[1..]) {
        let at = |times: &Value, key: &str| times[key].as_f64().unwrap();
        let (began, greeted) = (at(after, "begun"), at(after, "greeted"));
        let ended = at(before, "now");
        assert!(began < ended, "it was started meanwhile: {all:?}");
        assert!(greeted > ended, "nobody talked to it before: {all:?}");
    }
    let (record, times) = (&records[1], &all[1]);
    // Waiting for its turn is no time of the assertion's, and no frame was sent in it.
    let waited = times["greeted"].as_f64().unwrap() - times["begun"].as_f64().unwrap();
    let wall = times["now"].as_f64().unwrap() - times["begun"].as_f64().unwrap();
    let took = record["duration_us"].as_f64().unwrap() / 1e6;
    let first = record["evidence"]["wire"][0]["at_us"].as_f64().unwrap() / 1e6;
    let started = record["phases"]["start"].as_f64().unwrap() / 1e6;
    assert!(
        took < wall + started - waited / 2.0,
        "{took} {wall} {waited}"
    );
    assert!(first < took, "{first} {took}");
    assert_eq!(labelled(&label("next ahead")), "");
}

#[test]
fn what_was_started_ahead_has_no_verdict_when_an_earlier_one_failed() {
    if !ready() {
        return;
    }
    let names = ["a", "b", "c", "d"].map(|name| format!("{name} of fail-fast"));
    let suite = [
        failing(&names[0]),
        waiting(&names[1]),
        waiting(&names[2]),
        waiting(&names[3]),
    ];
    let project = project(&suite.join("---\n"));
    let child = begin(&project, &["--jobs", "2", "--fail-fast"]);
    for name in &names {
        until_running(name);
    }
    // The slot of the first goes to nobody: its verdict is known before.
    let_go(&names[0]);
    for waits in &names[2..] {
        until("what waits is not ended", || {
            labelled(&label(waits)).is_empty()
        });
    }
    let_go(&names[1]);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let seen = statuses(&run_json(&project));
    let kinds: Vec<&str> = seen.iter().map(|(status, _)| status.as_str()).collect();
    assert_eq!(kinds, ["fail", "pass", "skip", "skip"]);
    for (_, reason) in &seen[2..] {
        assert!(reason.contains("an earlier assertion failed"), "{reason}");
    }
    for name in &names {
        assert_eq!(labelled(&label(name)), "");
    }
}

#[test]
fn what_was_started_ahead_is_ended_by_an_interrupt() {
    if !ready() {
        return;
    }
    let names = ["talks", "waits"].map(|name| format!("{name} until Ctrl-C"));
    let project = project(&format!(
        "{}---\n{}",
        waiting(&names[0]),
        waiting(&names[1])
    ));
    let mut child = begin(&project, &["--jobs", "1"]);
    for name in &names {
        until_running(name);
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    for name in &names {
        assert_eq!(labelled(&label(name)), "");
    }
    let seen = statuses(&run_json(&project));
    assert_eq!(seen[0].0, "error");
    assert_eq!(seen[1], ("skip".into(), "not run: interrupted".into()));
}

#[test]
fn a_server_that_ends_while_it_waits_is_no_verdict() {
    if !ready() {
        return;
    }
    let suite = [
        waiting("talks meanwhile"),
        // Gives up when nobody talks to it.
        "name: impatient\nserver: {env: {PATIENCE: '1'}}\n\
         assert: {tool: echo, args: {text: hi}, expect: {equals: hi}}\n"
            .to_owned(),
        format!(
            "name: broken\nserver: {{docker: {{image: {IMAGE:?}, user: ghost}}}}\n\
             assert: {{tool: echo}}\n"
        ),
        "name: crashes\nserver: {command: no-such-program}\nassert: {tool: echo}\n".to_owned(),
    ];
    let project = project(&suite.join("---\n"));
    let child = begin(&project, &["--jobs", "1"]);
    until_running("impatient");
    until("it does not give up", || running("impatient").is_empty());
    let_go("talks meanwhile");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let seen = run_json(&project);
    let kinds: Vec<String> = statuses(&seen).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, ["pass", "pass", "error", "error"]);
    let message = |index: usize| {
        let disruption = &seen["assertions"][index]["evidence"]["disruption"];
        disruption["message"].as_str().unwrap().to_owned()
    };
    assert!(
        message(2).contains("does not know the user"),
        "{}",
        message(2)
    );
    assert!(
        message(3).contains("`no-such-program` was not found"),
        "{}",
        message(3)
    );
    assert_eq!(labelled(&label("impatient")), "");
}
