//! `json_path` and `structured`: paths and what must be there. A map whose keys are all matcher words is a
//! matcher, every other value is compared as it is. What `{{…}}` filled in is never a matcher.

use serde_json::Value;

use super::Lowering;
use crate::{
    Dialect,
    model::{
        expectation::{Comparison, JsonType, LengthRule, Matcher, PathRule, ValueRule},
        misspelt::{MATCHERS, misspelt},
    },
    problems,
    raw::{
        Field,
        value::{Anything, Table},
    },
    yaml::{At, Entry, Kind, Node},
};
use mcp::script::{path::compile, rendered::digits};

/// The longest map that a help line repeats, in characters.
const LONGEST_SHOWN: usize = 80;

impl Lowering<'_> {
    /// The rules of a table of paths.
    pub(super) fn path_rules(
        &mut self,
        key: &str,
        field: Field<Table<Anything>>,
    ) -> Option<Vec<PathRule>> {
        if field.value.0.is_empty() {
            self.problem(field.key, |origin| problems::empty_value(origin, key));
            return None;
        }
        let mut rules = Vec::with_capacity(field.value.0.len());
        for (written, Anything(node)) in field.value.0 {
            let text = self.as_path(written.text, written.at);
            let path = text.and_then(|text| {
                let path = self.path(&text, written.at)?;
                Some((text, path))
            });
            let rule = self.value_rule(node);
            if let (Some((written, path)), Some(rule)) = (path, rule) {
                let beginning = |text: &str| compile(text).ok();
                rules.push(PathRule::new(&written, path, rule, beginning));
            }
        }
        Some(rules)
    }

    /// What must be at a path.
    pub(super) fn value_rule(&mut self, node: Node) -> Option<ValueRule> {
        if self.dialect() == Dialect::Compat {
            return Some(ValueRule::Loosely(node.into_value()));
        }
        if !is_matcher(&node) {
            return Some(ValueRule::Equals(self.as_it_is(node)));
        }
        let whole = shown(&node);
        let Kind::Map(entries) = node.kind else {
            return None;
        };
        let matchers = entries
            .into_iter()
            .map(|entry| self.matcher(entry, &whole))
            .collect::<Vec<_>>();
        matchers
            .into_iter()
            .collect::<Option<_>>()
            .map(ValueRule::Matchers)
    }

    /// A value that is compared as it is; tells when it reads like matchers.
    fn as_it_is(&mut self, node: Node) -> Value {
        let (at, whole) = (node.at, shown(&node));
        let value = node.into_value();
        if at.is_written()
            && let Some((word, meant)) = misspelt(&value)
        {
            self.problem(at, |origin| {
                problems::no_matcher(origin, word, meant, &whole)
            });
        }
        value
    }

    /// One matcher and its operand.
    fn matcher(&mut self, entry: Entry, whole: &str) -> Option<Matcher> {
        // What is no value here was told as that.
        if entry.value.is_null() && self.reading.problems.is_broken(entry.value.at) {
            return None;
        }
        let word = entry.key.text;
        let is_open = self.is_open(&entry.value);
        let at = entry.key.at.until(entry.value.at);
        let node = entry.value;
        let found = match (word.as_str(), node.kind) {
            ("exists", Kind::Flag(flag, _)) => Ok(Matcher::Exists(flag)),
            ("type", Kind::Text(kind, _)) => {
                JsonType::from_word(&kind).map(Matcher::Type).ok_or(TYPES)
            }
            ("type", Kind::Null) => Ok(Matcher::Type(JsonType::Null)),
            ("gt", Kind::Number(number, _)) => Ok(Matcher::Compare(Comparison::Greater, number)),
            ("ge", Kind::Number(number, _)) => Ok(Matcher::Compare(Comparison::AtLeast, number)),
            ("lt", Kind::Number(number, _)) => Ok(Matcher::Compare(Comparison::Less, number)),
            ("le", Kind::Number(number, _)) => Ok(Matcher::Compare(Comparison::AtMost, number)),
            ("matches", Kind::Text(pattern, _)) => {
                return self.pattern(&pattern, node.at).map(Matcher::Matches);
            }
            ("length", Kind::Map(_)) if !node.at.is_written() => Err(LENGTHS),
            ("length", kind) => length(kind).map(Matcher::Length).ok_or(LENGTHS),
            ("one_of", Kind::List(items)) => Ok(Matcher::OneOf(
                items.into_iter().map(Node::into_value).collect(),
            )),
            ("contains", kind) => Ok(Matcher::Contains(value(kind, node.at))),
            ("equals", kind) => Ok(Matcher::Equals(value(kind, node.at))),
            ("not", kind) => {
                let inner = Node { kind, at: node.at };
                return self
                    .value_rule(inner)
                    .map(|rule| Matcher::Not(Box::new(rule)));
            }
            ("exists", _) => Err("`true` or `false`"),
            ("type", _) => Err(TYPES),
            ("matches", _) => Err("a regular expression"),
            ("one_of", _) => Err("a list"),
            _ => Err("a number"),
        };
        if let (Err(expected), false) = (&found, is_open) {
            self.problem(at, |origin| {
                problems::bad_matcher(origin, &word, expected, whole)
            });
        }
        found.ok()
    }
}

/// What `type` takes.
const TYPES: &str = "one of `null`, `boolean`, `integer`, `number`, `string`, `array` and `object`";

/// What `length` takes.
const LENGTHS: &str = "a whole number, or a map of `gt`, `ge`, `lt`, `le`";

/// Whether a value is a map of matchers that the author wrote.
fn is_matcher(node: &Node) -> bool {
    match &node.kind {
        Kind::Map(entries) => {
            !entries.is_empty()
                && entries.iter().all(|entry| {
                    entry.key.at.is_written() && MATCHERS.contains(&entry.key.text.as_str())
                })
        }
        Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => false,
    }
}

/// A map in one line, as a help repeats it.
fn shown(node: &Node) -> String {
    let text = node.clone().into_value().to_string();
    if text.chars().count() > LONGEST_SHOWN {
        "{…}".into()
    } else {
        text
    }
}

/// A kind as JSON.
fn value(kind: Kind, at: At) -> Value {
    Node { kind, at }.into_value()
}

/// The operand of `length`.
fn length(kind: Kind) -> Option<LengthRule> {
    match kind {
        Kind::Number(number, _) => {
            let length = digits(&number)?.parse().ok()?;
            Some(LengthRule::Exactly(length))
        }
        Kind::Map(entries) if !entries.is_empty() => entries
            .into_iter()
            .map(|entry| {
                let comparison = match entry.key.text.as_str() {
                    "gt" => Comparison::Greater,
                    "ge" => Comparison::AtLeast,
                    "lt" => Comparison::Less,
                    "le" => Comparison::AtMost,
                    _ => return None,
                };
                match entry.value.kind {
                    Kind::Number(number, _) => Some((comparison, number)),
                    Kind::Null | Kind::Flag(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => {
                        None
                    }
                }
            })
            .collect::<Option<Vec<_>>>()
            .map(LengthRule::Within),
        Kind::Null | Kind::Flag(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => None,
    }
}

impl JsonType {
    /// The word of a suite.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::WORDS
            .iter()
            .find(|(known, _)| *known == word)
            .map(|(_, kind)| *kind)
    }

    /// The words of suites.
    pub(super) const WORDS: [(&'static str, Self); 7] = [
        ("null", Self::Null),
        ("boolean", Self::Boolean),
        ("integer", Self::Integer),
        ("number", Self::Number),
        ("string", Self::String),
        ("array", Self::Array),
        ("object", Self::Object),
    ];
}
