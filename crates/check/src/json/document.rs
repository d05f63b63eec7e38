//! The JSON document of an answer: that of its text, else its structured content.

use std::borrow::Cow;

use serde_json::Value;

use crate::{ask::Ask, outcome::verdict::Mismatch, phrase};
use mcp::{
    json::json_text::{NoDocument, document},
    observation::{Proof, answer::Reply},
};

/// The mismatch of a text without a document, with a hint to the structured content where there is some.
pub(crate) fn no_document(none: &NoDocument, ask: &Ask, reply: &Reply) -> Mismatch {
    let structured = reply.structured();
    Mismatch {
        actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, none.at)),
        hint: structured
            .map(|_| "the answer has structured content: `structured` looks there".to_owned()),
        ..ask.miss(none.reason.clone())
    }
}

/// The mismatch of an answer without structured content.
pub(crate) fn no_structured(ask: &Ask, reply: &Reply) -> Mismatch {
    Mismatch {
        actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, 0)),
        ..ask.miss("the answer has no structured content")
    }
}

/// The structured content where it says something else than the document that is looked at: SDKs send a list as one text
/// for each of its items, and the whole beside. Under the Go tool's rules it is not looked at.
pub(crate) fn beside<'a>(reply: &'a Reply, document: &Value, proof: Proof) -> Option<&'a Value> {
    match proof {
        Proof::Strict => reply
            .structured()
            .filter(|structured| *structured != document),
        Proof::AsWritten => None,
    }
}

/// The JSON document in the text, else the structured content.
pub(crate) fn document_or_structured(reply: &Reply) -> Result<Cow<'_, Value>, NoDocument> {
    document(&reply.text)
        .map(Cow::Owned)
        .or_else(|none| reply.structured().map(Cow::Borrowed).ok_or(none))
}
