//! What `{{…}}` put into an expectation. The author's text has meaning as a matcher, a pattern or a key; what a
//! server sent is data and means itself wherever it is put. So each filling keeps a place of its own, by which
//! the lowering of patterns, globs and maps can tell the two apart.

use std::borrow::Cow;

use super::Lowering;
use crate::{
    Dialect,
    model::expectation::Unusable,
    problems,
    yaml::{At, Entry, Key, Kind, Node, Source, Style},
};
use mcp::script::{
    quoting,
    template::{Bindings, Part, UnknownName, text_has_markers},
};

/// The keys whose values are lists of rules, each under what it is about: that may stand there twice.
const LISTS_OF_RULES: [&str; 5] = [
    "json_path",
    "structured",
    "file_contains",
    "file_not_contains",
    "file_equals",
];

/// What was filled in at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filling {
    /// A whole value, as `{{name!}}` asks for it.
    Value,
    /// A text with its markers replaced.
    Text(Vec<Part>),
}

/// The value of a key of `expect` with its markers replaced, in keys too, and what was filled in. The rest of it
/// stays as it was written.
pub(super) fn fill(
    key: &str,
    value: &Node,
    bindings: &Bindings,
) -> Result<(Node, Vec<Filling>), Unusable> {
    let mut filler = Filler {
        bindings,
        fillings: Vec::new(),
    };
    let node = filler.expectation(key, value)?;
    Ok((node, filler.fillings))
}

/// Replaces markers.
struct Filler<'a> {
    /// What the names stand for.
    bindings: &'a Bindings,
    /// What was filled in so far.
    fillings: Vec<Filling>,
}

impl Filler<'_> {
    /// The value of a key of `expect`.
    fn expectation(&mut self, key: &str, value: &Node) -> Result<Node, Unusable> {
        match &value.kind {
            Kind::Map(entries) if LISTS_OF_RULES.contains(&key) => {
                let rules = entries.iter().map(|entry| self.entry(entry));
                let kind = Kind::Map(rules.collect::<Result<_, _>>()?);
                Ok(Node { kind, at: value.at })
            }
            Kind::Map(entries) if key == "not" => {
                let inner = entries.iter().map(|entry| {
                    Ok(Entry {
                        key: entry.key.clone(),
                        value: self.expectation(&entry.key.text, &entry.value)?,
                    })
                });
                let kind = Kind::Map(inner.collect::<Result<_, Unusable>>()?);
                Ok(Node { kind, at: value.at })
            }
            Kind::Null
            | Kind::Flag(..)
            | Kind::Number(..)
            | Kind::Text(..)
            | Kind::List(_)
            | Kind::Map(_) => self.node(value),
        }
    }

    fn node(&mut self, node: &Node) -> Result<Node, Unusable> {
        let kind = match &node.kind {
            Kind::Null | Kind::Flag(..) | Kind::Number(..) => return Ok(node.clone()),
            Kind::Text(text, style) => return self.leaf(text, *style, node.at),
            Kind::List(items) => {
                let items = items.iter().map(|item| self.node(item));
                Kind::List(items.collect::<Result<_, _>>()?)
            }
            Kind::Map(members) => {
                let mut entries: Vec<Entry> = Vec::with_capacity(members.len());
                let has_markers = |member: &Entry| text_has_markers(&member.key.text);
                let may_meet = members.iter().any(has_markers);
                for member in members {
                    let entry = self.entry(member)?;
                    let same = |other: &Entry| other.key.text == entry.key.text;
                    if may_meet && entries.iter().any(same) {
                        return Err(same_key(&entry.key.text));
                    }
                    entries.push(entry);
                }
                Kind::Map(entries)
            }
        };
        Ok(Node { kind, at: node.at })
    }

    fn entry(&mut self, entry: &Entry) -> Result<Entry, Unusable> {
        let Entry { key, value } = entry;
        let key = match self.text(&key.text)? {
            None => key.clone(),
            Some((text, at)) => Key { text, at },
        };
        let value = self.node(value)?;
        Ok(Entry { key, value })
    }

    fn leaf(&mut self, text: &str, style: Style, at: At) -> Result<Node, Unusable> {
        if let Some(value) = self.bindings.whole(text) {
            let at = self.keep(Filling::Value);
            return Ok(Node::from_value(value, at));
        }
        let (text, style, at) = match self.text(text)? {
            None => (text.to_owned(), style, at),
            // What becomes of a marker is a text, whatever it looks like.
            Some((text, at)) => (text, Style::Quoted, at),
        };
        let kind = Kind::Text(text, style);
        Ok(Node { kind, at })
    }

    /// A text with its markers replaced, at a place of its own; `None` when it has none.
    fn text(&mut self, text: &str) -> Result<Option<(String, At)>, UnknownName> {
        if !text_has_markers(text) {
            return Ok(None);
        }
        let parts = self.bindings.parts(text)?;
        let whole = parts.iter().map(Part::text).collect();
        Ok(Some((whole, self.keep(Filling::Text(parts)))))
    }

    fn keep(&mut self, filling: Filling) -> At {
        self.fillings.push(filling);
        At::filling(self.fillings.len() - 1)
    }
}

/// Keys that were different are not any more, and only one of them could be looked at.
fn same_key(key: &str) -> Unusable {
    let reason = format!("the key `{key}` stands there twice once the `{{{{…}}}}` are filled in");
    Unusable::Wrong(reason)
}

impl Lowering<'_> {
    /// What was filled in at a place.
    fn filling(&self, at: At) -> Option<&Filling> {
        match at.source {
            Source::Suite | Source::Settings => None,
            Source::Filling(number) => self.fillings.get(number),
        }
    }

    /// A text as a pattern in which data means itself; under the Go tool's rules it is part of the pattern.
    pub(super) fn as_pattern<'t>(&self, text: &'t str, at: At) -> Cow<'t, str> {
        match (self.filling(at), self.dialect()) {
            (None, Dialect::Native | Dialect::Compat) | (Some(_), Dialect::Compat) => text.into(),
            (Some(Filling::Value), Dialect::Native) => regex::escape(text).into(),
            (Some(Filling::Text(parts)), Dialect::Native) => quoting::pattern(parts).into(),
        }
    }

    /// A text as a pattern of a JSON Schema in which data means itself.
    pub(super) fn as_schema_pattern(&self, text: &str, at: At) -> String {
        match self.filling(at) {
            None => text.to_owned(),
            Some(Filling::Value) => regex::escape(text),
            Some(Filling::Text(parts)) => quoting::pattern(parts),
        }
    }

    /// A text as a path into JSON in which data means itself; under the Go tool's rules it is part of the path.
    pub(super) fn as_path(&mut self, text: String, at: At) -> Option<String> {
        let path = match (self.filling(at), self.dialect()) {
            (None, Dialect::Native | Dialect::Compat) | (Some(_), Dialect::Compat) => {
                return Some(text);
            }
            (Some(Filling::Value), Dialect::Native) => quoting::path(&[Part::Data(text.clone())]),
            (Some(Filling::Text(parts)), Dialect::Native) => quoting::path(parts),
        };
        path.map_err(|reason| {
            self.problem(at, |origin| problems::bad_path(origin, &text, &reason));
        })
        .ok()
    }

    /// A text as a path pattern in which data means itself.
    pub(super) fn as_glob<'t>(&self, text: &'t str, at: At) -> Cow<'t, str> {
        match self.filling(at) {
            None => text.into(),
            Some(Filling::Value) => globset::escape(text).into(),
            Some(Filling::Text(parts)) => parts
                .iter()
                .map(|part| match part {
                    Part::Written(text) => text.clone(),
                    Part::Data(text) => globset::escape(text),
                })
                .collect::<String>()
                .into(),
        }
    }

    /// Whether the first and the last character at a place are the author's.
    pub(super) fn has_written_ends(&self, at: At) -> bool {
        let written = |part: Option<&Part>| matches!(part, Some(Part::Written(_)));
        match self.filling(at) {
            None => true,
            Some(Filling::Value) => false,
            Some(Filling::Text(parts)) => written(parts.first()) && written(parts.last()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{fill, same_key};
    use crate::yaml::{At, Node};
    use mcp::script::template::Bindings;

    #[test]
    fn keys_that_become_the_same_are_told_where_one_would_be_lost() {
        let bindings = Bindings {
            captured: BTreeMap::from([("x".into(), json!("a"))]),
            ..Bindings::default()
        };
        let keys = |key: &str, value| {
            let node = Node::from_value(value, At::default());
            fill(key, &node, &bindings).map(|(node, _)| node)
        };
        let twice = json!({"$.{{x}}": 1, "$.a": 2});
        let both = |found: Option<&Node>| {
            let shown = format!("{found:?}");
            assert_eq!(shown.matches("\"$.a\"").count(), 2, "{shown}");
        };
        both(keys("json_path", twice.clone()).ok().as_ref());
        let negated = keys("not", json!({"json_path": twice})).ok();
        both(negated.as_ref().and_then(|node| node.get("json_path")));
        let lost = json!([{"data": {"{{x}}": 1, "a": 2}}]);
        assert_eq!(
            keys("content", lost)
                .map(|_| ())
                .map_err(|it| it.to_string()),
            Err(same_key("a").to_string())
        );
    }
}
