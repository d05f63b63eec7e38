//! Folds the events of a run into a [`RunReport`]: each outcome becomes a [`Record`], masked and cleaned on the
//! way, so that nothing behind this point can leak. Asks neither the clock nor the environment.

use std::time::Duration;

use crate::{
    End, Problem, ProblemSeverity, RunReport,
    cleaner::Cleaner,
    excerpt,
    record::{
        AttemptRecord, CallRecord, ContainerRecord, DisruptionRecord, Evidence, FindingRecord,
        FrameRecord, MismatchRecord, Phases, Record, Sender,
    },
    surface::{self, joined, kept},
};
use check::outcome::{CallShown, EarlierAttempt, Failure, Outcome, event::Event};
use mcp::{
    observation::{
        Timings,
        catalog::{Catalog, Listing},
        container::ContainerSeen,
        disruption::Culprit,
        finding::FindingSeverity,
    },
    protocol::frame::{Direction, Frame},
};
use text::{
    diagnostic::{Colour, Diagnostic, Severity},
    redact::Secrets,
    source::SourceFile,
};

/// Frames kept of the beginning of a long exchange.
const FIRST_FRAMES: usize = 50;

/// Frames kept of its end.
const LAST_FRAMES: usize = 150;

/// Bytes of all catalogs of a run.
const MOST_CATALOG_BYTES: usize = 8 * 1024 * 1024;

/// The evidence that is kept of outcomes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// Of red ones.
    Red,
    /// Of all, for `--trace`.
    All,
}

/// Makes the report of a run while it goes on.
#[derive(Debug)]
pub struct Recorder {
    cleaner: Cleaner,
    keep: Keep,
    report: RunReport,
    /// Bytes that further catalogs may take.
    catalog_bytes: usize,
}

impl Recorder {
    /// A recorder that fills in `report`, which holds what is known before the run.
    pub fn new(report: RunReport, secrets: Secrets, keep: Keep) -> Self {
        Self {
            cleaner: Cleaner::new(secrets),
            keep,
            report,
            catalog_bytes: MOST_CATALOG_BYTES,
        }
    }

    /// Takes one event into the report; of a finished job the record is handed out.
    pub fn apply(&mut self, event: &Event) -> Option<&Record> {
        match event {
            Event::RunStarted { total, jobs } => {
                self.report.planned = *total;
                self.report.records.reserve_exact(*total);
                self.report.jobs = *jobs;
                None
            }
            Event::JobFinished { outcome, .. } => {
                let record = self.record(outcome);
                self.report.records.push(record);
                self.report.records.last()
            }
            Event::CatalogKnown(seen) => {
                let target = surface::name_for(&seen.target, &seen.capabilities);
                let name = Cleaner::name(&self.cleaner.text_named(&target));
                let mut kept = kept::catalog(&seen.catalog, &self.cleaner);
                kept.capabilities.clone_from(&seen.capabilities);
                self.bound(&mut kept);
                kept.used_by = seen.used_by.iter().map(|it| Cleaner::name(it)).collect();
                joined::add_beside(&mut self.report.catalogs, &name, kept);
                None
            }
            Event::CatalogMissing { target, why } => {
                let target = match Cleaner::name(&self.cleaner.mask(target)) {
                    unnamed if unnamed.is_empty() => "a server without a command".to_owned(),
                    named => format!("`{named}`"),
                };
                let why = self.cleaner.line(why);
                self.report.notes.push(format!(
                    "not all that {target} lists is known: {why}; \
                     it was asked beside the assertions, and that counts for none"
                ));
                None
            }
            Event::LeftBehind { what } => {
                let what = self.cleaner.line(what);
                self.report.notes.push(what);
                None
            }
            Event::Interrupted => {
                self.report.end = End::Interrupted;
                None
            }
            Event::Preparing { .. }
            | Event::JobStarted { .. }
            | Event::PhaseReached { .. }
            | Event::Retrying { .. }
            | Event::RunFinished => None,
        }
    }

    /// Adds what is wrong in the suites.
    pub fn problem(&mut self, problem: &Diagnostic) {
        self.report.problems.push(Problem {
            code: problem.code.to_owned(),
            severity: match problem.severity {
                Severity::Error => ProblemSeverity::Error,
                Severity::Warning => ProblemSeverity::Warning,
            },
            file: problem
                .origin
                .as_ref()
                .map(|at| Cleaner::name(&at.file.path)),
            line: problem.origin.as_ref().map(|at| at.position().line),
            text: self.cleaner.text(&problem.render(Colour::Off)),
        });
    }

    /// The report, after the last event.
    pub fn finish(mut self, duration: Duration) -> RunReport {
        self.report.timing.duration_us = micros(duration);
        self.report
    }

    /// Drops lists that exceed the byte limit for all catalogs.
    fn bound(&mut self, catalog: &mut Catalog) {
        for listing in Listing::ALL {
            let entries = catalog.list(listing).unwrap_or_default();
            let bytes: usize = entries.iter().map(|it| it.to_string().len()).sum();
            if let Some(left) = self.catalog_bytes.checked_sub(bytes) {
                self.catalog_bytes = left;
            } else {
                *catalog.list_mut(listing) = None;
                catalog.unknown.retain(|known| *known != listing);
                catalog.unknown.push(listing);
            }
        }
    }

    /// The record of one outcome.
    fn record(&self, outcome: &Outcome) -> Record {
        let case = &outcome.case;
        let position = case.origin.position();
        Record {
            id: case.id.clone(),
            name: Cleaner::name(&case.name),
            file: Cleaner::name(&case.origin.file.path).into(),
            line: position.line,
            column: position.column,
            subject: case.subject.into(),
            tags: case.tags.iter().map(|tag| Cleaner::name(tag)).collect(),
            target: outcome.target.as_ref().map(|it| Cleaner::name(it).into()),
            trial: outcome.trial,
            status: outcome.status,
            reason: outcome.skip_reason.as_ref().map(|it| self.cleaner.line(it)),
            duration_us: micros(outcome.duration),
            phases: phases(&outcome.timings),
            server: outcome
                .server
                .as_ref()
                .map(|it| self.cleaner.line(it).into()),
            revision: outcome
                .revision
                .as_ref()
                .map(|it| self.cleaner.line(it).into()),
            server_of: outcome.server_of.clone(),
            container: container(outcome.container.as_deref()),
            attempts: outcome
                .earlier
                .iter()
                .map(|it| self.attempt(it, &case.origin.file))
                .collect(),
            findings: self.findings(outcome),
            evidence: (outcome.status.is_red() || self.keep == Keep::All)
                .then(|| Box::new(self.evidence(outcome))),
        }
    }

    fn attempt(&self, attempt: &EarlierAttempt, home: &SourceFile) -> AttemptRecord {
        AttemptRecord {
            status: attempt.status,
            detail: self.cleaner.line(&attempt.detail),
            mismatches: self.mismatches(&attempt.failures, home),
            duration_us: micros(attempt.duration),
            stderr: self.cleaner.tail(&attempt.stderr.text()),
            container: container(attempt.container.as_deref()),
        }
    }

    fn findings(&self, outcome: &Outcome) -> Vec<FindingRecord> {
        outcome
            .findings
            .iter()
            .map(|finding| FindingRecord {
                code: finding.code.code().to_owned(),
                severity: match finding.code.severity() {
                    FindingSeverity::Note => "note",
                    FindingSeverity::Warning => "warning",
                    FindingSeverity::Error => "error",
                }
                .to_owned(),
                message: self.cleaner.line(&finding.message),
                frame: finding.frame.as_ref().map(|it| self.cleaner.text(it)),
                times: finding.times,
            })
            .collect()
    }

    fn evidence(&self, outcome: &Outcome) -> Evidence {
        let (wire, wire_left_out) = self.wire(&outcome.wire);
        Evidence {
            phase: outcome.reached.word().to_owned(),
            disruption: outcome.disruption.as_ref().map(|it| DisruptionRecord {
                kind: it.kind.word().to_owned(),
                phase: it.phase.word().to_owned(),
                message: self.cleaner.text(&it.message),
                step: it.step,
                frame: it.frame.as_ref().map(|frame| self.cleaner.text(frame)),
                help: it.help.as_ref().map(|help| self.cleaner.line(help)),
                by_engine: it.culprit == Culprit::Engine,
            }),
            mismatches: self.mismatches(&outcome.failures, &outcome.case.origin.file),
            notes: outcome
                .notes
                .iter()
                .map(|it| self.cleaner.text(it))
                .collect(),
            call: outcome.call.as_ref().map(|it| self.call(it)),
            exit: outcome.exit.map(|exit| exit.to_string()),
            stderr: self.cleaner.tail(&outcome.stderr.text()),
            stderr_bytes: outcome.stderr.total_bytes,
            stderr_whole: outcome.stderr.is_whole(),
            shared_server: outcome
                .shared_server
                .as_ref()
                .map(|it| self.cleaner.line(it)),
            wire,
            wire_left_out,
        }
    }

    fn call(&self, call: &CallShown) -> CallRecord {
        CallRecord {
            label: self.cleaner.line(&call.label),
            arguments: (!call.arguments.is_null())
                .then(|| self.cleaner.text(&call.arguments.to_string())),
            answer: call.answer.as_ref().map(|answer| self.cleaner.text(answer)),
        }
    }

    /// The expectations that did not hold, of an assertion in this file.
    fn mismatches(&self, failures: &[Failure], home: &SourceFile) -> Vec<MismatchRecord> {
        let failures = failures.iter();
        failures.map(|it| self.mismatch(it, home)).collect()
    }

    fn mismatch(&self, failure: &Failure, home: &SourceFile) -> MismatchRecord {
        let mismatch = &failure.mismatch;
        let file = &failure.origin.file.path;
        let (excerpt, position) = excerpt::draw(&failure.origin, failure.focus, |part| {
            self.cleaner.mask(part)
        });
        let text = |it: &Option<String>| it.as_ref().map(|text| self.cleaner.text(text));
        MismatchRecord {
            key: mismatch.key.to_owned(),
            file: (*file != home.path).then(|| Cleaner::name(file)),
            line: position.line,
            column: position.column,
            excerpt,
            step: failure.step.as_ref().map(|it| self.cleaner.line(it)),
            call: failure.call.as_ref().map(|it| self.call(it)),
            headline: self.cleaner.line(&mismatch.headline()),
            wanted: self.cleaner.text(&mismatch.wanted),
            seen: self.cleaner.text(&mismatch.seen),
            path: text(&mismatch.path),
            expected: text(&mismatch.expected),
            actual: text(&mismatch.actual),
            hint: text(&mismatch.hint),
        }
    }

    /// The first and last frames, and how many lie between.
    fn wire(&self, frames: &[Frame]) -> (Vec<FrameRecord>, usize) {
        let left_out = frames.len().saturating_sub(FIRST_FRAMES + LAST_FRAMES);
        let kept = frames
            .iter()
            .enumerate()
            .filter(|(index, _)| {
                left_out == 0 || *index < FIRST_FRAMES || *index >= FIRST_FRAMES + left_out
            })
            .map(|(_, frame)| FrameRecord {
                at_us: frame.at_us,
                sender: match frame.direction {
                    Direction::Sent => Sender::Client,
                    Direction::Received => Sender::Server,
                },
                text: self.cleaner.text(&frame.text()),
            })
            .collect();
        (kept, left_out)
    }
}

fn container(seen: Option<&ContainerSeen>) -> Option<Box<ContainerRecord>> {
    let seen = seen?;
    Some(Box::new(ContainerRecord {
        id: Cleaner::name(&seen.id),
        image: Cleaner::name(&seen.image),
        image_id: Cleaner::name(&seen.image_id),
        digest: seen.digest.as_deref().map(Cleaner::name),
        create_us: micros(seen.create),
        fill_us: micros(seen.fill),
        start_us: micros(seen.start),
        remove_us: micros(seen.remove),
        out_of_memory: seen.out_of_memory,
    }))
}

fn phases(timings: &Timings) -> Phases {
    Phases {
        place: micros(timings.place),
        start: micros(timings.start),
        handshake: micros(timings.handshake),
        setup: micros(timings.setup),
        subject: micros(timings.subject),
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
