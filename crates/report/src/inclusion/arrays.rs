//! Rules of arrays.

use serde_json::Value;

use super::{
    Gap, Rule,
    document::{Sameness, Side},
    shape::{Shape, count, of_item, positions},
    walk::{At, Walk, add, known, said, shown, unproven},
};

/// Items of the longest array that is made.
const LONGEST: u64 = 50;

/// Positions that are compared.
const MOST_POSITIONS: usize = 64;

impl<'a> Walk<'a> {
    /// A rule of the outer schema for arrays.
    pub(super) fn array(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        (keyword, value): (&'a str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let rule = Rule::Keyword(known(keyword));
        let is_met = match (keyword, count(value)) {
            // Both are compared at once, with the first of them.
            ("items", _) if outer.get("prefixItems").is_some() => true,
            ("items" | "prefixItems", _) => return self.items(shape, outer, at),
            ("minItems", Some(wanted)) => shape.least(keyword) >= wanted,
            ("maxItems", Some(wanted)) => shape.most(keyword).is_some_and(|own| own <= wanted),
            ("uniqueItems", _) => {
                *value != Value::Bool(true) || shape.most("maxItems").is_some_and(|it| it <= 1)
            }
            ("contains", _) => self.contains_alike(shape, outer),
            ("unevaluatedItems", _) if *value == Value::Bool(true) => true,
            ("unevaluatedItems", _) => {
                return vec![unproven(at, rule, "it is not compared")];
            }
            _ => false,
        };
        if is_met {
            return Vec::new();
        }
        let sampler = self.sampler();
        let mut values = Vec::new();
        let lengths = match (keyword, count(value)) {
            ("minItems", Some(wanted)) => vec![wanted.saturating_sub(1), shape.least(keyword)],
            ("maxItems", Some(wanted)) => vec![wanted.saturating_add(1)],
            ("uniqueItems", _) => vec![2],
            _ => Vec::new(),
        };
        for length in lengths {
            let length = usize::try_from(length.min(LONGEST)).unwrap_or_default();
            values.push(sampler.array_of(shape, length));
        }
        values.extend(sampler.of_shape(shape));
        let told = (said(shape, keyword), Some(shown(value)));
        vec![self.gap(at, rule, told, values)]
    }

    /// Compares the items, position by position, then those behind.
    fn items(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let single = shape.positions().max(positions(outer).len());
        if single > MOST_POSITIONS {
            let reason = "it has too many positions";
            return vec![unproven(at, Rule::Keyword("prefixItems"), reason)];
        }
        let most = shape.most("maxItems");
        let is_there =
            |place: usize| most.is_none_or(|most| u64::try_from(place).is_ok_and(|it| it < most));
        let places = (0..single).map(Some).chain([None]);
        let mut gaps = Vec::new();
        for place in places.filter(|it| is_there(it.unwrap_or(single))) {
            let Some(wanted) = of_item(outer, place) else {
                continue;
            };
            let inner = shape.item(place);
            if self.is_void(&inner) {
                continue;
            }
            let inside = at.item(shape, place.unwrap_or(single));
            for gap in self.included(&inner, wanted, &inside) {
                add(gap, &mut gaps);
            }
        }
        gaps
    }

    /// Whether a rule of the shape asks for the same items.
    fn contains_alike(&self, shape: &Shape<'a>, outer: &'a Value) -> bool {
        let is_alike = |side: Side, rule: &'a Value| {
            ["contains", "minContains", "maxContains"].iter().all(|it| {
                match (rule.get(it), outer.get(it)) {
                    (None, None) => true,
                    (Some(own), Some(wanted)) => Sameness::new(&self.documents).keyword(
                        it,
                        (side, own),
                        (Side::Outer, wanted),
                    ),
                    (Some(_), None) | (None, Some(_)) => false,
                }
            })
        };
        let may_lack = outer.get("minContains").and_then(count) == Some(0);
        may_lack && outer.get("maxContains").is_none()
            || shape.rules.iter().any(|(side, rule)| is_alike(*side, rule))
    }
}
