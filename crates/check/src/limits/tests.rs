use std::time::Duration;

use serde_json::json;

use crate::sample::{hold, refuses, report, says};
use mcp::observation::Observation;
use suite::model::expectation::{Expectation, LimitWanted};

#[test]
fn bounds_are_part_of_what_is_allowed() {
    hold(&[
        (
            Expectation::Limits(LimitWanted::MaxDuration(Duration::from_millis(12))),
            says("x"),
        ),
        (Expectation::Limits(LimitWanted::MaxBytes(120)), says("x")),
        (
            Expectation::Limits(LimitWanted::MaxBytes(120)),
            refuses(&json!({"code": 1, "message": "m"})),
        ),
    ]);
    let mut barely = says("x");
    barely.answer.as_mut().unwrap().took = Duration::from_nanos(5_000_001);
    insta::assert_snapshot!(report(&[
        (Expectation::Limits(LimitWanted::MaxDuration(Duration::from_millis(5))), says("x")),
        (Expectation::Limits(LimitWanted::MaxDuration(Duration::from_millis(5))), barely),
        (Expectation::Limits(LimitWanted::MaxBytes(119)), says("x")),
        (Expectation::Limits(LimitWanted::MaxBytes(1)), Observation::default()),
    ]), @r#"
    max_duration: expected an answer within 5ms, it took 12ms
    max_duration: expected an answer within 5ms, it took 5.000001ms
    max_bytes: expected an answer of at most 119 bytes, it has 120 bytes
    unknowable: there is no answer to look at
    "#);
}
