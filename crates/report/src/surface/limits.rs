//! The limits of a schema (least and greatest numbers and lengths, steps, formats) before and now: which of them
//! became tighter.

use serde_json::Value;

use super::{
    schema::Effect,
    view::{View, shown},
};

/// A limit with the word for it.
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
const RULES: [&str; 22] = [
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
];

/// Keywords that are compared one by one in the first layer that has them; what the others say holds beside.
const LAYERED: [&str; 6] = [
    "type",
    "enum",
    "const",
    "items",
    "prefixItems",
    "additionalProperties",
];

/// What changed in the limits, as effect and words.
pub(super) fn compare(old: &View<'_>, new: &View<'_>) -> Vec<(Effect, String)> {
    let mut found = Vec::new();
    for (side, inclusive, exclusive) in [
        (Side::Lower, "minimum", "exclusiveMinimum"),
        (Side::Upper, "maximum", "exclusiveMaximum"),
    ] {
        let before = bound(old, side, inclusive, exclusive);
        let now = bound(new, side, inclusive, exclusive);
        found.extend(moved(inclusive, side, before, now));
    }
    for (keyword, side) in COUNTS {
        let count = |view: &View<'_>| {
            let number = tightest(view, side, keyword);
            // At least none is what holds anyway.
            number.filter(|it| side == Side::Upper || *it > 0.0)
        };
        let at = |value: f64| Bound { value, open: false };
        found.extend(moved(keyword, side, count(old).map(at), count(new).map(at)));
    }
    found.extend(steps(old, new));
    let unique = |view: &View<'_>| view.get("uniqueItems") == Some(&Value::Bool(true));
    match (unique(old), unique(new)) {
        (false, true) => found.push((Effect::Narrowed, "its items must be unique now".to_owned())),
        (true, false) => found.push((
            Effect::Widened,
            "its items need not be unique any more".to_owned(),
        )),
        (true, true) | (false, false) => {}
    }
    found.extend(RULES.into_iter().filter_map(|rule| changed(rule, old, new)));
    for keyword in LAYERED {
        let further = |view: &View<'_>| {
            Some(
                view.meanings(keyword)?
                    .split_off(1.min(view.all(keyword).count())),
            )
        };
        if further(old) != further(new) {
            found.push((
                Effect::Both,
                format!("what holds for `{keyword}` beside it changed"),
            ));
        }
    }
    if old.further_alternatives() != new.further_alternatives() {
        let what = "what holds beside its alternatives changed".to_owned();
        found.push((Effect::Both, what));
    }
    found
}

/// How a rule changed: by what it means, not by how it is written.
fn changed(keyword: &str, old: &View<'_>, new: &View<'_>) -> Option<(Effect, String)> {
    let (before, now) = (old.get(keyword), new.get(keyword));
    match (before, now, old.meanings(keyword), new.meanings(keyword)) {
        (None, None, _, _) => None,
        (None, Some(now), _, _) => Some((
            Effect::Narrowed,
            format!("`{keyword}` {} was added", shown(now)),
        )),
        (Some(before), None, _, _) => Some((
            Effect::Widened,
            format!("`{keyword}` {} was removed", shown(before)),
        )),
        (Some(_), Some(_), Some(before), Some(now)) if before == now => None,
        (Some(before), Some(now), _, _) if before == now => Some((
            Effect::Both,
            format!("what `{keyword}` {} leads to changed", shown(now)),
        )),
        (Some(before), Some(now), _, _) => Some((
            Effect::Both,
            format!(
                "`{keyword}` changed from {} to {}",
                shown(before),
                shown(now)
            ),
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
fn bound(view: &View<'_>, side: Side, inclusive: &str, exclusive: &str) -> Option<Bound> {
    let closed = tightest(view, side, inclusive);
    // Draft 4 says with `true` that the other keyword excludes.
    if view.get(exclusive) == Some(&Value::Bool(true)) {
        return closed.map(|value| Bound { value, open: true });
    }
    let open = tightest(view, side, exclusive);
    let step = if side == Side::Lower { 1.0 } else { -1.0 };
    let whole = view.types().as_deref() == Some(&["integer"]);
    let open = open.map(|value| {
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

/// The number of a keyword; of several layers that have one, the tightest.
fn tightest(view: &View<'_>, side: Side, keyword: &str) -> Option<f64> {
    let numbers = view.all(keyword).filter_map(number);
    match side {
        Side::Lower => numbers.reduce(f64::max),
        Side::Upper => numbers.reduce(f64::min),
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
    let words = |bound: Bound| {
        let open = if bound.open { " (excluded)" } else { "" };
        format!("{}{open}", bound.value)
    };
    match (before, now) {
        (None, Some(now)) => Some((
            Effect::Narrowed,
            format!("`{keyword}` {} was added", words(now)),
        )),
        (Some(before), None) => Some((
            Effect::Widened,
            format!("`{keyword}` {} was removed", words(before)),
        )),
        (Some(before), Some(now)) if before != now => {
            let effect = if tighter(side, now, before) {
                Effect::Narrowed
            } else {
                Effect::Widened
            };
            let text = format!(
                "`{keyword}` changed from {} to {}",
                words(before),
                words(now)
            );
            Some((effect, text))
        }
        (Some(_), Some(_)) | (None, None) => None,
    }
}

fn steps(old: &View<'_>, new: &View<'_>) -> Option<(Effect, String)> {
    let step = |view: &View<'_>| view.get("multipleOf").and_then(number);
    let (before, now) = (step(old), step(new));
    let effect = match (before, now) {
        (None, Some(_)) => Effect::Narrowed,
        (Some(_), None) => Effect::Widened,
        (Some(before), Some(now)) if (before - now).abs() > f64::EPSILON => {
            if (now % before).abs() < f64::EPSILON {
                Effect::Narrowed
            } else if (before % now).abs() < f64::EPSILON {
                Effect::Widened
            } else {
                Effect::Both
            }
        }
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let words = |step: Option<f64>| step.map_or("none".to_owned(), |it| it.to_string());
    let text = format!(
        "`multipleOf` changed from {} to {}",
        words(before),
        words(now)
    );
    Some((effect, text))
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|it| it.is_finite())
}
