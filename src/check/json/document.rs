//! The JSON document of an answer: that of its text, else its structured content.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    check::{ask::Ask, phrase},
    observation::{Proof, answer::Reply},
    outcome::verdict::Mismatch,
    words::json_text::{NoDocument, document},
};

impl NoDocument {
    /// The mismatch, with a hint to the structured content where there is some.
    pub(in crate::check) fn mismatch(&self, ask: &Ask, reply: &Reply) -> Box<Mismatch> {
        Box::new(Mismatch {
            actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, self.at)),
            hint: reply
                .structured()
                .map(|_| "the answer has structured content: `structured` looks there".to_owned()),
            ..ask.miss(self.reason.clone())
        })
    }
}

/// The structured content where it says something else than the document that is looked at: SDKs send a list as one text
/// for each of its items, and the whole beside. Under the Go tool's rules it is not looked at.
pub(in crate::check) fn beside<'a>(
    reply: &'a Reply,
    document: &Value,
    proof: Proof,
) -> Option<&'a Value> {
    match proof {
        Proof::Strict => reply
            .structured()
            .filter(|structured| *structured != document),
        Proof::AsWritten => None,
    }
}

/// The JSON document in the text, else the structured content.
pub(in crate::check) fn document_or_structured(
    reply: &Reply,
) -> Result<Cow<'_, Value>, NoDocument> {
    document(&reply.text)
        .map(Cow::Owned)
        .or_else(|none| reply.structured().map(Cow::Borrowed).ok_or(none))
}
