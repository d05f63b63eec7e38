//! Keeps untrusted files from running with a privileged workflow's rights: under such events, everything that runs must
//! come from checkouts of the workflow's own revision.

use std::{collections::BTreeSet, fs, path::PathBuf};

use super::here;
use crate::{
    commands::running::{Prepared, Refusal},
    deliver::facts::CiEnvironment,
};

/// Events that give the workflow rights a pull request's head must not have.
const PRIVILEGED_EVENTS: [&str; 2] = ["pull_request_target", "workflow_run"];

/// Refuses a workspace or place that holds another revision than the workflow's. Missing places are reported elsewhere.
pub(super) fn refuse(
    here: &CiEnvironment,
    places: impl IntoIterator<Item = PathBuf>,
) -> Result<(), Refusal> {
    let event = here.source.event.as_deref().unwrap_or_default();
    if !PRIVILEGED_EVENTS.contains(&event) {
        return Ok(());
    }
    let trusted = here.environment.variable("GITHUB_SHA");
    let workspace = here::workspace(&here.environment);
    let found = here::checkout_of(&workspace).and_then(|git| here::head_of(&git));
    if found.is_none() || found.as_deref() != trusted {
        return Err(refusal(event, "the workspace", found));
    }
    for place in places {
        // The checkout is found behind links.
        let Ok(real) = fs::canonicalize(here.environment.directory.join(&place)) else {
            continue;
        };
        let Some(git) = here::checkout_of(&real) else {
            continue;
        };
        let found = here::head_of(&git);
        if found.as_deref() != trusted {
            return Err(refusal(event, &format!("`{}`", place.display()), found));
        }
    }
    Ok(())
}

/// The files of all assertions, and the fixture.
pub(super) fn made_of(prepared: &Prepared) -> Vec<PathBuf> {
    let jobs = prepared.plan.jobs.iter();
    let files: BTreeSet<&str> = jobs.map(|job| &*job.case.origin.file.path).collect();
    let files = files.into_iter().map(PathBuf::from);
    let fixture = prepared.fixture.iter().map(|it| it.root().to_owned());
    files.chain(fixture).collect()
}

fn refusal(event: &str, what: &str, found: Option<String>) -> Refusal {
    let found = found.unwrap_or_else(|| "no revision that is known".to_owned());
    Refusal::invalid(format!(
        "under `{event}` {what} has to be at the workflow's own revision, found {found}"
    ))
    .with_help(
        "run the tests under `pull_request`, and comment from `workflow_run` with `ci merge`",
    )
    .with_help("--dangerously-run-untrusted-head allows it")
}
