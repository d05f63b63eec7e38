//! Totals of a run, by status.

use crate::outcome::{Outcome, Status};

/// How many outcomes of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Passed, flaky ones included.
    pub(crate) passed: usize,
    /// Failed.
    pub(crate) failed: usize,
    /// Could not be observed.
    pub(crate) errors: usize,
    /// Skipped.
    pub(crate) skipped: usize,
    /// Passed only on a retry.
    pub(crate) flaky: usize,
}

impl Summary {
    /// Counts one more outcome.
    pub(crate) fn add(&mut self, outcome: &Outcome) {
        match outcome.status {
            Status::Pass => self.passed += 1,
            Status::Fail => self.failed += 1,
            Status::Error => self.errors += 1,
            Status::Skip => self.skipped += 1,
        }
        if outcome.is_flaky() {
            self.flaky += 1;
        }
    }

    /// All outcomes.
    pub(crate) fn total(&self) -> usize {
        self.passed + self.failed + self.errors + self.skipped
    }
}
