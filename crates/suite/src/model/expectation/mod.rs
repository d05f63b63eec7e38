//! What an assertion wants. One YAML key under `expect`, one variant; the doc comment of a variant is its
//! entry in the reference.

mod answer;
mod content;
mod files;
mod json;
mod limits;
mod process;
mod text;
mod traffic;
mod trajectory;

use std::{collections::BTreeMap, path::PathBuf};

pub use self::{
    answer::{AnswerWanted, ErrorWanted, TextRule},
    content::{ContentRule, ContentWanted},
    files::{FileTexts, FilesWanted, PathPattern},
    json::{JsonWanted, Precision, ResultCount, SchemaRule},
    limits::LimitWanted,
    process::{ExitWanted, ProcessWanted, StderrWanted},
    text::TextWanted,
    traffic::{
        LoggingWanted, NotificationsWanted, Presence, ProgressWanted, Provoked,
        ServerRequestWanted, Since, TrafficWanted,
    },
    trajectory::{Among, TrajectoryRule},
};
pub use super::value_rule::{Comparison, JsonType, LengthRule, Matcher, PathRule, ValueRule};
use crate::yaml::Node;
use ::text::source::Origin;
pub use mcp::protocol::method::LogLevel;

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
    /// Its value holds `{{…}}`: rendered when the bindings of the job are complete, then lowered by
    /// `suite::lower::expectation`.
    Templated(Box<Unresolved>),
}

/// An expectation whose value holds `{{…}}`.
#[derive(Debug, Clone)]
pub struct Unresolved {
    /// Which keys it is one of.
    pub family: Family,
    /// The value as the suite has it: how numbers and words are written is kept, since they may be meant as texts.
    pub value: Node,
    /// The files that schemas in it refer to, as they were at load: later there is no folder to look in.
    pub schema_files: SchemaFiles,
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
    Process(ProcessWanted)
);

impl Wanted {
    /// Whether nothing is asked for, as far as it is known.
    pub fn asks_nothing(&self) -> bool {
        match &self.state {
            WantedState::Ready(expectation) => expectation.asks_nothing(),
            WantedState::Templated(_) => false,
        }
    }
}

impl Expectation {
    /// Whether nothing is asked for, whatever the server does: it says as little as an expectation that is not there.
    pub fn asks_nothing(&self) -> bool {
        match self {
            Self::Text(wanted) => wanted.asks_nothing(),
            Self::Json(wanted) => wanted.asks_nothing(),
            Self::Files(wanted) => wanted.asks_nothing(),
            Self::Traffic(wanted) => wanted.asks_nothing(),
            Self::Process(wanted) => wanted.asks_nothing(),
            Self::Not(inner) => inner.is_empty(),
            Self::Answer(_) | Self::Content(_) | Self::Limits(_) | Self::Trajectory(_) => false,
        }
    }
}
