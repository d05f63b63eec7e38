//! The findings on assertions that passed, as lists of them show it: those of a red outcome stand with it. Made of the
//! records; the terminal and Markdown render them.

use std::collections::{BTreeSet, HashMap};

use crate::{
    RunReport,
    record::{FindingRecord, Record},
};
use check::outcome::Status;
use mcp::observation::finding::FindingCode;
use text::count;

/// What was found of one assertion, or of a server in several, over trials and targets.
#[derive(Debug)]
pub struct Noted<'a> {
    /// What was found.
    pub finding: &'a FindingRecord,
    /// The first of the records that have it.
    record: &'a Record,
    /// The trials that have it.
    trials: BTreeSet<u32>,
    /// The targets that have it.
    targets: BTreeSet<&'a str>,
    /// The assertions that have it.
    assertions: BTreeSet<&'a str>,
}

impl Noted<'_> {
    /// The assertion's name, with the trials and targets: which it was, or of several how many.
    pub fn name(&self, trials: u32) -> String {
        let mut name = match self.targets.len() {
            0 | 1 => self.record.name_on_target(),
            several => format!("{} [{}]", self.record.name, count(several, "target")),
        };
        match self.trials.len() {
            0 | 1 if trials < 2 => {}
            0 | 1 => name = format!("{name} [trial {}]", self.record.trial),
            several => name = format!("{name} [{}]", count(several, "trial")),
        }
        match self.assertions.len() {
            0 | 1 => name,
            several => format!("{name} and {}", count(several - 1, "other")),
        }
    }
}

impl RunReport {
    /// What deserves a look on what passed, worst first, then in plan order. What a server does is told once for all of its
    /// assertions.
    pub fn noted(&self) -> Vec<Noted<'_>> {
        let mut places: HashMap<(&str, &str, &str), usize> = HashMap::new();
        let mut all: Vec<Noted<'_>> = Vec::new();
        let green = |record: &&Record| record.status == Status::Pass;
        for record in self.records.iter().filter(green) {
            for finding in record.findings.iter().filter(|it| !it.is_note()) {
                let whose = match &record.server {
                    Some(server) if finding.code != FindingCode::Vacuous.code() => server.as_ref(),
                    Some(_) | None => record.id.as_str(),
                };
                let key = (whose, finding.code.as_str(), finding.message.as_str());
                let place = *places.entry(key).or_insert(all.len());
                if place == all.len() {
                    all.push(Noted {
                        finding,
                        record,
                        trials: BTreeSet::new(),
                        targets: BTreeSet::new(),
                        assertions: BTreeSet::new(),
                    });
                }
                if let Some(noted) = all.get_mut(place) {
                    noted.trials.insert(record.trial);
                    noted.targets.extend(record.target.as_deref());
                    noted.assertions.insert(record.id.as_str());
                }
            }
        }
        all.sort_by_key(|noted| noted.finding.rank());
        all
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::{outcome, report};
    use check::outcome::{Outcome, Status};
    use mcp::observation::finding::{Finding, FindingCode};

    fn with(name: &str, trial: u32, target: Option<&str>, codes: &[FindingCode]) -> Outcome {
        let mut outcome = outcome("a.yaml", name);
        outcome.trial = trial;
        outcome.target = target.map(Into::into);
        outcome.findings = codes
            .iter()
            .map(|code| Finding {
                code: *code,
                message: "seen".to_owned(),
                frame: None,
                times: 1,
            })
            .collect();
        outcome
    }

    fn noted(outcomes: Vec<Outcome>, trials: u32) -> Vec<String> {
        let report = report(outcomes, trials);
        let noted = report.noted();
        let told = noted.iter().map(|it| {
            let finding = it.finding;
            format!("{} {}: {}", finding.severity, finding.code, it.name(trials))
        });
        told.collect()
    }

    #[test]
    fn errors_come_before_warnings() {
        let mut outcomes: Vec<Outcome> = ["a", "b"]
            .map(|name| with(name, 1, None, &[FindingCode::Vacuous]))
            .into();
        outcomes.push(with(
            "c",
            1,
            None,
            &[FindingCode::Vacuous, FindingCode::StdoutNoise],
        ));
        assert_eq!(
            noted(outcomes, 1),
            [
                "error stdout-noise: c",
                "warning vacuous: a",
                "warning vacuous: b",
                "warning vacuous: c"
            ]
        );
    }

    #[test]
    fn what_a_server_does_is_told_once() {
        let of = |name: &str, server: &str, codes: &[FindingCode]| {
            let mut outcome = with(name, 1, None, codes);
            outcome.server = Some(server.to_owned());
            outcome
        };
        let both = &[FindingCode::IgnoresStdinEnd, FindingCode::Vacuous];
        let outcomes = vec![
            of("a", "one 1", both),
            of("b", "one 1", both),
            of("c", "one 1", &[FindingCode::IgnoresStdinEnd]),
            of("d", "two 1", &[FindingCode::IgnoresStdinEnd]),
        ];
        assert_eq!(
            noted(outcomes, 1),
            [
                "warning ignores-stdin-end: a and 2 others",
                "warning vacuous: a",
                "warning vacuous: b",
                "warning ignores-stdin-end: d",
            ]
        );
    }

    #[test]
    fn what_is_found_in_every_trial_is_told_once() {
        let vacuous = &[FindingCode::Vacuous];
        let on = |trial, target| with("a", trial, target, vacuous);
        let case = |outcomes: Vec<Outcome>, trials, wanted: &[&str]| {
            let names = noted(outcomes, trials);
            let wanted: Vec<String> = wanted
                .iter()
                .map(|it| format!("warning vacuous: {it}"))
                .collect();
            assert_eq!(names, wanted);
        };
        case(
            (1..=3).map(|trial| on(trial, None)).collect(),
            3,
            &["a [3 trials]"],
        );
        case(
            vec![with("a", 1, None, &[]), on(2, None)],
            2,
            &["a [trial 2]"],
        );
        case(
            vec![on(1, Some("old")), on(1, Some("new"))],
            1,
            &["a [2 targets]"],
        );
        case(
            vec![on(1, Some("old")), with("a", 1, Some("new"), &[])],
            1,
            &["a [old]"],
        );
        case(
            vec![
                on(1, Some("old")),
                on(2, Some("old")),
                on(1, Some("new")),
                with("b", 1, Some("new"), vacuous),
            ],
            2,
            &["a [2 targets] [2 trials]", "b [new] [trial 1]"],
        );
        // A red one shows its findings itself.
        let mut red = on(2, None);
        red.status = Status::Fail;
        case(vec![on(1, None), red], 2, &["a [trial 1]"]);
    }
}
