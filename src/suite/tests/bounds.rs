//! Bounds that exclude each other.

use super::Sample;
use crate::suite::model::Entry;

/// The message of every problem.
fn told(sample: &Sample) -> Vec<String> {
    let problems = sample.load().suite.problems.into_iter();
    problems.map(|problem| problem.message).collect()
}

/// A call with expectations.
fn call(expect: &str) -> String {
    format!("server: {{command: s}}\nassert: {{tool: x, expect: {{{expect}}}}}\n")
}

#[test]
fn bounds_that_nothing_meets_are_told() {
    let case = |text: &str, wanted: &str| {
        assert_eq!(
            told(&Sample::one(text)),
            [format!("nothing can meet {wanted}")],
            "{text}"
        );
        // The Go tool runs it, and it fails.
        let loaded = Sample::one(text).compat().load().suite;
        assert!(
            matches!(loaded.entries[..], [Entry::Assertion(_)]),
            "{text}"
        );
    };
    let value = |matchers: &str| call(&format!("json_path: {{'$.a': {{{matchers}}}}}"));
    let both = "`min_count: 5` and `max_count: 2` at once";
    case(&call("notifications: {max_count: 2, min_count: 5}"), both);
    case(
        &call("not: {notifications: {min_count: 5, max_count: 2}}"),
        both,
    );
    case(
        "server: {command: s}\nassert_notifications: {tool: x, expect: {min_count: 5, max_count: 2}}\n",
        both,
    );
    case(
        "server: {command: s}\nassert_logging: {tool: x, expect: {min_messages: 1, max_messages: 0}}\n",
        "`min_messages: 1` and `max_messages: 0` at once",
    );
    case(
        "trace: [{tool: a}]\ntrajectory: [{type: count, tool: a, min: 5, max: 2}]\n",
        "`min: 5` and `max: 2` at once",
    );
    case(
        &call("min_results: 3, max_results: {count: 2}"),
        "`min_results: 3` and `max_results: 2` at once",
    );
    case(
        &call("min_results: {count: 3, path: $.a}, max_results: {count: 2, path: $.a}"),
        "`min_results: 3` and `max_results: 2` at once",
    );
    for (matchers, wanted) in [
        ("gt: 5, lt: 3", "`gt: 5` and `lt: 3` at once"),
        ("le: 2.5, ge: 2.6", "`le: 2.5` and `ge: 2.6` at once"),
        ("gt: 3, le: 3.0", "`gt: 3` and `le: 3.0` at once"),
        ("length: {gt: 3, lt: 4}", "`gt: 3` and `lt: 4` at once"),
        ("length: {le: -1}", "`le: -1`"),
        ("length: {lt: 0}", "`lt: 0`"),
    ] {
        let sample = Sample::one(&value(matchers));
        assert_eq!(
            told(&sample),
            [format!("nothing can meet {wanted}")],
            "{matchers}"
        );
    }
}

#[test]
fn bounds_that_something_meets_are_not_told() {
    for expect in [
        "notifications: {min_count: 2, max_count: 2}",
        "min_results: 3, max_results: {count: 2, path: $.a}",
        "json_path: {'$.a': {gt: 3, lt: 4}, '$.b': {ge: 3, le: 3}, '$.c': {length: {gt: 3, lt: 5}}}",
        "json_path: {'$.a': {length: {gt: 2.5, lt: 3.5, le: 3}}, '$.b': {length: {lt: 1}}}",
        "json_path: {'$.a': {gt: 5, not: {lt: 3}}}",
    ] {
        assert_eq!(told(&Sample::one(&call(expect))), [""; 0], "{expect}");
    }
}
