//! Sorts the outcomes of all shards into the plan, and finds duplicates, unplanned and missing ones.

use std::collections::{BTreeMap, HashMap};

use crate::{
    cleaner::Cleaner,
    plan_file::{PlanFile, PlannedPlace},
    record::{AttemptRecord, DisruptionRecord, Evidence, Phases, Record},
    verdict::{Cause, Verdict},
};
use check::outcome::Status;

/// The kind of disruption of an assertion that no shard ran.
pub const NOT_RUN: &str = "not-run";

/// Missing assertions that are listed; each has its own outcome besides.
const MOST_LISTED: usize = 10;

/// The outcomes by identity and trial.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    plan: &'a PlanFile,
    shard_of: BTreeMap<&'a str, usize>,
    records: HashMap<(String, u32), Record>,
}

impl<'a> Sorted<'a> {
    /// None yet.
    pub(super) fn new(plan: &'a PlanFile) -> Self {
        Self {
            plan,
            shard_of: plan.shard_of(),
            records: HashMap::new(),
        }
    }

    /// Adds the outcomes of a shard.
    pub(super) fn add(&mut self, shard: usize, records: Vec<Record>, causes: &mut Vec<Cause>) {
        for record in records {
            let planned = self.shard_of.get(record.id.as_str()).copied();
            let problem = match planned {
                None => Some("is in no shard of the plan".to_owned()),
                Some(other) if other != shard => {
                    Some(format!("was run by shard {shard} and belongs to {other}"))
                }
                Some(_) if record.trial == 0 || record.trial > self.plan.trials => {
                    Some(format!("has a trial {} that was not planned", record.trial))
                }
                Some(_) => {
                    let key = (record.id.clone(), record.trial);
                    let known = self.records.insert(key, record.clone());
                    known.map(|_| format!("is twice in the result of shard {shard}"))
                }
            };
            if let Some(problem) = problem {
                let text = format!("`{}` {problem}", record.id);
                causes.push(Cause::new(Verdict::Incomplete, &text));
            }
        }
    }

    /// Adds failures of an older attempt: an assertion that passes now is flaky.
    pub(super) fn add_evidence(&mut self, attempt: u64, records: Vec<Record>) {
        let red = |it: &Record| it.status.is_red() && !it.says_nothing();
        for old in records.into_iter().filter(red) {
            if let Some(record) = self.records.get_mut(&(old.id.clone(), old.trial)) {
                let detail = format!("in attempt {attempt} of the workflow: {}", old.headline());
                let evidence = old.evidence.map(|it| *it).unwrap_or_default();
                let earlier = AttemptRecord {
                    status: old.status,
                    detail,
                    mismatches: evidence.mismatches,
                    duration_us: old.duration_us,
                    stderr: evidence.stderr,
                    container: old.container,
                };
                record.attempts.insert(0, earlier);
            }
        }
    }

    /// Adds an error for each planned assertion of a shard without an outcome.
    pub(super) fn fill(&mut self, shard: usize, causes: &mut Vec<Cause>) {
        let Some(planned) = self.plan.shards.get(shard - 1) else {
            return;
        };
        let mut missing: Vec<&str> = Vec::new();
        for (id, place) in planned.ids.iter().zip(&planned.places) {
            for trial in 1..=self.plan.trials {
                let key = (id.clone(), trial);
                self.records.entry(key).or_insert_with(|| {
                    missing.push(id);
                    not_run(id, place, (trial, shard))
                });
            }
        }
        if missing.is_empty() {
            return;
        }
        let total = planned.ids.len().saturating_mul(self.plan.trials as usize);
        let named: Vec<String> = missing
            .iter()
            .take(MOST_LISTED)
            .map(|id| format!("`{id}`"))
            .collect();
        let more = match missing.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let text = format!(
            "{} of {total} outcomes of shard {shard} are missing: {}{more}",
            missing.len(),
            named.join(", ")
        );
        causes.push(Cause::new(Verdict::Incomplete, &text));
    }

    /// All of them, in the order of their places in the suites.
    pub(super) fn into_records(self) -> Vec<Record> {
        let mut records: Vec<Record> = self.records.into_values().collect();
        records.sort_by(|one, other| {
            let place = |it: &Record| (it.line, it.column, it.trial);
            (&one.file, place(one), &one.id).cmp(&(&other.file, place(other), &other.id))
        });
        records
    }
}

/// The outcome of an assertion that no shard ran: it could not be observed.
fn not_run(id: &str, place: &PlannedPlace, (trial, shard): (u32, usize)) -> Record {
    let PlannedPlace(file, line) = place;
    let (_, name) = id.split_once("::").unwrap_or(("", id));
    Record {
        server_of: None,
        id: id.to_owned(),
        name: name.to_owned(),
        file: Cleaner::name(file).into(),
        line: *line,
        column: 1,
        subject: "".into(),
        tags: Vec::new(),
        target: None,
        trial,
        status: Status::Error,
        reason: None,
        duration_us: 0,
        phases: Phases::default(),
        server: None,
        revision: None,
        container: None,
        attempts: Vec::new(),
        findings: Vec::new(),
        evidence: Some(Box::new(Evidence {
            phase: "place".to_owned(),
            disruption: Some(DisruptionRecord {
                kind: NOT_RUN.to_owned(),
                phase: "place".to_owned(),
                message: format!("it did not run: shard {shard} left no result for it"),
                step: None,
                frame: None,
                help: None,
                by_engine: false,
            }),
            stderr_whole: true,
            ..Evidence::default()
        })),
    }
}
