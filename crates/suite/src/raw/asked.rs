//! `expect_request`: what the server must have asked of the client.

use serde_json::{Value, json};

use super::{
    expect::RawServerRequest,
    read::{Readable, Reading},
    shape::ShapeDoc,
    value::OneOrMany,
};
use crate::yaml::{Entry, Key, Kind, Node};
use mcp::script::template::text_has_markers;

/// The keys of an entry of `server_requests`. A map with other keys is the parameters themselves.
const WORDS: [&str; 3] = ["method", "count", "params"];

/// One request or several, each as `{method, count, params}` or by its parameters alone.
#[derive(Debug)]
pub(crate) struct RawAsked(pub(crate) OneOrMany<RawServerRequest>);

impl Readable for RawAsked {
    fn read(mut node: Node, reading: &mut Reading) -> Option<Self> {
        if let Kind::List(items) = node.kind {
            node.kind = Kind::List(items.into_iter().map(spelled_out).collect());
        } else {
            node = spelled_out(node);
        }
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

/// Whether one of the requests is of this method, which is that of an entry without one.
pub(crate) fn names(node: &Node, method: &str) -> bool {
    let single = std::slice::from_ref(node);
    let mut items = match &node.kind {
        Kind::List(items) => items.iter(),
        Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::Map(_) => {
            single.iter()
        }
    };
    items.any(|item| {
        let own = item.get("method").and_then(Node::written);
        !is_spelled_out(item) || own.is_none_or(|it| it == method || text_has_markers(it))
    })
}

/// Whether an entry is written with its keys.
fn is_spelled_out(node: &Node) -> bool {
    let is_word = |entry: &Entry| WORDS.contains(&entry.key.text.as_str());
    node.entries().iter().all(is_word)
}

/// The entry with its keys, if only its parameters were given.
fn spelled_out(node: Node) -> Node {
    if is_spelled_out(&node) {
        return node;
    }
    let at = node.at;
    let text = "params".to_owned();
    let key = Key { text, at };
    let kind = Kind::Map(vec![Entry { key, value: node }]);
    Node { kind, at }
}
