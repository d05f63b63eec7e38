//! The outer schema against each shape of the inner one, keyword by keyword.

use serde_json::Value;

use super::{
    Gap, Proof, Rule, Search,
    document::{Documents, Part, Side},
    sample::{Purpose, Sampler, Which},
    shape::{Shape, Shaper},
    type_set::Types,
    witness::{self, Trial},
};
use text::head;

/// How deep schemas are followed.
const DEEPEST: usize = 80;

/// The most pairs of schemas that are looked at.
const MOST_STEPS: usize = 10_000;

/// The most values that are tried for one gap.
const MOST_CANDIDATES: usize = 40;

/// Characters shown of what a schema says.
const SHOWN: usize = 60;

/// Why a gap has neither proof nor witness, where schemas grow too large to be compared.
pub(super) const TOO_LARGE: &str = "it is too large to be compared";

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
    /// A property that is declared without its name.
    Other(&'f str),
    /// An item.
    Item(usize),
}

impl<'f, 'a> At<'f, 'a> {
    /// A part of the value of a shape.
    pub(super) fn inside(&'f self, shape: &'f Shape<'a>, step: Step<'f>) -> Self {
        let path = match (step, self.path.as_str()) {
            (Step::Item(_), path) => format!("{path}[]"),
            (Step::Property(name), "") => name.to_owned(),
            (Step::Property(name), path) => format!("{path}.{name}"),
            (Step::Other(_), "") => "*".to_owned(),
            (Step::Other(_), path) => format!("{path}.*"),
        };
        Self {
            path,
            around: Some((self, shape, step)),
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

    pub(super) fn shaper(&self) -> Shaper<'_, 'a> {
        Shaper::new(&self.documents)
    }

    pub(super) fn sampler(&self) -> Sampler<'_, 'a> {
        Sampler::new(&self.documents, Purpose::Witness)
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
        let mut same = inner
            .iter()
            .map(|(_, it)| self.documents.are_same(it, outer));
        let places = inner.iter().map(|(_, it)| std::ptr::from_ref(*it));
        let pair = (places.collect(), std::ptr::from_ref(outer));
        if same.any(|it| it) || self.open.contains(&pair) {
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
        let gaps = shapes.iter().flat_map(|shape| self.shape(shape, outer, at));
        let gaps = merged(gaps);
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
        if self.depth >= DEEPEST || self.steps > MOST_STEPS {
            return vec![unproven(at, Rule::Keyword("schema"), TOO_LARGE)];
        }
        self.depth += 1;
        let gaps = self.shape_within(shape, outer, at);
        self.depth -= 1;
        gaps
    }

    fn shape_within(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Vec<Gap> {
        let is_outer = |(_, rule): &Part<'a>| self.documents.are_same(rule, outer);
        if *outer == Value::Bool(true)
            || shape.rules.iter().any(is_outer)
            || self.shaper().is_void(shape, 0)
        {
            return Vec::new();
        }
        if *outer == Value::Bool(false) {
            return vec![self.gap(at, Rule::Nothing, (shape, outer))];
        }
        if let Some(gaps) = self.listed(shape, outer, at) {
            return gaps;
        }
        let mut gaps = Vec::new();
        match self.documents.reference((Side::Outer, outer)) {
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
        let allowed = outer.get("type").map_or(Types::ALL, Types::declared);
        let lost = shape.types.without(allowed);
        let left = shape.of_types(allowed);
        if !lost.is_empty() {
            let values = self.samples(&shape.of_types(lost), outer);
            let words = (Some(shape.types.words()), Some(allowed.words()));
            gaps.push(self.gap_of(at, Rule::Keyword("type"), words, values));
        }
        if !left.types.is_empty() {
            for (keyword, value) in outer.as_object().into_iter().flatten() {
                gaps.extend(self.keyword(&left, outer, (keyword, value), at));
            }
        }
        merged(gaps)
    }

    /// The answer for a shape whose values are listed; `None` for others.
    fn listed(&mut self, shape: &Shape<'a>, outer: &'a Value, at: &At<'_, 'a>) -> Option<Vec<Gap>> {
        let values = self.shaper().values(shape)?;
        let have_parts = values.iter().any(|it| it.is_object() || it.is_array());
        let refused = witness::refused(self.documents.roots[1], outer, &values);
        let Some(refused) = refused else {
            let gap = unproven(at, Rule::Values, "it is not compared with values");
            // Of listed values the parts are not known.
            return have_parts.then(|| vec![gap]);
        };
        if refused.is_empty() {
            return Some(Vec::new());
        }
        // Otherwise another keyword says more about what is wrong with all of them.
        let is_list = outer.get("enum").or(outer.get("const")).is_some();
        if refused.len() == values.len() && !is_list && !have_parts {
            return None;
        }
        let told = Some(shown_all(&refused));
        let refused = refused.into_iter().cloned().collect();
        Some(vec![self.gap_of(at, Rule::Values, (told, None), refused)])
    }

    /// Values of a shape that another schema may refuse; none if nobody wants a witness.
    pub(super) fn samples(&self, shape: &Shape<'a>, outer: &Value) -> Vec<Value> {
        match self.search {
            Search::Witness if !self.trial.is_spent() => self.sampler().of_shape(shape, outer),
            Search::Witness | Search::Nothing => Vec::new(),
        }
    }

    /// A gap between a shape and the outer schema.
    pub(super) fn gap(
        &mut self,
        at: &At<'_, 'a>,
        rule: Rule,
        (shape, outer): (&Shape<'a>, &Value),
    ) -> Gap {
        let told = match rule {
            Rule::Keyword(keyword) => (
                shape.all(keyword).next().map(shown),
                outer.get(keyword).map(shown),
            ),
            Rule::Nothing | Rule::Undeclared | Rule::Closed | Rule::Required | Rule::Values => {
                (None, None)
            }
        };
        let values = self.samples(shape, outer);
        self.gap_of(at, rule, told, values)
    }

    /// A gap with the first of the values that is a witness within the whole, and what both schemas say.
    pub(super) fn gap_of(
        &mut self,
        at: &At<'_, 'a>,
        rule: Rule,
        (inner, outer): (Option<String>, Option<String>),
        candidates: Vec<Value>,
    ) -> Gap {
        let is_wanted = self.search == Search::Witness && !self.trial.is_spent();
        let mut candidates = candidates
            .into_iter()
            .take(MOST_CANDIDATES)
            .filter(|_| is_wanted);
        let witness = candidates.find_map(|it| {
            let mut wholes = self.wholes(it, at).into_iter();
            wholes.find(|it| self.trial.is_witness(&self.documents, it))
        });
        let unproven_for = "no value was found that shows it";
        let proof = witness.map_or(Proof::Unproven(unproven_for), Proof::Witness);
        Gap {
            inner,
            outer,
            proof,
            ..unproven(at, rule, unproven_for)
        }
    }

    /// A value within values of the shapes around it.
    fn wholes(&self, value: Value, at: &At<'_, 'a>) -> Vec<Value> {
        let mut wholes = vec![value.clone(), value];
        let mut around = &at.around;
        while let Some((outside, shape, step)) = around {
            let sampler = self.sampler();
            for (whole, which) in wholes.iter_mut().zip([Which::Required, Which::All]) {
                let inside = std::mem::take(whole);
                *whole = match step {
                    Step::Property(name) | Step::Other(name) => {
                        sampler.object_with(shape, (name, inside), which)
                    }
                    Step::Item(at) => sampler.array_with(shape, (*at, inside)),
                };
            }
            around = &outside.around;
        }
        wholes.dedup();
        wholes
    }
}

/// The gaps without repetitions; one with a witness replaces one without.
pub(super) fn merged(gaps: impl IntoIterator<Item = Gap>) -> Vec<Gap> {
    let mut all: Vec<Gap> = Vec::new();
    for gap in gaps {
        let mut known = all.iter_mut();
        match known.find(|it| it.path == gap.path && it.rule == gap.rule) {
            Some(known) if matches!(known.proof, Proof::Unproven(_)) => *known = gap,
            Some(_) => {}
            None => all.push(gap),
        }
    }
    all
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

/// Several values in a few characters.
pub(super) fn shown_all(values: &[&Value]) -> String {
    let words: Vec<String> = values.iter().map(|it| shown(it)).collect();
    head(&words.join(", "), 2 * SHOWN)
}

/// A value in a few characters.
pub(crate) fn shown(value: &Value) -> String {
    head(&value.to_string(), SHOWN)
}
