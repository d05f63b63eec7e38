//! The value of an expectation with `{{…}}`: parsed when a suite is loaded, bound when the names have values. Data stays
//! apart from the author's text, since it must mean nothing but itself: each text that was filled in keeps its parts.

use crate::{
    model::expectation::Unusable,
    yaml::{At, Entry, Key, Kind, Node, Source, Style},
};
use mcp::script::template::{Bindings, Part, Piece, UnknownName, text_has_markers};

/// The keys whose values are lists of rules, each under what it is about: that may stand there twice.
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
    kind: Parsed,
    at: At,
}

/// The kinds of values.
#[derive(Debug, Clone)]
enum Parsed {
    /// A scalar without markers. How it was written is kept, since it may be meant as a text.
    Fixed(Kind),
    /// A text with markers.
    Text(Vec<Piece>),
    /// A list.
    List(Vec<WantedTemplate>),
    /// A map.
    Map(Vec<Member>, Repeated),
}

/// A key of a map with its value.
#[derive(Debug, Clone)]
struct Member {
    key: Key,
    /// The pieces of the key, where it has markers.
    pieces: Option<Vec<Piece>>,
    value: WantedTemplate,
}

/// Whether keys of a map may become the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Repeated {
    /// Each of them is looked at, or none of them is filled in.
    Allowed,
    /// Only one of them could be.
    Refused,
}

impl WantedTemplate {
    /// The value of a key of `expect`, with what makes pieces of a text.
    pub(crate) fn parse(key: &str, node: Node, pieces: &dyn Fn(&str) -> Vec<Piece>) -> Self {
        let kind = match node.kind {
            Kind::Text(text, _) if text_has_markers(&text) => Parsed::Text(pieces(&text)),
            kind @ (Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..)) => {
                Parsed::Fixed(kind)
            }
            Kind::List(items) => {
                let items = items.into_iter().map(|item| Self::parse("", item, pieces));
                Parsed::List(items.collect())
            }
            Kind::Map(entries) => {
                let is_not = key == "not";
                let members = entries.into_iter().map(|Entry { key, value }| Member {
                    pieces: (!is_not && text_has_markers(&key.text)).then(|| pieces(&key.text)),
                    value: Self::parse(if is_not { &key.text } else { "" }, value, pieces),
                    key,
                });
                let members: Vec<Member> = members.collect();
                let is_fixed = members.iter().all(|member| member.pieces.is_none());
                let repeated = if is_fixed || LISTS_OF_RULES.contains(&key) {
                    Repeated::Allowed
                } else {
                    Repeated::Refused
                };
                Parsed::Map(members, repeated)
            }
        };
        let at = node.at;
        Self { kind, at }
    }

    /// The value with its markers replaced. What was filled into its texts is added to `filled`.
    pub(crate) fn bind(
        &self,
        bindings: &Bindings,
        filled: &mut Vec<Vec<Part>>,
    ) -> Result<Node, Unusable> {
        let kind = match &self.kind {
            Parsed::Fixed(kind) => kind.clone(),
            Parsed::Text(pieces) => {
                if let Some(value) = bindings.whole(pieces) {
                    return Ok(Node::from_value(value, At::of(Source::Data)));
                }
                // A filled-in marker is a text, whatever it looks like.
                let (text, at) = fill(pieces, bindings, filled)?;
                let kind = Kind::Text(text, Style::Quoted);
                return Ok(Node { kind, at });
            }
            Parsed::List(items) => {
                let items = items.iter().map(|item| item.bind(bindings, filled));
                Kind::List(items.collect::<Result<_, _>>()?)
            }
            Parsed::Map(members, repeated) => {
                let mut entries: Vec<Entry> = Vec::with_capacity(members.len());
                for Member { key, pieces, value } in members {
                    let key = match pieces {
                        None => key.clone(),
                        Some(pieces) => {
                            let (text, at) = fill(pieces, bindings, filled)?;
                            Key { text, at }
                        }
                    };
                    let is_same = |other: &Entry| other.key.text == key.text;
                    if *repeated == Repeated::Refused && entries.iter().any(is_same) {
                        return Err(same_key(&key.text));
                    }
                    let value = value.bind(bindings, filled)?;
                    entries.push(Entry { key, value });
                }
                Kind::Map(entries)
            }
        };
        Ok(Node { kind, at: self.at })
    }

    /// Adds the places of the texts and keys that have markers.
    pub(crate) fn add_places(&self, places: &mut Vec<At>) {
        match &self.kind {
            Parsed::Fixed(_) => {}
            Parsed::Text(_) => places.push(self.at),
            Parsed::List(items) => items.iter().for_each(|item| item.add_places(places)),
            Parsed::Map(members, _) => {
                for Member { key, value, .. } in members {
                    places.extend(text_has_markers(&key.text).then_some(key.at));
                    value.add_places(places);
                }
            }
        }
    }
}

/// A text with its markers replaced, at a place of its own.
fn fill(
    pieces: &[Piece],
    bindings: &Bindings,
    filled: &mut Vec<Vec<Part>>,
) -> Result<(String, At), UnknownName> {
    let parts = bindings.parts(pieces)?;
    let text = parts.iter().map(Part::text).collect();
    filled.push(parts);
    Ok((text, At::of(Source::Filled(filled.len() - 1))))
}

/// Keys that were different are not any more, and only one of them could be looked at.
fn same_key(key: &str) -> Unusable {
    let reason = format!("the key `{key}` stands there twice once the `{{{{…}}}}` are filled in");
    Unusable::Wrong(reason)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::{WantedTemplate, same_key};
    use crate::{
        Dialect,
        yaml::{At, Node},
    };
    use mcp::script::template::{Bindings, pieces};

    #[test]
    fn keys_that_become_the_same_are_told_where_one_would_be_lost() {
        let bindings = Bindings {
            captured: BTreeMap::from([("x".into(), json!("a"))]),
            ..Bindings::default()
        };
        let keys = |key: &str, value| {
            let node = Node::from_value(value, At::default());
            let template = WantedTemplate::parse(key, node, &|text| pieces(text, Dialect::Native));
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
            Err(same_key("a").to_string())
        );
    }
}
