//! What one expectation says about one observation.

use suite::written::Part;

/// The verdict of one expectation.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It holds.
    Held,
    /// It does not, in these ways (never empty).
    Missed(Vec<Mismatch>),
    /// It cannot be told, e.g. because the log hides the value; counts as `Error`, never as a pass.
    Unknowable(String),
}

impl Verdict {
    /// Held when there is nothing to complain about.
    pub fn from_mismatches(mismatches: Vec<Mismatch>) -> Self {
        if mismatches.is_empty() {
            Self::Held
        } else {
            Self::Missed(mismatches)
        }
    }

    /// The same, asked by a part of the expectation.
    pub fn within(self, part: Part) -> Self {
        match self {
            Self::Missed(mismatches) => {
                let inner = mismatches.into_iter();
                Self::Missed(inner.map(|mismatch| mismatch.within(part)).collect())
            }
            Self::Held | Self::Unknowable(_) => self,
        }
    }
}

/// One way in which an expectation did not hold. Texts are as the server sent them: reports clean and mask.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mismatch {
    /// The expectation's key, e.g. `contains`.
    pub key: &'static str,
    /// What was wanted, as a clause that follows "expected": ``the text to contain `x` ``.
    pub wanted: String,
    /// What was seen instead, in a few words; the value itself stands in `actual`.
    pub seen: String,
    /// What of the expectation asked for it, from the outside inwards; nothing for the whole. It is not told by `path`: a
    /// path may lead to many places, and be the beginning of another one.
    pub part: Vec<Part>,
    /// The place inside the answer, e.g. a JSONPath or a file.
    pub path: Option<String>,
    /// The wanted value in full, where it can be compared with `actual`.
    pub expected: Option<String>,
    /// The value seen, cut round the place that matters.
    pub actual: Option<String>,
    /// The nearest thing that would have matched, or another hint.
    pub hint: Option<String>,
}

impl Mismatch {
    /// The same, asked by a part of the expectation; the outermost part comes last.
    pub fn within(mut self, part: Part) -> Self {
        self.part.insert(0, part);
        self
    }

    /// One line: what was wanted and what was seen.
    pub fn headline(&self) -> String {
        let place = self
            .path
            .as_ref()
            .map(|path| format!("{path}: "))
            .unwrap_or_default();
        format!(
            "{}: {place}expected {}, {}",
            self.key, self.wanted, self.seen
        )
    }
}
