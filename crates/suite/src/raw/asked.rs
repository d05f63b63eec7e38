//! `expect_request`: what the server must have asked of the client.

use serde_json::{Value, json};

use super::{
    expect::RawServerRequest,
    read::{Readable, Reading},
    shape::ShapeDoc,
    value::{OneOrMany, Placed},
};
use crate::yaml::{Entry, Key, Kind, Node};
use mcp::script::template::text_has_markers;

/// The words of an entry of `server_requests`. A map with other members is the parameters themselves, which is
/// what one wants to say of the only request there is.
const WORDS: [&str; 3] = ["method", "count", "params"];

/// One request or several, each as `{method, count, params}` or by its parameters alone.
#[derive(Debug)]
pub struct RawAsked(pub OneOrMany<Placed<RawServerRequest>>);

impl Readable for RawAsked {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        let node = match node.kind {
            Kind::List(items) => Node {
                kind: Kind::List(items.into_iter().map(spelled_out).collect()),
                at: node.at,
            },
            Kind::Map(_) | Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => {
                spelled_out(node)
            }
        };
        OneOrMany::read(node, reading).map(Self)
    }

    fn words() -> String {
        OneOrMany::<RawServerRequest>::words()
    }

    fn schema() -> Value {
        let parameters = json!({ "type": "object" });
        json!({ "anyOf": [
            OneOrMany::<RawServerRequest>::schema(),
            parameters,
            { "type": "array", "items": parameters },
        ] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        RawServerRequest::shapes(into);
    }
}

/// Whether a list of requests has none.
pub fn is_empty(node: &Node) -> bool {
    matches!(&node.kind, Kind::List(items) if items.is_empty())
}

/// Whether one of the requests is of this method, which is the one of an entry without a method.
pub fn names(node: &Node, method: &str) -> bool {
    match &node.kind {
        Kind::List(items) => items.iter().any(|item| names(item, method)),
        Kind::Map(entries) if has_words(entries) => {
            let own = entries.iter().find(|entry| entry.key.text == "method");
            own.is_none_or(|entry| match &entry.value.kind {
                Kind::Text(text, _) => text == method || text_has_markers(text),
                Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::List(_) | Kind::Map(_) => {
                    true
                }
            })
        }
        Kind::Map(_) | Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) => true,
    }
}

/// Whether an entry is spelled out with its words.
fn has_words(entries: &[Entry]) -> bool {
    let is_word = |entry: &Entry| WORDS.contains(&entry.key.text.as_str());
    entries.iter().all(is_word)
}

/// The entry with its words, if it was given by its parameters alone.
fn spelled_out(node: Node) -> Node {
    let Kind::Map(entries) = &node.kind else {
        return node;
    };
    if has_words(entries) {
        return node;
    }
    let at = node.at;
    let key = Key {
        text: "params".to_owned(),
        at,
    };
    Node {
        kind: Kind::Map(vec![Entry { key, value: node }]),
        at,
    }
}
