//! The limits of a schema (least and greatest numbers and lengths, steps, formats) before and now: which of them
//! became tighter.

use serde_json::Value;

use super::{
    plain::meaning,
    schema::Effect,
    view::{shown, types},
};

/// Which end of a range a limit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
}

/// Limits of one keyword each.
const COUNTS: [(&str, Side); 6] = [
    ("minLength", Side::Lower),
    ("minItems", Side::Lower),
    ("minProperties", Side::Lower),
    ("maxLength", Side::Upper),
    ("maxItems", Side::Upper),
    ("maxProperties", Side::Upper),
];

/// Keywords that either hold or do not: a new one narrows, one that went widens.
const RULES: [&str; 23] = [
    "pattern",
    "format",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "patternProperties",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "additionalItems",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "$dynamicRef",
    "$ref",
    "allOf",
];

/// What changed in the limits, as effect and words.
pub(super) fn compare(old: &Value, new: &Value) -> Vec<(Effect, String)> {
    let mut found = Vec::new();
    for (side, inclusive, exclusive) in [
        (Side::Lower, "minimum", "exclusiveMinimum"),
        (Side::Upper, "maximum", "exclusiveMaximum"),
    ] {
        let of = |schema| bound(schema, side, inclusive, exclusive);
        found.extend(moved(inclusive, side, of(old), of(new)));
    }
    for (keyword, side) in COUNTS {
        let count = |schema: &Value| {
            // At least none is what holds anyway.
            let number = number(schema, keyword).filter(|it| side == Side::Upper || *it > 0.0);
            number.map(|value| Bound { value, open: false })
        };
        found.extend(moved(keyword, side, count(old), count(new)));
    }
    found.extend(steps(old, new));
    let unique = |schema: &Value| {
        let unique = schema.get("uniqueItems");
        unique.filter(|it| **it == Value::Bool(true)).map(shown)
    };
    if unique(old) != unique(new) {
        found.extend(told("uniqueItems", unique(old), unique(new), Effect::Both));
    }
    for rule in RULES {
        let (before, now) = (old.get(rule), new.get(rule));
        if before.map(meaning) != now.map(meaning) {
            found.extend(told(rule, before.map(shown), now.map(shown), Effect::Both));
        }
    }
    let further = |schema: &Value| schema.get("anyOf").and(schema.get("oneOf")).map(meaning);
    if further(old) != further(new) {
        let what = "what holds beside its alternatives changed".to_owned();
        found.push((Effect::Both, what));
    }
    found
}

/// How a keyword changed; one that is there before and now has its own effect.
fn told(
    keyword: &str,
    before: Option<String>,
    now: Option<String>,
    effect: Effect,
) -> Option<(Effect, String)> {
    match (before, now) {
        (None, None) => None,
        (None, Some(now)) => Some((Effect::Narrowed, format!("`{keyword}` {now} was added"))),
        (Some(before), None) => {
            Some((Effect::Widened, format!("`{keyword}` {before} was removed")))
        }
        (Some(before), Some(now)) => Some((
            effect,
            format!("`{keyword}` changed from {before} to {now}"),
        )),
    }
}

/// The end of a range; open: the value itself is outside.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    value: f64,
    open: bool,
}

/// The tighter of the two keywords; for whole numbers `> 0` is `≥ 1`.
fn bound(schema: &Value, side: Side, inclusive: &str, exclusive: &str) -> Option<Bound> {
    let closed = number(schema, inclusive);
    // Draft 4 says with `true` that the other keyword excludes.
    if schema.get(exclusive) == Some(&Value::Bool(true)) {
        return closed.map(|value| Bound { value, open: true });
    }
    let step = if side == Side::Lower { 1.0 } else { -1.0 };
    let whole = types(schema).as_deref() == Some(&["integer"]);
    let open = number(schema, exclusive).map(|value| {
        if whole && value.fract() == 0.0 {
            Bound {
                value: value + step,
                open: false,
            }
        } else {
            Bound { value, open: true }
        }
    });
    let closed = closed.map(|value| Bound { value, open: false });
    match (closed, open) {
        (Some(closed), Some(open)) if tighter(side, closed, open) => Some(closed),
        (closed, open) => open.or(closed),
    }
}

fn tighter(side: Side, one: Bound, other: Bound) -> bool {
    let further = match side {
        Side::Lower => one.value > other.value,
        Side::Upper => one.value < other.value,
    };
    #[expect(clippy::float_cmp, reason = "both are as written")]
    let equal = one.value == other.value;
    further || equal && one.open && !other.open
}

fn moved(
    keyword: &str,
    side: Side,
    before: Option<Bound>,
    now: Option<Bound>,
) -> Option<(Effect, String)> {
    if before == now {
        return None;
    }
    let is_tighter = before
        .zip(now)
        .is_some_and(|(old, new)| tighter(side, new, old));
    let effect = if is_tighter {
        Effect::Narrowed
    } else {
        Effect::Widened
    };
    let words = |bound: Bound| {
        let open = if bound.open { " (excluded)" } else { "" };
        format!("{}{open}", bound.value)
    };
    told(keyword, before.map(words), now.map(words), effect)
}

fn steps(old: &Value, new: &Value) -> Option<(Effect, String)> {
    let (before, now) = (number(old, "multipleOf"), number(new, "multipleOf"));
    if before == now {
        return None;
    }
    let divides = |one: Option<f64>, other: Option<f64>| {
        one.zip(other)
            .is_some_and(|(one, other)| (other % one).abs() < f64::EPSILON)
    };
    let effect = if divides(before, now) {
        Effect::Narrowed
    } else if divides(now, before) {
        Effect::Widened
    } else {
        Effect::Both
    };
    let words = |step: f64| step.to_string();
    told("multipleOf", before.map(words), now.map(words), effect)
}

/// The number of a keyword.
fn number(schema: &Value, keyword: &str) -> Option<f64> {
    schema.get(keyword)?.as_f64().filter(|it| it.is_finite())
}
