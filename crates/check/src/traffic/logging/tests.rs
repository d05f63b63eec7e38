use serde_json::{Value, json};

use crate::sample::{fails, hold, report, says, telling};
use mcp::observation::{Observation, answer::Interest};
use suite::model::expectation::{Expectation, LogLevel, LoggingWanted, TrafficWanted};

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn wanted(change: impl FnOnce(&mut LoggingWanted)) -> Expectation {
    let mut wanted = LoggingWanted::default();
    change(&mut wanted);
    Expectation::Traffic(TrafficWanted::Logging(Box::new(wanted)))
}

fn logged(messages: &[(&str, Value)]) -> Observation {
    let messages: Vec<(&str, Value)> = messages
        .iter()
        .map(|(level, data)| {
            (
                "notifications/message",
                json!({"level": level, "data": data}),
            )
        })
        .collect();
    telling(says("done"), &messages)
}

fn some() -> Observation {
    logged(&[
        ("info", json!("Started \"it\"")),
        ("warning", json!({"size": 1_000_000, "name": "x"})),
    ])
}

#[test]
fn log_messages_as_wanted_hold() {
    hold(&[
        (wanted(|it| it.min_messages = Some(2)), some()),
        (wanted(|it| it.max_messages = Some(0)), says("x")),
        (
            wanted(|it| it.contains_level = list(&["info", "warning"])),
            some(),
        ),
        (
            wanted(|it| it.contains_data = list(&["Started \"it\""])),
            some(),
        ),
        (
            wanted(|it| it.contains_data = list(&["\"name\":\"x\""])),
            some(),
        ),
        (
            wanted(|it| it.contains_data = list(&["map[name:x size:1e+06]"])),
            some(),
        ),
        (wanted(|it| it.not_below = Some(LogLevel::Info)), some()),
    ]);
}

#[test]
fn messages_count_from_the_level_on() {
    let mut seen = some();
    let answer = seen.answer.as_mut().unwrap();
    answer.notifications = 1..2;
    hold(&[(wanted(|it| it.min_messages = Some(2)), seen.clone())]);
    seen.answer.as_mut().unwrap().interest = Some(Interest::Logs);
    hold(&[(wanted(|it| it.max_messages = Some(1)), seen)]);
}

#[test]
fn a_tool_that_failed_explains_what_did_not_come() {
    insta::assert_snapshot!(report(&[
        (wanted(|it| it.min_messages = Some(1)), fails("no camera")),
        (wanted(|it| it.contains_data = list(&["a"])), fails("no camera")),
    ]), @r"
    min_messages: expected at least 1 log message, none came
      hint: the tool answered with an error: `no camera`
    contains_data: expected a log message with `a` in its data, none came
      hint: the tool answered with an error: `no camera`
    ");
}

#[test]
fn other_log_messages_are_explained() {
    insta::assert_snapshot!(report(&[
        (wanted(|it| it.min_messages = Some(3)), some()),
        (wanted(|it| it.min_messages = Some(1)), says("x")),
        (wanted(|it| it.max_messages = Some(1)), some()),
        (wanted(|it| it.contains_level = list(&["error"])), some()),
        (wanted(|it| it.contains_data = list(&["started"])), some()),
        (wanted(|it| it.not_below = Some(LogLevel::Warning)), some()),
        (wanted(|it| it.not_below = Some(LogLevel::Debug)), logged(&[("loud", json!(1))])),
    ]), @"
    min_messages: expected at least 3 log messages, 2 came, of level `info` and `warning`
    min_messages: expected at least 1 log message, none came
    max_messages: expected at most 1 log message, 2 came, of level `info` and `warning`
    contains_level: expected a log message of level `error`, 2 came, of level `info` and `warning`
    contains_data: expected a log message with `started` in its data, 2 came, of level `info` and `warning`
    not_below: expected no log message below `warning`, there is one of level `info`
    not_below: expected no log message below `debug`, there is one of the unknown level `loud`
    ");
}
