//! `expect_request`: what the server must have asked of the client.

use serde_json::{Value, json};

use super::{
    expect::RawServerRequest,
    read::{Readable, Reading},
    shape::ShapeDoc,
    value::{OneOrMany, Placed},
};
use crate::suite::yaml::{Entry, Key, Kind, Node};

/// The words of an entry of `server_requests`. A map with other members is the parameters themselves, which is
/// what one wants to say of the only request there is.
const WORDS: [&str; 3] = ["method", "count", "params"];

/// One request or several, each as `{method, count, params}` or by its parameters alone.
#[derive(Debug)]
pub(crate) struct RawAsked(pub(crate) OneOrMany<Placed<RawServerRequest>>);

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

/// The entry with its words, if it was given by its parameters alone.
fn spelled_out(node: Node) -> Node {
    let Kind::Map(entries) = &node.kind else {
        return node;
    };
    let has_words = entries
        .iter()
        .all(|entry| WORDS.contains(&entry.key.text.as_str()));
    if has_words {
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
