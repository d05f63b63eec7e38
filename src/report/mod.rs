//! Outcomes to text, one file per format. Pure: a format is a function from a [`RunReport`] to a text, and a
//! stored run read back gives the same text again. Where the text goes is decided in `deliver`; what the
//! terminal shows while the run goes on, in `terminal`.

pub(crate) mod annotations;
pub(crate) mod badge;
pub(crate) mod baseline;
pub(crate) mod baselines;
pub(crate) mod cleaner;
pub(crate) mod comment;
pub(crate) mod compare;
pub(crate) mod engine_time;
mod excerpt;
pub(crate) mod failure;
mod json;
mod junit;
pub(crate) mod markdown;
pub(crate) mod merge;
mod noted;
pub(crate) mod outputs;
mod place;
pub(crate) mod plan_file;
mod rank;
pub(crate) mod record;
pub(crate) mod recorder;
pub(crate) mod run_json;
mod sarif;
pub(crate) mod source;
pub(crate) mod surface;
pub(crate) mod tally;
pub(crate) mod timings;
pub(crate) mod verdict;

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
use crate::{
    outcome::NOT_RUN,
    words::{text, workflow::neutral},
};

/// Everything that one run has to say, in plan order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RunReport {
    /// What ran the assertions.
    pub(crate) tool: Tool,
    /// Where the suites came from: repository, revision, job.
    pub(crate) source: Source,
    /// The plan it is a part of.
    pub(crate) plan: PlanFacts,
    /// The shards it was put together from; none for a run that was not merged.
    pub(crate) shards: Vec<ShardFacts>,
    /// When the run began, in milliseconds since 1970.
    pub(crate) started_unix_ms: u64,
    /// How long it took, in microseconds.
    pub(crate) duration_us: u64,
    /// Jobs that ran at once.
    pub(crate) jobs: usize,
    /// Trials of each assertion.
    pub(crate) trials: u32,
    /// Jobs that were planned; more than the records when the run ended early.
    pub(crate) planned: usize,
    /// Assertions that filters, shards or the choice of targets left out.
    pub(crate) left_out: usize,
    /// One for each outcome, in plan order.
    pub(crate) records: Vec<Record>,
    /// What people should know of the run as a whole.
    pub(crate) notes: Vec<String>,
    /// What was wrong in the suites.
    pub(crate) problems: Vec<Problem>,
    /// The run against a baseline, when there is one.
    pub(crate) comparison: Option<Comparison>,
    /// Why `ci` found nothing to compare it with, empty where no comparison was asked for. Absent where there is one, and
    /// where nobody looked for one.
    pub(crate) uncompared: Option<String>,
    /// What `ci` says of it all; `run` does not judge.
    pub(crate) judgement: Option<Judgement>,
    /// Why `run` ends red where no outcome is, one sentence each.
    pub(crate) reds: Vec<String>,
    /// What each target offers.
    pub(crate) catalogs: Catalogs,
    /// What changed in that against the baseline, when both are known.
    pub(crate) surface: Option<Surface>,
    /// The machine it ran on; none for a run that was merged, whose shards had one each.
    pub(crate) machine: Option<Machine>,
    /// The container engine, when one was needed.
    pub(crate) engine: Option<EngineRecord>,
    /// How the run ended.
    pub(crate) end: End,
}

/// The machine that a run was on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Machine {
    /// The operating system, e.g. `linux`.
    pub(crate) os: String,
    /// The architecture, e.g. `x86_64`.
    pub(crate) arch: String,
    /// Cores that the program may use.
    pub(crate) cores: usize,
}

/// The engine that made a run's containers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EngineRecord {
    /// `Docker` or `Podman`.
    pub(crate) kind: String,
    /// Its version.
    pub(crate) version: String,
    /// The version of its API.
    pub(crate) api: String,
    /// The platform of its containers.
    pub(crate) platform: String,
    /// Whether it was reached over the network.
    pub(crate) remote: bool,
    /// The label that the run's containers carried.
    pub(crate) label: String,
}

impl RunReport {
    /// Breaking changes of servers' surfaces since the baseline, when they could be compared.
    pub(crate) fn breaking(&self) -> Option<usize> {
        self.surface.as_ref().and_then(Surface::breaking)
    }

    /// Shortens the records to what `run.json` can hold, if the run is stored: a report made from the file then equals one
    /// made from the run.
    pub(crate) fn fit_to(&mut self, mut formats: impl Iterator<Item = Format>) {
        if formats.any(|format| format == Format::RunJson) {
            run_json::fit(self);
        }
    }

    /// Jobs that were planned and have no outcome.
    pub(crate) fn missing(&self) -> usize {
        self.planned.saturating_sub(self.records.len())
    }

    /// How many jobs did not run, behind these signs; nothing where all did.
    pub(crate) fn left_undone(&self, lead: &str) -> String {
        match self.not_run() {
            0 => String::new(),
            left => format!("{lead}{} did not run", text::count(left, "job")),
        }
    }

    /// Jobs that were planned and did not run: those without an outcome, and those skipped for an interrupt.
    pub(crate) fn not_run(&self) -> usize {
        let called_off = |record: &&Record| record.reason.as_deref() == Some(NOT_RUN);
        self.missing() + self.records.iter().filter(called_off).count()
    }
}

/// Notes, and causes of a verdict, that are kept: a file from elsewhere may have a million.
pub(crate) const MOST_LINES: usize = 1_000;

/// Leaves as many notes as are kept; the last one says how many more there were.
pub(crate) fn notes_at_most(notes: &mut Vec<String>) {
    if notes.len() > MOST_LINES {
        let left_out = notes.len() - (MOST_LINES - 1);
        notes.truncate(MOST_LINES - 1);
        notes.push(format!("and {}", text::count(left_out, "more note")));
    }
}

/// The program that made the outcomes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tool {
    /// Its version.
    pub(crate) version: String,
    /// The SHA-256 of its executable, when known.
    pub(crate) sha256: Option<String>,
}

/// Something wrong in a suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Problem {
    /// Its stable code.
    pub(crate) code: String,
    /// How bad it is.
    pub(crate) severity: ProblemSeverity,
    /// The file, when it is about one.
    pub(crate) file: Option<String>,
    /// The line, from 1.
    pub(crate) line: Option<usize>,
    /// What is wrong, drawn with its place.
    pub(crate) text: String,
}

/// Whether a problem makes the run invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ProblemSeverity {
    /// It does.
    Error,
    /// It does not.
    Warning,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum End {
    /// Everything planned has its outcome.
    #[default]
    Finished,
    /// It was interrupted; what finished is here.
    Interrupted,
}

/// The formats a run can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Format {
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
    pub(crate) const ALL: &'static [Self] = &[
        Self::Json,
        Self::RunJson,
        Self::Junit,
        Self::Markdown,
        Self::Badge,
        Self::Sarif,
    ];

    /// The word in `--report FORMAT=PATH`.
    pub(crate) fn word(self) -> &'static str {
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
    pub(crate) fn harmless_text(self, report: &RunReport) -> io::Result<String> {
        let text = self.text(report)?;
        Ok(match self {
            Self::Json | Self::RunJson | Self::Badge | Self::Sarif => text,
            Self::Junit | Self::Markdown => neutral::lines(&text),
        })
    }

    /// The run in this format; an error where it cannot be expressed in it.
    pub(crate) fn text(self, report: &RunReport) -> io::Result<String> {
        Ok(match self {
            Self::Json => json::render(report),
            Self::RunJson => run_json::render(report),
            Self::Junit => junit::render(report)?,
            Self::Markdown => markdown::render(report),
            Self::Badge => badge::render(report),
            Self::Sarif => sarif::render(report),
        })
    }

    /// The run in this format.
    #[cfg(test)]
    pub(crate) fn render(self, report: &RunReport) -> String {
        self.text(report).expect("every report can be expressed")
    }
}

#[cfg(test)]
pub(crate) mod tests;
