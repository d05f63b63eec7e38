//! Why an assertion could not be observed: the phase it happened in and the kind of thing that went wrong.

use std::fmt;

/// How far an attempt came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, PartialOrd, Ord)]
pub enum Phase {
    /// Making the place: the fixture copy.
    #[default]
    Place,
    /// Starting the server.
    Start,
    /// The handshake.
    Handshake,
    /// A step under `setup`.
    Setup,
    /// The subject itself.
    Subject,
}

/// The phases of a server that does not serve yet.
pub const BEFORE_SERVING: [Phase; 2] = [Phase::Start, Phase::Handshake];

impl Phase {
    /// The word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Place => "place",
            Self::Start => "start",
            Self::Handshake => "handshake",
            Self::Setup => "setup",
            Self::Subject => "subject",
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// The kinds of things that keep an assertion from being observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisruptionKind {
    /// The suite cannot be used: reported as the outcome of that file.
    Invalid,
    /// The fixture could not be copied, a file could not be read.
    Place,
    /// The server could not be started.
    Start,
    /// The process ended when an answer was due.
    Crash,
    /// The deadline passed.
    Timeout,
    /// A frame broke JSON-RPC or MCP so that no answer is usable.
    Violation,
    /// The stream failed while the server lives, or a bound of ours was met.
    Transport,
    /// A JSON-RPC error where the handshake or a step needed a result.
    ProtocolError,
    /// A step answered with a tool error.
    Step,
    /// What the assertion needs is not in this version (a transport, an isolation).
    Unsupported,
    /// The run was interrupted.
    Interrupted,
}

/// How a server ends that, in one of the phases before, never came to serve.
pub const NEVER_SERVED: [DisruptionKind; 2] = [DisruptionKind::Start, DisruptionKind::Crash];

impl DisruptionKind {
    /// The stable word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::Place => "place",
            Self::Start => "start",
            Self::Crash => "crash",
            Self::Timeout => "timeout",
            Self::Violation => "violation",
            Self::Transport => "transport",
            Self::ProtocolError => "protocol-error",
            Self::Step => "step",
            Self::Unsupported => "unsupported",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why the subject could not be observed.
#[derive(Debug, Clone)]
pub struct Disruption {
    /// What kind of thing went wrong.
    pub kind: DisruptionKind,
    /// When.
    pub phase: Phase,
    /// One line for people: what happened, what was last heard.
    pub message: String,
    /// The step it happened in, from 0: of `setup` in its phase, else of the subject.
    pub step: Option<usize>,
    /// The frame at fault, as text, when there is one.
    pub frame: Option<String>,
    /// What to try next.
    pub help: Option<String>,
    /// Whose doing it is.
    pub culprit: Culprit,
}

/// Whose doing it is that something could not be observed, as far as that decides how the run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Culprit {
    /// The server's, the suite's, or nobody's that is known.
    #[default]
    Anybody,
    /// The container engine's, which is gone or silent: nothing is said of the server.
    Engine,
}

impl Disruption {
    /// A disruption without step, frame and help.
    pub fn new(kind: DisruptionKind, phase: Phase, message: impl Into<String>) -> Self {
        Self {
            kind,
            phase,
            message: message.into(),
            step: None,
            frame: None,
            help: None,
            culprit: Culprit::Anybody,
        }
    }

    /// The same, by the container engine's doing.
    pub fn by_engine(mut self) -> Self {
        self.culprit = Culprit::Engine;
        self
    }

    /// The same, showing the frame at fault.
    pub fn with_frame(mut self, frame: impl Into<String>) -> Self {
        self.frame = Some(frame.into());
        self
    }

    /// The same, naming the next step.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
