//! Counting: assertions by their worst trial, and how reliable each one is over its trials.

use std::collections::HashMap;

use crate::{RunReport, record::Record};
use check::outcome::Status;

/// How many assertions of each kind; all trials of one on one target count once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Passed in every trial that ran, flaky ones included.
    pub passed: usize,
    /// Failed in some trial.
    pub failed: usize,
    /// Could not be observed in some trial, and failed in none.
    pub errors: usize,
    /// Skipped.
    pub skipped: usize,
    /// Passed, but only after a failed attempt.
    pub flaky: usize,
}

/// One assertion over its trials; skipped and unobserved ones do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reliability<'a> {
    /// The first of its records.
    pub record: &'a Record,
    /// Trials that ran.
    pub trials: usize,
    /// Of these, passed.
    pub passed: usize,
    /// Of these, passed only after a failed attempt.
    pub flaky: usize,
    /// The worst of its statuses.
    pub worst: Status,
    /// The overall status; `None` if some trial was not observed and the others are not red.
    pub observed: Option<Status>,
}

impl Tally {
    /// Assertions of any kind.
    pub fn total(&self) -> usize {
        self.executed() + self.skipped
    }

    /// Assertions that were run.
    pub fn executed(&self) -> usize {
        self.passed + self.failed + self.errors
    }

    /// What there is besides what passed, such as `2 failed` and `1 error`; kinds without any are left out.
    pub fn besides(self) -> Vec<String> {
        let errors = if self.errors == 1 { "error" } else { "errors" };
        let all = [
            (self.failed, "failed"),
            (self.errors, errors),
            (self.skipped, "skipped"),
            (self.flaky, "flaky"),
        ];
        let some = all.into_iter().filter(|(number, _)| *number > 0);
        some.map(|(number, word)| format!("{number} {word}"))
            .collect()
    }

    /// Whether some assertion is red.
    pub fn is_red(&self) -> bool {
        self.failed + self.errors > 0
    }
}

impl Reliability<'_> {
    /// pass@k: some trial passed.
    pub fn is_capable(&self) -> bool {
        self.passed > 0
    }

    /// pass^k: every trial passed.
    pub fn is_reliable(&self) -> bool {
        self.trials > 0 && self.passed == self.trials
    }

    /// Whether it is capable and whether it is reliable, in words.
    pub fn words(&self) -> [&'static str; 2] {
        [self.is_capable(), self.is_reliable()].map(|yes| if yes { "YES" } else { "NO" })
    }

    fn add(&mut self, record: &Record) {
        self.worst = worse(self.worst, record.status);
        self.observed = match (self.observed, record.says_nothing()) {
            (Some(status), false) => Some(worse(status, record.status)),
            // One red trial is enough to know; green ones prove nothing of those that are missing.
            (None, false) if record.status.is_red() => Some(record.status),
            (Some(status), true) if status.is_red() => Some(status),
            (None, false) | (Some(_) | None, true) => None,
        };
        if record.says_nothing() {
            return;
        }
        if record.status != Status::Skip {
            self.trials += 1;
        }
        if record.status == Status::Pass {
            self.passed += 1;
        }
        if record.is_flaky() {
            self.flaky += 1;
        }
    }
}

/// A failure says most, then an error, a pass, and least a skip.
fn worse(one: Status, other: Status) -> Status {
    let weight = |status: Status| match status {
        Status::Fail => 3,
        Status::Error => 2,
        Status::Pass => 1,
        Status::Skip => 0,
    };
    if weight(other) > weight(one) {
        other
    } else {
        one
    }
}

/// The middle value, of two the lower one.
pub(crate) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().saturating_sub(1) / 2).copied()
}

/// How many of some assertions are capable, and how many reliable.
pub fn sum(all: &[Reliability<'_>]) -> String {
    let capable = all.iter().filter(|it| it.is_capable()).count();
    let reliable = all.iter().filter(|it| it.is_reliable()).count();
    let total = all.len();
    format!("pass@k: {capable}/{total} capable, pass^k: {reliable}/{total} reliable")
}

impl RunReport {
    /// Each assertion on each target over its trials, in plan order.
    pub fn assertions(&self) -> Vec<Reliability<'_>> {
        let mut places: HashMap<(&str, Option<&str>), usize> = HashMap::new();
        let mut all: Vec<Reliability<'_>> = Vec::new();
        for record in &self.records {
            let place = *places.entry(record.identity()).or_insert(all.len());
            if place == all.len() {
                all.push(Reliability {
                    record,
                    trials: 0,
                    passed: 0,
                    flaky: 0,
                    worst: Status::Skip,
                    observed: Some(Status::Skip),
                });
            }
            if let Some(assertion) = all.get_mut(place) {
                assertion.add(record);
            }
        }
        all
    }

    /// The totals.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for assertion in self.assertions() {
            match assertion.worst {
                Status::Pass => tally.passed += 1,
                Status::Fail => tally.failed += 1,
                Status::Error => tally.errors += 1,
                Status::Skip => tally.skipped += 1,
            }
            if assertion.worst == Status::Pass && assertion.flaky > 0 {
                tally.flaky += 1;
            }
        }
        tally
    }
}
