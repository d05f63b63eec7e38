//! `json_path` and `structured`: paths and what is expected there. A map whose keys are all matchers is a matcher, every
//! other value is compared as it is. Data that was filled in is never a matcher.

use serde_json::Value;

use super::Lowering;
use crate::{
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
use mcp::{json::number::digits, script::path::compile};

/// The longest map that a help line repeats, in characters.
const LONGEST_SHOWN: usize = 80;

/// What `type` takes.
const TYPES: &str = "one of `null`, `boolean`, `integer`, `number`, `string`, `array` and `object`";

/// What `length` takes.
const LENGTHS: &str = "a whole number, or a map of `gt`, `ge`, `lt`, `le`";

impl Lowering<'_> {
    /// The rules of a table of paths.
    pub(super) fn path_rules(
        &mut self,
        key: &str,
        field: Field<Table<Anything>>,
    ) -> Option<Vec<PathRule>> {
        if field.value.0.is_empty() {
            self.problem(field.key, problems::empty_value(key));
            return None;
        }
        let mut rules = Vec::with_capacity(field.value.0.len());
        for (written, Anything(node)) in field.value.0 {
            let text = self.as_path(written.text, written.at);
            let path = text.and_then(|text| Some((self.path(&text, written.at)?, text)));
            let rule = self.value_rule(node);
            if let (Some((path, written)), Some(rule)) = (path, rule) {
                let beginning = |text: &str| compile(text).ok();
                rules.push(PathRule::new(&written, path, rule, beginning));
            }
        }
        Some(rules)
    }

    /// What is expected at a path.
    pub(super) fn value_rule(&mut self, node: Node) -> Option<ValueRule> {
        if self.is_compat() {
            return Some(ValueRule::Loosely(node.into_value()));
        }
        let whole = shown(&node);
        if !is_matcher(&node) {
            let at = node.at;
            let value = node.into_value();
            if at.is_written()
                && let Some((word, meant)) = misspelt(&value)
            {
                self.problem(at, problems::no_matcher(word, meant, &whole));
            }
            return Some(ValueRule::Equals(value));
        }
        let Kind::Map(entries) = node.kind else {
            return None;
        };
        let matchers: Vec<_> = entries
            .into_iter()
            .map(|entry| self.matcher(entry, &whole))
            .collect();
        let matchers: Option<_> = matchers.into_iter().collect();
        matchers.map(ValueRule::Matchers)
    }

    /// One matcher and its operand.
    fn matcher(&mut self, entry: Entry, whole: &str) -> Option<Matcher> {
        // Broken YAML was reported.
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
            ("matches", Kind::Text(pattern, _)) => {
                return self.pattern(&pattern, node.at).map(Matcher::Matches);
            }
            ("length", Kind::Map(_)) if !node.at.is_written() => Err(LENGTHS),
            ("length", kind) => length(kind).map(Matcher::Length).ok_or(LENGTHS),
            ("one_of", Kind::List(items)) => {
                let values = items.into_iter().map(Node::into_value);
                Ok(Matcher::OneOf(values.collect()))
            }
            ("contains", kind) => Ok(Matcher::Contains(value(kind, node.at))),
            ("equals", kind) => Ok(Matcher::Equals(value(kind, node.at))),
            ("not", kind) => {
                let rule = self.value_rule(Node { kind, at: node.at });
                return rule.map(|rule| Matcher::Not(Box::new(rule)));
            }
            ("exists", _) => Err("`true` or `false`"),
            ("type", _) => Err(TYPES),
            ("matches", _) => Err("a regular expression"),
            ("one_of", _) => Err("a list"),
            (word, kind) => match (comparison(word), kind) {
                (Some(comparison), Kind::Number(number, _)) => {
                    Ok(Matcher::Compare(comparison, number))
                }
                _ => Err("a number"),
            },
        };
        if let (Err(expected), false) = (&found, is_open) {
            self.problem(at, problems::bad_matcher(&word, expected, whole));
        }
        found.ok()
    }
}

/// Whether a value is a map of matchers that the author wrote.
fn is_matcher(node: &Node) -> bool {
    let is_one =
        |entry: &Entry| entry.key.at.is_written() && MATCHERS.contains(&entry.key.text.as_str());
    !node.entries().is_empty() && node.entries().iter().all(is_one)
}

/// A map in one line, as a help line repeats it.
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

/// The comparison of a word.
fn comparison(word: &str) -> Option<Comparison> {
    match word {
        "gt" => Some(Comparison::Greater),
        "ge" => Some(Comparison::AtLeast),
        "lt" => Some(Comparison::Less),
        "le" => Some(Comparison::AtMost),
        _ => None,
    }
}

/// The operand of `length`.
fn length(kind: Kind) -> Option<LengthRule> {
    match kind {
        Kind::Number(number, _) => {
            let length = digits(&number)?.parse().ok()?;
            Some(LengthRule::Exactly(length))
        }
        Kind::Map(entries) if !entries.is_empty() => {
            let bounds = entries.into_iter().map(|entry| {
                let Kind::Number(number, _) = entry.value.kind else {
                    return None;
                };
                Some((comparison(&entry.key.text)?, number))
            });
            bounds.collect::<Option<_>>().map(LengthRule::Within)
        }
        Kind::Null | Kind::Flag(..) | Kind::Text(..) | Kind::List(_) | Kind::Map(_) => None,
    }
}

impl JsonType {
    /// The type of a word.
    pub(super) fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "null" => Self::Null,
            "boolean" => Self::Boolean,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "string" => Self::String,
            "array" => Self::Array,
            "object" => Self::Object,
            _ => return None,
        })
    }
}
