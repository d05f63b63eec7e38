//! Jobs to outcomes: scheduler, deadlines, retries, cancellation. Emits events; prints nothing.

mod ahead;
mod attempt;
mod catalogs;
mod image;
mod job;
mod judge;
mod judging;
mod live;
mod lookout;
mod one_argument;
mod overdue;
mod parked;
mod queue;
mod reuse;
mod scheduler;
mod shown;
mod trajectory;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub(crate) use self::{
    judge::{Rules, Strictness},
    scheduler::run,
};
use host::{container::Containers, fixture::Fixture};
use mcp::script::template::UnknownNames;
use suite::Dialect;
use text::environment::Environment;

/// How a run is made.
#[derive(Debug)]
pub(crate) struct RunOptions {
    /// Jobs at once, at least 1.
    pub(crate) jobs: usize,
    /// How observations are judged.
    pub(crate) rules: Rules,
    /// What the first red outcome means for the rest.
    pub(crate) after_failure: AfterFailure,
    /// Whether assertions of one server share it.
    pub(crate) servers: Servers,
    /// Whose frames are kept.
    pub(crate) wire: WireKept,
    /// Whose catalogs are fetched.
    pub(crate) catalogs: CatalogsWanted,
    /// How much is told while jobs run.
    pub(crate) narration: Narration,
    /// The folder that is copied for each job that uses it.
    pub(crate) fixture: Option<Arc<Fixture>>,
    /// What containers are made with; there when any job needs one.
    pub(crate) containers: Option<Arc<Containers>>,
    /// Facts about our surroundings.
    pub(crate) environment: Arc<Environment>,
    /// Ends the run early.
    pub(crate) interrupt: CancellationToken,
}

/// What the first red outcome means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AfterFailure {
    /// The rest runs.
    GoOn,
    /// Nothing more is started.
    Stop,
}

/// Whether every assertion gets a server of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Servers {
    /// It does.
    Fresh,
    /// Assertions of one server share a process and a session.
    Reused,
}

/// Whose catalogs are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CatalogsWanted {
    /// Those that verdicts need.
    ForVerdicts,
    /// Those of all targets, for a comparison of what servers offer.
    OfEveryTarget,
}

/// How much a run tells of what goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Narration {
    /// Outcomes, and what all wait for.
    Outcomes,
    /// Every start and phase of a job too, for people who watch.
    Phases,
}

/// Whose frames go into the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WireKept {
    /// Those of red outcomes.
    OfRed,
    /// All.
    OfAll,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Every job has its outcome.
    Completed,
    /// It was interrupted; jobs that had not finished say so.
    Interrupted,
}

impl RunOptions {
    /// What becomes of a `{{name}}` that nothing defines: the Go tool leaves it as it is.
    fn unknown_names(&self) -> UnknownNames {
        match self.rules.dialect {
            Dialect::Native => UnknownNames::Refuse,
            Dialect::Compat => UnknownNames::Keep,
        }
    }
}
