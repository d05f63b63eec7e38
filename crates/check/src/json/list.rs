//! The list of what a path matched: where a path can match several places, a list given to `equals` may be that list,
//! however deep among matchers it stands.

use serde_json::Value;

use super::{rules::Node, same::same};
use suite::model::expectation::{Matcher, ValueRule};

/// What a path matched, as far as it is a list.
#[derive(Debug, Clone, Copy)]
pub(super) enum Matched<'a> {
    /// At a path that can match one place only, or of a value by itself: no list.
    One,
    /// At a path that can match several places.
    List(&'a [Node<'a>]),
}

impl Matched<'_> {
    /// Whether a wanted value is the list of what was matched.
    pub(super) fn is(self, wanted: &Value) -> bool {
        match (self, wanted) {
            (Self::List(nodes), Value::Array(wanted)) => {
                let mut both = wanted.iter().zip(nodes);
                wanted.len() == nodes.len() && both.all(|(wanted, node)| same(wanted, node.value))
            }
            (Self::One | Self::List(_), _) => false,
        }
    }

    /// The list, where a mismatch with it says more than one with each place: a single array is compared itself.
    pub(super) fn shown(self) -> Option<Value> {
        match self {
            Self::One => None,
            Self::List([node]) if node.value.is_array() => None,
            Self::List(nodes) => Some(nodes.iter().map(|node| node.value.clone()).collect()),
        }
    }
}

/// Whether a rule compares with a list.
pub(super) fn compares(rule: &ValueRule) -> bool {
    match rule {
        ValueRule::Equals(wanted) => wanted.is_array(),
        ValueRule::Loosely(_) => false,
        ValueRule::Matchers(matchers) => matchers.iter().any(matcher_compares),
    }
}

/// Whether a matcher does.
pub(super) fn matcher_compares(matcher: &Matcher) -> bool {
    match matcher {
        Matcher::Equals(wanted) => wanted.is_array(),
        Matcher::Not(rule) => compares(rule),
        Matcher::Exists(_)
        | Matcher::Type(_)
        | Matcher::Compare(..)
        | Matcher::Matches(_)
        | Matcher::Contains(_)
        | Matcher::Length(_)
        | Matcher::OneOf(_) => false,
    }
}

/// Whether a rule wants the empty list, and nothing that is not so where nothing was matched. That something else is
/// not there is no such wish: a path that leads nowhere would fulfil it.
pub(super) fn wants_empty(rule: &ValueRule) -> bool {
    let is_empty = |wanted: &Value| wanted.as_array().is_some_and(Vec::is_empty);
    match rule {
        ValueRule::Equals(wanted) => is_empty(wanted),
        ValueRule::Loosely(_) => false,
        ValueRule::Matchers(matchers) => matchers.iter().all(|matcher| match matcher {
            Matcher::Equals(wanted) => is_empty(wanted),
            Matcher::Exists(there) => !there,
            Matcher::Not(_)
            | Matcher::Type(_)
            | Matcher::Compare(..)
            | Matcher::Matches(_)
            | Matcher::Contains(_)
            | Matcher::Length(_)
            | Matcher::OneOf(_) => false,
        }),
    }
}
