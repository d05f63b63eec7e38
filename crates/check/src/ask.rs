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

    /// The verdict with this one mismatch.
    pub(super) fn missed(&self, seen: impl Into<String>) -> Verdict {
        Verdict::Missed(vec![self.miss(seen)])
    }
}

/// Maximum number of mismatches shown of one rule.
const MOST: usize = 10;

/// Maximum number of further mismatches that are counted.
const COUNTED: usize = 1_000;

/// The first of the places where a rule does not hold; the last of these says how many more there are.
pub(super) fn first_of(mut all: impl Iterator<Item = Mismatch>) -> Vec<Mismatch> {
    let mut told: Vec<Mismatch> = all.by_ref().take(MOST).collect();
    let more = all.take(COUNTED).count();
    if let Some(last) = told.last_mut().filter(|_| more > 0) {
        let sentence = match more {
            1 => "it does not hold at 1 more place".to_owned(),
            COUNTED => format!("it does not hold at {more} more places at least"),
            more => format!("it does not hold at {more} more places"),
        };
        add_hint(last, sentence);
    }
    told
}

/// Says this of a mismatch too.
pub(super) fn add_hint(mismatch: &mut Mismatch, sentence: String) {
    mismatch.hint = Some(match mismatch.hint.take() {
        None => sentence,
        Some(hint) => format!("{hint}; {sentence}"),
    });
}

/// The verdict when a decisive message may be among those not kept.
pub(super) fn hidden_by_flood() -> Verdict {
    Verdict::Unknowable(
        "the server sent more notifications or requests than are kept; the rest is not known"
            .to_owned(),
    )
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
