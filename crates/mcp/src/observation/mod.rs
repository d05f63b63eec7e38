//! What happened, as plain data: calls, results, errors, notifications, server requests, files, exit,
//! stderr tail, timings, wire and protocol findings. Knows nothing of what was wanted.

pub mod answer;
pub mod catalog;
pub mod container;
pub mod disruption;
pub mod files;
pub mod finding;
pub mod process;
pub mod schemas;

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
use crate::protocol::{
    frame::Frame,
    meta,
    revision::{Lifecycle, Revision},
};

/// Everything that one attempt at one assertion saw.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// The last phase that began.
    pub reached: Phase,
    /// Why the subject could not be observed; absent when it was.
    pub disruption: Option<Disruption>,
    /// The facts that the server told about itself at the beginning.
    pub session: Option<Arc<SessionFacts>>,
    /// The setup steps, then the steps of a `steps` subject, in the order of their start.
    pub steps: Vec<StepSeen>,
    /// The subject's answer.
    pub answer: Option<Answer>,
    /// The tool calls of a `trajectory`; `None` for every other subject.
    pub trace: Option<Vec<TraceCall>>,
    /// Texts in lines of the log that were not read as calls, with the number of the first such line.
    pub passed_over: BTreeMap<String, usize>,
    /// Notifications of the server, in order, from connect to close.
    pub notifications: Vec<NotificationSeen>,
    /// Requests of the server to the client, in order.
    pub server_requests: Vec<ServerRequestSeen>,
    /// The files that expectations look at.
    pub files: FilesSeen,
    /// Deviations from the protocol.
    pub findings: Vec<Finding>,
    /// The end of what the server wrote to stderr.
    pub stderr: StderrTail,
    /// How the process ended; `None` before that, and for servers that are not ours.
    pub exit: Option<Exit>,
    /// The container it ran in; `None` for a process.
    pub container: Option<Box<ContainerSeen>>,
    /// Where the time went.
    pub timings: Timings,
    /// Every frame, in order.
    pub wire: Vec<Frame>,
    /// The surface of the target, when it is known.
    pub catalog: Option<Arc<Catalog>>,
    /// What of it is proof of an absence.
    pub proof: Proof,
}

/// What proves that something is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Proof {
    /// What is said does not have it, in whatever form.
    #[default]
    Strict,
    /// That it is not found as it is written: where a suite keeps the verdicts of the Go tool.
    AsWritten,
}

impl Observation {
    /// The same attempt seen from one of its steps: the step's answer stands in place of the subject's, and what was
    /// seen of the files after it in place of what was seen at the end. The other steps are those before it, and the
    /// findings those that there were when its answer had come.
    pub fn at_step(&self, index: usize) -> Self {
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
            findings: match step {
                Some(step) => self.findings.iter().take(step.findings).cloned().collect(),
                None => self.findings.clone(),
            },
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

/// The facts that the server told about itself at the beginning of the session.
#[derive(Debug, Clone)]
pub struct SessionFacts {
    /// The revision both speak.
    pub revision: Revision,
    /// The `initialize` result (or the `server/discover` result) as it came.
    pub initialize: Value,
}

impl SessionFacts {
    /// `name version` of the server, as far as it said.
    pub fn server(&self) -> Option<String> {
        let told = match self.revision.lifecycle() {
            Lifecycle::Handshake => self.initialize.get("serverInfo"),
            Lifecycle::Stateless => self.initialize.get("_meta")?.get(meta::SERVER_INFO),
        };
        let info = told?;
        let name = info.get("name").and_then(Value::as_str)?;
        match info.get("version").and_then(Value::as_str) {
            Some(version) => Some(format!("{name} {version}")),
            None => Some(name.to_owned()),
        }
    }

    /// The declared value of a capability, e.g. `prompts`.
    pub fn declared(&self, capability: &str) -> Option<&Value> {
        self.initialize.get("capabilities")?.get(capability)
    }

    /// Whether the server declared a capability.
    pub fn declares(&self, capability: &str) -> bool {
        self.declared(capability).is_some()
    }

    /// Whether the server declared a part of a capability, e.g. `listChanged` of `tools`.
    pub fn declares_part(&self, capability: &str, part: &str) -> bool {
        let declared = self.declared(capability).and_then(|given| given.get(part));
        declared == Some(&Value::Bool(true))
    }
}

/// Whether a step belongs to `setup` or to the subject `steps`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepPart {
    /// Under `setup`.
    Setup,
    /// Under `steps`.
    Subject,
}

/// One step that was carried out.
#[derive(Debug, Clone)]
pub struct StepSeen {
    /// Which list it stands in.
    pub part: StepPart,
    /// Its index in that list, from 0.
    pub index: usize,
    /// What it did, for people: ``tool `echo` ``.
    pub label: String,
    /// What came back; `None` for a `wait` and for a step that was not answered.
    pub answer: Option<Answer>,
    /// What was taken from the answer, by name.
    pub captured: BTreeMap<String, Value>,
    /// The files after it; `None` when no expectation of it is about files, or it has no moment of its own.
    pub files: Option<FilesSeen>,
    /// How many of the findings there were when its answer had come.
    pub findings: usize,
}

impl StepSeen {
    /// A step of which nothing was seen yet.
    pub fn new(part: StepPart, index: usize, label: String) -> Self {
        Self {
            part,
            index,
            label,
            answer: None,
            captured: BTreeMap::new(),
            files: None,
            findings: 0,
        }
    }

    /// Its number in its list, for people.
    pub fn name(&self) -> String {
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
pub struct NotificationSeen {
    /// Its method.
    pub method: String,
    /// Its parameters, null when absent.
    pub params: Value,
    /// Whether it is progress of a request of ours, which came because we asked for it.
    pub provoked: bool,
}

/// A request of the server to the client, and how it was answered.
#[derive(Debug, Clone)]
pub struct ServerRequestSeen {
    /// Its method.
    pub method: String,
    /// Its parameters, null when absent.
    pub params: Value,
}

/// One call in the log of a trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceCall {
    /// The tool.
    pub tool: String,
    /// Its arguments; null when the log has none.
    pub args: Value,
    /// Whether the call succeeded, where the log tells.
    pub outcome: Option<TraceOutcome>,
    /// Milliseconds since the first call, where the log tells.
    pub at_ms: Option<u64>,
    /// JSON Pointers into `args` whose values the log hides or cuts.
    pub unknowable: Vec<String>,
}

/// How a logged call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceOutcome {
    /// With a result.
    Ok,
    /// With a tool error or a protocol error.
    Error,
}

/// Where the time of an attempt went. Phases that were not reached are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timings {
    /// Making the place: fixture copy.
    pub place: Duration,
    /// Starting the process.
    pub start: Duration,
    /// The handshake.
    pub handshake: Duration,
    /// All setup steps.
    pub setup: Duration,
    /// The subject, waiting for notifications included.
    pub subject: Duration,
    /// Questions and looks of our own, after steps and after the subject; part of no other time.
    pub aside: Duration,
    /// Ending the server, which happens beside the next job.
    pub close: Duration,
    /// From the beginning of the attempt to its verdict, closing and what we did aside left out.
    pub total: Duration,
}
