//! What a schema accepts as a list of shapes: each a conjunction of rules without alternatives. A shape accepts at least what
//! the schema accepts there: `not`, `if` and what is in other documents are left out.

use std::{cmp::Ordering, collections::HashSet, sync::LazyLock};

use serde_json::{Number, Value, json};

use super::{
    document::{Documents, Part, Side},
    type_set::Types,
    witness,
};
use mcp::json::number;

/// The schema of all objects.
pub(super) static OBJECT: LazyLock<Value> = LazyLock::new(|| json!({"type": "object"}));

/// The schema of all texts.
pub(super) static TEXT: LazyLock<Value> = LazyLock::new(|| json!({"type": "string"}));

/// The schema that nothing conforms to.
pub(super) static NOTHING: Value = Value::Bool(false);

/// The values of the types that have few.
static FINITE: [Value; 3] = [Value::Bool(true), Value::Bool(false), Value::Null];

/// The most shapes of one schema.
const MOST_SHAPES: usize = 64;

/// Listed values that cost as much as one schema.
const VALUES_OF_A_SCHEMA: usize = 64;

/// Schemas within schemas that are searched for a contradiction.
const DEEPEST_CONTRADICTION: usize = 4;

/// A conjunction of rules.
#[derive(Debug, Clone)]
pub(super) struct Shape<'a> {
    /// The schemas whose keywords hold; their alternatives and references have been followed.
    pub(super) rules: Vec<Part<'a>>,
    /// The types that are left.
    pub(super) types: Types,
    /// The values that are left, if they are listed.
    values: Option<Vec<&'a Value>>,
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
        }
    }

    /// How many schemas its listed values cost as much as.
    pub(super) fn weight(&self) -> usize {
        self.values.as_ref().map_or(0, Vec::len) / VALUES_OF_A_SCHEMA
    }

    /// The values of a keyword in all rules.
    pub(super) fn all(&self, keyword: &str) -> impl Iterator<Item = &'a Value> {
        let rules = self.rules.iter();
        rules.filter_map(move |(_, rule)| rule.get(keyword))
    }

    fn restrict(&mut self, side: Side, schema: &'a Value) {
        self.rules.push((side, schema));
        if let Some(types) = schema.get("type") {
            self.types = self.types.and(Types::declared(types));
        }
        let lists = schema.get("enum").and_then(Value::as_array);
        let only = schema.get("const").map(std::slice::from_ref);
        for values in lists.map(Vec::as_slice).into_iter().chain(only) {
            self.values = Some(match self.values.take() {
                Some(mut kept) => {
                    let values: HashSet<&Value> = values.iter().collect();
                    kept.retain(|it| values.contains(it));
                    kept
                }
                None => values.iter().collect(),
            });
        }
    }

    /// The values, if there are finitely many that can be listed.
    pub(super) fn finite(&self) -> Option<Vec<&'a Value>> {
        let is_left = |it: &&'a Value| self.types.has(Types::of(it));
        match &self.values {
            Some(values) => Some(values.iter().copied().filter(is_left).collect()),
            None if self.types.is_within(Types::FINITE) => {
                Some(FINITE.iter().filter(is_left).collect())
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
        let keywords = BOUNDS.into_iter().filter(|it| direction(it) == tighter);
        let bounds = keywords.flat_map(|it| {
            let all = self.all(it);
            all.filter_map(move |value| Bound::new(it, value, self.types))
        });
        bounds.reduce(|one, other| if other.is_within(&one) { other } else { one })
    }

    /// The greatest value of a keyword that gives a minimum count.
    pub(super) fn least(&self, keyword: &str) -> u64 {
        self.all(keyword).filter_map(count).max().unwrap_or(0)
    }

    /// The smallest value of a keyword that gives a maximum count.
    pub(super) fn most(&self, keyword: &str) -> Option<u64> {
        self.all(keyword).filter_map(count).min()
    }

    /// The names that are always there.
    pub(super) fn required(&self) -> Vec<&'a str> {
        let all = self.all("required").filter_map(Value::as_array).flatten();
        unique(all.filter_map(Value::as_str))
    }

    /// The names that values are known to have: declared or required.
    pub(super) fn names(&self) -> Vec<&'a str> {
        let declared = self.all("properties").filter_map(Value::as_object);
        let declared = declared.flatten().map(|(name, _)| name.as_str());
        unique(declared.chain(self.required()))
    }

    /// What holds for the property of that name.
    pub(super) fn property(&self, name: &str) -> Vec<Part<'a>> {
        let rules = self.rules.iter();
        let rules = rules.flat_map(|(side, rule)| of_property(rule, name).map(|it| (*side, it)));
        rules.collect()
    }

    /// What holds for properties that are not declared.
    pub(super) fn extra(&self) -> Extra<'a> {
        let closing = ["additionalProperties", "unevaluatedProperties"].into_iter();
        if closing.flat_map(|it| self.all(it)).any(|it| *it == NOTHING) {
            return Extra::Closed;
        }
        let all = self.rules.iter().filter_map(|(side, rule)| {
            let schema = rule.get("additionalProperties")?;
            is_map(schema).then_some((*side, schema))
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
        items.collect()
    }

    fn is_impossible(&self) -> bool {
        let has_type = |it: &&Value| self.types.has(Types::of(it));
        let values = self.values.as_ref();
        self.types.is_empty() || values.is_some_and(|all| !all.iter().any(has_type))
    }
}

/// Each name once, in order.
fn unique<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut seen = HashSet::new();
    names.filter(|it| seen.insert(*it)).collect()
}

/// The declared schemas of the properties by patterns.
pub(super) fn patterns(rule: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let all = rule.get("patternProperties").and_then(Value::as_object);
    let all = all.into_iter().flatten();
    all.map(|(pattern, it)| (pattern.as_str(), it))
}

/// What one schema says of a property: what it declares, else what it says of all others.
pub(super) fn of_property<'a>(rule: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    let own = rule.get("properties").and_then(|all| all.get(name));
    let matched = patterns(rule).map(|(pattern, it)| (witness::matches(pattern, name), it));
    let (mut all, mut is_covered) = (Vec::from_iter(own), own.is_some());
    for (matches, it) in matched {
        is_covered |= matches != Some(false);
        all.extend((matches == Some(true)).then_some(it));
    }
    let others = rule.get("additionalProperties").filter(|_| !is_covered);
    all.into_iter().chain(others)
}

/// The schemas of single positions.
pub(super) fn positions(rule: &Value) -> &[Value] {
    let mut lists = ["prefixItems", "items"].into_iter();
    let list = lists.find_map(|it| rule.get(it)?.as_array());
    list.map_or(&[], Vec::as_slice)
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
pub(super) fn is_map(schema: &Value) -> bool {
    schema.as_object().is_some_and(|it| !it.is_empty())
}

/// A count, in whatever notation.
pub(super) fn count(value: &Value) -> Option<u64> {
    number::digits(value.as_number()?)?.parse().ok()
}

/// Keywords that bound numbers.
pub(super) const BOUNDS: [&str; 4] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];

/// A bound of numbers.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    pub(super) number: Number,
    is_strict: bool,
    /// Which way a bound must lie from this one to leave fewer numbers.
    pub(super) tighter: Ordering,
}

fn direction(keyword: &str) -> Ordering {
    if keyword.ends_with("inimum") {
        Ordering::Greater
    } else {
        Ordering::Less
    }
}

impl Bound {
    /// The bound of a keyword; for types without fractions the whole number that leaves the same ones.
    pub(super) fn new(keyword: &str, value: &Value, types: Types) -> Option<Self> {
        let number = value.as_number()?.clone();
        let (is_strict, tighter) = (keyword.starts_with("exclusive"), direction(keyword));
        let whole = plus(&number, 0).filter(|_| !types.has(Types::FRACTION));
        let Some(whole) = whole else {
            return Some(Self {
                number,
                is_strict,
                tighter,
            });
        };
        let order = number::compare(&number, &whole);
        let step = i128::from(order == tighter || order.is_eq() && is_strict);
        let step = if tighter == Ordering::Greater {
            step
        } else {
            -step
        };
        Some(Self {
            number: plus(&whole, step)?,
            is_strict: false,
            tighter,
        })
    }

    /// Whether it leaves no number that another one in the same direction excludes.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        let order = number::compare(&self.number, &other.number);
        order == self.tighter || order.is_eq() && (self.is_strict || !other.is_strict)
    }

    /// Whether it excludes a number.
    pub(super) fn excludes(&self, number: &Number) -> bool {
        let order = number::compare(number, &self.number);
        order == self.tighter.reverse() || order.is_eq() && self.is_strict
    }
}

/// A number without its fraction and with so much added.
pub(super) fn plus(number: &Number, step: i128) -> Option<Number> {
    let text = number::digits(number).unwrap_or_else(|| number::truncated(number).to_string());
    let sum = text.parse::<i128>().ok()?.checked_add(step)?;
    serde_json::from_str(&sum.to_string()).ok()
}

/// Makes shapes of schemas of two documents.
pub(super) struct Shaper<'w, 'a> {
    documents: &'w Documents<'a>,
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
        let mut parts = parts.iter();
        parts.try_fold(vec![Shape::any()], |shapes, part| self.add(shapes, *part))
    }

    /// The shapes that meet one more condition.
    pub(super) fn add(
        &mut self,
        shapes: Vec<Shape<'a>>,
        (side, schema): Part<'a>,
    ) -> Option<Vec<Shape<'a>>> {
        if *schema == NOTHING {
            return Some(Vec::new());
        }
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
        let added = self.keywords(shapes, (side, schema));
        self.open.pop();
        added
    }

    fn keywords(
        &mut self,
        mut shapes: Vec<Shape<'a>>,
        (side, schema): Part<'a>,
    ) -> Option<Vec<Shape<'a>>> {
        if let Some(target) = self.documents.reference((side, schema)) {
            shapes = self.add(shapes, (side, target))?;
        }
        for shape in &mut shapes {
            shape.restrict(side, schema);
        }
        shapes.retain(|it| !it.is_impossible());
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        for all in list("allOf").into_iter().flatten() {
            shapes = self.add(shapes, (side, all))?;
        }
        for branches in ["anyOf", "oneOf"].into_iter().filter_map(list) {
            let mut spread = Vec::new();
            for branch in branches {
                spread.extend(self.add(shapes.clone(), (side, branch))?);
                if spread.len() > MOST_SHAPES {
                    return None;
                }
            }
            shapes = spread;
        }
        Some(shapes)
    }

    /// The values of a shape that lists them, without those that its own rules refuse.
    pub(super) fn values(&self, shape: &Shape<'a>) -> Option<Vec<&'a Value>> {
        let mut values = shape.finite()?;
        let rules = shape.rules.iter();
        for (side, rule) in rules.filter(|(_, rule)| !witness::is_list(rule)) {
            let root = self.documents.roots[*side as usize];
            if let Some(refused) = witness::refused(root, rule, &values) {
                values.retain(|it| !refused.iter().any(|other| std::ptr::eq(*it, *other)));
            }
        }
        Some(values)
    }

    /// Whether all shapes of what meets some conditions are seen to accept nothing.
    pub(super) fn are_void(&mut self, parts: &[Part<'a>], depth: usize) -> bool {
        let shapes = self.shapes(parts);
        shapes.is_some_and(|all| all.iter().all(|it| self.is_void(it, depth)))
    }

    /// Whether a shape is seen to accept nothing.
    pub(super) fn is_void(&mut self, shape: &Shape<'a>, depth: usize) -> bool {
        if shape.is_impossible() {
            return true;
        }
        if let Some(values) = self.values(shape) {
            return values.is_empty();
        }
        let crossed = |least: &str, most: &str| {
            let most = shape.most(most);
            most.is_some_and(|most| most < shape.least(least))
        };
        shape.types.each().all(|only| match only {
            Types::INTEGER | Types::FRACTION => {
                let of = shape.of_types(only);
                let (low, high) = (of.bound(Ordering::Greater), of.bound(Ordering::Less));
                low.zip(high).is_some_and(|(low, high)| {
                    low.excludes(&high.number) || high.excludes(&low.number)
                })
            }
            Types::STRING => crossed("minLength", "maxLength"),
            Types::ARRAY => crossed("minItems", "maxItems"),
            Types::OBJECT => {
                let mut required = shape.required().into_iter();
                depth < DEEPEST_CONTRADICTION
                    && required.any(|name| self.are_void(&shape.property(name), depth + 1))
            }
            _ => false,
        })
    }
}
