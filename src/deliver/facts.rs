//! What every sink of `ci` is given: the run that was judged, the place it ran in, and what was asked for. A sink is a
//! function of these and nothing else; it reads no environment of its own.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use report::{Format, RunReport, source::Source};
use text::{environment::Environment, redact::Secrets};

/// All that a sink may ask for.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// The run, compared and judged.
    pub(crate) report: &'a RunReport,
    /// Where this process runs; of a merged run that is not where the suites ran.
    pub(crate) here: &'a Here,
    /// What was asked for.
    pub(crate) wishes: &'a Wishes,
    /// Values that no sink may show.
    pub(crate) secrets: &'a Secrets,
}

/// The surroundings of this process, as the CI system tells them.
#[derive(Debug)]
pub(crate) struct Here {
    /// Variables, directory, executable.
    pub(crate) environment: Arc<Environment>,
    /// Repository, revision, event, job.
    pub(crate) source: Source,
    /// The event's payload; null when there is none.
    pub(crate) event: Value,
}

/// The event whose workflow tells of a run that has its own verdict elsewhere.
const TELLING_EVENT: &str = "workflow_run";

impl Here {
    /// Whether this workflow tells of a run of another one.
    pub(crate) fn tells_of_another(&self) -> bool {
        self.source.event.as_deref() == Some(TELLING_EVENT)
    }

    /// The token for the API, which comes from the environment and never from the command line.
    pub(crate) fn token(&self) -> Option<&str> {
        let token = self.environment.variable("GITHUB_TOKEN");
        token.map(str::trim).filter(|token| !token.is_empty())
    }
}

/// What was asked for on the command line.
#[derive(Debug)]
pub(crate) struct Wishes {
    /// Reports to write, each at its place.
    pub(crate) files: Vec<(Format, PathBuf)>,
    /// When the pull request gets a comment.
    pub(crate) comment: CommentWhen,
    /// Whether failing lines are marked.
    pub(crate) annotations: Wanted,
    /// Whether the step summary is written.
    pub(crate) summary: Wanted,
    /// The branch that holds badges, baselines and durations.
    pub(crate) data_branch: String,
    /// Whether the badge is published on it.
    pub(crate) publish_badge: Wanted,
    /// Whether baseline and durations are written to it.
    pub(crate) update_data_branch: Wanted,
}

/// When the pull request gets a comment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommentWhen {
    /// Whatever happened.
    Always,
    /// When something differs from the baseline, or fails without one.
    Changes,
    /// When something is red.
    Failures,
    /// Never.
    Off,
}

/// Whether something is done where the surroundings allow it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// It is.
    Yes,
    /// It is not, wherever we are.
    No,
}
