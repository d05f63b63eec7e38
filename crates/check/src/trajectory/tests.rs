use serde_json::{Value, json};

use crate::sample::{hold, report};
use mcp::observation::{Observation, TraceCall, TraceOutcome};
use suite::model::expectation::{Among, Expectation, TrajectoryRule};

fn call(tool: &str, args: Value) -> TraceCall {
    TraceCall {
        tool: tool.to_owned(),
        args,
        outcome: None,
        at_ms: None,
        unknowable: Vec::new(),
    }
}

fn traced(calls: Vec<TraceCall>) -> Observation {
    Observation {
        trace: Some(calls),
        ..Observation::default()
    }
}

/// The calls `read`, `edit`, `read`, `save`, 100 ms apart, the last one an error.
fn some() -> Observation {
    let calls = ["read", "edit", "read", "save"]
        .iter()
        .zip(0_u64..)
        .map(|(tool, index)| TraceCall {
            at_ms: Some(index * 100),
            outcome: Some(if *tool == "save" {
                TraceOutcome::Error
            } else {
                TraceOutcome::Ok
            }),
            ..call(
                tool,
                json!({"n": index, "at": {"line": index, "column": 1}}),
            )
        });
    traced(calls.collect())
}

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn rule(rule: TrajectoryRule) -> Expectation {
    Expectation::Trajectory(Box::new(rule))
}

fn args(tool: &str, args: Value, among: Among) -> Expectation {
    rule(TrajectoryRule::ArgsContain {
        tool: tool.to_owned(),
        args,
        among,
    })
}

fn count(tool: &str, min: Option<u64>, max: Option<u64>) -> Expectation {
    rule(TrajectoryRule::Count {
        tool: tool.to_owned(),
        min,
        max,
    })
}

fn never_after(tool: &str, after: &str) -> Expectation {
    rule(TrajectoryRule::NeverAfter {
        tool: tool.to_owned(),
        after: after.to_owned(),
    })
}

fn ended(tool: &str, outcome: TraceOutcome) -> Expectation {
    rule(TrajectoryRule::Outcome {
        tool: tool.to_owned(),
        outcome,
    })
}

fn within(limit_ms: u64, from: Option<&str>, to: Option<&str>) -> Expectation {
    rule(TrajectoryRule::WithinMs {
        limit_ms,
        from: from.map(ToOwned::to_owned),
        to: to.map(ToOwned::to_owned),
    })
}

#[test]
fn calls_as_wanted_hold() {
    hold(&[
        (
            rule(TrajectoryRule::Order(list(&["read", "read", "save"]))),
            some(),
        ),
        (rule(TrajectoryRule::Order(Vec::new())), traced(Vec::new())),
        (
            rule(TrajectoryRule::Presence(list(&["save", "read"]))),
            some(),
        ),
        (rule(TrajectoryRule::Absence(list(&["delete"]))), some()),
        (
            args("read", json!({"at": {"line": 2.0}}), Among::Any),
            some(),
        ),
        (args("read", json!({"n": "0"}), Among::First), some()),
        (count("read", Some(2), Some(2)), some()),
        (count("delete", None, Some(0)), some()),
        (never_after("edit", "save"), some()),
        (
            rule(TrajectoryRule::Adjacent(list(&["edit", "read", "save"]))),
            some(),
        ),
        (ended("read", TraceOutcome::Ok), some()),
        (within(300, None, None), some()),
        (within(200, Some("edit"), Some("save")), some()),
    ]);
    hold(&[
        (within(100, Some("edit"), Some("read")), some()),
        (within(0, Some("save"), Some("save")), some()),
    ]);
}

#[test]
fn other_calls_are_explained() {
    insta::assert_snapshot!(report(&[
        (rule(TrajectoryRule::Order(list(&["save", "edit"]))), some()),
        (rule(TrajectoryRule::Order(list(&["reed"]))), some()),
        (rule(TrajectoryRule::Presence(list(&["read", "saved"]))), some()),
        (rule(TrajectoryRule::Absence(list(&["delete", "edit"]))), some()),
        (args("read", json!({"n": 5}), Among::Any), some()),
        (args("read", json!({"n": 2}), Among::First), some()),
        (args("delete", json!({}), Among::Any), some()),
    ]), @r#"
    order: expected calls in this order: `save` and `edit`, `edit` was not called after `save`
    order: expected calls in this order: `reed`, `reed` was not called
      hint: `read` was called
    presence: expected calls of `read` and `saved`, `saved` never came
      hint: `save` was called
    absence: expected no call of `delete` or `edit`, call 2 is `edit`
    args_contain: expected a call of `read` with `{"n":5}`, none of its 2 calls has them
      hint: call 1: they differ at `n`: expected `5`, found the number `0`
    args_contain: expected the first call of `read` with `{"n":2}`, it was called with `{"n":0,"at":{"line":0,"column":1}}`
      hint: call 1: they differ at `n`: expected `2`, found the number `0`
    args_contain: expected a call of `delete` with `{}`, it was not called
    "#);
}

#[test]
fn other_numbers_and_ends_are_explained() {
    insta::assert_snapshot!(report(&[
        (count("read", Some(3), None), some()),
        (count("read", None, Some(1)), some()),
        (never_after("read", "edit"), some()),
        (rule(TrajectoryRule::Adjacent(list(&["read", "save", "read"]))), some()),
        (ended("save", TraceOutcome::Ok), some()),
        (ended("delete", TraceOutcome::Ok), some()),
        (within(299, None, None), some()),
        (within(1, Some("delete"), None), some()),
        (within(1000, Some("save"), Some("edit")), some()),
    ]), @r#"
    count: expected at least 3 calls of `read`, it was called 2 times
    count: expected at most 1 call of `read`, it was called 2 times
    never_after: expected no call of `read` after one of `edit`, `edit` is call 2, `read` call 3
    adjacent: expected calls right after each other: `read`, `save` and `read`, they were called, but not right after each other
    outcome: expected every call of `save` to end with a result, call 4 ended with an error
    outcome: expected every call of `delete` to end with a result, it was not called
    within_ms: expected at most 299 ms from the first call to the last call, it took 300 ms
    within_ms: expected at most 1 ms from `delete` to the last call, `delete` was not called
    within_ms: expected at most 1000 ms from `save` to `edit`, `edit` was not called after `save`
    "#);
}

#[test]
fn what_the_log_hides_is_never_told() {
    let hidden = || {
        traced(vec![TraceCall {
            unknowable: vec!["/token".to_owned()],
            ..call("login", json!({"user": "a", "token": "[hidden]"}))
        }])
    };
    let turned_back = || {
        let at = |at_ms| TraceCall {
            at_ms: Some(at_ms),
            ..call("read", Value::Null)
        };
        traced(vec![at(300), at(0)])
    };
    hold(&[(args("login", json!({"user": "a"}), Among::Any), hidden())]);
    insta::assert_snapshot!(report(&[
        (args("login", json!({"token": "x"}), Among::Any), hidden()),
        (args("login", json!({"token": "[hidden]"}), Among::Any), hidden()),
        (args("login", json!({"token": "x", "user": "b"}), Among::Any), hidden()),
        (ended("login", TraceOutcome::Ok), hidden()),
        (within(5, None, None), hidden()),
        (within(500, None, None), turned_back()),
        (rule(TrajectoryRule::Absence(list(&["x"]))), Observation::default()),
    ]), @r#"
    unknowable: the log hides arguments of `login` that would tell
    unknowable: the log hides arguments of `login` that would tell
    args_contain: expected a call of `login` with `{"token":"x","user":"b"}`, it was called with `{"user":"a","token":"[hidden]"}`
      hint: call 1: they differ at `token`: expected `"x"`, found the string `"[hidden]"`
    unknowable: the log does not tell how calls of `login` ended
    unknowable: the log does not tell when the calls were made
    unknowable: the times of the calls do not follow their order
    unknowable: there is no trace to look at
    "#);
}

#[test]
fn arguments_that_are_none_are_shown_as_they_are() {
    insta::assert_snapshot!(report(&[
        (args("read", json!({"q": "x"}), Among::Any), traced(vec![call("read", Value::Null)])),
        (args("read", json!({"q": "x"}), Among::Any), traced(vec![call("read", json!("q=x"))])),
    ]), @r#"
    args_contain: expected a call of `read` with `{"q":"x"}`, it was called without arguments
      hint: call 1: they differ at `q`: expected `"x"`, nothing is there
    args_contain: expected a call of `read` with `{"q":"x"}`, it was called with `"q=x"`
      hint: call 1: expected `{"q":"x"}`, found the string `"q=x"`
    "#);
}
