//! The keywords of the outer schema, each against a shape.

use serde_json::Value;

use super::{
    Gap, Proof, Rule,
    document::{Part, Side, schemas},
    sample::{OTHER_NAME, Which, like},
    shape::{
        Bound, Extra, NOTHING, Shape, TEXT, count, is_map, of_item, of_property, patterns,
        positions,
    },
    type_set::Types,
    walk::{At, Step, TOO_LARGE, Walk, merged, shown_all, unproven},
    witness,
};
use mcp::json::number;

/// Positions that are compared.
const MOST_POSITIONS: usize = 64;

/// The keywords of numbers that are compared.
const OF_NUMBERS: &str = "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf";

/// Those of texts.
const OF_TEXTS: &str = "minLength maxLength pattern format contentEncoding contentMediaType";

/// Those of lists.
const OF_LISTS: &str = "items prefixItems minItems maxItems uniqueItems contains unevaluatedItems";

/// Those of objects.
const OF_OBJECTS: &str = "properties patternProperties additionalProperties required minProperties maxProperties \
    propertyNames unevaluatedProperties dependentRequired dependentSchemas dependencies";

/// Those of all values.
const OF_ALL: &str = "enum const allOf anyOf oneOf not if $dynamicRef $recursiveRef";

/// Keywords that mean something only together.
const TOGETHER: [&[&str]; 4] = [
    &["if", "then", "else"],
    &["contains", "minContains", "maxContains"],
    &["properties", "patternProperties", "additionalProperties"],
    &["prefixItems", "items", "additionalItems"],
];

/// What only together with all other keywords says something.
const UNEVALUATED: [&str; 2] = ["unevaluatedItems", "unevaluatedProperties"];

/// Schemas within schemas in which a property may be declared.
const DEEPEST: usize = 8;

impl<'a> Walk<'a> {
    /// What one keyword of the outer schema refuses.
    pub(super) fn keyword(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        (keyword, value): (&'a str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let known = known(keyword).filter(|(types, _)| shape.types.has(*types));
        let is_new = |(_, keyword): &(Types, &str)| {
            let together = TOGETHER.into_iter().find(|it| it.contains(keyword));
            let together = together.unwrap_or(std::slice::from_ref(keyword));
            let mut before = together.iter().take_while(|it| *it != keyword);
            !before.any(|it| outer.get(it).is_some()) && !self.say_already(shape, together, outer)
        };
        let Some((types, keyword)) = known.filter(is_new) else {
            return Vec::new();
        };
        let shape = &shape.of_types(types);
        let rule = Rule::Keyword(keyword);
        match keyword {
            "enum" | "const" => {
                let all = value.as_array().filter(|_| keyword == "enum");
                let allowed = all.map_or_else(|| vec![value], |all| all.iter().collect());
                let told = (None, Some(shown_all(&allowed)));
                let values = self.samples(shape, outer);
                vec![self.gap_of(at, Rule::Values, told, values)]
            }
            "allOf" => {
                let all = value.as_array().into_iter().flatten();
                all.flat_map(|it| self.shape(shape, it, at)).collect()
            }
            "anyOf" | "oneOf" => self.alternatives(shape, (keyword, value), outer, at),
            "properties" | "patternProperties" | "additionalProperties" => {
                self.members(shape, outer, at)
            }
            "required" => self.required(shape, value, at),
            "items" | "prefixItems" => self.items(shape, outer, at),
            _ if self.is_met(shape, outer, (keyword, value), at) => Vec::new(),
            "unevaluatedProperties" => {
                vec![unproven(
                    at,
                    Rule::Closed,
                    "no schema declares these properties",
                )]
            }
            "format" | "contentEncoding" | "contentMediaType" => vec![Gap {
                proof: Proof::Unproven("most validators only note it"),
                ..self.gap(at, rule, (shape, outer))
            }],
            _ => vec![self.gap(at, rule, (shape, outer))],
        }
    }

    /// Whether a rule of the shape has the same keywords with the same meaning.
    fn say_already(&self, shape: &Shape<'a>, keywords: &[&str], outer: &Value) -> bool {
        let is_alike = |rule: &Value| {
            keywords
                .iter()
                .all(|it| match (rule.get(it), outer.get(it)) {
                    (Some(own), Some(wanted)) => self.documents.are_same(own, wanted),
                    (own, wanted) => own == wanted,
                })
        };
        let mut rules = shape.rules.iter();
        !UNEVALUATED.contains(&keywords[0]) && rules.any(|(_, rule)| is_alike(rule))
    }

    /// Whether it is proven that all values of the shape conform to a keyword.
    fn is_met(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        (keyword, value): (&'static str, &'a Value),
        at: &At<'_, 'a>,
    ) -> bool {
        match keyword {
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" => {
                let wanted = Bound::new(keyword, value, shape.types);
                let own = wanted.as_ref().and_then(|it| shape.bound(it.tighter));
                own.zip(wanted)
                    .is_some_and(|(own, wanted)| own.is_within(&wanted))
            }
            "multipleOf" => {
                let one = Value::from(1);
                let is_whole = !shape.types.has(Types::FRACTION);
                let mut own = shape.all(keyword).chain(is_whole.then_some(&one));
                own.any(|own| is_multiple(own, value))
            }
            "minLength" | "minItems" | "minProperties" => {
                count(value).is_some_and(|wanted| shape.least(keyword) >= wanted)
            }
            "maxLength" | "maxItems" | "maxProperties" => {
                let own = shape.most(keyword);
                own.zip(count(value))
                    .is_some_and(|(own, wanted)| own <= wanted)
            }
            "uniqueItems" => {
                *value != Value::Bool(true) || shape.most("maxItems").is_some_and(|it| it <= 1)
            }
            "propertyNames" => {
                self.holds(|walk| walk.included(&[(Side::Inner, &*TEXT)], value, at))
            }
            "not" => self.is_apart(shape, value),
            "if" => ["then", "else"].iter().all(|it| {
                let result = outer.get(it);
                result.is_none_or(|it| self.holds(|walk| walk.shape(shape, it, at)))
            }),
            "unevaluatedItems" => *value == Value::Bool(true),
            "unevaluatedProperties" => {
                let mut names = shape.names().into_iter();
                *value == Value::Bool(true)
                    || matches!(shape.extra(), Extra::Closed)
                        && names.all(|it| self.evaluates(outer, it, 0))
            }
            _ => false,
        }
    }

    /// Whether a schema of the outer document declares a property, whatever the value.
    fn evaluates(&self, schema: &'a Value, name: &str, depth: usize) -> bool {
        let inside = schemas(schema, &["allOf"]).into_iter();
        let mut inside = inside.chain(self.documents.reference((Side::Outer, schema)));
        of_property(schema, name).next().is_some()
            || depth < DEEPEST && inside.any(|it| self.evaluates(it, name, depth + 1))
    }

    /// `anyOf` and `oneOf`: the shape, or each part of it, must be within one branch, and for `oneOf` apart from the others.
    fn alternatives(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&'static str, &'a Value),
        outer: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let branches = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let is_within_one = |walk: &mut Self, shape: &Shape<'a>| {
            (0..branches.len()).any(|chosen| {
                let mut others = branches
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != chosen);
                walk.holds(|walk| walk.shape(shape, &branches[chosen], at))
                    && (keyword == "anyOf" || others.all(|(_, it)| walk.is_apart(shape, it)))
            })
        };
        if is_within_one(self, shape) {
            return Vec::new();
        }
        let mut gaps = Vec::new();
        for part in shape.types.each().map(|it| shape.of_types(it)) {
            if is_within_one(self, &part) {
                continue;
            }
            // Why none of the branches takes it: what the first of them says that has a witness against all.
            let near: Vec<&'a Value> = branches
                .iter()
                .filter(|it| !self.is_apart(&part, it))
                .collect();
            let mut refusals = near.iter().map(|branch| {
                let mut refusals = self.shape(&part, branch, at);
                refusals.retain(|it| near.len() == 1 || matches!(it.proof, Proof::Witness(_)));
                refusals
            });
            let refusals = refusals.find(|it| !it.is_empty());
            let whole = || vec![self.gap(at, Rule::Keyword(keyword), (&part, outer))];
            gaps.extend(refusals.unwrap_or_else(whole));
        }
        merged(gaps)
    }

    /// Whether no value of the shape conforms to a schema of the outer document.
    fn is_apart(&self, shape: &Shape<'a>, schema: &'a Value) -> bool {
        let mut shaper = self.shaper();
        let both = shaper.add(vec![shape.clone()], (Side::Outer, schema));
        both.is_some_and(|all| all.iter().all(|it| shaper.is_void(it, 0)))
    }

    /// Compares the items, position by position, then those behind.
    fn items(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let rules = shape.rules.iter().map(|(_, it)| *it).chain([outer]);
        let single = rules.map(|it| positions(it).len()).max().unwrap_or(0);
        if single > MOST_POSITIONS {
            return vec![unproven(at, Rule::Keyword("prefixItems"), TOO_LARGE)];
        }
        let most = shape.most("maxItems").unwrap_or(u64::MAX);
        let places = (0..=single).take_while(|it| (*it as u64) < most);
        let mut gaps = Vec::new();
        for place in places {
            let position = Some(place).filter(|it| *it < single);
            let inner = shape.item(position);
            let wanted = of_item(outer, position);
            if let Some(wanted) = wanted.filter(|_| !self.shaper().are_void(&inner, 0)) {
                gaps.extend(self.included(&inner, wanted, &at.inside(shape, Step::Item(place))));
            }
        }
        merged(gaps)
    }

    /// Compares the properties, those with a name first.
    fn members(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let mut gaps = Vec::new();
        let mut names = shape.names();
        let declared = outer.get("properties").and_then(Value::as_object);
        let declared = declared
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str());
        names.extend(declared.filter(|it| !shape.property(it).is_empty()));
        for name in names {
            let inner = shape.property(name);
            if self.shaper().are_void(&inner, 0) {
                continue;
            }
            let inside = at.inside(shape, Step::Property(name));
            for schema in of_property(outer, name) {
                let mut found = self.included(&inner, schema, &inside);
                let own = outer.get("properties").and_then(|all| all.get(name));
                for gap in found
                    .iter_mut()
                    .filter(|_| *schema == NOTHING && own.is_none())
                {
                    gap.rule = Rule::Undeclared;
                }
                gaps.append(&mut found);
            }
            if patterns(outer).any(|(it, _)| witness::matches(it, name).is_none()) {
                let rule = Rule::Keyword("patternProperties");
                gaps.push(unproven(at, rule, "the pattern is not decided"));
            }
        }
        let others = patterns(outer).map(|(pattern, it)| (Some(pattern), it));
        let additional = outer.get("additionalProperties").map(|it| (None, it));
        for (pattern, schema) in others.chain(additional) {
            for (own, parts) in of_others(shape) {
                // What matches the same pattern is none of the rest.
                if pattern.is_none()
                    && own.is_some_and(|own| patterns(outer).any(|(it, _)| it == own))
                {
                    continue;
                }
                let name = own.and_then(|it| like(it, 0));
                let name = name.as_deref().unwrap_or(OTHER_NAME);
                let inside = at.inside(shape, Step::Other(name));
                gaps.extend(self.included(&parts, schema, &inside));
            }
            let limits = pattern.is_none() && (*schema == NOTHING || is_map(schema));
            if limits && matches!(shape.extra(), Extra::Open) {
                gaps.push(unproven(
                    at,
                    Rule::Closed,
                    "no schema declares these properties",
                ));
            }
        }
        merged(gaps)
    }

    fn required(&mut self, shape: &Shape<'a>, value: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let own = shape.required();
        let wanted = value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        let missing = wanted.filter(|it| !own.contains(it));
        let gaps = missing.map(|name| {
            let sampler = self.sampler();
            let without = [Which::Required, Which::All].map(|which| {
                let mut object = sampler.object(shape, which, 0);
                object.remove(name);
                Value::Object(object)
            });
            let gap = self.gap_of(at, Rule::Required, (None, None), without.into());
            let path = at.inside(shape, Step::Property(name)).path;
            Gap { path, ..gap }
        });
        gaps.collect()
    }
}

/// The types that a keyword says something of, if it is compared.
fn known(keyword: &str) -> Option<(Types, &'static str)> {
    let all = [
        (Types::NUMBER, OF_NUMBERS),
        (Types::STRING, OF_TEXTS),
        (Types::ARRAY, OF_LISTS),
        (Types::OBJECT, OF_OBJECTS),
        (Types::ALL, OF_ALL),
    ];
    all.into_iter().find_map(|(types, keywords)| {
        let mut keywords = keywords.split(' ');
        Some((types, keywords.find(|it| *it == keyword)?))
    })
}

/// What is declared of properties without naming them: for each pattern, and for all others.
fn of_others<'a>(shape: &Shape<'a>) -> Vec<(Option<&'a str>, Vec<Part<'a>>)> {
    let rules = shape.rules.iter();
    let by_pattern = rules.flat_map(|(side, rule)| {
        patterns(rule).map(|(it, schema)| (Some(it), vec![(*side, schema)]))
    });
    let map = match shape.extra() {
        Extra::Map(parts) => Some((None, parts)),
        Extra::Open | Extra::Closed => None,
    };
    by_pattern.chain(map).collect()
}

/// Whether multiples of one number are multiples of another one.
fn is_multiple(of: &Value, factor: &Value) -> bool {
    let whole = |value: &Value| number::digits(value.as_number()?)?.parse::<i128>().ok();
    match (whole(of), whole(factor)) {
        (Some(of), Some(factor)) if factor != 0 => of % factor == 0,
        _ => false,
    }
}
