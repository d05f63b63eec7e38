//! Values that probably conform to a schema. The validator has the last word on each.

use std::{cell::Cell, cmp::Ordering, collections::BTreeSet};

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use serde_json::{Map, Number, Value};

use super::{
    document::Documents,
    scalars::plus,
    shape::{Bound, Extra, Part, Shape, Shaper},
    type_set::Types,
    witness,
};
use mcp::json::number;

/// Values within values that are made.
const DEEPEST: usize = 12;

/// Values that one sampler makes.
const MOST_VALUES: usize = 5_000;

/// Characters of the longest text, and items of the longest list.
const LONGEST: u64 = 300;

/// The name of a property that is declared without its name.
pub(super) const OTHER_NAME: &str = "other";

/// Examples that are taken from a schema.
const MOST_EXAMPLES: usize = 4;

/// Texts of the formats.
const FORMATS: [(&str, &str); 8] = [
    ("date", "2025-01-02"),
    ("date-time", "2025-01-02T03:04:05Z"),
    ("email", "a@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("time", "03:04:05Z"),
    ("uri", "https://example.com/a"),
    ("uuid", "123e4567-e89b-42d3-a456-426614174000"),
];

/// Texts for everything else.
const TEXTS: [&str; 8] = ["text", "a", "", "0", "A b", "a-b_c.d", "/a/b", "\u{e9}"];

/// Makes values of schemas of two documents.
pub(super) struct Sampler<'w, 'a> {
    documents: &'w Documents<'a>,
    left: Cell<usize>,
}

impl<'w, 'a> Sampler<'w, 'a> {
    pub(super) fn new(documents: &'w Documents<'a>) -> Self {
        Self {
            documents,
            left: Cell::new(MOST_VALUES),
        }
    }

    /// Several values of a shape, the plainest first.
    pub(super) fn of_shape(&self, shape: &Shape<'a>) -> Vec<Value> {
        let mut all = listed(shape);
        if shape.finite().is_some() {
            return all;
        }
        for only in shape.types.each() {
            let of = shape.of_types(only);
            match only {
                Types::ARRAY => {
                    let least = of.least("minItems");
                    let lengths = [least, least + 1, least + 2].into_iter();
                    let lengths =
                        lengths.filter(|it| of.most("maxItems").is_none_or(|most| *it <= most));
                    all.extend(lengths.map(|it| self.array_of(&of, length(it))));
                }
                Types::OBJECT => {
                    all.extend(
                        [false, true].map(|is_full| Value::Object(self.object(&of, is_full, 0))),
                    );
                }
                _ => all.extend(scalars(&of, only)),
            }
        }
        all
    }

    /// One value of what meets all conditions.
    fn one(&self, parts: &[Part<'a>], depth: usize) -> Option<Value> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        if depth >= DEEPEST {
            return None;
        }
        let shapes = Shaper::new(self.documents).shapes(parts)?;
        shapes.iter().find_map(|shape| {
            let listed = listed(shape);
            if shape.finite().is_some() || !listed.is_empty() {
                return listed.into_iter().next();
            }
            // Texts are what most parameters take.
            let order = [
                Types::STRING,
                Types::INTEGER,
                Types::FRACTION,
                Types::BOOLEAN,
            ];
            let order = order
                .into_iter()
                .chain([Types::OBJECT, Types::ARRAY, Types::NULL]);
            order.filter(|it| shape.types.has(*it)).find_map(|only| {
                let of = shape.of_types(only);
                match only {
                    Types::ARRAY => {
                        let count = length(of.least("minItems"));
                        self.items(&of, count, depth).map(Value::Array)
                    }
                    Types::OBJECT => Some(Value::Object(self.object(&of, false, depth))),
                    _ => scalars(&of, only).into_iter().next(),
                }
            })
        })
    }

    /// An array of so many items.
    pub(super) fn array_of(&self, shape: &Shape<'a>, count: usize) -> Value {
        self.items(shape, count, 0).unwrap_or_default().into()
    }

    fn items(&self, shape: &Shape<'a>, count: usize, depth: usize) -> Option<Vec<Value>> {
        let are_unique = shape.all("uniqueItems").any(|it| *it == Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for at in 0..count {
            let parts = shape.item(Some(at));
            let mut item = self.one(&parts, depth + 1)?;
            if are_unique && items.contains(&item) {
                let shapes = Shaper::new(self.documents).shapes(&parts)?;
                let mut others = shapes.iter().flat_map(|it| self.of_shape(it));
                item = others.find(|it| !items.contains(it))?;
            }
            items.push(item);
        }
        Some(items)
    }

    /// An array with this at its place.
    pub(super) fn array_with(&self, shape: &Shape<'a>, (at, value): (usize, Value)) -> Value {
        let count = length(shape.least("minItems")).max(at + 1);
        let mut items = self
            .items(shape, count, 0)
            .unwrap_or_else(|| vec![Value::Null; count]);
        items[at] = value;
        items.into()
    }

    /// An object with the required members, or with all declared ones.
    fn object(&self, shape: &Shape<'a>, is_full: bool, depth: usize) -> Map<String, Value> {
        let mut names: BTreeSet<&str> = shape.required();
        if is_full {
            names.extend(shape.declared());
        }
        let mut members: Map<String, Value> = names
            .into_iter()
            .filter_map(|name| {
                let value = self.one(&shape.property(name), depth + 1)?;
                Some((name.to_owned(), value))
            })
            .collect();
        if let (true, Extra::Map(parts)) = (is_full, shape.extra()) {
            members.extend(
                self.one(&parts, depth + 1)
                    .map(|it| (OTHER_NAME.to_owned(), it)),
            );
        }
        members
    }

    /// An object with this member.
    pub(super) fn object_with(
        &self,
        shape: &Shape<'a>,
        (name, value): (&str, Value),
        is_full: bool,
    ) -> Value {
        let mut object = self.object(shape, is_full, 0);
        object.insert(name.to_owned(), value);
        object.into()
    }

    /// An object without that member.
    pub(super) fn object_without(&self, shape: &Shape<'a>, name: &str, is_full: bool) -> Value {
        let mut object = self.object(shape, is_full, 0);
        object.remove(name);
        object.into()
    }

    /// An object that has that member.
    pub(super) fn object_having(&self, shape: &Shape<'a>, name: &str) -> Value {
        let value = self.one(&shape.property(name), 1).unwrap_or_default();
        self.object_with(shape, (name, value), false)
    }
}

/// The values that a schema lists or gives as examples.
fn listed(shape: &Shape<'_>) -> Vec<Value> {
    if let Some(values) = shape.finite() {
        return values.into_iter().cloned().collect();
    }
    let examples = shape.all("examples").filter_map(Value::as_array).flatten();
    let all = shape.all("default").chain(examples);
    let all = all.filter(|it| shape.types.has(Types::of(it)) && is_whole(it));
    all.take(MOST_EXAMPLES).cloned().collect()
}

/// Whether a value has no parts that may be more than is declared.
fn is_whole(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn length(count: u64) -> usize {
    usize::try_from(count.min(LONGEST)).unwrap_or_default()
}

/// Values of one type without parts.
fn scalars(shape: &Shape<'_>, only: Types) -> Vec<Value> {
    match only {
        Types::NULL => vec![Value::Null],
        Types::BOOLEAN => vec![Value::Bool(true), Value::Bool(false)],
        Types::INTEGER | Types::FRACTION => numbers(shape, only),
        _ => texts(shape).into_iter().map(Value::from).collect(),
    }
}

fn numbers(shape: &Shape<'_>, only: Types) -> Vec<Value> {
    let low = shape.bound(Ordering::Greater);
    let high = shape.bound(Ordering::Less);
    let near = |bound: &Option<Bound>, steps: [i128; 2]| {
        let bound = bound.as_ref().map(|it| it.number.clone());
        let near = steps.map(|step| bound.as_ref().and_then(|it| plus(it, step)));
        bound.into_iter().chain(near.into_iter().flatten())
    };
    let plain = [1, 0, -1, 7, 1_000_000].map(Number::from);
    let mut all: Vec<Number> = near(&low, [1, 2])
        .chain(near(&high, [-1, -2]))
        .chain(plain)
        .collect();
    if only == Types::FRACTION {
        let halves = all.iter().filter_map(Number::as_f64);
        let halves = halves
            .flat_map(|it| [it + 0.5, it - 0.5])
            .filter_map(Number::from_f64);
        all = halves
            .chain([Number::from_f64(0.25)].into_iter().flatten())
            .collect();
    }
    for step in shape
        .all("multipleOf")
        .filter_map(Value::as_i64)
        .filter(|it| *it > 0)
    {
        let down = all.iter().filter_map(Number::as_i64);
        let multiples =
            down.flat_map(|it| [it - it.rem_euclid(step), it - it.rem_euclid(step) + step]);
        all = multiples.map(Number::from).collect();
    }
    let is_beyond = |it: &Number, bound: &Option<Bound>, order: Ordering| {
        bound
            .as_ref()
            .is_some_and(|bound| is_outside(bound, it, order))
    };
    all.retain(|it| {
        number::is_integer(it) == (only == Types::INTEGER)
            && !is_beyond(it, &low, Ordering::Less)
            && !is_beyond(it, &high, Ordering::Greater)
    });
    all.into_iter().map(Value::Number).collect()
}

/// Whether a number is on this side of a bound.
fn is_outside(bound: &Bound, number: &Number, side: Ordering) -> bool {
    let order = number::compare(number, &bound.number);
    order == side || order.is_eq() && bound.is_strict
}

fn texts(shape: &Shape<'_>) -> Vec<String> {
    let least = shape.least("minLength");
    let most = shape.most("maxLength");
    let fits = |text: &String| {
        let length = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
        length >= least && most.is_none_or(|most| length <= most)
    };
    let patterns: Vec<&str> = shape.all("pattern").filter_map(Value::as_str).collect();
    let formats = shape.all("format").filter_map(Value::as_str);
    let formats = formats.filter_map(|it| FORMATS.iter().find(|(name, _)| *name == it));
    let mut all: Vec<String> = formats.map(|(_, text)| (*text).to_owned()).collect();
    all.extend(
        patterns
            .iter()
            .flat_map(|it| [0, 1, 2, 8, 30].map(|more| like(it, more)))
            .flatten(),
    );
    all.extend(TEXTS.map(str::to_owned));
    let long = |count: u64| {
        "text"
            .chars()
            .cycle()
            .take(length(count))
            .collect::<String>()
    };
    all.extend([least, most.unwrap_or(least + 100).min(LONGEST)].map(long));
    all.retain(fits);
    all.retain(|text| {
        patterns
            .iter()
            .all(|it| witness::matches(it, text) != Some(false))
    });
    all
}

/// A text that matches a pattern, in which what may be repeated is so many times more often than needed.
pub(super) fn like(pattern: &str, more: u32) -> Option<String> {
    let parsed = regex_syntax::parse(pattern).ok()?;
    let mut out = String::new();
    write(&parsed, more, &mut out)?;
    Some(out)
}

fn write(hir: &Hir, more: u32, out: &mut String) -> Option<()> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.push_str(std::str::from_utf8(&literal.0).ok()?),
        HirKind::Class(Class::Unicode(class)) => {
            let has = |it: &char| {
                class
                    .iter()
                    .any(|range| (range.start()..=range.end()).contains(it))
            };
            let first = class.iter().next().map(ClassUnicodeRange::start);
            out.push(['a', 'A', '1', '-'].into_iter().find(has).or(first)?);
        }
        HirKind::Class(Class::Bytes(_)) => return None,
        HirKind::Repetition(of) => {
            let most = of.max.unwrap_or(u32::MAX).min(of.min.saturating_add(more));
            for _ in 0..most.min(100) {
                write(&of.sub, more.min(1), out)?;
            }
        }
        HirKind::Capture(of) => write(&of.sub, more, out)?,
        HirKind::Concat(all) => all.iter().try_for_each(|it| write(it, more, out))?,
        HirKind::Alternation(all) => write(all.first()?, more, out)?,
    }
    (out.len() < 1_000).then_some(())
}
