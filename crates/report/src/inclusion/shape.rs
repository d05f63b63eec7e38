//! What a schema accepts as a list of shapes: each a conjunction of rules without alternatives. A shape accepts at least what
//! the schema accepts there: `not`, `if` and what is in other documents are left out.

use std::{cmp::Ordering, collections::BTreeSet, sync::LazyLock};

use serde_json::{Number, Value, json};

use super::{
    document::{Documents, Listed, Side, keywords},
    scalars::cut,
    type_set::Types,
    witness,
};
use mcp::json::number;

/// The schema of all objects.
pub(super) static OBJECT: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

/// The schema that nothing conforms to.
pub(super) static NOTHING: Value = Value::Bool(false);

/// The values of the types that have few.
static FINITE: [Value; 3] = [Value::Null, Value::Bool(false), Value::Bool(true)];

/// The most shapes of one schema.
const MOST_SHAPES: usize = 64;

/// Listed values that cost as much as one schema.
const VALUES_OF_A_SCHEMA: usize = 64;

/// Schemas within schemas that are searched for a contradiction.
const DEEPEST_CONTRADICTION: usize = 4;

/// One of several conditions that hold at once.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'a> {
    /// A schema.
    Schema(Side, &'a Value),
    /// This value and no other.
    Only(&'a Value),
}

/// A conjunction of rules.
#[derive(Debug, Clone)]
pub(super) struct Shape<'a> {
    /// The schemas whose keywords hold; their alternatives and references have been followed.
    pub(super) rules: Vec<(Side, &'a Value)>,
    /// The types that are left.
    pub(super) types: Types,
    /// The values that are left, if they are listed.
    values: Option<Vec<&'a Value>>,
    /// Properties that are assumed to have a value, or to be absent.
    pub(super) pins: Vec<(&'a str, Option<&'a Value>)>,
}

/// A bound of numbers.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) number: Number,
    pub(super) is_strict: bool,
}

/// What a shape says of properties that it does not declare.
pub(super) enum Extra<'a> {
    /// Nothing.
    Open,
    /// There are none.
    Closed,
    /// They all have this.
    Map(Vec<Part<'a>>),
}

impl<'a> Shape<'a> {
    fn any() -> Self {
        Self {
            rules: Vec::new(),
            types: Types::ALL,
            values: None,
            pins: Vec::new(),
        }
    }

    /// How many schemas its listed values cost as much as.
    pub(super) fn weight(&self) -> usize {
        self.values.as_ref().map_or(0, Vec::len) / VALUES_OF_A_SCHEMA
    }

    /// The values of a keyword in all rules.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        self.rules
            .iter()
            .filter_map(move |(_, rule)| rule.get(keyword))
    }

    fn restrict(&mut self, side: Side, schema: &'a Value) {
        self.rules.push((side, schema));
        if let Some(types) = schema.get("type") {
            self.types = self.types.and(Types::declared(types));
        }
        if let Some(only) = schema.get("const") {
            self.keep(&[only]);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            self.keep(&values.iter().collect::<Vec<_>>());
        }
    }

    fn keep(&mut self, values: &[&'a Value]) {
        let known = self.values.take();
        let kept = known.map(|mut kept| {
            let values = Listed::new(values.iter().copied());
            kept.retain(|it| values.has(it));
            kept
        });
        self.values = Some(kept.unwrap_or_else(|| values.to_vec()));
    }

    /// The values, if there are finitely many that can be listed.
    pub(super) fn finite(&self) -> Option<Vec<&'a Value>> {
        let is_left = |it: &&&'a Value| self.types.has(Types::of(it));
        match &self.values {
            Some(values) => Some(values.iter().filter(is_left).copied().collect()),
            None if self.types.is_within(Types::FINITE) => {
                let all = FINITE.iter();
                Some(all.filter(|it| self.types.has(Types::of(it))).collect())
            }
            None => None,
        }
    }

    /// The same for these types only.
    pub(super) fn of_types(&self, types: Types) -> Self {
        let mut shape = self.clone();
        shape.types = shape.types.and(types);
        shape
    }

    /// The greatest of the lower bounds (`Ordering::Greater`), or the smallest of the upper ones (`Ordering::Less`).
    pub(super) fn bound(&self, tighter: Ordering) -> Option<Bound> {
        let bounds = self
            .rules
            .iter()
            .flat_map(|(_, rule)| bounds(rule, tighter));
        let is_whole = !self.types.has(Types::FRACTION);
        let bounds = bounds.map(|it| if is_whole { it.whole(tighter) } else { it });
        bounds.reduce(|one, other| {
            if other.is_tighter(&one, tighter) {
                other
            } else {
                one
            }
        })
    }

    /// The greatest value of a keyword that gives a minimum count.
    pub(super) fn least(&self, keyword: &str) -> u64 {
        self.all(keyword).filter_map(count).max().unwrap_or(0)
    }

    /// The smallest value of a keyword that gives a maximum count.
    pub(super) fn most(&self, keyword: &str) -> Option<u64> {
        self.all(keyword).filter_map(count).min()
    }

    /// The names of the declared properties.
    pub(super) fn declared(&self) -> BTreeSet<&'a str> {
        let all = self.all("properties").filter_map(Value::as_object);
        all.flatten().map(|(name, _)| name.as_str()).collect()
    }

    /// The names that are always there.
    pub(super) fn required(&self) -> BTreeSet<&'a str> {
        let all = self.all("required").filter_map(Value::as_array).flatten();
        let pinned = self.pins.iter().filter(|(_, value)| value.is_some());
        let pinned = pinned.map(|(name, _)| *name);
        all.filter_map(Value::as_str).chain(pinned).collect()
    }

    /// What holds for the property of that name.
    pub(super) fn property(&self, name: &str) -> Vec<Part<'a>> {
        let pins = self.pins.iter().filter(|(pinned, _)| *pinned == name);
        let pins = pins.map(|(_, value)| match value {
            Some(value) => Part::Only(value),
            None => Part::Schema(Side::Inner, &NOTHING),
        });
        let rules = self.rules.iter();
        let rules = rules.flat_map(|(side, rule)| of_property(rule, name).map(|it| (*side, it)));
        pins.chain(rules.map(|(side, it)| Part::Schema(side, it)))
            .collect()
    }

    /// What holds for properties that are not declared.
    pub(super) fn extra(&self) -> Extra<'a> {
        let is_closed = |rule: &Value| {
            let words = ["additionalProperties", "unevaluatedProperties"];
            words.iter().any(|it| rule.get(it) == Some(&NOTHING))
        };
        if self.rules.iter().any(|(_, rule)| is_closed(rule)) {
            return Extra::Closed;
        }
        let all = self.rules.iter().filter_map(|(side, rule)| {
            let schema = rule.get("additionalProperties")?;
            is_map(schema).then_some(Part::Schema(*side, schema))
        });
        let all: Vec<_> = all.collect();
        if all.is_empty() {
            Extra::Open
        } else {
            Extra::Map(all)
        }
    }

    /// What holds for an item; `None` stands for those behind all positions that have a schema of their own.
    pub(super) fn item(&self, at: Option<usize>) -> Vec<Part<'a>> {
        let rules = self.rules.iter();
        let items = rules.filter_map(|(side, rule)| Some((*side, of_item(rule, at)?)));
        items.map(|(side, it)| Part::Schema(side, it)).collect()
    }

    /// How many positions have a schema of their own.
    pub(super) fn positions(&self) -> usize {
        let all = self.rules.iter().map(|(_, rule)| positions(rule).len());
        all.max().unwrap_or(0)
    }
}

/// Whether a schema says more of a value than that it is one of a list.
fn says_more(rule: &Value) -> bool {
    let mut all = keywords(rule).into_iter();
    all.any(|it| !["type", "enum", "const"].contains(&it))
}

/// The declared schemas of the properties by patterns.
pub(super) fn patterns(rule: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = rule.get("patternProperties").and_then(Value::as_object);
    all.into_iter()
        .flatten()
        .map(|(pattern, it)| (pattern.as_str(), it))
}

/// What one schema says of a property: what it declares, else what it says of all others.
pub(super) fn of_property<'a>(rule: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let own = rule.get("properties").and_then(|all| all.get(name));
    let matched = patterns(rule).map(|(pattern, it)| (witness::matches(pattern, name), it));
    let matched: Vec<_> = matched
        .filter(|(matches, _)| *matches != Some(false))
        .collect();
    let is_covered = own.is_some() || !matched.is_empty();
    let matched = matched
        .into_iter()
        .filter(|(matches, _)| *matches == Some(true));
    let others = rule.get("additionalProperties").filter(|_| !is_covered);
    own.into_iter()
        .chain(matched.map(|(_, it)| it))
        .chain(others)
}

/// The schemas of single positions.
pub(super) fn positions(rule: &Value) -> &[Value] {
    let lists = ["prefixItems", "items"].into_iter();
    let mut lists = lists.filter_map(|it| rule.get(it)?.as_array());
    lists.next().map_or(&[], Vec::as_slice)
}

/// What one schema says of an item.
pub(super) fn of_item(rule: &Value, at: Option<usize>) -> Option<&Value> {
    let own = at.and_then(|at| positions(rule).get(at));
    own.or_else(|| match rule.get("items") {
        Some(Value::Array(_)) => rule.get("additionalItems"),
        items => items,
    })
}

/// Whether `additionalProperties` declares what all properties are, so that a name is as good as a declared one.
pub(crate) fn is_map(schema: &Value) -> bool {
    !keywords(schema).is_empty()
}

/// A count, in whatever notation.
pub(super) fn count(value: &Value) -> Option<u64> {
    number::digits(value.as_number()?)?.parse().ok()
}

/// The bounds of one schema in one direction.
fn bounds(rule: &Value, tighter: Ordering) -> impl Iterator<Item = Bound> {
    let words = match tighter {
        Ordering::Greater => ["minimum", "exclusiveMinimum"],
        Ordering::Less | Ordering::Equal => ["maximum", "exclusiveMaximum"],
    };
    words.into_iter().enumerate().filter_map(|(at, word)| {
        let number = rule.get(word)?.as_number()?.clone();
        Some(Bound {
            number,
            is_strict: at == 1,
        })
    })
}

impl Bound {
    /// The bound of a keyword.
    pub(super) fn new(value: &Value, is_strict: bool) -> Option<Self> {
        let number = value.as_number()?.clone();
        Some(Self { number, is_strict })
    }

    /// Whether it leaves fewer numbers than another one in the same direction.
    pub(super) fn is_tighter(&self, than: &Self, tighter: Ordering) -> bool {
        let order = number::compare(&self.number, &than.number);
        order == tighter || order.is_eq() && self.is_strict && !than.is_strict
    }

    /// The bound that leaves the same whole numbers and is one itself.
    pub(super) fn whole(self, tighter: Ordering) -> Self {
        let step = if tighter == Ordering::Greater { 1 } else { -1 };
        let Some(cut) = cut(&self.number) else {
            return self;
        };
        let is_whole = number::is_integer(&self.number);
        let goes_beyond = |cut: i128| {
            let zero = Number::from(0);
            let order = number::compare(&self.number, &zero);
            // Cutting goes towards zero, which is the wrong way on one side of it.
            cut == 0 && order == tighter || cut != 0 && (cut > 0) == (step > 0)
        };
        let needs_step = if is_whole {
            self.is_strict
        } else {
            goes_beyond(cut)
        };
        let whole = if needs_step {
            cut.saturating_add(step)
        } else {
            cut
        };
        Self {
            number: serde_json::from_str(&whole.to_string()).unwrap_or(self.number),
            is_strict: false,
        }
    }
}

/// Makes shapes of schemas of two documents.
pub(super) struct Shaper<'w, 'a> {
    pub(super) documents: &'w Documents<'a>,
    /// The schemas that are being added: one that leads back to itself adds nothing.
    open: Vec<*const Value>,
    /// Schemas that may still be added.
    left: usize,
}

/// The longest way through references and combinations to a schema.
const DEEPEST: usize = 100;

/// The most schemas that one question looks at: references to references make exponentially many.
const MOST_SCHEMAS: usize = 5_000;

impl<'w, 'a> Shaper<'w, 'a> {
    pub(super) fn new(documents: &'w Documents<'a>) -> Self {
        Self {
            documents,
            open: Vec::new(),
            left: MOST_SCHEMAS,
        }
    }

    /// The shapes of what meets all conditions; `None` if there are too many.
    pub(super) fn shapes(&mut self, parts: &[Part<'a>]) -> Option<Vec<Shape<'a>>> {
        parts
            .iter()
            .try_fold(vec![Shape::any()], |shapes, part| self.add(shapes, *part))
    }

    /// The shapes that meet one more condition.
    pub(super) fn add(
        &mut self,
        mut shapes: Vec<Shape<'a>>,
        part: Part<'a>,
    ) -> Option<Vec<Shape<'a>>> {
        let (side, schema) = match part {
            Part::Only(value) => {
                for shape in &mut shapes {
                    shape.keep(&[value]);
                }
                shapes.retain(|it| !it.is_impossible());
                return Some(shapes);
            }
            Part::Schema(_, Value::Bool(false)) => return Some(Vec::new()),
            Part::Schema(side, schema) => (side, schema),
        };
        if !schema.is_object()
            || shapes.is_empty()
            || self.open.contains(&std::ptr::from_ref(schema))
        {
            return Some(shapes);
        }
        let cost = 1 + shapes.iter().map(Shape::weight).sum::<usize>();
        self.documents.spend(cost)?;
        self.left = self.left.checked_sub(cost)?;
        if self.open.len() > DEEPEST {
            return None;
        }
        self.open.push(schema);
        let added = self.keywords(shapes, side, schema);
        self.open.pop();
        added
    }

    fn keywords(
        &mut self,
        mut shapes: Vec<Shape<'a>>,
        side: Side,
        schema: &'a Value,
    ) -> Option<Vec<Shape<'a>>> {
        let document = self.documents.of(side);
        if let Some(target) = document.reference(schema) {
            shapes = self.add(shapes, Part::Schema(side, target))?;
        }
        if !self.documents.of(side).counts_beside_reference(schema) {
            return Some(shapes);
        }
        for shape in &mut shapes {
            shape.restrict(side, schema);
        }
        shapes.retain(|it| !it.is_impossible());
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for all in list("allOf").into_iter().flatten() {
            shapes = self.add(shapes, Part::Schema(side, all))?;
        }
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(list) {
            let mut spread = Vec::new();
            for branch in branches {
                spread.extend(self.add(shapes.clone(), Part::Schema(side, branch))?);
                if spread.len() > MOST_SHAPES {
                    return None;
                }
            }
            shapes = spread;
        }
        Some(shapes)
    }

    /// Whether a shape is seen to accept nothing.
    pub(super) fn is_void(&mut self, shape: &Shape<'a>) -> bool {
        self.contradicts(shape, 0)
    }

    /// The values of a shape that lists them, without those that its own rules refuse.
    pub(super) fn values(&self, shape: &Shape<'a>) -> Option<Vec<&'a Value>> {
        let mut values = shape.finite()?;
        for (side, rule) in shape.rules.iter().filter(|(_, rule)| says_more(rule)) {
            let document = self.documents.of(*side);
            if let Some(refused) = witness::refused(document, rule, &values) {
                values.retain(|it| !refused.iter().any(|other| std::ptr::eq(*it, *other)));
            }
        }
        Some(values)
    }

    fn contradicts(&mut self, shape: &Shape<'a>, depth: usize) -> bool {
        if shape.is_impossible() {
            return true;
        }
        if shape.finite().is_some() {
            return self.values(shape).is_some_and(|it| it.is_empty());
        }
        let crossed = |least: &str, most: &str| {
            shape
                .most(most)
                .is_some_and(|most| most < shape.least(least))
        };
        let each = shape.types.each();
        each.into_iter().all(|only| match only {
            Types::INTEGER | Types::FRACTION => {
                let of = shape.of_types(only);
                let (low, high) = (of.bound(Ordering::Greater), of.bound(Ordering::Less));
                low.zip(high).is_some_and(|(low, high)| {
                    match number::compare(&low.number, &high.number) {
                        Ordering::Greater => true,
                        Ordering::Equal => low.is_strict || high.is_strict,
                        Ordering::Less => false,
                    }
                })
            }
            Types::STRING => crossed("minLength", "maxLength"),
            Types::ARRAY => crossed("minItems", "maxItems"),
            Types::OBJECT => {
                crossed("minProperties", "maxProperties")
                    || depth < DEEPEST_CONTRADICTION
                        && shape.required().into_iter().any(|name| {
                            let shapes = self.shapes(&shape.property(name));
                            shapes.is_some_and(|it| {
                                it.iter().all(|it| self.contradicts(it, depth + 1))
                            })
                        })
            }
            _ => false,
        })
    }
}

impl Shape<'_> {
    fn is_impossible(&self) -> bool {
        let has_type = |it: &&Value| self.types.has(Types::of(it));
        let has_values = self
            .values
            .as_ref()
            .is_none_or(|all| all.iter().any(has_type));
        self.types.is_empty() || !has_values
    }
}
