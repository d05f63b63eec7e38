//! The JSON document of an answer: that of its text, else its structured content.

use std::borrow::Cow;

use serde_json::Value;

use crate::{
    check::{ask::Ask, phrase},
    observation::answer::Reply,
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

/// The JSON document in the text, else the structured content.
pub(in crate::check) fn document_or_structured(
    reply: &Reply,
) -> Result<Cow<'_, Value>, NoDocument> {
    document(&reply.text)
        .map(Cow::Owned)
        .or_else(|none| reply.structured().map(Cow::Borrowed).ok_or(none))
}
