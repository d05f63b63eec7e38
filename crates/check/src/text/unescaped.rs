//! The strings that the text under test has as JSON writes them, as they are. What must not hold must not hold of them
//! either.

use crate::text::hidden::{self, Part};
use mcp::observation::{Proof, answer::Reply};

/// A text, and the strings in it.
pub(super) struct Unescaped<'a> {
    text: &'a str,
    parts: Vec<Part<'a>>,
}

impl<'a> Unescaped<'a> {
    /// Those of an answer.
    pub(super) fn of(reply: &'a Reply, proof: Proof) -> Self {
        Self {
            text: &reply.text,
            parts: hidden::all(reply, proof),
        }
    }

    /// The first string of which something holds, with its path.
    pub(super) fn has(&self, holds: impl Fn(&str) -> bool) -> Option<(String, String)> {
        self.parts.iter().find_map(|part| {
            let text = part.unescaped().filter(|text| holds(text))?;
            Some((part.path.clone(), text.to_owned()))
        })
    }

    /// The first string that is needed for all of these to hold, of the text or of strings in it.
    pub(super) fn has_all<T>(
        &self,
        wanted: &[T],
        holds: impl Fn(&T, &str) -> bool,
    ) -> Option<(String, String)> {
        let missing = wanted.iter().filter(|one| !holds(one, self.text));
        let found: Option<Vec<_>> = missing
            .map(|one| self.has(|text| holds(one, text)))
            .collect();
        found?.into_iter().next()
    }
}
