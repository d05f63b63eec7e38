//! How long what is wanted is waited for, and when enough has come.

use std::{borrow::Cow, time::Duration};

use serde_json::{Value, json};

use super::Wait;
use crate::sample::{says, telling};
use mcp::observation::Observation;
use suite::model::expectation::{
    AnswerWanted, Expectation, LogLevel, LoggingWanted, NotificationsWanted, Presence,
    ServerRequestWanted, TextWanted, TrafficWanted,
};

const SHORT: Duration = Duration::from_millis(100);
const LONG: Duration = Duration::from_secs(1);

fn notifications(build: impl FnOnce(&mut NotificationsWanted)) -> Expectation {
    let mut wanted = NotificationsWanted::default();
    build(&mut wanted);
    Expectation::Traffic(TrafficWanted::Notifications(Box::new(wanted)))
}

fn logging(build: impl FnOnce(&mut LoggingWanted)) -> Expectation {
    let mut wanted = LoggingWanted::default();
    build(&mut wanted);
    Expectation::Traffic(TrafficWanted::Logging(Box::new(wanted)))
}

fn request(count: Option<u64>) -> Expectation {
    Expectation::Traffic(TrafficWanted::ServerRequests(vec![ServerRequestWanted {
        method: "roots/list".into(),
        count,
        params: None,
    }]))
}

fn updated(wanted: Presence) -> Expectation {
    Expectation::Traffic(TrafficWanted::ResourceUpdated(wanted))
}

fn not(inner: Expectation) -> Expectation {
    Expectation::Not(vec![("x", inner)])
}

fn told(notifications: &[(&str, Value)]) -> Observation {
    telling(says("x"), notifications)
}

fn wait(wanted: &[Expectation], within: Option<Duration>) -> Option<Wait> {
    Wait::of(wanted.iter().map(Cow::Borrowed), within)
}

fn must() -> Expectation {
    notifications(|wanted| wanted.min_count = Some(1))
}

fn must_not() -> Expectation {
    notifications(|wanted| wanted.max_count = Some(0))
}

#[test]
fn what_must_not_come_is_waited_for_and_what_must_come_ends_the_wait() {
    let case = |wanted: Expectation, least: Duration, most: Duration| {
        let shown = format!("{wanted:?}");
        let wait = wait(&[wanted], None).map(|wait| (wait.least, wait.most));
        assert_eq!(wait, Some((least, most)), "{shown}");
    };
    let none = Duration::ZERO;
    let list = || vec!["x".to_owned()];
    for gaining in [
        must(),
        notifications(|wanted| wanted.methods = list()),
        notifications(|wanted| wanted.in_order = list()),
        notifications(|wanted| wanted.contains_data = list()),
        logging(|wanted| wanted.min_messages = Some(2)),
        logging(|wanted| wanted.contains_level = list()),
        logging(|wanted| wanted.contains_data = list()),
        updated(Presence::Present),
        request(None),
    ] {
        case(gaining.clone(), none, LONG);
        case(not(gaining), SHORT, SHORT);
    }
    for losing in [
        must_not(),
        notifications(|wanted| wanted.not_methods = list()),
        notifications(|wanted| wanted.not_contains_data = list()),
        logging(|wanted| wanted.max_messages = Some(1)),
        logging(|wanted| wanted.not_below = Some(LogLevel::Info)),
        updated(Presence::Absent),
        request(Some(0)),
        Expectation::Traffic(TrafficWanted::ServerRequests(Vec::new())),
    ] {
        case(losing.clone(), SHORT, SHORT);
        case(not(losing), none, LONG);
    }
    case(request(Some(1)), SHORT, LONG);
    case(not(request(Some(1))), SHORT, LONG);
}

#[test]
fn what_nothing_later_can_change_is_not_waited_for() {
    for settled in [
        Expectation::Answer(AnswerWanted::NotError(true)),
        Expectation::Traffic(TrafficWanted::MinProgress(3)),
        notifications(|wanted| wanted.min_count = Some(0)),
        not(Expectation::Text(TextWanted::Contains(vec!["x".into()]))),
    ] {
        let shown = format!("{settled:?}");
        assert!(wait(&[settled], Some(LONG)).is_none(), "{shown}");
    }
}

#[test]
fn the_time_of_the_suite_wins() {
    let time = Duration::from_secs(7);
    let both = wait(&[must(), must_not()], Some(time)).unwrap();
    assert_eq!((both.least, both.most), (time, time));
    let one = wait(
        &[must(), Expectation::Answer(AnswerWanted::NotError(true))],
        Some(time),
    )
    .unwrap();
    assert_eq!((one.least, one.most), (Duration::ZERO, time));
}

#[test]
fn enough_has_come_when_it_holds() {
    let nothing = says("x");
    let one = told(&[("notifications/x", json!({}))]);
    let case = |wanted: Expectation, before: bool, after: bool| {
        let wait = wait(&[wanted], None).unwrap();
        let seen = (wait.is_enough(&nothing), wait.is_enough(&one));
        assert_eq!(seen, (before, after), "{wait:?}");
    };
    case(must(), false, true);
    case(not(must_not()), false, true);
    case(must_not(), true, true);
    case(not(must()), true, true);
    let in_order = |methods: &[&str]| {
        let methods = methods.iter().map(|method| (*method).to_owned()).collect();
        notifications(|wanted| wanted.in_order = methods)
    };
    let wait = wait(&[in_order(&["a", "b"])], None).unwrap();
    assert!(!wait.is_enough(&told(&[("b", json!({})), ("a", json!({}))])));
    let b_again = [("b", json!({})), ("a", json!({})), ("b", json!({}))];
    assert!(wait.is_enough(&told(&b_again)));
}
