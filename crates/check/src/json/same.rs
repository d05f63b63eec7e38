//! Equality of JSON values by type and value, numbers by mathematical value; whole, or in part.

use std::cmp::Ordering;

use serde_json::Value;

use crate::{json::steps, phrase};
use mcp::json::number;

/// Values nested deeper are not searched for the place where they differ; they are compared all the same.
const DEEPEST: usize = 256;

/// How much of the seen value must be as wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// What the wanted value names: an object may have more members; lists have as many items.
    Part,
}

/// Whether two values are equal.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    agree(left, right, Extent::Whole)
}

/// Whether the seen value has all that the wanted one names.
pub(crate) fn contains_part(wanted: &Value, seen: &Value) -> bool {
    agree(wanted, seen, Extent::Part)
}

/// Of the seen value what the wanted one speaks of, so that a comparison of both shows only what differs.
pub(crate) fn part_of(wanted: &Value, seen: &Value) -> Value {
    match (wanted, seen) {
        (Value::Object(wanted), Value::Object(members)) => members
            .iter()
            .filter_map(|(name, value)| Some((name.clone(), part_of(wanted.get(name)?, value))))
            .collect(),
        (Value::Array(wanted), Value::Array(items)) if wanted.len() == items.len() => wanted
            .iter()
            .zip(items)
            .map(|(wanted, item)| part_of(wanted, item))
            .collect(),
        _ => seen.clone(),
    }
}

/// Compares without recursion: what a server sent may be nested deeply.
fn agree(wanted: &Value, seen: &Value, extent: Extent) -> bool {
    let mut open = vec![(wanted, seen)];
    while let Some(pair) = open.pop() {
        let agrees = match pair {
            (Value::Null, Value::Null) => true,
            (Value::Bool(left), Value::Bool(right)) => left == right,
            (Value::Number(left), Value::Number(right)) => {
                number::compare(left, right) == Ordering::Equal
            }
            (Value::String(left), Value::String(right)) => left == right,
            (Value::Array(left), Value::Array(right)) => {
                open.extend(left.iter().zip(right));
                left.len() == right.len()
            }
            (Value::Object(left), Value::Object(right)) => {
                let before = open.len();
                open.extend(
                    left.iter()
                        .filter_map(|(name, value)| Some((value, right.get(name)?))),
                );
                let all_there = open.len() - before == left.len();
                all_there && (extent == Extent::Part || left.len() == right.len())
            }
            _ => false,
        };
        if !agrees {
            return false;
        }
    }
    true
}

/// The first place where two values part.
#[derive(Debug)]
pub(crate) struct Difference<'a> {
    /// The way to it, as the end of a JSONPath; empty at the top.
    pub path: String,
    /// What is wanted there; `None`: nothing.
    pub wanted: Option<&'a Value>,
    /// What is there; `None`: nothing.
    pub seen: Option<&'a Value>,
}

impl Difference<'_> {
    /// The difference in a sentence, with its place where it is not the whole.
    pub(crate) fn sentence(&self) -> String {
        let place = match self.path.trim_start_matches('.') {
            "" => String::new(),
            path => format!("they differ at {}: ", phrase::quoted(path)),
        };
        let wanted = match self.wanted {
            Some(wanted) => format!("expected {}", phrase::value(wanted)),
            None => "nothing expected there".to_owned(),
        };
        let seen = self
            .seen
            .map_or("nothing is there".to_owned(), phrase::found);
        format!("{place}{wanted}, {seen}")
    }
}

/// The first place where two values part, in the order of the wanted one; `None` when they agree.
pub(crate) fn difference<'a>(
    wanted: &'a Value,
    seen: &'a Value,
    extent: Extent,
) -> Option<Difference<'a>> {
    if agree(wanted, seen, extent) {
        return None;
    }
    let mut found = Difference {
        path: String::new(),
        wanted: Some(wanted),
        seen: Some(seen),
    };
    for _ in 0..DEEPEST {
        let both = found.wanted.zip(found.seen);
        let Some(inner) = both.and_then(|(wanted, seen)| parting(wanted, seen, extent)) else {
            break;
        };
        found = Difference {
            path: found.path + &inner.path,
            ..inner
        };
    }
    Some(found)
}

/// The first member or item in which two containers part.
fn parting<'a>(wanted: &'a Value, seen: &'a Value, extent: Extent) -> Option<Difference<'a>> {
    match (wanted, seen) {
        (Value::Object(left), Value::Object(right)) => {
            let part = |name: &str, wanted, seen| Difference {
                path: steps::step(name),
                wanted,
                seen,
            };
            let changed = left
                .iter()
                .find_map(|(name, wanted)| match right.get(name) {
                    Some(seen) if agree(wanted, seen, extent) => None,
                    found => Some(part(name, Some(wanted), found)),
                });
            changed.or_else(|| {
                right
                    .iter()
                    .find(|(name, _)| extent == Extent::Whole && !left.contains_key(*name))
                    .map(|(name, seen)| part(name, None, Some(seen)))
            })
        }
        (Value::Array(left), Value::Array(right)) => {
            let longest = left.len().max(right.len());
            (0..longest).find_map(|index| match (left.get(index), right.get(index)) {
                (Some(wanted), Some(seen)) if agree(wanted, seen, extent) => None,
                (wanted, seen) => Some(Difference {
                    path: format!("[{index}]"),
                    wanted,
                    seen,
                }),
            })
        }
        _ => None,
    }
}
