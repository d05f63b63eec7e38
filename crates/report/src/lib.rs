//! Outcomes to text, one file for each format.
//!
//! Behind `check`, whose events it folds; before `deliver` and `terminal` of the program, which bring texts to their places.
//!
//! - [`recorder::Recorder`] folds the events of a run into a [`RunReport`]. It masks and cleans each text on the way in, so
//!   that nothing behind it can leak.
//! - [`Format::text`] makes the text of a format: JUnit, JSON, Markdown, SARIF and others. A stored run that is read
//!   back ([`run_json`]) gives the same text again.
//! - [`compare`] sets a run against a [`baseline`], [`surface`] compares what servers offer, [`merge`] puts the results of
//!   shards together.
//! - [`comment`], [`annotations`], [`badge`] and [`outputs`] are the texts for a forge.
//! - [`inspection`] is what a look at a server without a suite found, and its formats.
//!
//! Pure: no I/O, no clock, no environment, no async.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod annotations;
pub mod badge;
pub mod baseline;
pub mod baselines;
pub mod changes;
pub mod cleaner;
pub mod comment;
pub mod compare;
pub mod engine_time;
mod excerpt;
pub mod failure;
pub mod inclusion;
pub mod inspection;
mod json;
mod junit;
pub mod junit_changes;
pub mod markdown;
pub mod merge;
mod noted;
pub mod outputs;
mod place;
pub mod plan_file;
mod rank;
pub mod record;
pub mod recorder;
pub mod run_json;
mod sarif;
pub mod source;
pub mod surface;
pub mod tally;
pub mod timings;
pub mod verdict;

use std::io;

use serde::{Deserialize, Serialize};

use self::{
    compare::Comparison,
    record::Record,
    run_json::{PlanFacts, ShardFacts},
    source::Source,
    surface::{Catalogs, Surface},
    verdict::Judgement,
};
use check::outcome::NOT_RUN;
use text::workflow::neutral;

/// Everything that one run has to say, in plan order; as [`run_json`] stores it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunReport {
    /// What the file is that it was read from; absent in memory.
    #[serde(skip_serializing)]
    pub format: Option<FileFormat>,
    /// What ran the assertions.
    pub tool: Tool,
    /// Where the suites came from: repository, revision, job.
    pub source: Source,
    /// The plan it is a part of.
    pub plan: PlanFacts,
    /// The shards it was put together from; none for a run that was not merged.
    pub shards: Vec<ShardFacts>,
    /// When it ran, and how long.
    pub timing: Timing,
    /// Jobs that ran at once.
    pub jobs: usize,
    /// Trials of each assertion.
    pub trials: u32,
    /// Jobs that were planned; more than the records when the run ended early.
    pub planned: usize,
    /// Assertions that filters, shards or the choice of targets left out.
    pub left_out: usize,
    /// One for each outcome, in plan order.
    #[serde(rename(deserialize = "assertions"), skip_serializing)]
    pub records: Vec<Record>,
    /// What people should know of the run as a whole.
    pub notes: Vec<String>,
    /// What was wrong in the suites.
    pub problems: Vec<Problem>,
    /// The run against a baseline, when there is one.
    pub comparison: Option<Comparison>,
    /// Why `ci` could not compare the run; empty if no comparison was requested, absent if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncompared: Option<String>,
    /// The verdict of `ci`; absent for `run`.
    pub judgement: Option<Judgement>,
    /// Reasons for which `run` is red that no outcome shows, one sentence each.
    #[serde(skip)]
    pub reds: Vec<String>,
    /// What each target offers.
    pub catalogs: Catalogs,
    /// What changed in that against the baseline, when both are known.
    pub surface: Option<Surface>,
    /// The same against lock files, one for each file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub locked: Vec<Surface>,
    /// The machine it ran on; none for a run that was merged, whose shards had one each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<Machine>,
    /// The container engine, when one was needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineRecord>,
    /// How the run ended. In the file it stands beside the digest of all before it.
    #[serde(deserialize_with = "run_json::state_of", skip_serializing)]
    pub end: End,
}

/// When a run took place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timing {
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How long it took, in microseconds.
    pub duration_us: u64,
}

/// The format of a file of ours, and its version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileFormat {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: u64,
}

/// The machine that a run was on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The operating system, e.g. `linux`.
    pub os: String,
    /// The architecture, e.g. `x86_64`.
    pub arch: String,
    /// Cores that the program may use.
    pub cores: usize,
}

/// The engine that made a run's containers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EngineRecord {
    /// `Docker` or `Podman`.
    pub kind: String,
    /// Its version.
    pub version: String,
    /// The version of its API.
    pub api: String,
    /// The platform of its containers.
    pub platform: String,
    /// Whether it was reached over the network.
    pub remote: bool,
    /// The label that the run's containers carried.
    pub label: String,
}

impl RunReport {
    /// Breaking changes of servers' surfaces since the baseline, when they could be compared.
    pub fn breaking(&self) -> Option<usize> {
        self.surface.as_ref().and_then(Surface::breaking)
    }

    /// What changed in what the servers offer, against the baseline and against lock files.
    pub fn surfaces(&self) -> impl Iterator<Item = &Surface> {
        self.surface.iter().chain(&self.locked)
    }

    /// The name that a target has itself, with its version, if an assertion that talks to it learned one.
    pub fn own_name(&self, target: &str) -> Option<&str> {
        let users = &self.catalogs.get(target)?.used_by;
        let mut named = self.records.iter().filter(|it| it.server.is_some());
        named
            .find(|it| users.contains(&it.key()))?
            .server
            .as_deref()
    }

    /// Shortens the records to what `run.json` can hold, if the run is stored: a report made from the file then equals one
    /// made from the run.
    pub fn fit_to(&mut self, mut formats: impl Iterator<Item = Format>) {
        if formats.any(|format| format == Format::RunJson) {
            run_json::fit(self);
        }
    }

    /// Jobs that were planned and have no outcome.
    pub fn missing(&self) -> usize {
        self.planned.saturating_sub(self.records.len())
    }

    /// `lead` and the number of jobs that did not run; empty if all ran.
    pub fn left_undone(&self, lead: &str) -> String {
        match self.not_run() {
            0 => String::new(),
            left => format!("{lead}{} did not run", text::count(left, "job")),
        }
    }

    /// Jobs that were planned and did not run: those without an outcome, and those skipped for an interrupt.
    pub fn not_run(&self) -> usize {
        let called_off = |record: &&Record| record.reason.as_deref() == Some(NOT_RUN);
        self.missing() + self.records.iter().filter(called_off).count()
    }
}

/// Maximum number of notes, and of causes of a verdict; a stored run may have a million.
pub const MOST_LINES: usize = 1_000;

/// Cuts the notes to [`MOST_LINES`]; the last one counts the rest.
pub fn notes_at_most(notes: &mut Vec<String>) {
    if notes.len() > MOST_LINES {
        let left_out = notes.len() - (MOST_LINES - 1);
        notes.truncate(MOST_LINES - 1);
        notes.push(format!("and {}", text::count(left_out, "more note")));
    }
}

/// The program that made the outcomes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// Its version.
    pub version: String,
    /// The SHA-256 of its executable, when known.
    pub sha256: Option<String>,
}

/// Something wrong in a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Problem {
    /// Its stable code.
    pub code: String,
    /// How bad it is.
    pub severity: ProblemSeverity,
    /// The file, when it is about one.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// What is wrong, drawn with its place.
    pub text: String,
}

/// Whether a problem makes the run invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProblemSeverity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    /// Everything planned has its outcome.
    #[default]
    Finished,
    /// It was interrupted; what finished is here.
    Interrupted,
}

/// The formats a run can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// `results`: the array that `run --json` prints, one object for each outcome.
    Json,
    /// `json`: the whole run (`run.json`), to be read again.
    RunJson,
    /// `junit`: XML as CI systems read it.
    Junit,
    /// `markdown`: a page for a step summary.
    Markdown,
    /// `badge`: JSON for the endpoint of shields.io.
    Badge,
    /// `sarif`: results for code scanning.
    Sarif,
}

impl Format {
    /// All formats.
    pub const ALL: &'static [Self] = &[
        Self::Json,
        Self::RunJson,
        Self::Junit,
        Self::Markdown,
        Self::Badge,
        Self::Sarif,
    ];

    /// The word in `--report FORMAT=PATH`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Json => "results",
            Self::RunJson => "json",
            Self::Junit => "junit",
            Self::Markdown => "markdown",
            Self::Badge => "badge",
            Self::Sarif => "sarif",
        }
    }

    /// The run in this format, safe to print in a workflow's log: the runner takes no line of it for a command. JSON always
    /// is.
    pub fn harmless_text(self, report: &RunReport) -> io::Result<String> {
        let text = self.text(report)?;
        Ok(match self {
            Self::Json | Self::RunJson | Self::Badge | Self::Sarif => text,
            Self::Junit | Self::Markdown => neutral::lines(&text),
        })
    }

    /// The run in this format; an error where it cannot be expressed in it.
    pub fn text(self, report: &RunReport) -> io::Result<String> {
        Ok(match self {
            Self::Json => json::render(report),
            Self::RunJson => run_json::render(report),
            Self::Junit => junit::render(report)?,
            Self::Markdown => markdown::render(report),
            Self::Badge => badge::render(report),
            Self::Sarif => sarif::render(report),
        })
    }
}

#[cfg(any(test, feature = "testing"))]
#[allow(clippy::unwrap_used, clippy::expect_used, reason = "for tests")]
#[path = "tests/sample.rs"]
pub mod sample;
#[cfg(test)]
mod tests;
