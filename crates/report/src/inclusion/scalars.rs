//! Rules of numbers and strings.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::{
    Gap, Rule,
    shape::{Bound, Shape, count},
    type_set::Types,
    walk::{At, Walk, known, said, shown, unproven},
};
use mcp::json::number;

/// Characters of the longest text that is made.
const LONGEST_TEXT: u64 = 300;

impl<'a> Walk<'a> {
    /// A rule of the outer schema for numbers.
    pub(super) fn number(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let rule = Rule::Keyword(known(keyword));
        let told = (said(shape, keyword), Some(shown(value)));
        if keyword == "multipleOf" {
            if shape.all(keyword).any(|own| is_multiple(own, value)) || is_one(shape, value) {
                return Vec::new();
            }
            let values = self.samples(shape);
            return vec![self.gap(at, rule, told, values)];
        }
        let tighter = match keyword {
            "minimum" | "exclusiveMinimum" => Ordering::Greater,
            _ => Ordering::Less,
        };
        let Some(wanted) = Bound::new(value, keyword.starts_with("exclusive")) else {
            return vec![unproven(at, rule, "it is not a number")];
        };
        let is_whole = !shape.types.has(Types::FRACTION);
        let wanted = if is_whole {
            wanted.whole(tighter)
        } else {
            wanted
        };
        let own = shape.bound(tighter);
        if own.is_some_and(|own| !wanted.is_tighter(&own, tighter)) {
            return Vec::new();
        }
        // The nearest numbers that are refused come first.
        let beyond = if tighter == Ordering::Greater {
            [0, -1, -2]
        } else {
            [0, 1, 2]
        };
        let near = beyond.iter().filter_map(|it| plus(&wanted.number, *it));
        let mut values: Vec<Value> = near.map(Value::Number).collect();
        if !is_whole {
            let half = wanted.number.as_f64().and_then(|it| {
                let step = if tighter == Ordering::Greater {
                    -0.5
                } else {
                    0.5
                };
                Number::from_f64(it + step)
            });
            values.extend(half.map(Value::Number));
        }
        values.extend(self.samples(shape));
        vec![self.gap(at, rule, told, values)]
    }

    /// A rule of the outer schema for strings.
    pub(super) fn string(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let rule = Rule::Keyword(known(keyword));
        let mut values = self.samples(shape);
        match (keyword, count(value)) {
            ("minLength", Some(wanted)) => {
                if shape.least(keyword) >= wanted {
                    return Vec::new();
                }
                let short = [shape.least(keyword), wanted - 1].into_iter();
                let short = short.filter_map(|it| text_of(it, &values));
                values = short.chain(values.clone()).collect();
            }
            ("maxLength", Some(wanted)) => {
                let own = shape.most(keyword);
                if own.is_some_and(|own| own <= wanted) {
                    return Vec::new();
                }
                let long = [Some(wanted + 1), own].into_iter().flatten();
                let long = long.filter_map(|it| text_of(it, &values));
                values = long.chain(values.clone()).collect();
            }
            _ => {}
        }
        let told = (said(shape, keyword), Some(shown(value)));
        vec![self.gap(at, rule, told, values)]
    }
}

/// Whether every number of the shape is a multiple because it is whole.
fn is_one(shape: &Shape<'_>, value: &Value) -> bool {
    !shape.types.has(Types::FRACTION) && is_multiple(&Value::from(1), value)
}

/// A text of so many characters, if possible one that begins like a known one.
fn text_of(length: u64, known: &[Value]) -> Option<Value> {
    let length = usize::try_from(length.min(LONGEST_TEXT)).ok()?;
    let like = known.first().and_then(Value::as_str).unwrap_or_default();
    let like = like.chars().chain(std::iter::repeat('a'));
    Some(like.take(length).collect::<String>().into())
}

/// Whether multiples of one number are multiples of another one.
fn is_multiple(of: &Value, factor: &Value) -> bool {
    let whole = |value: &Value| number::digits(value.as_number()?)?.parse::<i128>().ok();
    match (whole(of), whole(factor)) {
        (Some(of), Some(factor)) if factor != 0 => of % factor == 0,
        _ => false,
    }
}

/// A number without its fraction.
pub(super) fn cut(number: &Number) -> Option<i128> {
    let text = number::digits(number).unwrap_or_else(|| number::truncated(number).to_string());
    text.parse().ok()
}

/// A number without its fraction and with so much added.
pub(super) fn plus(number: &Number, step: i128) -> Option<Number> {
    serde_json::from_str(&cut(number)?.checked_add(step)?.to_string()).ok()
}

/// The most whole numbers of a range that are listed.
const LONGEST_RANGE: i128 = 64;

/// All values of a shape of few whole numbers.
pub(super) fn whole_range(shape: &Shape<'_>) -> Option<Vec<Value>> {
    if !shape.types.is_within(Types::INTEGER) {
        return None;
    }
    let bound = |tighter| cut(&shape.bound(tighter)?.number);
    let (low, high) = (bound(Ordering::Greater)?, bound(Ordering::Less)?);
    let is_short = high.checked_sub(low).is_some_and(|it| it < LONGEST_RANGE);
    let numbers = || (low..=high).filter_map(|it| serde_json::from_str(&it.to_string()).ok());
    is_short.then(|| numbers().collect())
}
