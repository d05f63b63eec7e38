//! The events of a run. The terminal and the reports are folds over them.

use std::sync::Arc;

use crate::outcome::Outcome;
use mcp::observation::{catalog::SurfaceSeen, disruption::Phase};
use suite::model::Case;

/// The place of a job in the plan, from 0. Outcomes are reported in this order.
pub type JobIndex = usize;

/// One thing that happened in a run.
#[derive(Debug)]
pub enum Event {
    /// The run begins.
    RunStarted {
        /// Jobs in the plan, skipped ones included.
        total: usize,
        /// How many run at once.
        jobs: usize,
    },
    /// Something that belongs to no single job is waited for, such as an image that is pulled.
    Preparing {
        /// What, for people.
        what: String,
        /// Whether it has just begun.
        news: News,
    },
    /// A job begins.
    JobStarted {
        /// Its place in the plan.
        job: JobIndex,
        /// Its assertion.
        case: Arc<Case>,
    },
    /// A job reached the next phase.
    PhaseReached {
        /// Its place in the plan.
        job: JobIndex,
        /// The phase that begins.
        phase: Phase,
    },
    /// An attempt failed and another follows.
    Retrying {
        /// Its place in the plan.
        job: JobIndex,
        /// The attempt that comes, from 2.
        attempt: u32,
    },
    /// A job has its outcome. These come in plan order.
    JobFinished {
        /// Its place in the plan.
        job: JobIndex,
        /// The outcome.
        outcome: Box<Outcome>,
    },
    /// What a target lists to one set of client capabilities, as far as it is known. These come after the outcomes, in
    /// plan order; a target has one for each set that the suite declares.
    CatalogKnown(SurfaceSeen),
    /// What a target offers was asked for, and is not known, or not all of it.
    CatalogMissing {
        /// The target, for people.
        target: String,
        /// What became of the question.
        why: Arc<str>,
    },
    /// Servers left something behind that belongs to no assertion. These come last.
    LeftBehind {
        /// What, and why it could not be removed, or was not found before.
        what: String,
    },
    /// The run was interrupted; what finished follows.
    Interrupted,
    /// Nothing more follows.
    RunFinished,
}

/// How much is new about what is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// It begins.
    Begun,
    /// It goes on.
    Going,
}
