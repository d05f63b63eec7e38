use serde_json::{Value, json};

use crate::{
    check,
    outcome::verdict::Verdict,
    sample::{fails, hold, report, says, telling},
};
use mcp::observation::{Observation, answer::Interest};
use suite::model::expectation::{
    Expectation, NotificationsWanted, Presence, Provoked, Since, TrafficWanted,
};

const UPDATED: &str = "notifications/resources/updated";

fn list(items: &[&str]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn wanted(change: impl FnOnce(&mut NotificationsWanted)) -> Expectation {
    let mut wanted = NotificationsWanted::default();
    change(&mut wanted);
    Expectation::Traffic(TrafficWanted::Notifications(Box::new(wanted)))
}

fn told(notifications: &[(&str, Value)]) -> Observation {
    telling(says("done"), notifications)
}

fn some() -> Observation {
    told(&[
        (
            "notifications/message",
            json!({"level": "info", "data": "say \"hi\"", "_meta": {"k": "hidden"}}),
        ),
        ("notifications/tools/list_changed", json!(null)),
    ])
}

#[test]
fn notifications_as_wanted_hold() {
    hold(&[
        (wanted(|it| it.min_count = Some(2)), some()),
        (wanted(|it| it.max_count = Some(0)), says("x")),
        (
            wanted(|it| it.methods = list(&["notifications/message"])),
            some(),
        ),
        (
            wanted(|it| it.not_methods = list(&["notifications/progress"])),
            some(),
        ),
        (
            wanted(|it| {
                it.in_order = list(&["notifications/message", "notifications/tools/list_changed"]);
            }),
            some(),
        ),
        (
            wanted(|it| it.contains_data = list(&["\"level\":\"info\"", "say \"hi\""])),
            some(),
        ),
        (
            wanted(|it| it.contains_data = list(&["{\"data\":"])),
            some(),
        ),
        (
            wanted(|it| it.not_contains_data = list(&["hidden"])),
            some(),
        ),
        (
            Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Absent)),
            some(),
        ),
        (
            Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Present)),
            told(&[(UPDATED, json!({"uri": "a://b"}))]),
        ),
    ]);
}

#[test]
fn only_those_of_the_call_count() {
    let mut seen = some();
    seen.answer.as_mut().unwrap().notifications = 1..2;
    hold(&[
        (wanted(|it| it.max_count = Some(1)), seen.clone()),
        (
            wanted(|it| it.not_methods = list(&["notifications/message"])),
            seen,
        ),
    ]);
}

#[test]
fn progress_that_we_ask_for_counts_where_it_is_named() {
    let mut seen = told(&[(
        "notifications/progress",
        json!({"progress": 1, "message": "step"}),
    )]);
    seen.notifications[0].provoked = true;
    let verdicts = |change: fn(&mut NotificationsWanted)| {
        [Provoked::Counted, Provoked::Uncounted, Provoked::PassedOver].map(|provoked| {
            let wanted = wanted(|it| {
                it.provoked = provoked;
                change(it);
            });
            check(&wanted, &seen) == Verdict::Held
        })
    };
    assert_eq!(verdicts(|it| it.max_count = Some(0)), [false, true, true]);
    let method = |it: &mut NotificationsWanted| it.not_methods = list(&["notifications/progress"]);
    assert_eq!(verdicts(method), [false, false, true]);
    let data = |it: &mut NotificationsWanted| it.not_contains_data = list(&["step"]);
    assert_eq!(verdicts(data), [false, false, true]);
    assert_eq!(verdicts(|it| it.min_count = Some(1)), [true; 3]);
}

#[test]
fn those_of_the_setup_count_for_the_subject_that_is_about_them() {
    let mut seen = some();
    seen.answer.as_mut().unwrap().notifications = 1..2;
    hold(&[(
        wanted(|it| {
            it.since = Since::TheBeginning;
            it.min_count = Some(2);
            it.methods = list(&["notifications/message"]);
        }),
        seen.clone(),
    )]);
    seen.answer.as_mut().unwrap().notifications = 1..1;
    hold(&[(
        wanted(|it| {
            it.since = Since::TheBeginning;
            it.max_count = Some(1);
        }),
        seen,
    )]);
}

#[test]
fn an_update_is_of_the_resource_that_is_subscribed_to() {
    let updated = |uri: &str, range: std::ops::Range<usize>| {
        let mut seen = told(&[(UPDATED, json!({ "uri": uri }))]);
        let answer = seen.answer.as_mut().unwrap();
        answer.notifications = range;
        answer.interest = Some(Interest::Updates("a://1".into()));
        seen
    };
    let case = |uri: &str, range, came: bool| {
        let seen = updated(uri, range);
        for (wanted, holds) in [(Presence::Present, came), (Presence::Absent, !came)] {
            let verdict = check(
                &Expectation::Traffic(TrafficWanted::ResourceUpdated(wanted)),
                &seen,
            );
            assert_eq!(verdict == Verdict::Held, holds, "{uri}");
        }
    };
    case("a://1", 0..1, true);
    case("a://1/part", 0..1, true);
    case("a://other", 0..1, false);
    case("a://10", 0..1, false);
    // It came before the subscription.
    case("a://1", 1..1, false);
    let other = updated("a://other", 0..1);
    insta::assert_snapshot!(report(&[(Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Present)), other)]), @"expect_notification: expected a `notifications/resources/updated`, 1 came: `notifications/resources/updated`");
}

#[test]
fn a_tool_that_failed_explains_what_did_not_come() {
    let failed = || Observation {
        notifications: some().notifications,
        ..fails("no camera")
    };
    insta::assert_snapshot!(report(&[
        (wanted(|it| it.min_count = Some(9)), failed()),
        (wanted(|it| it.methods = list(&["a"])), failed()),
        (wanted(|it| it.methods = list(&["notifications/mesage"])), failed()),
        (wanted(|it| it.max_count = Some(0)), failed()),
        (Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Present)), fails("")),
    ]), @r"
    min_count: expected at least 9 notifications, 2 came: `notifications/message` and `notifications/tools/list_changed`
      hint: the tool answered with an error: `no camera`
    methods: expected a `a` notification, 2 came: `notifications/message` and `notifications/tools/list_changed`
      hint: the tool answered with an error: `no camera`
    methods: expected a `notifications/mesage` notification, 2 came: `notifications/message` and `notifications/tools/list_changed`
      hint: there is `notifications/message`
    max_count: expected at most 0 notifications, 2 came: `notifications/message` and `notifications/tools/list_changed`
    expect_notification: expected a `notifications/resources/updated`, none came
      hint: the tool answered with an error (`isError: true`) without any text
    ");
}

#[test]
fn other_notifications_are_explained() {
    insta::assert_snapshot!(report(&[
        (wanted(|it| it.min_count = Some(3)), some()),
        (wanted(|it| it.min_count = Some(1)), says("x")),
        (wanted(|it| it.max_count = Some(1)), some()),
        (wanted(|it| it.methods = list(&["notifications/mesage"])), some()),
        (wanted(|it| it.not_methods = list(&["notifications/message"])), some()),
        (
            wanted(|it| it.in_order = list(&["notifications/tools/list_changed", "notifications/message"])),
            some(),
        ),
        (wanted(|it| it.contains_data = list(&["warning"])), some()),
        (wanted(|it| it.not_contains_data = list(&["info"])), some()),
        (Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Present)), some()),
        (
            Expectation::Traffic(TrafficWanted::ResourceUpdated(Presence::Absent)),
            told(&[(UPDATED, json!({"uri": "a://b"}))]),
        ),
    ]), @r#"
    min_count: expected at least 3 notifications, 2 came: `notifications/message` and `notifications/tools/list_changed`
    min_count: expected at least 1 notification, none came
    max_count: expected at most 1 notification, 2 came: `notifications/message` and `notifications/tools/list_changed`
    methods: expected a `notifications/mesage` notification, 2 came: `notifications/message` and `notifications/tools/list_changed`
      hint: there is `notifications/message`
    not_methods: expected no `notifications/message` notification, there is one
    in_order: expected notifications in this order: `notifications/tools/list_changed` and `notifications/message`, `notifications/message` does not come after those before it
    contains_data: expected a notification with `warning` in its parameters, 2 came: `notifications/message` and `notifications/tools/list_changed`
    not_contains_data: expected no notification with `info` in its parameters, there is a `notifications/message`
    expect_notification: expected a `notifications/resources/updated`, 2 came: `notifications/message` and `notifications/tools/list_changed`
    expect_notification: expected no `notifications/resources/updated`, there is one
    "#);
}
