//! Rules of the outer schema that combine schemas.

use serde_json::Value;

use super::{
    Gap, Proof, Rule,
    document::{Sameness, Side},
    shape::{Part, Shape},
    type_set::Types,
    walk::{At, Walk, add, known},
};

/// The most values by which a shape is divided.
const MOST_VALUES: usize = 16;

impl<'a> Walk<'a> {
    /// `anyOf` and `oneOf`: the shape, or each part of it, must be within one branch, and for `oneOf` apart from the others.
    pub(super) fn alternatives(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let one_of = keyword == "oneOf";
        if self.is_within_one(shape, (branches, one_of), at) {
            return Vec::new();
        }
        let mut gaps = Vec::new();
        for part in divided_by_type(shape) {
            if self.is_within_one(&part, (branches, one_of), at) {
                continue;
            }
            let parts = self.divided_by_property(&part);
            if !parts.is_empty()
                && parts
                    .iter()
                    .all(|it| self.is_within_one(it, (branches, one_of), at))
            {
                continue;
            }
            for gap in self.refusals(&part, (branches, keyword), at) {
                add(gap, &mut gaps);
            }
        }
        gaps
    }

    fn is_within_one(
        &mut self,
        shape: &Shape<'a>,
        (branches, one_of): (&'a [Value], bool),
        at: &At<'_, 'a>,
    ) -> bool {
        (0..branches.len()).any(|chosen| {
            self.holds(|walk| walk.shape(shape, &branches[chosen], at))
                && (!one_of
                    || branches
                        .iter()
                        .enumerate()
                        .all(|(other, branch)| other == chosen || self.is_apart(shape, branch)))
        })
    }

    /// Whether no value of the shape conforms to a schema of the outer document.
    fn is_apart(&self, shape: &Shape<'a>, schema: &'a Value) -> bool {
        let mut shaper = self.shaper();
        let both = shaper.add(vec![shape.clone()], Part::Schema(Side::Outer, schema));
        both.is_some_and(|all| all.iter().all(|it| shaper.is_void(it)))
    }

    /// The shape once for each value of a property that tells alternatives apart.
    fn divided_by_property(&self, shape: &Shape<'a>) -> Vec<Shape<'a>> {
        if !shape.types.is_within(Types::OBJECT) {
            return Vec::new();
        }
        for name in shape.declared() {
            let Some(shapes) = self.shaper().shapes(&shape.property(name)) else {
                continue;
            };
            let values: Option<Vec<Vec<&'a Value>>> = shapes.iter().map(Shape::finite).collect();
            let values: Vec<&'a Value> = values.into_iter().flatten().flatten().collect();
            if (2..=MOST_VALUES).contains(&values.len()) {
                let absent = (!shape.required().contains(name)).then_some(None);
                let pins = values.into_iter().map(Some).chain(absent);
                return pins
                    .map(|pin| {
                        let mut part = shape.clone();
                        part.pins.push((name, pin));
                        part
                    })
                    .collect();
            }
        }
        Vec::new()
    }

    /// Why none of the branches takes the shape: what the first of the branches says that has a witness against all.
    fn refusals(
        &mut self,
        shape: &Shape<'a>,
        (branches, keyword): (&'a [Value], &str),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let alike = branches.iter().filter(|it| !self.is_apart(shape, it));
        let alike: Vec<&'a Value> = alike.collect();
        for branch in &alike {
            let mut gaps = self.shape(shape, branch, at);
            if alike.len() > 1 {
                gaps.retain(|it| matches!(it.proof, Proof::Witness(_)));
            }
            if !gaps.is_empty() {
                return gaps;
            }
        }
        let values = self.samples(shape);
        vec![self.gap(at, Rule::Keyword(known(keyword)), (None, None), values)]
    }

    /// `not`.
    pub(super) fn negation(
        &mut self,
        shape: &Shape<'a>,
        value: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        if self.is_apart(shape, value) {
            return Vec::new();
        }
        let sampler = self.sampler();
        let both = self
            .shaper()
            .add(vec![shape.clone()], Part::Schema(Side::Outer, value));
        let both = both.unwrap_or_default();
        let mut values: Vec<Value> = both.iter().flat_map(|it| sampler.of_shape(it)).collect();
        values.extend(sampler.of_shape(shape));
        vec![self.gap(at, Rule::Keyword("not"), (None, None), values)]
    }

    /// `if` with `then` and `else`.
    pub(super) fn condition(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let words = ["if", "then", "else"];
        let is_alike = |(side, rule): &(Side, &'a Value)| {
            words.iter().all(|it| match (rule.get(it), outer.get(it)) {
                (None, None) => true,
                (Some(own), Some(wanted)) => {
                    Sameness::new(&self.documents).keyword(it, (*side, own), (Side::Outer, wanted))
                }
                (Some(_), None) | (None, Some(_)) => false,
            })
        };
        if shape.rules.iter().any(is_alike) {
            return Vec::new();
        }
        let results = ["then", "else"].iter().filter_map(|it| outer.get(it));
        let results: Vec<&'a Value> = results.collect();
        if results
            .iter()
            .all(|it| self.holds(|walk| walk.shape(shape, it, at)))
        {
            return Vec::new();
        }
        let values = self.samples(shape);
        vec![self.gap(at, Rule::Keyword("if"), (None, None), values)]
    }
}

/// The shape once for each of its types.
fn divided_by_type<'a>(shape: &Shape<'a>) -> Vec<Shape<'a>> {
    let each = shape.types.each();
    each.map(|it| shape.of_types(it)).collect()
}
