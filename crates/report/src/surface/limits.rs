//! The keywords of a schema that limit a value beside its type, its values and its members: what changed in them, and
//! whether fewer values are valid now.

use serde_json::Value;

use super::{plain::meaning, schema::Effect, view::shown};

/// Numeric keywords for which a greater number allows fewer values.
const LEAST: &str = "minimum exclusiveMinimum minLength minItems minProperties";

/// Numeric keywords for which a smaller number allows fewer values.
const MOST: &str = "maximum exclusiveMaximum maxLength maxItems maxProperties";

/// Keywords that restrict values: adding one narrows, and the effect of changing one is unknown.
const RULES: &str = "pattern format multipleOf uniqueItems not if then else contains minContains maxContains \
    propertyNames patternProperties dependencies dependentRequired dependentSchemas prefixItems additionalItems \
    unevaluatedItems unevaluatedProperties contentEncoding contentMediaType contentSchema $dynamicRef $ref allOf";

/// What changed in the limits, as effect and words.
pub(super) fn compare(old: &Value, new: &Value) -> Vec<(Effect, String)> {
    let greater = LEAST.split_whitespace().map(|it| (it, Effect::Narrowed));
    let smaller = MOST.split_whitespace().map(|it| (it, Effect::Widened));
    let rules = RULES.split_whitespace().map(|it| (it, Effect::Both));
    let mut found = Vec::new();
    for (keyword, of_greater) in greater.chain(smaller).chain(rules) {
        let (before, now) = (old.get(keyword), new.get(keyword));
        if before.map(meaning) != now.map(meaning) {
            let effect = effect(before, now, of_greater);
            found.push((effect, told(keyword, before, now)));
        }
    }
    let further = |schema: &Value| schema.get("anyOf").and(schema.get("oneOf")).map(meaning);
    if further(old) != further(new) {
        let what = "what holds beside its alternatives changed".to_owned();
        found.push((Effect::Both, what));
    }
    found
}

/// What a change of a keyword does, given what a greater number does.
fn effect(before: Option<&Value>, now: Option<&Value>, of_greater: Effect) -> Effect {
    let number = |value: Option<&Value>| value.and_then(Value::as_f64);
    match (before, now, of_greater) {
        (None, _, _) => Effect::Narrowed,
        (_, None, _) => Effect::Widened,
        (_, _, Effect::Both | Effect::None) => Effect::Both,
        (_, _, Effect::Narrowed | Effect::Widened) => match (number(before), number(now)) {
            (Some(before), Some(now)) if now > before => of_greater,
            (Some(_), Some(_)) => of_greater.opposite(),
            (_, _) => Effect::Both,
        },
    }
}

/// How a keyword changed.
pub(super) fn told(keyword: &str, before: Option<&Value>, now: Option<&Value>) -> String {
    match (before.map(shown), now.map(shown)) {
        (None, now) => format!("`{keyword}` {} was added", now.unwrap_or_default()),
        (Some(before), None) => format!("`{keyword}` {before} was removed"),
        (Some(before), Some(now)) => format!("`{keyword}` changed from {before} to {now}"),
    }
}
