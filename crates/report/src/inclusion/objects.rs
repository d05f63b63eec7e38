//! Rules of objects.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    Gap, Rule,
    sample::{OTHER_NAME, like},
    shape::{Extra, NOTHING, Part, Shape, count, is_map, of_property, patterns},
    walk::{At, Walk, add, known, said, shown, unproven},
    witness,
};

impl<'a> Walk<'a> {
    /// A rule of the outer schema for objects.
    pub(super) fn object(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        (keyword, value): (&'a str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        match keyword {
            "properties" => self.properties(shape, value, at),
            "patternProperties" => self.pattern_properties(shape, outer, at),
            "additionalProperties" => self.additional(shape, outer, value, at),
            "required" => self.required(shape, value, at),
            "minProperties" | "maxProperties" => self.sizes(shape, (keyword, value), at),
            "propertyNames" => self.names(shape, value, at),
            "unevaluatedProperties" => self.unevaluated(shape, outer, value, at),
            _ => self.dependent(shape, (keyword, value), at),
        }
    }

    fn properties(&mut self, shape: &Shape<'a>, value: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let declared = names(shape);
        let mut gaps = Vec::new();
        for (name, schema) in value.as_object().into_iter().flatten() {
            if self.is_spent() {
                let why = "it is too large to be compared";
                gaps.push(unproven(at, Rule::Keyword("properties"), why));
                break;
            }
            if declared.contains(name.as_str()) || !shape.property(name).is_empty() {
                self.property(shape, name, schema, (at, &mut gaps));
            }
        }
        gaps
    }

    /// Compares one property, unless no value can have it.
    fn property(
        &mut self,
        shape: &Shape<'a>,
        name: &str,
        schema: &'a Value,
        (at, gaps): (&At<'_, 'a>, &mut Vec<Gap>),
    ) {
        let inner = shape.property(name);
        if self.is_void(&inner) {
            return;
        }
        for gap in self.included(&inner, schema, &at.property(shape, name)) {
            add(gap, gaps);
        }
    }

    fn pattern_properties(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for (pattern, schema) in patterns(outer) {
            for name in names(shape) {
                match witness::matches(pattern, name) {
                    Some(true) => self.property(shape, name, schema, (at, &mut gaps)),
                    Some(false) => {}
                    None => {
                        let rule = Rule::Keyword("patternProperties");
                        gaps.push(unproven(at, rule, "the pattern is not decided"));
                    }
                }
            }
            for other in others(shape) {
                self.others_in(shape, &other, schema, (at, &mut gaps));
            }
        }
        gaps
    }

    /// Compares the properties that are declared without a name.
    fn others_in(
        &mut self,
        shape: &Shape<'a>,
        (pattern, parts): &(Option<&'a str>, Vec<Part<'a>>),
        schema: &'a Value,
        (at, gaps): (&At<'_, 'a>, &mut Vec<Gap>),
    ) {
        let name = pattern.and_then(|it| like(it, 0));
        let at = at.others(shape, name.as_deref().unwrap_or(OTHER_NAME));
        for gap in self.included(parts, schema, &at) {
            add(gap, gaps);
        }
    }

    fn additional(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        value: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let mut gaps = Vec::new();
        for name in names(shape) {
            let is_own = outer
                .get("properties")
                .is_some_and(|all| all.get(name).is_some());
            let mut matched = patterns(outer).map(|(pattern, _)| witness::matches(pattern, name));
            if is_own || matched.any(|it| it == Some(true)) {
                continue;
            }
            let mut found = Vec::new();
            self.property(shape, name, value, (at, &mut found));
            for mut gap in found {
                if *value == NOTHING {
                    gap.rule = Rule::Undeclared;
                }
                add(gap, &mut gaps);
            }
        }
        for other in others(shape) {
            let mut matched = patterns(outer).map(|(pattern, _)| Some(pattern));
            if other.0.is_none() || matched.all(|it| it != other.0) {
                self.others_in(shape, &other, value, (at, &mut gaps));
            }
        }
        let limits = *value == NOTHING || is_map(value);
        if limits && matches!(shape.extra(), Extra::Open) {
            gaps.push(unproven(
                at,
                Rule::Closed,
                "no schema declares these properties",
            ));
        }
        gaps
    }

    fn required(&mut self, shape: &Shape<'a>, value: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let own = shape.required();
        let wanted = value.as_array().into_iter().flatten();
        let missing = wanted
            .filter_map(Value::as_str)
            .filter(|it| !own.contains(it));
        let missing: Vec<&str> = missing.collect();
        let mut gaps = Vec::new();
        for name in missing {
            let sampler = self.sampler();
            let without = [false, true].map(|is_full| sampler.object_without(shape, name, is_full));
            let path = at.property(shape, name).path;
            let mut gap = self.gap(at, Rule::Required, (None, None), without.into());
            gap.path = path;
            gaps.push(gap);
        }
        gaps
    }

    fn sizes(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let Some(wanted) = count(value) else {
            return vec![unproven(
                at,
                Rule::Keyword(known(keyword)),
                "it is not a count",
            )];
        };
        let size = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let is_met = if keyword == "minProperties" {
            shape.least(keyword).max(size(shape.required().len())) >= wanted
        } else {
            let declared = size(names(shape).len());
            let has_others = !others(shape).is_empty();
            let most = shape.most(keyword).into_iter();
            let most = most.chain((!has_others).then_some(declared)).min();
            most.is_some_and(|most| most <= wanted)
        };
        if is_met {
            return Vec::new();
        }
        let told = (said(shape, keyword), Some(shown(value)));
        let values = self.samples(shape);
        vec![self.gap(at, Rule::Keyword(known(keyword)), told, values)]
    }

    fn names(&mut self, shape: &Shape<'a>, value: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let names: Vec<Value> = names(shape).into_iter().map(Value::from).collect();
        let listed: Vec<&Value> = names.iter().collect();
        let refused = witness::refused(&self.documents.outer, value, &listed);
        if others(shape).is_empty() && refused.as_ref().is_some_and(Vec::is_empty) {
            return Vec::new();
        }
        let values = self.samples(shape);
        vec![self.gap(at, Rule::Keyword("propertyNames"), (None, None), values)]
    }

    fn unevaluated(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        value: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        if *value == Value::Bool(true) {
            return Vec::new();
        }
        let rule = Rule::Keyword("unevaluatedProperties");
        let told = (None, Some(shown(value)));
        let is_open = matches!(shape.extra(), Extra::Open);
        let mut gaps = Vec::new();
        if is_open {
            gaps.push(unproven(
                at,
                Rule::Closed,
                "no schema declares these properties",
            ));
        }
        let unknown = names(shape)
            .into_iter()
            .filter(|name| !self.evaluates(outer, name, 0));
        let unknown = unknown.count();
        if unknown > 0 || !others(shape).is_empty() {
            let values = self.samples(shape);
            gaps.push(self.gap(at, rule, told, values));
        }
        gaps
    }

    /// Whether a schema of the outer document declares a property, whatever the value.
    fn evaluates(&self, schema: &'a Value, name: &str, depth: usize) -> bool {
        if depth > 8 {
            return false;
        }
        let all = schema.get("allOf").and_then(Value::as_array);
        let reference = self.documents.outer.reference(schema);
        let mut inside = all.into_iter().flatten().chain(reference);
        of_property(schema, name).next().is_some()
            || inside.any(|it| self.evaluates(it, name, depth + 1))
    }

    fn dependent(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let own = shape.required();
        let known_names = names(shape);
        let has_others = !others(shape).is_empty();
        let is_met = |(name, wanted): (&String, &Value)| {
            let may_be = known_names.contains(name.as_str()) || has_others;
            let has = |it: &Value| it.as_str().is_some_and(|it| own.contains(it));
            !may_be || wanted.as_array().is_some_and(|all| all.iter().all(has))
        };
        if value.as_object().into_iter().flatten().all(is_met) {
            return Vec::new();
        }
        let sampler = self.sampler();
        let mut values = sampler.of_shape(shape);
        let wanted = value.as_object().into_iter().flatten();
        let lone = wanted.map(|(name, _)| sampler.object_having(shape, name));
        values.extend(lone);
        let told = (said(shape, keyword), Some(shown(value)));
        vec![self.gap(at, Rule::Keyword(known(keyword)), told, values)]
    }
}

/// The names that values of a shape are known to have: declared or required.
fn names<'a>(shape: &Shape<'a>) -> BTreeSet<&'a str> {
    let mut names = shape.declared();
    names.extend(shape.required());
    names
}

/// What is declared of properties without naming them: for each pattern, and for all others.
fn others<'a>(shape: &Shape<'a>) -> Vec<(Option<&'a str>, Vec<Part<'a>>)> {
    let rules = shape.rules.iter();
    let by_pattern = rules.flat_map(|(side, rule)| {
        patterns(rule).map(|(pattern, it)| (Some(pattern), vec![Part::Schema(*side, it)]))
    });
    let map = match shape.extra() {
        Extra::Map(parts) => Some((None, parts)),
        Extra::Open | Extra::Closed => None,
    };
    by_pattern.chain(map).collect()
}
