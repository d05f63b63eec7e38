//! What the client declares and how it answers the server's requests.

use serde_json::{Value, json};

use super::{
    read::{Readable, Reading, value},
    shape::{ShapeDoc, shape},
    union::FlagOr,
    value::{Anything, Members, OneOrMany, Table, Text, Texts},
};
use crate::{
    Dialect,
    yaml::{Entry, Kind, Node},
};

shape! {
    /// The protocol revision and the client's behaviour for one assertion.
    RawClient, "`client`" {
        /// The protocol revision: `auto`, a revision such as `2025-06-18`, or `stateless`. With a list, or `all` that the
        /// server speaks, the assertion is repeated on each.
        protocol = "protocol": OneOrMany<Text>;
        /// What the client can do for the server.
        client_capabilities = "client_capabilities": RawCapabilities;
    }
}

shape! {
    /// What the client can do for the server. A missing key is not declared.
    RawCapabilities, "`client_capabilities`" {
        /// Paths of the workspace, answered to `roots/list` as `file:` URIs. They stay as they are; `listChanged` is
        /// declared because `raw` may send `notifications/roots/list_changed`.
        roots = "roots": Texts;
        /// The reply to `sampling/createMessage`, or several in order, of which the last repeats.
        sampling = "sampling": FlagOr<OneOrMany<RawSamplingReply>>;
        /// The answer to `elicitation/create`, several in order, of which the last repeats, or answers by message: one
        /// that none fits is refused with the error -32603. From 2025-11-25 on forms and URLs are declared; a URL gets
        /// the action alone. Before that a URL is refused.
        elicitation = "elicitation": RawElicitations;
        /// The `tasks` capability as it is declared. Without a handshake (2026-07-28) it is the extension
        /// `io.modelcontextprotocol/tasks`: a call that is answered with a task is followed until the task has the answer,
        /// and given what it needs; when the time is over, the task is cancelled.
        tasks = "tasks": FlagOr<Members>;
    }
}

shape! {
    /// One reply to a sampling request.
    RawSamplingReply, "`sampling`" {
        /// The text of the message.
        text = "text": Text;
        /// The model named in it. Default: `mock`.
        model = "model": Text;
        /// Why it stopped. Default: `endTurn`.
        stop_reason = "stop_reason": Text;
        /// Answers with this error instead.
        reject = "reject": RawReject;
    }
}

shape! {
    /// A JSON-RPC error that the client answers with.
    RawReject, "`reject`" {
        /// The code. Default: `-1`.
        code = "code": i64;
        /// The message. Default: `rejected by the user`.
        message = "message": Text;
    }
}

shape! {
    /// One answer to an elicitation.
    RawAnswer, "`answer`" {
        /// `accept` (the default), `decline` or `cancel`.
        action = "action": Text;
        /// The content of the form.
        content = "content": Anything;
    }
}

/// The answers of `elicitation`.
#[derive(Debug)]
pub(crate) enum RawElicitations {
    /// In order.
    InOrder(Vec<RawAnswer>),
    /// The content of the form, with the action under its key `action`: the Go tool's short form.
    Content(Node),
    /// By a pattern for the message of the request.
    ByMessage(Table<RawAnswer>),
}

impl Readable for RawElicitations {
    fn read(node: Node, reading: &mut Reading) -> Option<Self> {
        match &node.kind {
            Kind::List(_) => Vec::read(node, reading).map(Self::InOrder),
            Kind::Flag(true, _) => Some(Self::InOrder(vec![RawAnswer::default()])),
            Kind::Map(entries) => {
                let of_answer = |it: &Entry| RawAnswer::KEYS.contains(&it.key.text.as_str());
                if node.entry(BY_MESSAGE).is_some() && reading.dialect == Dialect::Native {
                    return by_message(node, reading);
                }
                if entries.iter().all(of_answer) {
                    return RawAnswer::read(node, reading).map(|one| Self::InOrder(vec![one]));
                }
                Some(Self::Content(node))
            }
            Kind::Null | Kind::Flag(false, _) | Kind::Number(..) | Kind::Text(..) => {
                reading.refuse(&node)
            }
        }
    }

    fn words() -> String {
        "`true`, a map `{action, content}`, a list of them, or `by_message: {REGEX: {action, content}}`"
            .into()
    }

    fn schema() -> Value {
        let one = RawAnswer::schema();
        json!({ "anyOf": [
            { "type": "array", "items": one },
            {
                "type": "object",
                "properties": {
                    "action": { "enum": ["accept", "decline", "cancel", null] },
                    "by_message": { "type": ["object", "null"], "additionalProperties": one },
                },
                "dependentSchemas": { "by_message": { "maxProperties": 1 } },
            },
            { "const": true },
        ] })
    }

    fn shapes(into: &mut Vec<&'static ShapeDoc>) {
        RawAnswer::shapes(into);
    }
}

/// The key of answers by message.
const BY_MESSAGE: &str = "by_message";

/// Answers by message: `by_message` is the only key.
fn by_message(node: Node, reading: &mut Reading) -> Option<RawElicitations> {
    let mut found = None;
    for entry in reading.map(node, &RawElicitations::words())? {
        if entry.key.text == BY_MESSAGE {
            found = reading.field(entry);
        } else {
            reading.unknown_key(&entry.key, "answers by message", &[BY_MESSAGE]);
        }
    }
    value(found).map(RawElicitations::ByMessage)
}
