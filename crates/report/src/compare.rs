//! A run against a baseline: what each assertion was and is, in one of a few classes. Comparing comes before
//! saving, so one path may serve for both.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    End, RunReport,
    baseline::{Baseline, Entry},
    surface::{self, Attendance},
    tally::Reliability,
};
use check::outcome::Status;
use text::time;

/// A pass this much slower than its median is worth a line …
const SLOWER_FACTOR: u64 = 2;

/// … if it took longer than this, in microseconds.
const SLOWER_THAN_US: u64 = 1_000_000;

/// Whether the run had all assertions of the suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// It had.
    Whole,
    /// Filters, shards or the choice of targets left some out: what is missing says nothing.
    Part,
}

impl Scope {
    /// The scope of what really ran: a run that ended early is a part.
    #[must_use]
    pub fn of(self, report: &RunReport) -> Self {
        match report.end {
            End::Interrupted => Self::Part,
            End::Finished if report.missing() > 0 || report.left_out > 0 => Self::Part,
            End::Finished => self,
        }
    }
}

/// What became of an assertion. Worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// It passed, and is red.
    Regressed,
    /// It is red, and was not known or not run.
    NewFailure,
    /// It was red, and is.
    StillFailing,
    /// It was run, and is skipped. No regression.
    NewlySkipped,
    /// It is gone. No regression.
    Removed,
    /// It passes, after a failed attempt.
    Flaky,
    /// It passes, and takes much longer.
    Slower,
    /// It was red, and passes.
    Fixed,
    /// It was not known, and is not red.
    New,
    /// Nothing to say.
    Unchanged,
}

impl Class {
    /// All classes, worst first.
    pub const ALL: [Self; 10] = [
        Self::Regressed,
        Self::NewFailure,
        Self::StillFailing,
        Self::NewlySkipped,
        Self::Removed,
        Self::Flaky,
        Self::Slower,
        Self::Fixed,
        Self::New,
        Self::Unchanged,
    ];

    /// The words above a list of them.
    pub fn title(self) -> &'static str {
        match self {
            Self::Regressed => "Regressions",
            Self::NewFailure => "New failures",
            Self::StillFailing => "Still failing",
            Self::NewlySkipped => "Newly skipped",
            Self::Removed => "Removed",
            Self::Flaky => "Flaky",
            Self::Slower => "Slower",
            Self::Fixed => "Fixed",
            Self::New => "New",
            Self::Unchanged => "Unchanged",
        }
    }
}

/// A run against a baseline.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// What it was compared with, for people.
    pub against: String,
    /// What became of each assertion, worst first, then in plan order; unchanged ones are left out.
    pub changes: Vec<Change>,
}

/// What became of one assertion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// The class.
    pub class: Class,
    /// Its identity, or its name where the baseline knows no other.
    pub key: String,
    /// Its name.
    pub name: String,
    /// What it was.
    pub before: Option<Status>,
    /// What it is.
    pub now: Option<Status>,
    /// The median duration it had, in microseconds.
    pub before_us: Option<u64>,
    /// The duration it has.
    pub now_us: Option<u64>,
}

impl Comparison {
    /// The changes of a class.
    pub fn of(&self, class: Class) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter(move |it| it.class == class)
    }

    /// Whether something that passed is red.
    pub fn has_regressions(&self) -> bool {
        self.of(Class::Regressed).next().is_some()
    }
}

impl Change {
    /// `was PASS, now FAIL`.
    pub fn transition(&self) -> String {
        let time = |micros| time(Duration::from_micros(micros));
        match (self.before, self.now) {
            _ if self.class == Class::Flaky => "passed after a failed attempt".to_owned(),
            (Some(_), Some(_)) if self.class == Class::Slower => {
                let [before, now] = [self.before_us, self.now_us].map(Option::unwrap_or_default);
                format!("took {}, and {} before", time(now), time(before))
            }
            (Some(before), Some(now)) => format!("was {}, now {}", before.word(), now.word()),
            (Some(before), None) => format!("was {}, now missing", before.word()),
            (None, Some(now)) => format!("new, {}", now.word()),
            (None, None) => "missing".to_owned(),
        }
    }
}

impl RunReport {
    /// Takes in what became of the run since a baseline that people know as `against`.
    pub fn compare_with(&mut self, baseline: &Baseline, against: &str, scope: Scope) {
        self.comparison = Some(compare(baseline, against, self, scope));
        if baseline.catalogs.is_empty() {
            return;
        }
        let attendance = Attendance::of(self, scope);
        let surface = surface::compare(&baseline.catalogs, &self.catalogs, &attendance);
        if !self.catalogs.is_empty() || !surface.skipped.is_empty() {
            self.surface = Some(surface);
        }
    }
}

/// Compares a run with a baseline that people know as `against`.
pub fn compare(baseline: &Baseline, against: &str, report: &RunReport, scope: Scope) -> Comparison {
    let assertions = report.assertions();
    let mut changes: Vec<Change> = assertions
        .iter()
        .filter_map(|assertion| {
            let now = assertion.observed?;
            Some(change(assertion, now, baseline.find(assertion)))
        })
        .filter(|change| change.class != Class::Unchanged)
        .collect();
    if scope.of(report) == Scope::Whole {
        for (key, entry) in baseline.without(&assertions) {
            changes.push(Change {
                class: class(Some(entry.status), None),
                key: key.to_owned(),
                name: entry.name.clone(),
                before: Some(entry.status),
                now: None,
                before_us: entry.p50_us,
                now_us: None,
            });
        }
    }
    changes.sort_by_key(|change| change.class);
    Comparison {
        against: against.to_owned(),
        changes,
    }
}

fn change(assertion: &Reliability<'_>, now: Status, known: Option<&Entry>) -> Change {
    let record = assertion.record;
    let before_us = known.and_then(|entry| entry.p50_us);
    let mut class = class(known.map(|entry| entry.status), Some(now));
    if class == Class::NewlySkipped && known.is_some_and(|entry| entry.skipped) {
        class = Class::Unchanged;
    }
    if class == Class::Unchanged && now == Status::Pass {
        let much = before_us.map(|before| before.saturating_mul(SLOWER_FACTOR));
        if assertion.flaky > 0 {
            class = Class::Flaky;
        } else if much.is_some_and(|much| record.duration_us > much.max(SLOWER_THAN_US)) {
            class = Class::Slower;
        }
    }
    Change {
        class,
        key: record.key(),
        name: record.name_on_target(),
        before: known.map(|entry| entry.status),
        now: Some(now),
        before_us,
        now_us: Some(record.duration_us),
    }
}

/// The class of each pair of statuses; none: not known, or not there any more.
fn class(before: Option<Status>, now: Option<Status>) -> Class {
    use Status::{Error, Fail, Pass, Skip};

    match (before, now) {
        (Some(Pass), Some(Fail | Error)) => Class::Regressed,
        (None | Some(Skip), Some(Fail | Error)) => Class::NewFailure,
        (Some(Fail | Error), Some(Fail | Error)) => Class::StillFailing,
        (Some(Fail | Error), Some(Pass)) => Class::Fixed,
        (Some(Pass | Fail | Error), Some(Skip)) => Class::NewlySkipped,
        (Some(Pass | Fail | Error | Skip), None) => Class::Removed,
        (None, Some(Pass | Skip)) => Class::New,
        (Some(Pass | Skip), Some(Pass)) | (Some(Skip), Some(Skip)) | (None, None) => {
            Class::Unchanged
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Class, Scope, class, compare};
    use crate::{
        RunReport,
        baseline::Baseline,
        sample::{interrupted, outcome, report},
    };
    use check::outcome::{Outcome, Status};

    fn run(statuses: &[(&str, Status)]) -> RunReport {
        let outcomes = statuses.iter().map(|(name, status)| Outcome {
            status: *status,
            ..outcome("a.yaml", name)
        });
        report(outcomes.collect(), 1)
    }

    #[test]
    fn every_pair_of_statuses_has_its_class() {
        use Status::{Error, Fail, Pass, Skip};

        let case =
            |before, now, wanted| assert_eq!(class(before, now), wanted, "{before:?} {now:?}");
        for red in [Fail, Error] {
            case(Some(Pass), Some(red), Class::Regressed);
            case(Some(Skip), Some(red), Class::NewFailure);
            case(None, Some(red), Class::NewFailure);
            case(Some(red), Some(Pass), Class::Fixed);
            case(Some(red), Some(Skip), Class::NewlySkipped);
            case(Some(red), Some(Fail), Class::StillFailing);
            case(Some(red), None, Class::Removed);
        }
        case(Some(Pass), Some(Skip), Class::NewlySkipped);
        case(Some(Skip), Some(Pass), Class::Unchanged);
        case(Some(Pass), Some(Pass), Class::Unchanged);
        case(Some(Pass), None, Class::Removed);
        case(None, Some(Pass), Class::New);
        case(None, Some(Skip), Class::New);
    }

    #[test]
    fn a_skip_is_no_regression_and_new_and_removed_are_listed() {
        let before = run(&[
            ("a", Status::Pass),
            ("b", Status::Pass),
            ("gone", Status::Pass),
        ]);
        let baseline = Baseline::updated(None, &before, Scope::Whole);
        let now = run(&[
            ("a", Status::Skip),
            ("b", Status::Error),
            ("c", Status::Pass),
        ]);
        let case = |scope, wanted: &[(Class, &str)]| {
            let found = compare(&baseline, "b.json", &now, scope);
            let found: Vec<(Class, &str)> = found
                .changes
                .iter()
                .map(|change| (change.class, change.name.as_str()))
                .collect();
            assert_eq!(found, wanted);
        };
        let all = [
            (Class::Regressed, "b"),
            (Class::NewlySkipped, "a"),
            (Class::Removed, "gone"),
            (Class::New, "c"),
        ];
        case(Scope::Whole, &all);
        case(Scope::Part, &[all[0], all[1], all[3]]);
    }

    #[test]
    fn a_skip_is_news_once_and_what_was_before_it_is_not_forgotten() {
        let baseline = |status, old: Option<&Baseline>| {
            let saved = Baseline::updated(old, &run(&[("a", status)]), Scope::Whole);
            Baseline::parse(&saved.render()).unwrap()
        };
        let class = |baseline: &Baseline, status| {
            let found = compare(baseline, "b", &run(&[("a", status)]), Scope::Whole);
            found.changes.first().map(|change| change.class)
        };
        for (status, red) in [
            (Status::Pass, Class::Regressed),
            (Status::Fail, Class::StillFailing),
        ] {
            let executed = baseline(status, None);
            assert_eq!(class(&executed, Status::Skip), Some(Class::NewlySkipped));
            let skipped = baseline(Status::Skip, Some(&executed));
            assert_eq!(class(&skipped, Status::Skip), None);
            assert_eq!(class(&skipped, Status::Error), Some(red));
            // What was not observed says nothing of the skip either.
            let now = report(vec![interrupted("a.yaml", "a")], 1);
            let kept = Baseline::updated(Some(&skipped), &now, Scope::Whole);
            assert_eq!(class(&kept, Status::Skip), None);
            let again = baseline(status, Some(&skipped));
            assert_eq!(class(&again, Status::Skip), Some(Class::NewlySkipped));
        }
    }

    #[test]
    fn the_go_tools_file_is_matched_by_name_and_duplicates_stay_apart() {
        let baseline =
            Baseline::parse(r#"{"entries": [{"name": "a", "status": "PASS"}]}"#).unwrap();
        let first = Outcome {
            status: Status::Fail,
            ..outcome("one.yaml", "a")
        };
        let now = report(vec![first, outcome("two.yaml", "a")], 1);
        let found = compare(&baseline, "b.json", &now, Scope::Whole);
        assert_eq!(found.changes.len(), 1);
        assert_eq!(found.changes[0].key, "one.yaml::a");
        assert_eq!(found.changes[0].transition(), "was PASS, now FAIL");
        let saved = Baseline::updated(Some(&baseline), &now, Scope::Whole);
        assert_eq!(saved.len(), 2);
    }

    #[test]
    fn slower_means_twice_the_median_and_over_a_second() {
        let case = |before_ms, now_ms, wanted: bool| {
            let timed = |ms| {
                let mut outcome = outcome("a.yaml", "a");
                outcome.duration = Duration::from_millis(ms);
                report(vec![outcome], 1)
            };
            let baseline = Baseline::updated(None, &timed(before_ms), Scope::Whole);
            let found = compare(&baseline, "b.json", &timed(now_ms), Scope::Whole);
            assert_eq!(
                found.of(Class::Slower).count() == 1,
                wanted,
                "{before_ms} {now_ms}"
            );
        };
        case(100, 900, false);
        case(600, 1_100, false);
        case(500, 1_100, true);
    }

    #[test]
    fn what_was_interrupted_is_in_no_class() {
        let statuses = [Status::Pass, Status::Fail, Status::Error, Status::Skip];
        for before in statuses.map(Some).into_iter().chain([None]) {
            let before = before.map(|status| run(&[("a", status)]));
            let baseline = before.map_or_else(Baseline::default, |run| {
                Baseline::updated(None, &run, Scope::Whole)
            });
            let now = report(vec![interrupted("a.yaml", "a")], 1);
            let found = compare(&baseline, "b", &now, Scope::Whole);
            assert!(found.changes.is_empty(), "{found:?}");
        }
    }

    #[test]
    fn an_interrupted_run_removes_nothing() {
        let before = run(&[("a", Status::Pass), ("b", Status::Pass)]);
        let baseline = Baseline::updated(None, &before, Scope::Whole);
        let mut now = run(&[("a", Status::Pass)]);
        now.planned = 2;
        assert!(
            compare(&baseline, "b", &now, Scope::Whole)
                .changes
                .is_empty()
        );
        assert_eq!(
            Baseline::updated(Some(&baseline), &now, Scope::Whole).len(),
            2
        );
    }
}
