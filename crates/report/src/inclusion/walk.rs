//! The outer schema against each shape of the inner one, keyword by keyword.

use serde_json::Value;

use super::{
    Gap, Proof, Rule, Search,
    document::{Documents, Listed, Sameness, Side},
    sample::Sampler,
    scalars::whole_range,
    shape::{Part, Shape, Shaper},
    type_set::Types,
    witness::{self, Trial},
};
use text::head;

/// How deep schemas are followed.
const DEEPEST: usize = 80;

/// The most pairs of schemas that are looked at.
const MOST_STEPS: usize = 10_000;

/// The most values that are tried for one gap.
const MOST_CANDIDATES: usize = 24;

/// Characters shown of what a schema says.
const SHOWN: usize = 60;

/// Compares two documents.
pub(super) struct Walk<'a> {
    pub(super) documents: Documents<'a>,
    trial: Trial,
    /// Pairs that are being compared: what leads back to one of them holds if it does.
    open: Vec<(Vec<*const Value>, *const Value)>,
    depth: usize,
    steps: usize,
    search: Search,
}

/// Where a pair of schemas stands in the whole.
#[derive(Default)]
pub(super) struct At<'f, 'a> {
    /// As people write it.
    pub(super) path: String,
    /// The value around it.
    around: Option<(&'f Self, &'f Shape<'a>, Step<'f>)>,
}

/// The way from a value to one within it.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step<'f> {
    /// A property.
    Property(&'f str),
    /// An item.
    Item(usize),
}

impl<'f, 'a> At<'f, 'a> {
    /// A property of the value of a shape.
    pub(super) fn property(&'f self, shape: &'f Shape<'a>, name: &'f str) -> Self {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        Self {
            path,
            around: Some((self, shape, Step::Property(name))),
        }
    }

    /// A property that is declared without its name.
    pub(super) fn others(&'f self, shape: &'f Shape<'a>, name: &'f str) -> Self {
        let path = self.property(shape, "*").path;
        Self {
            path,
            around: Some((self, shape, Step::Property(name))),
        }
    }

    /// An item of the value of a shape.
    pub(super) fn item(&'f self, shape: &'f Shape<'a>, at: usize) -> Self {
        Self {
            path: format!("{}[]", self.path),
            around: Some((self, shape, Step::Item(at))),
        }
    }
}

impl<'a> Walk<'a> {
    pub(super) fn new(inner: &'a Value, outer: &'a Value, search: Search) -> Self {
        Self {
            documents: Documents::new(inner, outer),
            trial: Trial::default(),
            open: Vec::new(),
            depth: 0,
            steps: 0,
            search,
        }
    }

    /// Whether no more schemas are looked at.
    pub(super) fn is_spent(&self) -> bool {
        self.steps > MOST_STEPS
    }

    pub(super) fn shaper(&self) -> Shaper<'_, 'a> {
        Shaper::new(&self.documents)
    }

    pub(super) fn sampler(&self) -> Sampler<'_, 'a> {
        Sampler::new(&self.documents)
    }

    /// Values that may be witnesses; none if nobody wants one.
    pub(super) fn samples(&self, shape: &Shape<'a>) -> Vec<Value> {
        match self.search {
            Search::Witness if !self.trial.is_spent() => self.sampler().of_shape(shape),
            Search::Witness | Search::Nothing => Vec::new(),
        }
    }

    pub(super) fn is_void(&self, parts: &[Part<'a>]) -> bool {
        let shapes = self.shaper().shapes(parts);
        shapes.is_some_and(|all| all.iter().all(|it| self.shaper().is_void(it)))
    }

    /// Whether `question` finds no gap; no witness is searched for.
    pub(super) fn holds(&mut self, question: impl FnOnce(&mut Self) -> Vec<Gap>) -> bool {
        let before = std::mem::replace(&mut self.search, Search::Nothing);
        let gaps = question(self);
        self.search = before;
        gaps.is_empty()
    }

    /// What keeps a schema of the outer document from accepting what meets all conditions.
    pub(super) fn included(
        &mut self,
        inner: &[Part<'a>],
        outer: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let is_outer = |part: &Part<'a>| match part {
            Part::Schema(side, schema) => self.same((*side, *schema), outer),
            Part::Only(_) => false,
        };
        if *outer == Value::Bool(true) || inner.iter().any(is_outer) {
            return Vec::new();
        }
        let places = inner.iter().map(|part| match part {
            Part::Schema(_, it) | Part::Only(it) => std::ptr::from_ref(*it),
        });
        let pair = (places.collect(), std::ptr::from_ref(outer));
        if self.open.contains(&pair) {
            return Vec::new();
        }
        let Some(shapes) = self.shaper().shapes(inner) else {
            return vec![unproven(
                at,
                Rule::Keyword("schema"),
                "it has too many alternatives",
            )];
        };
        self.open.push(pair);
        let mut gaps: Vec<Gap> = Vec::new();
        for shape in shapes {
            for gap in self.shape(&shape, outer, at) {
                add(gap, &mut gaps);
            }
        }
        self.open.pop();
        gaps
    }

    /// The same for one shape.
    pub(super) fn shape(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        self.steps += 1 + shape.weight();
        if self.depth >= DEEPEST || self.is_spent() {
            return vec![unproven(
                at,
                Rule::Keyword("schema"),
                "it is too large to be compared",
            )];
        }
        self.depth += 1;
        let gaps = self.shape_within(shape, outer, at);
        self.depth -= 1;
        gaps
    }

    fn shape_within(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let is_outer = |(side, rule): &(Side, &'a Value)| self.same((*side, rule), outer);
        if *outer == Value::Bool(true)
            || shape.rules.iter().any(is_outer)
            || self.shaper().is_void(shape)
        {
            return Vec::new();
        }
        if *outer == Value::Bool(false) {
            let values = self.samples(shape);
            return vec![self.gap(at, Rule::Nothing, (None, None), values)];
        }
        if let Some(gaps) = self.listed(shape, outer, at) {
            return gaps;
        }
        let mut gaps = Vec::new();
        match self.documents.outer.reference(outer) {
            Some(target) => gaps.extend(self.shape(shape, target, at)),
            None if outer.get("$ref").is_some() => {
                gaps.push(unproven(
                    at,
                    Rule::Keyword("$ref"),
                    "it is defined elsewhere",
                ));
            }
            None => {}
        }
        if !self
            .documents
            .of(Side::Outer)
            .counts_beside_reference(outer)
        {
            return gaps;
        }
        let (shape, of_types) = self.types(shape, outer, at);
        gaps.extend(of_types);
        if !shape.types.is_empty() {
            for (keyword, value) in outer.as_object().into_iter().flatten() {
                for gap in self.keyword(&shape, outer, (keyword, value), at) {
                    add(gap, &mut gaps);
                }
            }
        }
        gaps
    }

    /// The answer for a shape whose values are listed; `None` for others.
    fn listed(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Option<Vec<Gap>> {
        let values = self.shaper().values(shape)?;
        let refused = witness::refused(&self.documents.outer, outer, &values)?;
        if refused.is_empty() {
            return Some(Vec::new());
        }
        // Otherwise another keyword says more about what is wrong with all of them.
        let is_list = outer.get("enum").or(outer.get("const")).is_some();
        if refused.len() == values.len() && !is_list {
            return None;
        }
        let words: Vec<String> = refused.iter().map(|it| shown(it)).collect();
        let told = Some(head(&words.join(", "), 2 * SHOWN));
        let refused = refused.into_iter().cloned().collect();
        Some(vec![self.gap(at, Rule::Values, (told, None), refused)])
    }

    /// What is wrong with the types, and the shape without them.
    fn types(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        at: &At<'_, 'a>,
    ) -> (Shape<'a>, Option<Gap>) {
        let allowed = outer.get("type").map_or(Types::ALL, Types::declared);
        let lost = shape.types.without(allowed);
        let left = shape.of_types(allowed);
        if lost.is_empty() {
            return (left, None);
        }
        let mut values = self.samples(&shape.of_types(lost));
        values.retain(|it| lost.has(Types::of(it)));
        let words = (Some(shape.types.words()), Some(allowed.words()));
        (
            left,
            Some(self.gap(at, Rule::Keyword("type"), words, values)),
        )
    }

    fn keyword(
        &mut self,
        shape: &Shape<'a>,
        outer: &'a Value,
        (keyword, value): (&'a str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        if !DEPENDENT.contains(&keyword) && self.says_already(shape, keyword, value) {
            return Vec::new();
        }
        match keyword {
            "enum" | "const" => self.values(shape, (keyword, value), at),
            "allOf" => {
                let all = value.as_array().into_iter().flatten();
                all.flat_map(|it| self.shape(shape, it, at)).collect()
            }
            "anyOf" | "oneOf" => self.alternatives(shape, (keyword, value), at),
            "not" => self.negation(shape, value, at),
            "if" => self.condition(shape, outer, at),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
                if shape.types.has(Types::NUMBER) =>
            {
                self.number(&shape.of_types(Types::NUMBER), (keyword, value), at)
            }
            "minLength" | "maxLength" | "pattern" if shape.types.has(Types::STRING) => {
                self.string(&shape.of_types(Types::STRING), (keyword, value), at)
            }
            "format" | "contentEncoding" | "contentMediaType" if shape.types.has(Types::STRING) => {
                let told = (said(shape, keyword), Some(shown(value)));
                let gap = unproven(
                    at,
                    Rule::Keyword(known(keyword)),
                    "most validators only note it",
                );
                vec![gap.telling(told)]
            }
            // Of listed values the parts are not known.
            _ if (arrays_have(keyword) || objects_have(keyword)) && shape.finite().is_some() => {
                vec![unproven(
                    at,
                    Rule::Keyword(known(keyword)),
                    "it is not compared with values",
                )]
            }
            _ if shape.types.has(Types::ARRAY) && arrays_have(keyword) => {
                self.array(&shape.of_types(Types::ARRAY), outer, (keyword, value), at)
            }
            _ if shape.types.has(Types::OBJECT) && objects_have(keyword) => {
                self.object(&shape.of_types(Types::OBJECT), outer, (keyword, value), at)
            }
            "$dynamicRef" | "$recursiveRef" => {
                vec![unproven(
                    at,
                    Rule::Keyword(known(keyword)),
                    "it is not followed",
                )]
            }
            _ => Vec::new(),
        }
    }

    fn values(
        &mut self,
        shape: &Shape<'a>,
        (keyword, value): (&str, &'a Value),
        at: &At<'_, 'a>,
    ) -> Vec<Gap> {
        let all = value.as_array().filter(|_| keyword == "enum");
        let allowed = all.map_or_else(|| vec![value], |all| all.iter().collect());
        let range = whole_range(shape);
        let is_complete = range.is_some();
        let mut values = range.unwrap_or_else(|| self.samples(shape));
        let listed = Listed::new(allowed.iter().copied());
        values.retain(|it| !listed.has(it));
        if is_complete && values.is_empty() {
            return Vec::new();
        }
        let words: Vec<String> = allowed.into_iter().map(shown).collect();
        let told = (None, Some(head(&words.join(", "), 2 * SHOWN)));
        vec![self.gap(at, Rule::Values, told, values)]
    }

    /// Whether a rule of the shape has the same keyword with the same meaning.
    pub(super) fn says_already(&self, shape: &Shape<'a>, keyword: &str, value: &'a Value) -> bool {
        let mut rules = shape.rules.iter();
        rules.any(|(side, rule)| {
            let own = rule.get(keyword);
            own.is_some_and(|own| {
                Sameness::new(&self.documents).keyword(keyword, (*side, own), (Side::Outer, value))
            })
        })
    }

    fn same(&self, one: (Side, &'a Value), outer: &'a Value) -> bool {
        Sameness::new(&self.documents).schemas(one, (Side::Outer, outer))
    }

    /// A gap with the first of the values that is a witness within the whole.
    pub(super) fn gap(
        &mut self,
        at: &At<'_, 'a>,
        rule: Rule,
        (inner, outer): (Option<String>, Option<String>),
        candidates: Vec<Value>,
    ) -> Gap {
        let mut gap = unproven(at, rule, "no value was found that shows it");
        if self.search == Search::Witness && !self.trial.is_spent() {
            let found = candidates.into_iter().take(MOST_CANDIDATES).find_map(|it| {
                let mut wholes = self.wholes(it, at).into_iter();
                wholes.find(|it| self.trial.is_witness(&self.documents, it))
            });
            if let Some(found) = found {
                gap.proof = Proof::Witness(found);
            }
        }
        gap.telling((inner, outer))
    }

    /// A value within values of the shapes around it.
    fn wholes(&self, value: Value, at: &At<'_, 'a>) -> Vec<Value> {
        let mut wholes = vec![value.clone(), value];
        let mut around = &at.around;
        while let Some((outside, shape, step)) = around {
            let sampler = self.sampler();
            for (whole, is_full) in wholes.iter_mut().zip([false, true]) {
                let inside = std::mem::take(whole);
                *whole = match step {
                    Step::Property(name) => sampler.object_with(shape, (name, inside), is_full),
                    Step::Item(at) => sampler.array_with(shape, (*at, inside)),
                };
            }
            around = &outside.around;
        }
        wholes.dedup();
        wholes
    }
}

/// Keywords whose meaning depends on others beside them.
const DEPENDENT: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "else",
    "if",
    "items",
    "maxContains",
    "minContains",
    "prefixItems",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

fn arrays_have(keyword: &str) -> bool {
    let all = "items prefixItems minItems maxItems uniqueItems contains unevaluatedItems";
    all.split(' ').any(|it| it == keyword)
}

fn objects_have(keyword: &str) -> bool {
    let all = "properties patternProperties additionalProperties unevaluatedProperties required \
        minProperties maxProperties propertyNames dependentRequired dependentSchemas dependencies";
    all.split_whitespace().any(|it| it == keyword)
}

/// The keyword as a text that lives for ever.
pub(super) fn known(keyword: &str) -> &'static str {
    let all = "anyOf oneOf not if pattern format contentEncoding contentMediaType minimum maximum exclusiveMinimum \
        exclusiveMaximum multipleOf minLength maxLength items prefixItems minItems maxItems uniqueItems contains \
        unevaluatedItems properties patternProperties additionalProperties unevaluatedProperties minProperties \
        maxProperties propertyNames dependentRequired dependentSchemas dependencies $dynamicRef $recursiveRef";
    let mut all = all.split_whitespace();
    all.find(|it| *it == keyword).unwrap_or("schema")
}

/// Adds a gap, unless it is known; one with a witness replaces one without.
pub(super) fn add(gap: Gap, gaps: &mut Vec<Gap>) {
    let mut known = gaps.iter_mut();
    match known.find(|it| it.path == gap.path && it.rule == gap.rule) {
        Some(known) if matches!(known.proof, Proof::Unproven(_)) => *known = gap,
        Some(_) => {}
        None => gaps.push(gap),
    }
}

/// A gap without a witness.
pub(super) fn unproven(at: &At<'_, '_>, rule: Rule, reason: &'static str) -> Gap {
    Gap {
        path: at.path.clone(),
        rule,
        inner: None,
        outer: None,
        proof: Proof::Unproven(reason),
    }
}

impl Gap {
    fn telling(mut self, (inner, outer): (Option<String>, Option<String>)) -> Self {
        (self.inner, self.outer) = (inner, outer);
        self
    }
}

/// What a shape says under a keyword.
pub(super) fn said(shape: &Shape<'_>, keyword: &str) -> Option<String> {
    shape.all(keyword).next().map(shown)
}

/// A value in a few characters.
pub(super) fn shown(value: &Value) -> String {
    head(&value.to_string(), SHOWN)
}
