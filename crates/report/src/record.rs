//! What the reports say about one outcome, as plain data: cleaned, masked, bounded, and free of everything that
//! only the run needs. Every format renders from it, and a stored run is read back into it, so that rendering
//! a run again gives the same bytes. Made by `recorder`; the wording is done by `failure` and the formats.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::merge;
use check::outcome::Status;
use mcp::observation::disruption::DisruptionKind;
use suite::model::on_target;

/// One outcome. A green one has no [`Evidence`], so that ten thousand of them stay small.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The assertion's identity.
    pub id: String,
    /// Its name, for people.
    pub name: String,
    /// Its file, as it is shown.
    pub file: Arc<str>,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// The subject's key.
    pub subject: Arc<str>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The target's name when the run has several.
    pub target: Option<Arc<str>>,
    /// The trial, from 1.
    pub trial: u32,
    /// The verdict.
    pub status: Status,
    /// Why it was skipped.
    pub reason: Option<String>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// Where the time went.
    pub phases: Phases,
    /// The server as it named itself, else its command line.
    pub server: Option<Arc<str>>,
    /// The protocol revision agreed on.
    pub revision: Option<Arc<str>>,
    /// The id of the assertion that its server was started for, when that was another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_of: Option<String>,
    /// The container it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Box<ContainerRecord>>,
    /// Attempts before the last one.
    pub attempts: Vec<AttemptRecord>,
    /// Deviations from the protocol.
    pub findings: Vec<FindingRecord>,
    /// What explains a red outcome; of a green one only what was asked for (`--trace`).
    pub evidence: Option<Box<Evidence>>,
}

/// The time of each phase, in microseconds; zero when it was not reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phases {
    /// Making the place.
    pub place: u64,
    /// Starting the server.
    pub start: u64,
    /// The handshake.
    pub handshake: u64,
    /// The setup steps.
    pub setup: u64,
    /// The subject.
    pub subject: u64,
}

/// An attempt that was not the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttemptRecord {
    /// How it ended.
    pub status: Status,
    /// Its headline.
    pub detail: String,
    /// The expectations that did not hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mismatches: Vec<MismatchRecord>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// The end of its stderr.
    pub stderr: String,
    /// The container it ran in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub container: Option<Box<ContainerRecord>>,
}

/// The container of an attempt, and what the engine took for it, in microseconds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContainerRecord {
    /// The engine's id.
    pub id: String,
    /// The image as the suite names it.
    pub image: String,
    /// The image's id.
    pub image_id: String,
    /// The image's name and digest at its registry.
    pub digest: Option<String>,
    /// To create it.
    pub create_us: u64,
    /// To take the fixture.
    pub fill_us: u64,
    /// To attach and start it.
    pub start_us: u64,
    /// To remove it.
    pub remove_us: u64,
    /// Whether memory ran out in it and a process was ended for that, the server or another.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub out_of_memory: bool,
}

/// A deviation from the protocol.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FindingRecord {
    /// Its stable code.
    pub code: String,
    /// `note`, `warning` or `error`.
    pub severity: String,
    /// What was seen.
    pub message: String,
    /// The frame at fault.
    pub frame: Option<String>,
    /// How often.
    pub times: u64,
}

impl FindingRecord {
    /// Whether it is worth knowing and no more.
    pub fn is_note(&self) -> bool {
        self.severity == "note"
    }

    /// Where it stands among others: the worst first.
    pub fn rank(&self) -> u8 {
        match self.severity.as_str() {
            "error" => 0,
            "warning" => 1,
            _ => 2,
        }
    }
}

/// What explains a red outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The last phase that began.
    pub phase: String,
    /// Why it could not be observed.
    pub disruption: Option<DisruptionRecord>,
    /// The expectations that did not hold.
    pub mismatches: Vec<MismatchRecord>,
    /// What the reader should know besides.
    pub notes: Vec<String>,
    /// What was called.
    pub call: Option<CallRecord>,
    /// How the process ended.
    pub exit: Option<String>,
    /// The end of stderr.
    pub stderr: String,
    /// All that was written to stderr, in bytes.
    pub stderr_bytes: u64,
    /// Whether `stderr` is all of it.
    pub stderr_whole: bool,
    /// Assertions it shared its server with.
    pub shared_server: Option<String>,
    /// The frames, oldest first.
    pub wire: Vec<FrameRecord>,
    /// Frames between the first and the last ones that were left out.
    pub wire_left_out: usize,
}

/// Why the subject could not be observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DisruptionRecord {
    /// The kind's stable word.
    pub kind: String,
    /// The phase it happened in.
    pub phase: String,
    /// What happened.
    pub message: String,
    /// The step, from 0: of `setup` in its phase, else of the subject.
    pub step: Option<usize>,
    /// The frame at fault.
    pub frame: Option<String>,
    /// What to try next.
    pub help: Option<String>,
    /// Whether the container engine was gone or silent, which says nothing of the server.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_engine: bool,
}

/// An expectation that did not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MismatchRecord {
    /// The expectation's key.
    pub key: String,
    /// Its file, as it is shown, where that is not the assertion's: a default of the settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Its line, from 1.
    pub line: usize,
    /// Its column, from 1.
    pub column: usize,
    /// The expectation as the suite has it, drawn with a caret.
    pub excerpt: Vec<String>,
    /// The step it belongs to.
    pub step: Option<String>,
    /// That step's call, on the first of its mismatches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallRecord>,
    /// One line that says it all.
    pub headline: String,
    /// What was wanted, as a clause.
    pub wanted: String,
    /// What was seen, in a few words.
    pub seen: String,
    /// The place inside the answer.
    pub path: Option<String>,
    /// The wanted value.
    pub expected: Option<String>,
    /// The value seen.
    pub actual: Option<String>,
    /// The nearest thing that would have matched.
    pub hint: Option<String>,
}

/// What was called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallRecord {
    /// The method or the tool.
    pub label: String,
    /// Its arguments as compact JSON; absent when it has none.
    pub arguments: Option<String>,
    /// The text of the answer.
    pub answer: Option<String>,
}

/// One frame of the exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameRecord {
    /// Microseconds since the job began.
    pub at_us: u64,
    /// Who sent it.
    pub sender: Sender,
    /// The frame.
    pub text: String,
}

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sender {
    /// We did.
    Client,
    /// The server did.
    Server,
}

/// The place of an outcome in its suite.
#[derive(Debug, Clone, Copy)]
pub struct At<'a> {
    /// The file, as it is shown.
    pub file: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

impl Record {
    /// The place of an expectation, else of the assertion.
    pub fn place_of<'a>(&'a self, mismatch: Option<&'a MismatchRecord>) -> At<'a> {
        let (line, column) = mismatch.map_or((self.line, self.column), |it| (it.line, it.column));
        let file = mismatch.and_then(|it| it.file.as_deref());
        At {
            file: file.unwrap_or(&self.file),
            line,
            column,
        }
    }

    /// The first expectation that did not hold, where the outcome could be observed.
    pub fn first_mismatch(&self) -> Option<&MismatchRecord> {
        let evidence = self.evidence.as_ref();
        let observed = evidence.filter(|evidence| evidence.disruption.is_none());
        observed.and_then(|evidence| evidence.mismatches.first())
    }

    /// Whether it passed only after a failed attempt.
    pub fn is_flaky(&self) -> bool {
        self.status == Status::Pass && !self.attempts.is_empty()
    }

    /// Whether it was planned and not observed for an outside reason: no shard ran it, the run ended before it began, or it
    /// was interrupted.
    pub fn says_nothing(&self) -> bool {
        let ended_early = self
            .reason
            .as_deref()
            .is_some_and(|reason| reason.starts_with("not run: "));
        let disruption = self
            .evidence
            .as_ref()
            .and_then(|evidence| evidence.disruption.as_ref());
        let says_nothing = [DisruptionKind::Interrupted.word(), merge::NOT_RUN];
        ended_early || disruption.is_some_and(|it| says_nothing.contains(&it.kind.as_str()))
    }

    /// The name with the target where there are several.
    pub fn name_on_target(&self) -> String {
        on_target(&self.name, self.target.as_deref())
    }

    /// The assertion and, if there are several, the target.
    pub fn identity(&self) -> (&str, Option<&str>) {
        (&self.id, self.target.as_deref())
    }

    /// The identity as one text; the key in baselines.
    pub fn key(&self) -> String {
        on_target(&self.id, self.target.as_deref())
    }

    /// The name with the target and, if there are several, the trial.
    pub fn display_name(&self, trials: u32) -> String {
        if trials > 1 {
            format!("{} [trial {}]", self.name_on_target(), self.trial)
        } else {
            self.name_on_target()
        }
    }

    /// One line: why it is red, or why it was skipped; empty for a pass.
    pub fn headline(&self) -> &str {
        if let Some(evidence) = &self.evidence {
            if let Some(disruption) = &evidence.disruption {
                return &disruption.message;
            }
            if let Some(first) = evidence.mismatches.first() {
                return &first.headline;
            }
        }
        self.reason.as_deref().unwrap_or_default()
    }
}
