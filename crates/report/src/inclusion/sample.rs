//! Values that probably conform to a schema. The validator has the last word on each.

use std::{cell::Cell, cmp::Ordering};

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use serde_json::{Map, Number, Value};

use super::{
    document::{Documents, Part, Side},
    shape::{BOUNDS, Extra, Shape, Shaper, count, plus},
    type_set::Types,
    witness,
};
use mcp::json::number;

/// Values within values that are made.
const DEEPEST: usize = 12;

/// Values that one sampler makes.
const MOST_VALUES: usize = 5_000;

/// Characters of the longest text, and items of the longest list.
const LONGEST: u64 = 1_000;

/// The name of a property that is declared without its name.
pub(super) const OTHER_NAME: &str = "other";

/// Examples that are taken from a schema.
const MOST_EXAMPLES: usize = 4;

/// Texts of the formats.
const FORMATS: [(&str, &str); 10] = [
    ("date", "2026-01-01"),
    ("date-time", "2026-01-01T00:00:00Z"),
    ("email", "user@example.com"),
    ("hostname", "example.com"),
    ("ipv4", "192.0.2.1"),
    ("ipv6", "2001:db8::1"),
    ("time", "00:00:00Z"),
    ("uri", "https://example.com"),
    ("url", "https://example.com"),
    ("uuid", "00000000-0000-4000-8000-000000000000"),
];

/// Texts for everything else.
const TEXTS: [&str; 7] = ["a", "", "0", "A b", "a-b_c.d", "/a/b", "\u{e9}"];

/// The types in the order in which they are tried: texts are what most parameters take.
const ORDER: [Types; 7] = [
    Types::STRING,
    Types::INTEGER,
    Types::FRACTION,
    Types::BOOLEAN,
    Types::OBJECT,
    Types::ARRAY,
    Types::NULL,
];

/// For a parameter of a name and a description: the example that this gives, and the text for the lack of one.
pub type TextsOf<'w> = &'w dyn Fn(&str, &str) -> (Option<String>, String);

/// What values are made for.
#[derive(Clone, Copy)]
pub(super) enum Purpose<'w> {
    /// To show that one schema does not include another. Examples of objects and lists may hold more than is declared.
    Witness,
    /// To call a tool.
    Call(TextsOf<'w>),
}

/// Which properties an object gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The required ones.
    Required,
    /// All that are declared, and within each of them the required ones.
    All,
}

/// Arguments for an input schema; perhaps it refuses them.
pub fn arguments(schema: &Value, which: Which, texts: TextsOf<'_>) -> Value {
    let documents = Documents::new(schema, schema);
    let sampler = Sampler::new(&documents, Purpose::Call(texts));
    let mut shaper = Shaper::new(&documents);
    let all = shaper.shapes(&[(Side::Inner, schema)]).unwrap_or_default();
    let shape = all.iter().find(|it| !shaper.is_void(it, 0));
    let arguments = shape.map(|it| sampler.object(it, which, 0));
    arguments.unwrap_or_default().into()
}

/// Makes values of schemas of two documents.
pub(super) struct Sampler<'w, 'a> {
    documents: &'w Documents<'a>,
    purpose: Purpose<'w>,
    left: Cell<usize>,
}

impl<'w, 'a> Sampler<'w, 'a> {
    pub(super) fn new(documents: &'w Documents<'a>, purpose: Purpose<'w>) -> Self {
        Self {
            documents,
            purpose,
            left: Cell::new(MOST_VALUES),
        }
    }

    /// Several values of a shape, the plainest first, and among them ones that another schema may refuse.
    pub(super) fn of_shape(&self, shape: &Shape<'a>, other: &Value) -> Vec<Value> {
        let mut all = self.listed(shape);
        if shape.finite().is_some() {
            return all;
        }
        for only in shape.types.each() {
            let of = shape.of_types(only);
            match only {
                Types::ARRAY => {
                    let least = of.least("minItems");
                    let lengths = [least, least + 1, least + 2];
                    let lengths = near(other, ["minItems", "maxItems"]).chain(lengths);
                    let most = of.most("maxItems").unwrap_or(u64::MAX);
                    let lengths = lengths.filter(|it| (least..=most).contains(it));
                    let arrays =
                        lengths.filter_map(|it| self.items((OTHER_NAME, &of), length(it), 0));
                    all.extend(arrays.map(Value::Array));
                }
                Types::OBJECT => {
                    let objects = [Which::Required, Which::All].map(|it| self.object(&of, it, 0));
                    all.extend(objects.map(Value::Object));
                    let dependent = ["dependentRequired", "dependentSchemas", "dependencies"];
                    let dependent = dependent
                        .into_iter()
                        .filter_map(|it| other.get(it)?.as_object());
                    all.extend(dependent.flatten().map(|(name, _)| {
                        let value = self.one((name, &of.property(name)), 1).unwrap_or_default();
                        self.object_with(&of, (name, value), Which::Required)
                    }));
                }
                _ => all.extend(self.scalars((OTHER_NAME, &of), only, other)),
            }
        }
        all
    }

    /// One value of what meets all conditions, for a property of that name.
    fn one(&self, (name, parts): (&str, &[Part<'a>]), depth: usize) -> Option<Value> {
        let left = self.left.get().checked_sub(1)?;
        self.left.set(left);
        if depth >= DEEPEST {
            return None;
        }
        let shapes = Shaper::new(self.documents).shapes(parts)?;
        shapes.iter().find_map(|shape| {
            let listed = self.listed(shape);
            if shape.finite().is_some() || !listed.is_empty() {
                return listed.into_iter().next();
            }
            let order = ORDER.into_iter().filter(|it| shape.types.has(*it));
            order.into_iter().find_map(|only| {
                let of = shape.of_types(only);
                match only {
                    Types::ARRAY => {
                        let count = length(of.least("minItems"));
                        self.items((name, &of), count, depth).map(Value::Array)
                    }
                    Types::OBJECT => Some(self.object(&of, Which::Required, depth).into()),
                    _ => self
                        .scalars((name, &of), only, &Value::Null)
                        .into_iter()
                        .next(),
                }
            })
        })
    }

    /// The values that a schema gives as examples or lists.
    fn listed(&self, shape: &Shape<'_>) -> Vec<Value> {
        let examples = shape.all("examples").filter_map(Value::as_array).flatten();
        let stated = examples
            .chain(shape.all("default"))
            .filter(|it| match self.purpose {
                Purpose::Witness => !it.is_object() && !it.is_array(),
                Purpose::Call(_) => true,
            });
        let finite = shape.finite();
        let fits = |it: &&Value| {
            shape.types.has(Types::of(it)) && finite.as_ref().is_none_or(|all| all.contains(it))
        };
        let stated = stated.filter(fits).take(MOST_EXAMPLES);
        stated
            .chain(finite.iter().flatten().copied())
            .cloned()
            .collect()
    }

    fn items(
        &self,
        (name, shape): (&str, &Shape<'a>),
        count: usize,
        depth: usize,
    ) -> Option<Vec<Value>> {
        let are_unique = shape.all("uniqueItems").any(|it| *it == Value::Bool(true));
        let mut items: Vec<Value> = Vec::new();
        for at in 0..count {
            let parts = shape.item(Some(at));
            let mut item = self.one((name, &parts), depth + 1)?;
            if are_unique && items.contains(&item) {
                let shapes = Shaper::new(self.documents).shapes(&parts)?;
                let mut others = shapes.iter().flat_map(|it| self.of_shape(it, &Value::Null));
                item = others.find(|it| !items.contains(it))?;
            }
            items.push(item);
        }
        Some(items)
    }

    /// An array with this at its place.
    pub(super) fn array_with(&self, shape: &Shape<'a>, (at, value): (usize, Value)) -> Value {
        let count = length(shape.least("minItems")).max(at + 1);
        let items = self.items((OTHER_NAME, shape), count, 0);
        let mut items = items.unwrap_or_else(|| vec![Value::Null; count]);
        items[at] = value;
        items.into()
    }

    pub(super) fn object(
        &self,
        shape: &Shape<'a>,
        which: Which,
        depth: usize,
    ) -> Map<String, Value> {
        let (mut names, required) = (shape.names(), shape.required());
        names.retain(|it| which == Which::All || required.contains(it));
        let members = names.into_iter().filter_map(|name| {
            let value = self.one((name, &shape.property(name)), depth + 1)?;
            Some((name.to_owned(), value))
        });
        let mut members: Map<String, Value> = members.collect();
        if let (Which::All, Purpose::Witness, Extra::Map(parts)) =
            (which, self.purpose, shape.extra())
        {
            let other = self.one((OTHER_NAME, &parts), depth + 1);
            members.extend(other.map(|it| (OTHER_NAME.to_owned(), it)));
        }
        members
    }

    /// An object with this member.
    pub(super) fn object_with(
        &self,
        shape: &Shape<'a>,
        (name, value): (&str, Value),
        which: Which,
    ) -> Value {
        let mut object = self.object(shape, which, 0);
        object.insert(name.to_owned(), value);
        object.into()
    }

    /// Values of one type without parts.
    fn scalars(&self, (name, shape): (&str, &Shape<'_>), only: Types, other: &Value) -> Vec<Value> {
        match only {
            Types::NULL => vec![Value::Null],
            Types::BOOLEAN => vec![Value::Bool(true), Value::Bool(false)],
            Types::INTEGER | Types::FRACTION => numbers(shape, only, other),
            _ => self
                .texts((name, shape), other)
                .into_iter()
                .map(Value::from)
                .collect(),
        }
    }

    fn texts(&self, (name, shape): (&str, &Shape<'_>), other: &Value) -> Vec<String> {
        let (example, usual) = match self.purpose {
            Purpose::Witness => (None, "text".to_owned()),
            Purpose::Call(texts) => {
                let said = shape.all("description").find_map(Value::as_str);
                texts(name, said.unwrap_or_default())
            }
        };
        let (least, most) = (shape.least("minLength"), shape.most("maxLength"));
        let most = most.unwrap_or(u64::MAX);
        let size = |text: &str| text.chars().count() as u64;
        let of_length = |text: &str, count: u64| -> String {
            let endless = text.chars().chain(std::iter::repeat('a'));
            endless.take(length(count)).collect()
        };
        let formats = shape.all("format").filter_map(Value::as_str);
        let formats = formats.filter_map(|it| FORMATS.iter().find(|(name, _)| *name == it));
        let patterns: Vec<&str> = shape.all("pattern").filter_map(Value::as_str).collect();
        let alike = patterns.iter();
        let alike = alike
            .flat_map(|it| [0, 1, 2, 8, 30].map(|more| like(it, more)))
            .flatten();
        let formats = formats.map(|(_, text)| (*text).to_owned());
        let mut all: Vec<String> = example.into_iter().chain(formats).chain(alike).collect();
        all.push(of_length(&usual, size(&usual).max(least).min(most)));
        // Of each length that may matter, the plainest made longer or shorter.
        let lengths = near(other, ["minLength", "maxLength"]).chain([least, most.min(least + 100)]);
        let plainest = all[0].clone();
        all.extend(lengths.map(|it| of_length(&plainest, it)));
        all.extend(TEXTS.map(str::to_owned));
        let fits = |text: &String| {
            let mut patterns = patterns.iter();
            (least..=most).contains(&size(text))
                && patterns.all(|it| witness::matches(it, text) != Some(false))
        };
        match (self.purpose, all.iter().any(fits)) {
            // A server says better what is wrong with a text than with none.
            (Purpose::Call(_), false) => all.truncate(1),
            (Purpose::Witness, _) | (Purpose::Call(_), true) => all.retain(fits),
        }
        all
    }
}

/// Counts just outside of what a schema allows.
fn near(schema: &Value, [least, most]: [&str; 2]) -> impl Iterator<Item = u64> {
    let bound = |keyword| schema.get(keyword).and_then(count);
    let below = bound(least).and_then(|it| it.checked_sub(1));
    below
        .into_iter()
        .chain(bound(most).map(|it| it.saturating_add(1)))
}

fn length(count: u64) -> usize {
    usize::try_from(count.min(LONGEST)).unwrap_or_default()
}

fn numbers(shape: &Shape<'_>, only: Types, other: &Value) -> Vec<Value> {
    let bounds = [Ordering::Greater, Ordering::Less].map(|it| shape.bound(it));
    let bounds = bounds.iter().flatten();
    let others = BOUNDS.iter().filter_map(|it| other.get(it)?.as_number());
    let near = bounds.clone().map(|it| &it.number).chain(others);
    let near = near
        .flat_map(|it| [0, 1, 2, -1, -2].map(|step| plus(it, step).unwrap_or_else(|| it.clone())));
    let [one, plain @ ..] = [1, 0, -1, 7, 1_000_000].map(Number::from);
    let mut all = vec![one];
    all.extend(near.chain(plain));
    if only == Types::FRACTION {
        let floats = all.iter().filter_map(Number::as_f64);
        let halves = floats.flat_map(|it| [it + 0.5, it - 0.5]).chain([0.25]);
        all = halves.filter_map(Number::from_f64).collect();
    }
    for step in shape
        .all("multipleOf")
        .filter_map(Value::as_i64)
        .filter(|it| *it > 0)
    {
        let whole = all
            .iter()
            .filter_map(Number::as_i64)
            .map(|it| it - it.rem_euclid(step));
        all = whole
            .flat_map(|it| [it.saturating_add(step), it])
            .map(Number::from)
            .collect();
    }
    all.retain(|it| {
        number::is_integer(it) == (only == Types::INTEGER)
            && !bounds.clone().any(|bound| bound.excludes(it))
    });
    all.into_iter().map(Value::Number).collect()
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
                let mut ranges = class.iter();
                ranges.any(|range| (range.start()..=range.end()).contains(it))
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
