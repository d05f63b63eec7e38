//! The expectations of an assertion. One YAML key under `expect`, one variant; the doc comment of a variant is its
//! entry in the reference.

mod answer;
mod content;
mod files;
mod http;
mod json;
mod limits;
mod process;
mod template;
mod text;
mod traffic;
mod trajectory;

use std::{collections::BTreeMap, path::PathBuf};

pub use self::{
    answer::{AnswerWanted, ErrorWanted, TextRule},
    content::{ContentRule, ContentWanted},
    files::{FileTexts, FilesLook, FilesWanted, PathPattern},
    http::HttpWanted,
    json::{JsonWanted, Precision, ResultCount, SchemaRule},
    limits::LimitWanted,
    process::{ExitWanted, ProcessWanted, StderrWanted},
    template::WantedTemplate,
    text::TextWanted,
    traffic::{
        LoggingWanted, NotificationsWanted, Presence, ProgressWanted, Provoked,
        ServerRequestWanted, Since, TrafficWanted,
    },
    trajectory::{Among, TrajectoryRule},
};
pub use super::value_rule::{Comparison, JsonType, LengthRule, Matcher, PathRule, ValueRule};
use crate::Dialect;
use ::text::source::Origin;
pub use mcp::protocol::method::LogLevel;
use mcp::script::template::UnknownName;

/// An expectation at its place.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The YAML key, e.g. `contains`.
    pub key: &'static str,
    /// Key and value in the suite.
    pub origin: Origin,
    /// The expectation, or what it will be once its `{{…}}` have values.
    pub state: WantedState,
}

/// Whether an expectation is known at load.
#[derive(Debug, Clone)]
pub enum WantedState {
    /// It is.
    Ready(Expectation),
    /// Its value holds `{{…}}`: made by [`Wanted::bind`] when the bindings of the job are complete.
    Templated(Box<Unbound>),
}

/// An expectation whose value holds `{{…}}`.
#[derive(Debug, Clone)]
pub struct Unbound {
    /// Which keys it is one of.
    pub(crate) family: Family,
    /// Whose rules it was loaded by.
    pub(crate) dialect: Dialect,
    /// The value.
    pub(crate) value: WantedTemplate,
    /// The files that schemas in it refer to, as they were at load.
    pub(crate) schema_files: SchemaFiles,
}

/// Why an expectation cannot be made when its names are to have values.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// One of them has none.
    #[error(transparent)]
    Nameless(#[from] UnknownName),
    /// A value that was filled in does not fit the key.
    #[error("{0}")]
    Wrong(String),
}

/// Files that schemas refer to, by their paths as the suite has them.
pub type SchemaFiles = BTreeMap<PathBuf, String>;

/// The places where expectations stand; some keys mean something else at another place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// `expect`.
    Answer,
    /// The `expect` of `assert_logging`.
    Logging,
    /// The `expect` of `assert_notifications`.
    Notifications,
    /// `expect_request`; the method is the one meant when none is written.
    Request(&'static str),
    /// A rule of `trajectory`.
    Trajectory,
}

/// Everything one `expect` key can ask, by what it speaks of. A family of `check` answers for each. A suite holds very
/// many of them: what is large stands in a box.
#[derive(Debug, Clone)]
pub enum Expectation {
    /// Which kind of answer it is.
    Answer(AnswerWanted),
    /// The text of the answer.
    Text(TextWanted),
    /// JSON in the answer.
    Json(JsonWanted),
    /// The content as a whole.
    Content(ContentWanted),
    /// Files before and after.
    Files(FilesWanted),
    /// What the server sent beside the answer.
    Traffic(TrafficWanted),
    /// Bounds on the answer.
    Limits(LimitWanted),
    /// The server as a process.
    Process(ProcessWanted),
    /// Status and headers of a response.
    Http(HttpWanted),
    /// One rule of `trajectory`.
    Trajectory(Box<TrajectoryRule>),
    /// `not`: each of these does not hold.
    Not(Vec<(&'static str, Self)>),
}

/// Makes an expectation of each family.
macro_rules! families {
    ($($family:ident($wanted:ident)),*) => {$(
        impl From<$wanted> for Expectation {
            fn from(wanted: $wanted) -> Self {
                Self::$family(wanted)
            }
        }
    )*};
}

families!(
    Answer(AnswerWanted),
    Text(TextWanted),
    Json(JsonWanted),
    Content(ContentWanted),
    Files(FilesWanted),
    Traffic(TrafficWanted),
    Limits(LimitWanted),
    Http(HttpWanted),
    Process(ProcessWanted)
);

/// What an expectation looks at besides the answer; it decides how the server is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Files.
    Files,
    /// Messages of the server that are not the answer.
    Messages,
    /// Deviations from the protocol.
    Findings,
    /// What the server writes to stderr.
    Stderr,
    /// How the server ends.
    Exit,
}

impl Beside {
    /// What a key looks at, whatever its value is.
    pub fn of_key(key: &str) -> Option<Self> {
        match key {
            "only_changed" => Some(Self::Files),
            "notifications" | "server_requests" | "expect_request" | "expect_notification" => {
                Some(Self::Messages)
            }
            "findings" => Some(Self::Findings),
            "stderr" => Some(Self::Stderr),
            "exit" => Some(Self::Exit),
            key if key.starts_with("file_") => Some(Self::Files),
            _ => None,
        }
    }
}

impl Wanted {
    /// Whether it looks at this; what is under a `not` with `{{…}}` is not known, and may look at anything.
    pub fn looks_at(&self, what: Beside) -> bool {
        match &self.state {
            WantedState::Ready(expectation) => expectation.looks_at(what),
            WantedState::Templated(_) => {
                self.key == "not" || Beside::of_key(self.key) == Some(what)
            }
        }
    }

    /// Whether nothing is asked for, as far as it is known.
    pub fn asks_nothing(&self) -> bool {
        match &self.state {
            WantedState::Ready(expectation) => expectation.asks_nothing(),
            WantedState::Templated(_) => false,
        }
    }
}

impl Expectation {
    /// Whether it looks at this beside the answer.
    pub fn looks_at(&self, what: Beside) -> bool {
        match self {
            Self::Files(_) => what == Beside::Files,
            Self::Traffic(wanted) => wanted.beside() == Some(what),
            Self::Process(wanted) => wanted.beside() == what,
            Self::Not(inner) => inner.iter().any(|(_, one)| one.looks_at(what)),
            Self::Answer(_)
            | Self::Text(_)
            | Self::Json(_)
            | Self::Content(_)
            | Self::Limits(_)
            | Self::Http(_)
            | Self::Trajectory(_) => false,
        }
    }

    /// Its expectations about files, also under `not`.
    pub fn of_files(&self) -> Vec<&FilesWanted> {
        match self {
            Self::Files(wanted) => vec![wanted],
            Self::Not(inner) => inner.iter().flat_map(|(_, one)| one.of_files()).collect(),
            Self::Answer(_)
            | Self::Text(_)
            | Self::Json(_)
            | Self::Content(_)
            | Self::Traffic(_)
            | Self::Limits(_)
            | Self::Process(_)
            | Self::Http(_)
            | Self::Trajectory(_) => Vec::new(),
        }
    }

    /// Whether nothing is asked for, whatever the server does: it counts as absent.
    pub fn asks_nothing(&self) -> bool {
        match self {
            Self::Json(JsonWanted::OutputSchema(wanted)) => !wanted,
            Self::Traffic(wanted) => wanted.asks_nothing(),
            Self::Not(inner) => inner.is_empty(),
            Self::Answer(_)
            | Self::Text(_)
            | Self::Json(_)
            | Self::Content(_)
            | Self::Files(_)
            | Self::Limits(_)
            | Self::Process(_)
            | Self::Http(_)
            | Self::Trajectory(_) => false,
        }
    }
}
