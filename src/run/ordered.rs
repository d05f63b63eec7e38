//! Outcomes in plan order, whatever finishes first.

use std::collections::BTreeMap;

use crate::outcome::{Outcome, event::JobIndex};

/// Holds back what finished too early.
#[derive(Debug, Default)]
pub(super) struct Ordered {
    next: JobIndex,
    held: BTreeMap<JobIndex, Box<Outcome>>,
}

impl Ordered {
    /// Takes an outcome and hands out every one whose turn has come.
    pub(super) fn add(
        &mut self,
        job: JobIndex,
        outcome: Box<Outcome>,
    ) -> Vec<(JobIndex, Box<Outcome>)> {
        self.held.insert(job, outcome);
        let mut out = Vec::new();
        while let Some(outcome) = self.held.remove(&self.next) {
            out.push((self.next, outcome));
            self.next += 1;
        }
        out
    }
}
