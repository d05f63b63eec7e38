//! What happened, as plain data: calls, results, errors, notifications, server requests, files, exit,
//! stderr tail, timings, wire and protocol findings. Knows nothing of what was wanted.

pub(crate) mod answer;
pub(crate) mod catalog;
pub(crate) mod container;
pub(crate) mod disruption;
pub(crate) mod files;
pub(crate) mod finding;
pub(crate) mod process;
pub(crate) mod schemas;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;

use self::{
    answer::Answer,
    catalog::Catalog,
    container::ContainerSeen,
    disruption::{Disruption, Phase},
    files::FilesSeen,
    finding::Finding,
    process::{Exit, StderrTail},
};
use crate::protocol::{frame::Frame, revision::Revision};

/// Everything that one attempt at one assertion saw.
#[derive(Debug, Clone, Default)]
pub(crate) struct Observation {
    /// The last phase that began.
    pub(crate) reached: Phase,
    /// Why the subject could not be observed; absent when it was.
    pub(crate) disruption: Option<Disruption>,
    /// What the handshake said.
    pub(crate) session: Option<Arc<SessionFacts>>,
    /// The setup steps, then the steps of a `steps` subject, in the order of their start.
    pub(crate) steps: Vec<StepSeen>,
    /// The subject's answer.
    pub(crate) answer: Option<Answer>,
    /// The tool calls of a `trajectory`; `None` for every other subject.
    pub(crate) trace: Option<Vec<TraceCall>>,
    /// Texts in lines of the log that were not read as calls, with the number of the first such line.
    pub(crate) passed_over: BTreeMap<String, usize>,
    /// Notifications of the server, in order, from connect to close.
    pub(crate) notifications: Vec<NotificationSeen>,
    /// Requests of the server to the client, in order.
    pub(crate) server_requests: Vec<ServerRequestSeen>,
    /// The files that expectations look at.
    pub(crate) files: FilesSeen,
    /// Deviations from the protocol.
    pub(crate) findings: Vec<Finding>,
    /// The end of what the server wrote to stderr.
    pub(crate) stderr: StderrTail,
    /// How the process ended; `None` before that, and for servers that are not ours.
    pub(crate) exit: Option<Exit>,
    /// The container it ran in; `None` for a process.
    pub(crate) container: Option<Box<ContainerSeen>>,
    /// Where the time went.
    pub(crate) timings: Timings,
    /// Every frame, in order.
    pub(crate) wire: Vec<Frame>,
    /// The surface of the target, when it is known.
    pub(crate) catalog: Option<Arc<Catalog>>,
    /// What of it is proof of an absence.
    pub(crate) proof: Proof,
}

/// What proves that something is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Proof {
    /// What is said does not have it, in whatever form.
    #[default]
    Strict,
    /// That it is not found as it is written: where a suite keeps the verdicts of the Go tool.
    AsWritten,
}

impl Observation {
    /// The same attempt seen from one of its steps: the step's answer stands in place of the subject's, and what was
    /// seen of the files after it in place of what was seen at the end. The other steps are those before it.
    pub(crate) fn at_step(&self, index: usize) -> Self {
        let step = self.steps.get(index);
        let before = self.steps.iter().take(index);
        let files = step.and_then(|step| step.files.as_ref());
        Self {
            reached: self.reached,
            disruption: self.disruption.clone(),
            session: self.session.clone(),
            steps: before.map(StepSeen::in_outline).collect(),
            answer: step.and_then(|step| step.answer.clone()),
            trace: self.trace.clone(),
            passed_over: self.passed_over.clone(),
            notifications: self.notifications.clone(),
            server_requests: self.server_requests.clone(),
            files: files.unwrap_or(&self.files).clone(),
            findings: self.findings.clone(),
            stderr: self.stderr.clone(),
            exit: self.exit,
            container: self.container.clone(),
            timings: self.timings,
            wire: Vec::new(),
            catalog: self.catalog.clone(),
            proof: self.proof,
        }
    }
}

/// What the handshake told about the server.
#[derive(Debug, Clone)]
pub(crate) struct SessionFacts {
    /// The revision both agreed on.
    pub(crate) revision: Revision,
    /// The `initialize` result (or the `server/discover` result) as it came.
    pub(crate) initialize: Value,
}

impl SessionFacts {
    /// `name version` of the server, as far as it said.
    pub(crate) fn server(&self) -> Option<String> {
        let info = self.initialize.get("serverInfo")?;
        let name = info.get("name").and_then(Value::as_str)?;
        match info.get("version").and_then(Value::as_str) {
            Some(version) => Some(format!("{name} {version}")),
            None => Some(name.to_owned()),
        }
    }

    /// What the server declared of a capability, e.g. `prompts`.
    pub(crate) fn declared(&self, capability: &str) -> Option<&Value> {
        self.initialize.get("capabilities")?.get(capability)
    }

    /// Whether the server declared a capability.
    pub(crate) fn declares(&self, capability: &str) -> bool {
        self.declared(capability).is_some()
    }

    /// Whether the server declared a part of a capability, e.g. `listChanged` of `tools`.
    pub(crate) fn declares_part(&self, capability: &str, part: &str) -> bool {
        let declared = self.declared(capability).and_then(|given| given.get(part));
        declared == Some(&Value::Bool(true))
    }
}

/// Whether a step belongs to `setup` or to the subject `steps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StepPart {
    /// Under `setup`.
    Setup,
    /// Under `steps`.
    Subject,
}

/// One step that was carried out.
#[derive(Debug, Clone)]
pub(crate) struct StepSeen {
    /// Which list it stands in.
    pub(crate) part: StepPart,
    /// Its index in that list, from 0.
    pub(crate) index: usize,
    /// What it did, for people: ``tool `echo` ``.
    pub(crate) label: String,
    /// What came back; `None` for a `wait` and for a step that was not answered.
    pub(crate) answer: Option<Answer>,
    /// What was taken from the answer, by name.
    pub(crate) captured: BTreeMap<String, Value>,
    /// The files after it; `None` when no expectation of it is about files, or it has no moment of its own.
    pub(crate) files: Option<FilesSeen>,
}

impl StepSeen {
    /// A step of which nothing was seen yet.
    pub(crate) fn new(part: StepPart, index: usize, label: String) -> Self {
        Self {
            part,
            index,
            label,
            answer: None,
            captured: BTreeMap::new(),
            files: None,
        }
    }

    /// Its number in its list, for people.
    pub(crate) fn name(&self) -> String {
        let part = match self.part {
            StepPart::Setup => "setup step",
            StepPart::Subject => "step",
        };
        format!("{part} {}", self.index + 1)
    }

    /// That it was carried out, without what it brought.
    fn in_outline(&self) -> Self {
        Self::new(self.part, self.index, self.label.clone())
    }
}

/// A notification of the server.
#[derive(Debug, Clone)]
pub(crate) struct NotificationSeen {
    /// Its method.
    pub(crate) method: String,
    /// Its parameters, null when absent.
    pub(crate) params: Value,
    /// Whether it is progress of a request of ours, which came because we asked for it.
    pub(crate) provoked: bool,
}

/// A request of the server to the client, and how it was answered.
#[derive(Debug, Clone)]
pub(crate) struct ServerRequestSeen {
    /// Its method.
    pub(crate) method: String,
    /// Its parameters, null when absent.
    pub(crate) params: Value,
}

/// One call in the log of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TraceCall {
    /// The tool.
    pub(crate) tool: String,
    /// Its arguments; null when the log has none.
    pub(crate) args: Value,
    /// Whether the call succeeded, where the log tells.
    pub(crate) outcome: Option<TraceOutcome>,
    /// Milliseconds since the first call, where the log tells.
    pub(crate) at_ms: Option<u64>,
    /// JSON Pointers into `args` whose values the log hides or cuts.
    pub(crate) unknowable: Vec<String>,
}

/// How a logged call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TraceOutcome {
    /// With a result.
    Ok,
    /// With a tool error or a protocol error.
    Error,
}

/// Where the time of an attempt went. Phases that were not reached are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Timings {
    /// Making the place: fixture copy.
    pub(crate) place: Duration,
    /// Starting the process.
    pub(crate) start: Duration,
    /// The handshake.
    pub(crate) handshake: Duration,
    /// All setup steps.
    pub(crate) setup: Duration,
    /// The subject, waiting for notifications included.
    pub(crate) subject: Duration,
    /// Questions and looks of our own, after steps and after the subject; part of no other time.
    pub(crate) aside: Duration,
    /// Ending the server, which happens beside the next job.
    pub(crate) close: Duration,
    /// From the beginning of the attempt to its verdict, closing and what we did aside left out.
    pub(crate) total: Duration,
}
