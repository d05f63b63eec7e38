//! The value of an expectation with `{{…}}`, bound when the names have values. Data stays apart from the author's text,
//! since it means nothing but itself: each text that was filled in keeps its parts.

use crate::{
    model::expectation::Unusable,
    yaml::{At, Entry, Key, Kind, Leaf, Node, Source, Style},
};
use mcp::script::template::{Bindings, Part, UnknownName, text_has_markers};

/// The keys whose values are lists of rules, each under its subject: that may occur twice.
const LISTS_OF_RULES: [&str; 5] = [
    "json_path",
    "structured",
    "file_contains",
    "file_not_contains",
    "file_equals",
];

/// A value with `{{…}}` in it.
#[derive(Debug, Clone)]
pub struct WantedTemplate {
    pub(crate) key: &'static str,
    pub(crate) value: Node,
}

impl WantedTemplate {
    /// The value with its markers replaced. The texts that were filled in are added to `filled`.
    pub(crate) fn bind(
        &self,
        bindings: &Bindings,
        filled: &mut Vec<Vec<Part>>,
    ) -> Result<Node, Unusable> {
        Binding { bindings, filled }.node(self.key, &self.value)
    }

    /// The places of the texts and keys that have markers.
    pub(crate) fn open_places(&self) -> Vec<At> {
        let mut places = Vec::new();
        self.value.visit(&mut |leaf| match leaf {
            Leaf::Key(key) => places.extend(text_has_markers(&key.text).then_some(key.at)),
            Leaf::Scalar(node) => {
                let is_open = matches!(&node.kind, Kind::Text(text, _) if text_has_markers(text));
                places.extend(is_open.then_some(node.at));
            }
        });
        places
    }
}

/// The state of one binding.
struct Binding<'a> {
    bindings: &'a Bindings,
    filled: &'a mut Vec<Vec<Part>>,
}

impl Binding<'_> {
    /// The value of a key with its markers replaced.
    fn node(&mut self, key: &str, node: &Node) -> Result<Node, Unusable> {
        let kind = match &node.kind {
            Kind::Text(text, _) if text_has_markers(text) => return self.text(text),
            kind @ (Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..)) => {
                kind.clone()
            }
            Kind::List(items) => {
                let items = items.iter().map(|item| self.node("", item));
                Kind::List(items.collect::<Result<_, _>>()?)
            }
            Kind::Map(entries) => self.map(key, entries)?,
        };
        Ok(Node { kind, at: node.at })
    }

    /// A text with markers. What is filled in is a text, whatever it looks like, unless it is the whole value.
    fn text(&mut self, text: &str) -> Result<Node, Unusable> {
        let pieces = self.bindings.pieces(text);
        if let Some(value) = self.bindings.whole(&pieces) {
            return Ok(Node::from_value(value, At::of(Source::Data)));
        }
        let (text, at) = self.fill(text)?;
        let kind = Kind::Text(text, Style::Quoted);
        Ok(Node { kind, at })
    }

    fn map(&mut self, key: &str, entries: &[Entry]) -> Result<Kind, Unusable> {
        let is_not = key == "not";
        let has_markers = |entry: &Entry| !is_not && text_has_markers(&entry.key.text);
        let may_repeat = LISTS_OF_RULES.contains(&key) || !entries.iter().any(has_markers);
        let mut bound: Vec<Entry> = Vec::with_capacity(entries.len());
        for entry in entries {
            let name = &entry.key.text;
            let key = if has_markers(entry) {
                let (text, at) = self.fill(name)?;
                Key { text, at }
            } else {
                entry.key.clone()
            };
            if !may_repeat && bound.iter().any(|other| other.key.text == key.text) {
                return Err(Unusable::Wrong(format!(
                    "duplicate key `{}` once the `{{{{…}}}}` are filled in",
                    key.text
                )));
            }
            let value = self.node(if is_not { name } else { "" }, &entry.value)?;
            bound.push(Entry { key, value });
        }
        Ok(Kind::Map(bound))
    }

    /// A text with its markers replaced, at a place of its own.
    fn fill(&mut self, text: &str) -> Result<(String, At), UnknownName> {
        let parts = self.bindings.parts(&self.bindings.pieces(text))?;
        let text = parts.iter().map(Part::text).collect();
        self.filled.push(parts);
        Ok((text, At::of(Source::Filled(self.filled.len() - 1))))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::WantedTemplate;
    use crate::yaml::{At, Node};
    use mcp::script::template::Bindings;

    #[test]
    fn keys_that_become_the_same_are_told_where_one_would_be_lost() {
        let bindings = Bindings {
            captured: BTreeMap::from([("x".into(), json!("a"))]),
            ..Bindings::default()
        };
        let keys = |key: &'static str, value| {
            let value = Node::from_value(value, At::default());
            let template = WantedTemplate { key, value };
            template.bind(&bindings, &mut Vec::new())
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
            Err("duplicate key `a` once the `{{…}}` are filled in".to_owned())
        );
    }
}
