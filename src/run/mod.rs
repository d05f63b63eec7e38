//! Jobs to outcomes: scheduler, deadlines, retries, cancellation. Emits events; prints nothing.

mod ahead;
mod attempt;
mod catalogs;
mod explain;
mod habits;
mod image;
mod job;
mod judge;
mod live;
mod lookout;
mod reuse;
mod revisions;
mod scheduler;
mod shown;
mod trajectory;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub(crate) use self::{
    judge::Rules,
    scheduler::{run, run_both},
};
use host::{container::Containers, fixture::Fixture};
use text::environment::Environment;

/// How a run is made.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, not a state"
)]
pub(crate) struct RunOptions {
    /// Jobs at once, at least 1.
    pub(crate) jobs: usize,
    /// How observations are judged.
    pub(crate) rules: Rules,
    /// Starts nothing more after the first red outcome.
    pub(crate) fail_fast: bool,
    /// Lets assertions of one server share its process and its session.
    pub(crate) reuse_server: bool,
    /// Keeps the frames of all outcomes, not of red ones alone.
    pub(crate) keeps_all_frames: bool,
    /// Fetches the catalogs of all targets, not only those that verdicts need.
    pub(crate) lists_every_target: bool,
    /// Tells every start and phase of a job, for people who watch.
    pub(crate) tells_phases: bool,
    /// The folder that is copied for each job that uses it.
    pub(crate) fixture: Option<Arc<Fixture>>,
    /// What containers are made with; there when any job needs one.
    pub(crate) containers: Option<Arc<Containers>>,
    /// Facts about our surroundings.
    pub(crate) environment: Arc<Environment>,
    /// Ends the run early.
    pub(crate) interrupt: CancellationToken,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    /// Every job has its outcome.
    Completed,
    /// It was interrupted; jobs that had not finished say so.
    Interrupted,
}
