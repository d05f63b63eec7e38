//! Making records smaller when the file would be too long: texts are cut further and further, then frames go, then
//! all but the first expectations. No record goes, and what was taken is said where it stood.

use crate::{
    report::{
        cleaner::{LONGEST_TEXT_BYTES, cut},
        failure::stderr,
        record::{Evidence, Record},
    },
    words::text::count,
};

/// How much of a record is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Bytes of a text.
    text: usize,
    /// Frames, the last ones.
    frames: usize,
    /// Expectations that did not hold, the first ones.
    mismatches: usize,
}

/// Texts are not cut shorter than this: the note about the cut needs as much.
const SHORTEST_TEXT: usize = 32;

impl Room {
    /// For everything that a record may hold.
    pub(super) const ALL: Self = Self {
        text: LONGEST_TEXT_BYTES,
        frames: usize::MAX,
        mismatches: usize::MAX,
    };

    /// The next smaller one, until there is none.
    pub(super) fn smaller(self) -> Option<Self> {
        let text = self.text / 2;
        (text >= SHORTEST_TEXT).then_some(Self {
            text,
            frames: match text {
                ..=256 => 0,
                257..=4096 => 6,
                4097.. => usize::MAX,
            },
            mismatches: match text {
                ..=64 => 1,
                65..=256 => 5,
                257.. => usize::MAX,
            },
        })
    }

    /// The record with no more than fits.
    pub(super) fn fit(self, record: &Record) -> Record {
        let mut record = record.clone();
        if let Some(evidence) = &mut record.evidence {
            self.fit_evidence(evidence);
        }
        for attempt in &mut record.attempts {
            attempt.mismatches.truncate(self.mismatches);
        }
        for text in record.long_texts() {
            cut(text, self.text);
        }
        for text in record.stderr_texts() {
            stderr::shorten(text, self.text);
        }
        if let Some(server) = &mut record.server {
            let mut shorter = server.to_string();
            cut(&mut shorter, self.text);
            *server = shorter.into();
        }
        record
    }

    fn fit_evidence(self, evidence: &mut Evidence) {
        evidence.stderr_whole &= evidence.stderr.len() <= self.text;
        let frames = evidence.wire.len().saturating_sub(self.frames);
        evidence.wire.drain(..frames);
        evidence.wire_left_out = evidence.wire_left_out.saturating_add(frames);
        evidence.notes.truncate(self.mismatches);
        let mismatches = evidence.mismatches.len().saturating_sub(self.mismatches);
        if mismatches > 0 {
            evidence.mismatches.truncate(self.mismatches);
            let what = count(mismatches, "more expectation");
            let note = format!("{what} did not hold and had to be left out of run.json");
            evidence.notes.push(note);
        }
    }
}
