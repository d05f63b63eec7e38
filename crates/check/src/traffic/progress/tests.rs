use serde_json::{Value, json};

use crate::sample::{fails, hold, report, says, telling};
use mcp::observation::Observation;
use suite::model::expectation::{Expectation, ProgressWanted, TrafficWanted};

fn wanted(
    min: Option<u64>,
    monotonic: Option<bool>,
    last_equals_total: Option<bool>,
) -> Expectation {
    Expectation::Traffic(TrafficWanted::Progress(ProgressWanted {
        min,
        monotonic,
        last_equals_total,
    }))
}

/// An observation with these progress values for the call's own token.
fn at(values: &[Value], total: &Value) -> Observation {
    let told: Vec<(&str, Value)> = values
        .iter()
        .map(|value| {
            let params = json!({"progressToken": "token-1", "progress": value, "total": total});
            ("notifications/progress", params)
        })
        .collect();
    telling(says("done"), &told)
}

fn foreign() -> Observation {
    telling(
        says("done"),
        &[(
            "notifications/progress",
            json!({"progressToken": "other", "progress": 1}),
        )],
    )
}

#[test]
fn progress_as_wanted_holds() {
    let grows = || at(&[json!(1), json!(2.5), json!(1e1)], &json!(10));
    hold(&[
        (Expectation::Traffic(TrafficWanted::MinProgress(3)), grows()),
        (wanted(Some(1), Some(true), Some(true)), grows()),
        (
            wanted(None, Some(false), None),
            at(&[json!(2), json!(2)], &json!(3)),
        ),
        (wanted(None, None, Some(false)), at(&[json!(2)], &json!(3))),
    ]);
}

#[test]
fn a_tool_that_failed_explains_what_did_not_come() {
    let failed = |values: &[Value]| Observation {
        notifications: at(values, &json!(3)).notifications,
        ..fails("no camera")
    };
    insta::assert_snapshot!(report(&[
        (Expectation::Traffic(TrafficWanted::MinProgress(2)), failed(&[json!(1)])),
        (wanted(Some(1), Some(true), Some(true)), failed(&[])),
        (wanted(None, Some(true), Some(true)), failed(&[json!(2), json!(1)])),
    ]), @r"
    min_progress: expected at least 2 progress notifications for this call, 1 came
      hint: the tool answered with an error: `no camera`
    progress: expected at least 1 progress notification for this call, none came
      hint: the tool answered with an error: `no camera`
    progress: expected the last progress value to be the total, no progress came
      hint: the tool answered with an error: `no camera`
    progress: expected each progress value to be greater than the one before, the values are `2` and `1`
      hint: the tool answered with an error: `no camera`
    progress: expected the last progress value to be the total, the values are `2` and `1`, the total is `3`
      hint: the tool answered with an error: `no camera`
    ");
}

#[test]
fn other_progress_is_explained() {
    let mut late = at(&[json!(1), json!(2)], &json!(3));
    late.answer.as_mut().unwrap().on_time = 1;
    let mut later = late.clone();
    later.answer.as_mut().unwrap().on_time = 0;
    // What is listened to for the sake of another expectation is no more and no less.
    later.answer.as_mut().unwrap().notifications = 0..0;
    let mut siblings = foreign();
    siblings.notifications[0].provoked = true;
    let mut untold = says("x");
    untold.answer.as_mut().unwrap().progress_token = None;
    insta::assert_snapshot!(report(&[
        (Expectation::Traffic(TrafficWanted::MinProgress(1)), says("x")),
        (Expectation::Traffic(TrafficWanted::MinProgress(1)), foreign()),
        (Expectation::Traffic(TrafficWanted::MinProgress(1)), siblings),
        (Expectation::Traffic(TrafficWanted::MinProgress(3)), at(&[json!(1)], &json!(3))),
        (Expectation::Traffic(TrafficWanted::MinProgress(1)), untold),
        (Expectation::Traffic(TrafficWanted::MinProgress(2)), late),
        (Expectation::Traffic(TrafficWanted::MinProgress(1)), later.clone()),
        (wanted(Some(1), Some(true), Some(true)), later),
        (wanted(Some(3), Some(true), Some(true)), at(&[json!(2), json!(1)], &json!(3))),
        (wanted(None, Some(true), None), at(&[json!("2")], &json!(3))),
        (wanted(None, Some(false), None), at(&[json!(1), json!(2)], &json!(3))),
        (wanted(None, None, Some(true)), at(&[json!(1)], &json!(null))),
        (wanted(None, None, Some(true)), says("x")),
    ]), @"
    min_progress: expected at least 1 progress notification for this call, none came
    min_progress: expected at least 1 progress notification for this call, none came
    min_progress: expected at least 1 progress notification for this call, none came
    min_progress: expected at least 3 progress notifications for this call, 1 came
    unknowable: the request carried no progress token
    min_progress: expected at least 2 progress notifications for this call, 1 came before the answer; 1 came after it
    min_progress: expected at least 1 progress notification for this call, none came before the answer; 2 came after it
    progress: expected at least 1 progress notification for this call, none came before the answer; 2 came after it
    progress: expected the last progress value to be the total, no progress came before the answer; 2 came after it
    progress: expected at least 3 progress notifications for this call, 2 came
    progress: expected each progress value to be greater than the one before, the values are `2` and `1`
    progress: expected the last progress value to be the total, the values are `2` and `1`, the total is `3`
    progress: expected each progress value to be greater than the one before, the only value is `(no number)`
    progress: expected some progress value not to be greater than the one before, the values are `1` and `2`
    progress: expected the last progress value to be the total, the only value is `1`, without a total
    progress: expected the last progress value to be the total, no progress came
    ");
}
