//! Texts with several JSON values, such as one for each item of a list. Only the first is checked, so an expectation about
//! all of them, or about what must not be there, fails.

use serde::de::IgnoredAny;

use crate::{
    ask::{Ask, add_hint},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
};
use mcp::{
    json::json_text::{self, First},
    observation::answer::Reply,
};

/// A text with several JSON values, of which the first is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Several {
    /// How many there are, two at least.
    pub values: usize,
    /// Where the second begins.
    next: usize,
}

/// Whether the JSON values after the first one matter to what an expectation wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Others {
    /// It speaks of the first.
    Aside,
    /// They could be what it does not want.
    Matter,
}

/// The values of a text that is not one itself, where it holds more than the document that is looked at.
pub(crate) fn several(text: &str) -> Option<Several> {
    if serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return None;
    }
    let found = json_text::scan(text);
    let is_read = matches!(found.first, Some(First::Value(_)));
    (is_read && found.values > 1).then_some(Several {
        values: found.values,
        next: found.next,
    })
}

/// What is said of an answer, given what was said of its first JSON value.
pub(crate) fn beside_others(
    ask: &Ask,
    reply: &Reply,
    others: Others,
    mut mismatches: Vec<Mismatch>,
) -> Vec<Mismatch> {
    if mismatches.is_empty() && others == Others::Aside {
        return mismatches;
    }
    let Some(several) = several(&reply.text) else {
        return mismatches;
    };
    if mismatches.is_empty() {
        return vec![several.mismatch(ask, reply)];
    }
    for mismatch in &mut mismatches {
        add_hint(
            mismatch,
            format!(
                "the text holds {} JSON values, and this is the first; {}",
                several.values,
                elsewhere(reply)
            ),
        );
    }
    mismatches
}

/// The same for a verdict.
pub(crate) fn verdict_beside_others(ask: &Ask, reply: &Reply, verdict: Verdict) -> Verdict {
    let mismatches = match verdict {
        Verdict::Held => Vec::new(),
        Verdict::Missed(mismatches) => mismatches,
        Verdict::Unknowable(reason) => return Verdict::Unknowable(reason),
    };
    Verdict::from_mismatches(beside_others(ask, reply, Others::Matter, mismatches))
}

impl Several {
    /// The mismatch of what cannot be said of one value alone.
    pub(crate) fn mismatch(self, ask: &Ask, reply: &Reply) -> Mismatch {
        Mismatch {
            actual: Some(phrase::cut(&reply.text, self.next)),
            hint: Some(elsewhere(reply)),
            ..ask.miss(format!(
                "the text holds {} JSON values, and only the first is looked at",
                self.values
            ))
        }
    }
}

/// The expectation that sees all of them.
fn elsewhere(reply: &Reply) -> String {
    if reply.structured().is_some() {
        "`structured` looks at the whole of `structuredContent`".to_owned()
    } else {
        "`contains` and `matches_regex` look at the whole text".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::sample::{hold, report, says, tool};
    use mcp::observation::Observation;
    use suite::model::expectation::{
        Comparison, Expectation, JsonWanted, Matcher, PathRule, Precision, ResultCount, SchemaRule,
        ValueRule,
    };

    fn path(path: &str, rule: ValueRule) -> Expectation {
        Expectation::Json(JsonWanted::JsonPath(vec![PathRule::at(path, rule)]))
    }

    fn equals(at: &str, wanted: Value) -> Expectation {
        path(at, ValueRule::Equals(wanted))
    }

    fn matchers(at: &str, matcher: Matcher) -> Expectation {
        path(at, ValueRule::Matchers(vec![matcher]))
    }

    fn schema(schema: &Value) -> Expectation {
        Expectation::Json(JsonWanted::JsonSchema(Box::new(SchemaRule {
            written: "inline".to_owned(),
            schema: mcp::json::json_schema::compile(schema).unwrap(),
        })))
    }

    fn least(bound: u64) -> Expectation {
        Expectation::Json(JsonWanted::MinResults(Box::new(ResultCount {
            bound,
            path: None,
        })))
    }

    fn most(bound: u64) -> Expectation {
        Expectation::Json(JsonWanted::MaxResults(Box::new(ResultCount {
            bound,
            path: None,
        })))
    }

    fn delta() -> Expectation {
        Expectation::Json(JsonWanted::NetDelta {
            wanted: 1.into(),
            precision: Precision::Exact,
        })
    }

    fn not(key: &'static str, inner: Expectation) -> Expectation {
        Expectation::Not(vec![(key, inner)])
    }

    /// A list as SDKs send it: a text for each item, and the whole beside.
    fn list() -> Observation {
        tool(json!({
            "content": [{"type": "text", "text": "{\n \"id\": 0\n}"}, {"type": "text", "text": "{\n \"id\": 1\n}"}],
            "structuredContent": {"result": [{"id": 0}, {"id": 1}]},
        }))
    }

    #[test]
    fn what_is_wanted_of_the_first_value_holds() {
        let positive = Matcher::Compare(Comparison::Less, 1.into());
        hold(&[
            (equals("$.id", json!(0)), list()),
            (matchers("$.id", positive), list()),
            (matchers("$.id", Matcher::Exists(true)), list()),
            (least(2), says("found\n[1, 2]\n[3]")),
            (schema(&json!({"type": "object"})), says("up\n{}\n[1] done")),
        ]);
    }

    #[test]
    fn what_must_hold_of_all_or_of_none_does_not() {
        let absent = || Matcher::Exists(false);
        let unequal = Matcher::Not(Box::new(ValueRule::Equals(json!(1))));
        let id = schema(&json!({"properties": {"id": {"const": 0}}, "required": ["id"]}));
        insta::assert_snapshot!(report(&[
            (id, list()),
            (matchers("$.error", absent()), list()),
            (matchers("$.id", unequal), list()),
            (equals("$.*", json!(0)), list()),
            (most(1), says("[1]\n[1, 2, 3]")),
            (delta(), says("{\"net_delta\": 1}\n{\"net_delta\": 2} and more")),
            (not("json_path", equals("$.id", json!(1))), list()),
            (not("json_schema", schema(&json!({"type": "array"}))), says("{}\n{}")),
            (not("min_results", least(2)), says("[1]\n[1, 2]")),
        ]), @"
        json_schema: expected JSON that satisfies the schema (inline), the text holds 2 JSON values, and only the first is looked at
          hint: `structured` looks at the whole of `structuredContent`
        json_path: expected `$.error`: nothing to be there, the text holds 2 JSON values, and only the first is looked at
          hint: `structured` looks at the whole of `structuredContent`
        json_path: expected `$.id`: not `1`, the text holds 2 JSON values, and only the first is looked at
          hint: `structured` looks at the whole of `structuredContent`
        json_path: expected `$.*`: `0`, the text holds 2 JSON values, and only the first is looked at
          hint: `structured` looks at the whole of `structuredContent`
        max_results: expected at most 1 result, the text holds 2 JSON values, and only the first is looked at
          hint: `contains` and `matches_regex` look at the whole text
        net_delta: expected the member `net_delta` to be `1`, the text holds 2 JSON values, and only the first is looked at
          hint: `contains` and `matches_regex` look at the whole text
        not: expected not `json_path` (the text to be JSON with `$.id`: `1`), the text holds 2 JSON values, and only the first is looked at
          hint: `structured` looks at the whole of `structuredContent`
        not: expected not `json_schema` (JSON that satisfies the schema (inline)), the text holds 2 JSON values, and only the first is looked at
          hint: `contains` and `matches_regex` look at the whole text
        not: expected not `min_results` (at least 2 results), the text holds 2 JSON values, and only the first is looked at
          hint: `contains` and `matches_regex` look at the whole text
        ");
    }

    #[test]
    fn what_does_not_hold_of_the_first_says_that_there_are_more() {
        insta::assert_snapshot!(report(&[
            (equals("$.id", json!(1)), list()),
            (equals("$.ids", json!(1)), says("{}\n{}")),
            (least(2), list()),
            (least(2), says("[1]\n[2]")),
            (schema(&json!({"type": "array"})), list()),
            (delta(), says("1\n2")),
        ]), @r#"
        json_path: $.id: expected `1`, found the number `0`
          hint: the text holds 2 JSON values, and this is the first; `structured` looks at the whole of `structuredContent`
        json_path: $.ids: expected `1`, nothing is there
          hint: `$` is an empty object; the text holds 2 JSON values, and this is the first; `contains` and `matches_regex` look at the whole text
        min_results: expected at least 2 results, the JSON object has no array under `locations`, `items`, `results`, `references`, `symbols`, `resources`, `prompts`, `tools`, `data` or `resourceTemplates`
          hint: the text holds 2 JSON values, and this is the first; `structured` looks at the whole of `structuredContent`
        min_results: $: expected at least 2 results, there is 1
          hint: the text holds 2 JSON values, and this is the first; `contains` and `matches_regex` look at the whole text
        json_schema: $: expected JSON that satisfies the schema (inline), {"id":0} is not of type "array"
          hint: the text holds 2 JSON values, and this is the first; `structured` looks at the whole of `structuredContent`
        net_delta: expected the member `net_delta` to be `1`, the JSON is an integer
          hint: the text holds 2 JSON values, and this is the first; `contains` and `matches_regex` look at the whole text
        "#);
    }
}
