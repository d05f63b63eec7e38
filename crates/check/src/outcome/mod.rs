//! What the run says about one assertion: verdicts, mismatches, statuses, outcomes, totals, events.

pub mod event;
pub mod verdict;

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::verdict::Mismatch;
use mcp::{
    observation::{
        Timings,
        container::ContainerSeen,
        disruption::{Disruption, Phase},
        finding::Finding,
        process::{Exit, StderrTail},
    },
    protocol::frame::Frame,
};
use suite::model::Case;
use text::source::{Origin, Span};

/// Why a job was skipped that had not begun when the run was interrupted.
pub const NOT_RUN: &str = "not run: interrupted";

/// The result of one assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Observed, and as expected.
    Pass,
    /// Observed, and not as expected.
    Fail,
    /// Could not be observed.
    Error,
    /// Not run, on purpose.
    Skip,
}

impl Status {
    /// The word on the terminal: `PASS`, `FAIL`, `ERROR`, `SKIP`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::Error => "ERROR",
            Self::Skip => "SKIP",
        }
    }

    /// Whether it makes the run red.
    pub fn is_red(self) -> bool {
        match self {
            Self::Fail | Self::Error => true,
            Self::Pass | Self::Skip => false,
        }
    }
}

/// An expectation that did not hold, at its place in the YAML.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The expectation's key and value in the suite.
    pub origin: Origin,
    /// The part of it that asked, where that is not the whole.
    pub focus: Option<Span>,
    /// The step it belongs to, e.g. ``setup step 2 (tool `login`)``; absent for the subject's own.
    pub step: Option<String>,
    /// That step's call, on the first of its failures.
    pub call: Option<CallShown>,
    /// What was wanted and seen.
    pub mismatch: Mismatch,
}

impl Failure {
    /// A failure of the subject at a place as a whole.
    pub fn new(origin: &Origin, mismatch: Mismatch) -> Self {
        Self {
            origin: origin.clone(),
            focus: None,
            step: None,
            call: None,
            mismatch,
        }
    }
}

/// One attempt that was not the last.
#[derive(Debug, Clone)]
pub struct EarlierAttempt {
    /// How it ended.
    pub status: Status,
    /// Its headline.
    pub detail: String,
    /// Every expectation that did not hold.
    pub failures: Vec<Failure>,
    /// How long it took.
    pub duration: Duration,
    /// The end of its stderr.
    pub stderr: StderrTail,
    /// The container it ran in.
    pub container: Option<Box<ContainerSeen>>,
}

/// What was called, for the report of a failure.
#[derive(Debug, Clone, PartialEq)]
pub struct CallShown {
    /// The method or the tool, e.g. ``tool `echo` ``.
    pub label: String,
    /// Arguments as sent, null when none.
    pub arguments: Value,
    /// The text of the answer, cut by the reports.
    pub answer: Option<String>,
}

/// What the run says about one job (assertion × trial × target), self-contained: every report is made of it.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The assertion.
    pub case: Arc<Case>,
    /// The target's name when the run has several.
    pub target: Option<String>,
    /// The trial, from 1.
    pub trial: u32,
    /// The verdict.
    pub status: Status,
    /// Why it was skipped; one line.
    pub skip_reason: Option<String>,
    /// Every expectation that did not hold, in the order of the suite.
    pub failures: Vec<Failure>,
    /// Why it could not be observed.
    pub disruption: Option<Disruption>,
    /// The last phase that began.
    pub reached: Phase,
    /// Attempts before this one; a pass after them is *flaky*.
    pub earlier: Vec<EarlierAttempt>,
    /// From the beginning of the last attempt to its verdict.
    pub duration: Duration,
    /// Where the time went.
    pub timings: Timings,
    /// Deviations from the protocol, empty passes among them.
    pub findings: Vec<Finding>,
    /// What every failure of the assertion should mention, e.g. an unset variable.
    pub notes: Vec<String>,
    /// What was called.
    pub call: Option<CallShown>,
    /// What was answered, where the assertion runs on several revisions and their answers are still to be compared.
    pub answer: Option<String>,
    /// The server as it named itself, else its command line.
    pub server: Option<String>,
    /// The protocol revision agreed on.
    pub revision: Option<String>,
    /// How the process ended, when that was known before the outcome was made.
    pub exit: Option<Exit>,
    /// The container it ran in.
    pub container: Option<Box<ContainerSeen>>,
    /// The end of stderr; kept when red.
    pub stderr: StderrTail,
    /// The frames; kept when red, or for all with `--trace`.
    pub wire: Vec<Frame>,
    /// Ids of the assertions it shared its server with, for `--reuse-server`.
    pub shared_server: Option<String>,
    /// The id of the assertion that its server was started for, when that was another one.
    pub server_of: Option<String>,
}

impl Outcome {
    /// The headline: the first failure or the disruption, or the reason of a skip; empty for a pass.
    pub fn detail(&self) -> String {
        if let Some(disruption) = &self.disruption {
            return match self.failures.first() {
                Some(failure) => format!(
                    "{}; also: {}",
                    disruption.message,
                    failure.mismatch.headline()
                ),
                None => disruption.message.clone(),
            };
        }
        match (&self.failures[..], &self.skip_reason) {
            ([first, ..], _) => first.mismatch.headline(),
            ([], Some(reason)) => reason.clone(),
            ([], None) => String::new(),
        }
    }
}
