//! The matchers of `json_path` and `structured`: `exists`, `type`, `gt` …, each with the clause that says what
//! it wants.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use crate::{
    ask::Ask,
    json::{
        list::Matched,
        near, rules,
        same::{contains_part, same},
    },
    outcome::verdict::Mismatch,
    phrase,
};
use mcp::json::number;
use suite::{
    model::expectation::{Comparison, JsonType, LengthRule, Matcher, ValueRule},
    written::Part,
};

/// What all matchers want together.
pub(super) fn clauses(matchers: &[Matcher]) -> String {
    let clauses: Vec<String> = matchers.iter().map(clause).collect();
    phrase::joined(&clauses, "and")
}

/// What a matcher wants, as a clause.
fn clause(matcher: &Matcher) -> String {
    match matcher {
        Matcher::Exists(true) => "something to be there".to_owned(),
        Matcher::Exists(false) => "nothing to be there".to_owned(),
        Matcher::Type(wanted) => type_name(*wanted).to_owned(),
        Matcher::Compare(order, bound) => format!("a number {}", bound_clause(*order, bound)),
        Matcher::Matches(pattern) => {
            format!(
                "a string that matches {}",
                phrase::quoted(pattern.written())
            )
        }
        Matcher::Contains(Value::String(part)) => {
            format!("something that contains {}", phrase::quoted(part))
        }
        Matcher::Contains(part) => format!("something that contains {}", phrase::value(part)),
        Matcher::Length(rule) => length_clause(rule),
        Matcher::OneOf(values) => {
            let values: Vec<String> = values.iter().map(phrase::value).collect();
            format!("one of {}", phrase::joined(&values, "and"))
        }
        Matcher::Equals(wanted) => phrase::value(wanted),
        Matcher::Not(rule) => match rule.as_ref() {
            ValueRule::Matchers(inner) if let [Matcher::Exists(there)] = inner[..] => {
                clause(&Matcher::Exists(!there))
            }
            rule @ (ValueRule::Equals(_) | ValueRule::Loosely(_) | ValueRule::Matchers(_)) => {
                format!("not {}", rules::clause(rule))
            }
        },
    }
}

fn type_name(wanted: JsonType) -> &'static str {
    match wanted {
        JsonType::Null => "null",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Number => "a number",
        JsonType::String => "a string",
        JsonType::Array => "an array",
        JsonType::Object => "an object",
    }
}

fn bound_clause(order: Comparison, bound: &Number) -> String {
    let words = match order {
        Comparison::Greater => "greater than",
        Comparison::AtLeast => "at least",
        Comparison::Less => "less than",
        Comparison::AtMost => "at most",
    };
    format!("{words} {}", phrase::quoted(bound.as_str()))
}

fn length_clause(rule: &LengthRule) -> String {
    match rule {
        LengthRule::Exactly(wanted) => format!("a length of {wanted}"),
        LengthRule::Within(bounds) => {
            let bounds: Vec<String> = bounds
                .iter()
                .map(|(order, bound)| bound_clause(*order, bound))
                .collect();
            format!("a length {}", phrase::joined(&bounds, "and"))
        }
    }
}

/// What is wrong with a value; `None` when the matcher holds.
pub(super) fn hold(
    matcher: &Matcher,
    value: &Value,
    among: Matched<'_>,
    key: &'static str,
) -> Option<Mismatch> {
    unlike(matcher, value, among, key).map(|mismatch| mismatch.within(Part::Member(word(matcher))))
}

/// The word by which a suite asks.
fn word(matcher: &Matcher) -> &'static str {
    match matcher {
        Matcher::Exists(_) => "exists",
        Matcher::Type(_) => "type",
        Matcher::Compare(Comparison::Greater, _) => "gt",
        Matcher::Compare(Comparison::AtLeast, _) => "ge",
        Matcher::Compare(Comparison::Less, _) => "lt",
        Matcher::Compare(Comparison::AtMost, _) => "le",
        Matcher::Matches(_) => "matches",
        Matcher::Contains(_) => "contains",
        Matcher::Length(_) => "length",
        Matcher::OneOf(_) => "one_of",
        Matcher::Equals(_) => "equals",
        Matcher::Not(_) => "not",
    }
}

fn unlike(
    matcher: &Matcher,
    value: &Value,
    among: Matched<'_>,
    key: &'static str,
) -> Option<Mismatch> {
    let ask = Ask::new(key, clause(matcher));
    let miss = |holds: bool, hint: Option<String>| {
        (!holds).then(|| Mismatch {
            actual: Some(phrase::laid_out(value)),
            hint,
            ..ask.miss(phrase::found(value))
        })
    };
    match matcher {
        Matcher::Exists(wanted) => miss(*wanted, None),
        Matcher::Type(wanted) => miss(is_of(*wanted, value), None),
        Matcher::Compare(order, bound) => miss(
            value
                .as_number()
                .is_some_and(|seen| is_within(*order, bound, seen)),
            None,
        ),
        Matcher::Matches(pattern) => miss(
            value.as_str().is_some_and(|text| pattern.is_match(text)),
            None,
        ),
        Matcher::Contains(part) => miss(contains(part, value), None),
        Matcher::Length(rule) => length(rule, value, &ask),
        Matcher::OneOf(values) => miss(
            values.iter().any(|wanted| same(wanted, value)),
            values
                .iter()
                .find_map(|wanted| near::other_type(wanted, value)),
        ),
        Matcher::Equals(wanted) if among.is(wanted) => None,
        Matcher::Equals(wanted) => rules::unequal(wanted, value, &ask),
        Matcher::Not(rule) => miss(!rules::satisfies(rule, value, among), None),
    }
}

/// Whether a value is of a type; an integer is a number too, and `1.0` an integer.
fn is_of(wanted: JsonType, value: &Value) -> bool {
    match wanted {
        JsonType::Null => value.is_null(),
        JsonType::Boolean => value.is_boolean(),
        JsonType::Integer => value.as_number().is_some_and(number::is_integer),
        JsonType::Number => value.is_number(),
        JsonType::String => value.is_string(),
        JsonType::Array => value.is_array(),
        JsonType::Object => value.is_object(),
    }
}

/// Whether a number lies on the wanted side of a bound.
fn is_within(order: Comparison, bound: &Number, seen: &Number) -> bool {
    let side = number::compare(seen, bound);
    match order {
        Comparison::Greater => side == Ordering::Greater,
        Comparison::AtLeast => side != Ordering::Less,
        Comparison::Less => side == Ordering::Less,
        Comparison::AtMost => side != Ordering::Greater,
    }
}

/// Whether a string holds a text, an array an item, an object these members.
fn contains(part: &Value, value: &Value) -> bool {
    match (value, part) {
        (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
        (Value::Array(items), part) => items.iter().any(|item| contains_part(part, item)),
        (Value::Object(_), Value::Object(_)) => contains_part(part, value),
        _ => false,
    }
}

fn length(rule: &LengthRule, value: &Value, ask: &Ask) -> Option<Mismatch> {
    let seen = match value {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            return Some(ask.miss(format!("{} has no length", phrase::kind(value))));
        }
    };
    let seen = Number::from(seen);
    let holds = match rule {
        LengthRule::Exactly(wanted) => seen == Number::from(*wanted),
        LengthRule::Within(bounds) => bounds
            .iter()
            .all(|(order, bound)| is_within(*order, bound, &seen)),
    };
    (!holds).then(|| Mismatch {
        actual: Some(phrase::laid_out(value)),
        ..ask.miss(format!("{} has a length of {seen}", phrase::kind(value)))
    })
}
