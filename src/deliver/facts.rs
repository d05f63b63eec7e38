//! The input of the sinks of `ci`: the judged run, the CI environment, and the wishes. Sinks read nothing else.

use std::{path::PathBuf, sync::Arc};

use serde_json::Value;

use crate::cli::ci::{CommentWhen, Switch};
use report::{Format, RunReport, source::Source};
use text::{environment::Environment, redact::Secrets};

/// Everything a sink may use.
#[derive(Debug)]
pub(crate) struct Facts<'a> {
    /// The compared and judged run.
    pub(crate) report: &'a RunReport,
    /// This process's CI environment; a merged run may come from another one.
    pub(crate) here: &'a CiEnvironment,
    /// The wishes.
    pub(crate) wishes: &'a Wishes,
    /// Values to hide.
    pub(crate) secrets: &'a Secrets,
}

/// The CI environment of this process.
#[derive(Debug)]
pub(crate) struct CiEnvironment {
    /// The environment at start.
    pub(crate) environment: Arc<Environment>,
    /// Repository, revision, event, job.
    pub(crate) source: Source,
    /// The event's payload; null when there is none.
    pub(crate) event: Value,
}

/// The event of workflows that report another workflow's run.
const TELLING_EVENT: &str = "workflow_run";

/// CI systems with another API, by the variable that each sets. Forgejo sets Gitea's too.
const OTHER_SYSTEMS: [(&str, &str); 3] = [
    ("FORGEJO_ACTIONS", "Forgejo"),
    ("GITEA_ACTIONS", "Gitea"),
    ("GITLAB_CI", "GitLab"),
];

impl CiEnvironment {
    /// Whether this workflow reports another workflow's run.
    pub(crate) fn reports_another_run(&self) -> bool {
        self.source.event.as_deref() == Some(TELLING_EVENT)
    }

    /// The base branch of a pull request or merge queue.
    pub(crate) fn base_branch(&self) -> Option<String> {
        let text = |pointer: &str| self.event.pointer(pointer).and_then(Value::as_str);
        let queue = || text("/merge_group/base_ref")?.strip_prefix("refs/heads/");
        // The event does not name the base branch of a fork's pull request; the default branch is assumed.
        let proposed = || {
            let event = text("/workflow_run/event")?;
            let default = text("/repository/default_branch")?;
            event.starts_with("pull_request").then_some(default)
        };
        let base = text("/pull_request/base/ref")
            .or_else(queue)
            .or_else(proposed);
        base.map(str::to_owned)
    }

    /// Whether the tested revision is GitHub's merge of a pull request with its base branch.
    pub(crate) fn tests_merge(&self, tested: &str) -> bool {
        let reference = self.source.reference.as_deref().unwrap_or_default();
        let merged = reference.starts_with("refs/pull/") && reference.ends_with("/merge");
        merged && self.environment.variable("GITHUB_SHA") == Some(tested)
    }

    /// The CI system, if it is not GitHub, even where it runs GitHub's workflows.
    pub(crate) fn other_system(&self) -> Option<&'static str> {
        let mut others = OTHER_SYSTEMS.into_iter();
        let found = others.find(|(variable, _)| self.environment.set(variable) == Some("true"));
        found.map(|(_, system)| system)
    }

    /// The API token, from the environment only.
    pub(crate) fn token(&self) -> Option<&str> {
        self.environment.set("GITHUB_TOKEN")
    }
}

/// What the command line asks of the sinks.
#[derive(Debug)]
pub(crate) struct Wishes {
    /// Report files to write.
    pub(crate) files: Vec<(Format, PathBuf)>,
    /// When the pull request gets a comment.
    pub(crate) comment: CommentWhen,
    /// Whether to write annotations.
    pub(crate) annotations: Switch,
    /// Whether to write the step summary.
    pub(crate) summary: Switch,
    /// The branch that holds badges, baselines and durations.
    pub(crate) data_branch: String,
    /// Whether to publish the badge on the data branch.
    pub(crate) publish_badge: Switch,
    /// Whether to write baseline and durations to the data branch.
    pub(crate) update_data_branch: bool,
}
