//! What `{{…}}` put into an expectation. The author's text has meaning as a matcher, a pattern or a key; what a
//! server sent is data and means itself wherever it is put. So each filling keeps a place of its own, by which
//! the lowering of patterns, globs and maps can tell the two apart.

use std::borrow::Cow;

use serde_json::Value;

use super::Lowering;
use crate::suite::{
    Dialect,
    template::{Bindings, Part, UnknownName, ValueTemplate, text_has_markers},
    yaml::{At, Entry, Key, Kind, Node, Source, Style},
};

/// What was filled in at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Filling {
    /// A whole value, as `{{name!}}` asks for it.
    Value,
    /// A text with its markers replaced.
    Text(Vec<Part>),
}

/// The value with its markers replaced, in keys too, and what was filled in.
pub(super) fn fill(
    template: &ValueTemplate,
    bindings: &Bindings,
) -> Result<(Node, Vec<Filling>), UnknownName> {
    let mut filler = Filler {
        bindings,
        fillings: Vec::new(),
    };
    let node = filler.node(&template.value)?;
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
    fn node(&mut self, value: &Value) -> Result<Node, UnknownName> {
        let kind = match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                return Ok(Node::from_value(value.clone(), At::default()));
            }
            Value::String(text) => return self.leaf(text),
            Value::Array(items) => Kind::List(
                items
                    .iter()
                    .map(|item| self.node(item))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(members) => {
                let mut entries: Vec<Entry> = Vec::with_capacity(members.len());
                for (key, member) in members {
                    let (text, at) = self.text(key)?;
                    let value = self.node(member)?;
                    // Of keys that become the same one, the last holds.
                    entries.retain(|entry| entry.key.text != text);
                    entries.push(Entry {
                        key: Key { text, at },
                        value,
                    });
                }
                Kind::Map(entries)
            }
        };
        let at = At::default();
        Ok(Node { kind, at })
    }

    fn leaf(&mut self, text: &str) -> Result<Node, UnknownName> {
        if let Some(value) = self.bindings.whole(text) {
            let at = self.keep(Filling::Value);
            return Ok(Node::from_value(value, at));
        }
        let (text, at) = self.text(text)?;
        let kind = Kind::Text(text, Style::Quoted);
        Ok(Node { kind, at })
    }

    fn text(&mut self, text: &str) -> Result<(String, At), UnknownName> {
        if !text_has_markers(text) {
            return Ok((text.to_owned(), At::default()));
        }
        let parts = self.bindings.parts(text)?;
        let whole = parts.iter().map(Part::text).collect();
        Ok((whole, self.keep(Filling::Text(parts))))
    }

    fn keep(&mut self, filling: Filling) -> At {
        self.fillings.push(filling);
        At::filling(self.fillings.len() - 1)
    }
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
            (Some(Filling::Text(parts)), Dialect::Native) => pattern(parts).into(),
        }
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

/// Whether a place in a pattern lies in `\Q…\E`, where a backslash is nothing but itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotation {
    /// It does not.
    Outside,
    /// It does.
    Inside,
}

impl Quotation {
    /// The state after more of the author's text.
    fn after(self, text: &str) -> Self {
        let mut now = self;
        let mut rest = text;
        while let Some(at) = rest.find('\\') {
            let escaped = rest[at + 1..].chars().next();
            let length = escaped.map_or(0, char::len_utf8);
            (now, rest) = match (now, escaped) {
                (Self::Outside, Some('Q')) => (Self::Inside, &rest[at + 2..]),
                (Self::Inside, Some('E')) => (Self::Outside, &rest[at + 2..]),
                (Self::Outside, _) => (now, &rest[at + 1 + length..]),
                (Self::Inside, _) => (now, &rest[at + 1..]),
            };
        }
        now
    }
}

/// The pattern that parts make.
fn pattern(parts: &[Part]) -> String {
    let mut quotation = Quotation::Outside;
    let mut pattern = String::new();
    for part in parts {
        match (part, quotation) {
            (Part::Written(text), Quotation::Outside | Quotation::Inside) => {
                quotation = quotation.after(text);
                pattern.push_str(text);
            }
            (Part::Data(text), Quotation::Outside) => pattern.push_str(&regex::escape(text)),
            (Part::Data(text), Quotation::Inside) => {
                pattern.push_str(&text.replace(r"\E", r"\E\\E\Q"));
            }
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{Filling, fill};
    use crate::suite::template::{Bindings, ValueTemplate};

    #[test]
    fn data_means_itself_in_a_pattern() {
        let case = |data: &str, written: &str, expected: &str| {
            let bindings = Bindings {
                captured: BTreeMap::from([("x".into(), json!(data))]),
                ..Bindings::default()
            };
            let filled = fill(&ValueTemplate::new(json!(written)), &bindings);
            let Some(Filling::Text(parts)) = filled.unwrap().1.pop() else {
                panic!("a text was filled in");
            };
            assert_eq!(super::pattern(&parts), expected, "{written}");
        };
        case("a.b", "^id={{x}}.*$", r"^id=a\.b.*$");
        case("C++", r"\w+ {{x}}", r"\w+ C\+\+");
        case("a.b", r"\Qid {{x}}\E{{x}}", r"\Qid a.b\Ea\.b");
        case(r"a\E.", r"\Q{{x}}\E", r"\Qa\E\\E\Q.\E");
        case("a.b", r"\\Q{{x}}", r"\\Qa\.b");
    }
}
