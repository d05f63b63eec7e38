//! An expectation while it is being checked: its key and what it wants, from which every mismatch is made.

use crate::outcome::verdict::{Mismatch, Verdict};

/// The key of an expectation and the clause that follows "expected".
#[derive(Debug, Clone)]
pub(super) struct Ask {
    /// The key, e.g. `contains`.
    pub(super) key: &'static str,
    /// What is wanted: ``the text to contain `x` ``.
    pub(super) wanted: String,
}

impl Ask {
    /// An ask.
    pub(super) fn new(key: &'static str, wanted: impl Into<String>) -> Self {
        Self {
            key,
            wanted: wanted.into(),
        }
    }

    /// The mismatch that this was seen instead.
    pub(super) fn miss(&self, seen: impl Into<String>) -> Mismatch {
        Mismatch {
            key: self.key,
            wanted: self.wanted.clone(),
            seen: seen.into(),
            ..Mismatch::default()
        }
    }

    /// The verdict when this was seen instead, and nothing else is to be said.
    pub(super) fn missed(&self, seen: impl Into<String>) -> Verdict {
        Verdict::Missed(vec![self.miss(seen)])
    }
}

/// Joins the verdicts on the parts of one expectation: a mismatch is certain whatever else cannot be told.
pub(super) fn all(parts: impl IntoIterator<Item = Verdict>) -> Verdict {
    let mut mismatches = Vec::new();
    let mut unknowable = None;
    for part in parts {
        match part {
            Verdict::Held => {}
            Verdict::Missed(found) => mismatches.extend(found),
            Verdict::Unknowable(reason) => unknowable = unknowable.or(Some(reason)),
        }
    }
    match unknowable {
        Some(reason) if mismatches.is_empty() => Verdict::Unknowable(reason),
        _ => Verdict::from_mismatches(mismatches),
    }
}
