//! Which outcomes annotations and pages show first.

use std::collections::HashMap;

use crate::{RunReport, compare::Class, record::Record, tally::Reliability};
use check::outcome::Status;

/// Why an outcome deserves a look. Worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// It passed in the baseline, and is red.
    Regressed,
    /// It is red, and was not known or not run.
    NewFailure,
    /// It is not as expected.
    Failure,
    /// It could not be observed.
    Error,
    /// It passed only after a failed attempt.
    Flaky,
    /// It was run, and is skipped.
    NewlySkipped,
    /// It is gone.
    Removed,
    /// It takes much longer.
    Slower,
}

/// What became of the assertions since the baseline, by their keys.
pub(super) struct Classes<'a> {
    by_key: HashMap<&'a str, Class>,
}

impl<'a> Classes<'a> {
    pub(super) fn of(report: &'a RunReport) -> Self {
        let changes = report.comparison.iter().flat_map(|it| &it.changes);
        Self {
            by_key: changes
                .map(|change| (change.key.as_str(), change.class))
                .collect(),
        }
    }

    /// Why this assertion deserves a look, if it does.
    pub(super) fn reason(&self, assertion: &Reliability<'_>) -> Option<Reason> {
        let class = self.by_key.get(assertion.record.key().as_str()).copied();
        match (assertion.worst, class) {
            (Status::Fail | Status::Error, _) => Some(red(assertion.worst, class)),
            (Status::Skip, Some(Class::NewlySkipped)) => Some(Reason::NewlySkipped),
            (Status::Pass, _) if assertion.flaky > 0 => Some(Reason::Flaky),
            (Status::Pass, Some(Class::Slower)) => Some(Reason::Slower),
            (Status::Pass | Status::Skip, _) => None,
        }
    }

    /// The red outcomes, worst first, then in plan order.
    pub(super) fn red(&self, report: &'a RunReport) -> Vec<&'a Record> {
        let all = report.records.iter().filter(|it| it.status.is_red());
        let mut ranked: Vec<(Reason, &Record)> = all
            .map(|record| {
                let class = self.by_key.get(record.key().as_str()).copied();
                (red(record.status, class), record)
            })
            .collect();
        ranked.sort_by_key(|(reason, _)| *reason);
        ranked.into_iter().map(|(_, record)| record).collect()
    }
}

/// Why something red is.
fn red(status: Status, class: Option<Class>) -> Reason {
    match (class, status) {
        (Some(Class::Regressed), _) => Reason::Regressed,
        (Some(Class::NewFailure), _) => Reason::NewFailure,
        (_, Status::Error) => Reason::Error,
        (_, Status::Fail | Status::Pass | Status::Skip) => Reason::Failure,
    }
}
