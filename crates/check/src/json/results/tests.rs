use serde_json::json;
use serde_json_path::JsonPath;

use crate::{
    check,
    outcome::verdict::Verdict,
    sample::{fails, hold, listed, refuses, report, says, tool},
    vacuity,
};
use mcp::observation::{Observation, Proof};
use suite::model::{
    counted::CountedPath,
    expectation::{Expectation, JsonWanted, Precision, ResultCount},
};

fn count(bound: u64, path: Option<&str>) -> ResultCount {
    ResultCount {
        bound,
        path: path.map(|path| {
            let compile = |path: &str| JsonPath::parse(path).ok();
            CountedPath::new(path, compile(path).unwrap(), compile)
        }),
    }
}

fn least(bound: u64) -> Expectation {
    Expectation::Json(JsonWanted::MinResults(Box::new(count(bound, None))))
}

fn most(bound: u64) -> Expectation {
    Expectation::Json(JsonWanted::MaxResults(Box::new(count(bound, None))))
}

fn delta(number: &str, precision: Precision) -> Expectation {
    Expectation::Json(JsonWanted::NetDelta {
        wanted: serde_json::from_str(number).unwrap(),
        precision,
    })
}

#[test]
fn arrays_of_the_wanted_length_hold() {
    let structured = tool(json!({"content": [], "structuredContent": {"items": [1, 2]}}));
    hold(&[
        (least(2), says("[1, 2]")),
        (most(2), says("[1, 2]")),
        (most(0), says("null")),
        (least(1), says(r#"{"total": 1, "results": [1]}"#)),
        (least(1), says(r#"{"tools": [{}]}"#)),
        (least(1), says("Found:\n[1]\n")),
        (least(1), says(r#"{"locations": 3, "items": [1]}"#)),
        (least(2), structured),
        (
            Expectation::Json(JsonWanted::MinResults(Box::new(count(2, Some("$.a.b"))))),
            says(r#"{"a": {"b": [1, 2]}}"#),
        ),
        (
            Expectation::Json(JsonWanted::MaxResults(Box::new(count(
                1,
                Some("$.a[?@ > 1]"),
            )))),
            says(r#"{"a": [1, 2]}"#),
        ),
    ]);
}

#[test]
fn other_lengths_are_explained() {
    insta::assert_snapshot!(report(&[
        (least(3), says(r#"{"items": [1]}"#)),
        (most(1), says("[1, 2]")),
        (least(1), says("null")),
        (least(1), says(r#"{"entries": [1]}"#)),
        (least(1), says("\"text\"")),
        (least(1), says("no results")),
        (least(1), fails("index is missing")),
        (least(1), refuses(&json!({"code": 1, "message": "m"}))),
        (Expectation::Json(JsonWanted::MinResults(Box::new(count(1, Some("$.a"))))), says(r#"{"b": []}"#)),
        (Expectation::Json(JsonWanted::MinResults(Box::new(count(1, Some("$.a"))))), says(r#"{"a": {}}"#)),
        (Expectation::Json(JsonWanted::MinResults(Box::new(count(3, Some("$.a[*]"))))), says(r#"{"a": [1]}"#)),
    ]), @"
    min_results: $.items: expected at least 3 results, there is 1
    max_results: $: expected at most 1 result, there are 2
    min_results: $: expected at least 1 result, there are 0
    min_results: expected at least 1 result, the JSON object has no array under `locations`, `items`, `results`, `references`, `symbols`, `resources`, `prompts`, `tools`, `data` or `resourceTemplates`
    min_results: expected at least 1 result, the JSON is a string, not an array
    min_results: expected at least 1 result, the text is not JSON (expected ident at line 1 column 2)
    min_results: expected at least 1 result, the text is not JSON (expected value at line 1 column 1)
      hint: the tool answered with an error: `index is missing`
    min_results: expected at least 1 result, the answer is the JSON-RPC error 1, `m`
      hint: if this error is what should happen, expect it with `error: {code: 1}`
    min_results: expected at least 1 result at `$.a`, nothing is at `$.a`
      hint: `$` has `b`
    min_results: expected at least 1 result at `$.a`, `$.a` is an object
    min_results: $.a[*]: expected at least 3 results at `$.a[*]`, there is 1
    ");
}

fn least_at(bound: u64, path: &str) -> Expectation {
    Expectation::Json(JsonWanted::MinResults(Box::new(count(bound, Some(path)))))
}

fn most_at(bound: u64, path: &str) -> Expectation {
    Expectation::Json(JsonWanted::MaxResults(Box::new(count(bound, Some(path)))))
}

#[test]
fn a_path_to_several_places_counts_what_it_leads_to() {
    let pages = || says(r#"{"pages": [{"items": [1, 2, 3]}, {"items": [4, 5]}], "none": []}"#);
    hold(&[
        (
            least_at(3, "$..items"),
            says(r#"{"data": {"items": [1, 2, 3]}}"#),
        ),
        (most_at(3, "$..items"), pages()),
        (least_at(2, "$.pages[*].items"), pages()),
        (least_at(5, "$..items[*]"), pages()),
        (most_at(2, "$.pages[*]"), pages()),
        (least_at(2, "$.rows[*]"), says(r#"{"rows": [[1], [2]]}"#)),
        (
            least_at(2, "$.l[*].id"),
            says(r#"{"l": [{"id": "a"}, {"id": null}, {}]}"#),
        ),
        (most_at(0, "$..items"), says(r#"{"items": null}"#)),
        (most_at(0, "$.none[*]"), pages()),
        (most_at(0, "$.none[*].id"), pages()),
        (most_at(0, "$.none[?@.bad].items[*]"), pages()),
        (most_at(0, "$.none[*]"), says(r#"{"none": null}"#)),
    ]);
    insta::assert_snapshot!(report(&[
        (most_at(2, "$..items"), says(r#"{"data": {"items": [1, 2, 3]}}"#)),
        (least_at(3, "$.pages[*].items"), pages()),
        (most_at(5, "$.pges[*]"), pages()),
        (most_at(5, "$.pages[*].itmes[*]"), pages()),
        (most_at(5, "$..itmes"), pages()),
        (most_at(5, "$.pages[*]"), says(r#"{"pages": "none"}"#)),
        (most_at(5, "$..items"), says(r#"{"items": [{"items": "x"}]}"#)),
        (most_at(1, "$..id"), says(r#"[{"id": 1}, {"id": 2}]"#)),
    ]), @"
    max_results: $.data.items: expected at most 2 results at `$..items`, there are 3
    min_results: $.pages[1].items: expected at least 3 results at `$.pages[*].items`, there are 2
    max_results: expected at most 5 results at `$.pges[*]`, nothing is at `$.pges`
      hint: there is `$.pages`
    max_results: expected at most 5 results at `$.pages[*].itmes[*]`, nothing is at `$.pages[*].itmes`
    max_results: expected at most 5 results at `$..itmes`, nothing is at `$..itmes`
    max_results: expected at most 5 results at `$.pages[*]`, `$.pages` is a string
    max_results: expected at most 5 results at `$..items`, `$..items` leads to arrays and to other values: `$.items[0].items` is a string
    max_results: $..id: expected at most 1 result at `$..id`, there are 2
    ");
}

#[test]
fn a_path_that_leads_nowhere_in_the_text_may_lead_into_the_structured_content() {
    let not = |wanted: Expectation| Expectation::Not(vec![("min_results", wanted)]);
    for items in 0..4 {
        let number = items as u64;
        for path in ["$.result", "$.result[*]", "$.result[*].id"] {
            let exact = [
                (least_at(number, path), listed(items)),
                (most_at(number, path), listed(items)),
                (not(least_at(number + 1, path)), listed(items)),
            ];
            hold(&exact);
            for (wanted, seen) in exact {
                assert_eq!(
                    vacuity::findings(&[&wanted], &seen).len(),
                    usize::from(
                        number == 0
                            && matches!(wanted, Expectation::Json(JsonWanted::MinResults(_)))
                    )
                );
            }
            if items > 0 {
                let fewer = check(&most_at(number - 1, path), &listed(items));
                assert!(matches!(fewer, Verdict::Missed(_)), "{path} {items}");
            }
        }
    }
    let compat = Observation {
        proof: Proof::AsWritten,
        ..listed(1)
    };
    insta::assert_snapshot!(report(&[
        (least_at(3, "$.result"), listed(2)),
        (most_at(0, "$.result"), listed(1)),
        (not(least_at(1, "$.result")), listed(1)),
        (least_at(1, "$.n"), listed(1)),
        (not(least_at(1, "$.n")), listed(1)),
        (least_at(1, "$.results"), listed(1)),
        (least_at(1, "$.id"), listed(1)),
        (least_at(1, "$.result"), compat),
    ]), @"
    min_results: $.result: expected at least 3 results at `$.result`, in `structuredContent` there are 2
    max_results: $.result: expected at most 0 results at `$.result`, in `structuredContent` there is 1
    not: expected not `min_results` (at least 1 result at `$.result`), it holds
    min_results: expected at least 1 result at `$.n`, in `structuredContent` `$.n` is an integer
    not: expected not `min_results` (at least 1 result at `$.n`), `$.n` is an integer
    min_results: expected at least 1 result at `$.results`, nothing is at `$.results`
      hint: `$` has `id`
    min_results: expected at least 1 result at `$.id`, `$.id` is an integer
    min_results: expected at least 1 result at `$.result`, nothing is at `$.result`
      hint: `$` has `id`
    ");
}

#[test]
fn the_delta_is_exact_unless_cut() {
    hold(&[
        (delta("2", Precision::Exact), says(r#"{"net_delta": 2.0}"#)),
        (delta("-3", Precision::Exact), says(r#"{"net_delta": -3}"#)),
        (
            delta("2", Precision::Truncated),
            says(r#"{"net_delta": 2.9}"#),
        ),
    ]);
    insta::assert_snapshot!(report(&[
        (delta("2", Precision::Exact), says(r#"{"net_delta": 2.9}"#)),
        (delta("2", Precision::Truncated), says(r#"{"net_delta": 3.1}"#)),
        (delta("2", Precision::Exact), says(r#"{"net_delta": "2"}"#)),
        (delta("2", Precision::Exact), says("{}")),
        (delta("2", Precision::Exact), says("[1]")),
        (delta("2", Precision::Exact), says("done")),
    ]), @r#"
    net_delta: $.net_delta: expected the member `net_delta` to be `2`, found the number `2.9`
    net_delta: $.net_delta: expected the member `net_delta` to be `2`, found the number `3.1`
    net_delta: $.net_delta: expected the member `net_delta` to be `2`, found the string `"2"`
      hint: the values are alike, the types are not: a number is expected, the answer has a string
    net_delta: expected the member `net_delta` to be `2`, the JSON object does not have it
    net_delta: expected the member `net_delta` to be `2`, the JSON is an array of 1 item
    net_delta: expected the member `net_delta` to be `2`, the text is not JSON (expected value at line 1 column 1)
    "#);
}
