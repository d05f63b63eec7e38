//! Finds the pull request of a run by this process's event. The run's file is not trusted.

use serde::Deserialize;
use serde_json::Value;

use super::{
    client::Client,
    failure::Failure,
    names::{Repository, is_revision},
};
use crate::deliver::facts::CiEnvironment;
use text::address::encoded;

/// A pull request, as events and the API describe it.
#[derive(Debug, Deserialize)]
pub(super) struct PullRequest {
    pub(super) number: u64,
    state: String,
    pub(super) head: Head,
}

/// The head of a pull request.
#[derive(Debug, Deserialize)]
pub(super) struct Head {
    pub(super) sha: String,
    /// Absent if the fork was deleted.
    pub(super) repo: Option<Named>,
}

/// A repository.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    pub(super) full_name: String,
}

impl PullRequest {
    fn is_open_at(&self, sha: &str) -> bool {
        self.state == "open" && self.head.sha == sha
    }
}

/// Finds the pull request, if there is one.
pub(super) async fn find(
    client: &Client,
    repository: &Repository,
    here: &CiEnvironment,
) -> Result<Option<PullRequest>, Failure> {
    let event = &here.event;
    match here.source.event.as_deref().unwrap_or_default() {
        "pull_request" | "pull_request_target" | "pull_request_review" => {
            Ok(PullRequest::deserialize(&event["pull_request"]).ok())
        }
        "push" => of_push(client, repository, event).await,
        "workflow_run" => of_workflow_run(client, repository, event).await,
        _ => Ok(None),
    }
}

fn text<'a>(event: &'a Value, pointer: &str) -> Option<&'a str> {
    event.pointer(pointer).and_then(Value::as_str)
}

/// Finds the open pull request whose head was pushed.
async fn of_push(
    client: &Client,
    repository: &Repository,
    event: &Value,
) -> Result<Option<PullRequest>, Failure> {
    let Some(sha) = text(event, "/after").filter(|sha| is_revision(sha)) else {
        return Ok(None);
    };
    let path = repository.path(&format!("/commits/{sha}/pulls?per_page=100"));
    let listed: Option<Vec<PullRequest>> = client.find(&path).await?;
    let fitting = listed.into_iter().flatten();
    let fitting = fitting.filter(|it| it.is_open_at(sha));
    Ok(fitting.min_by_key(|it| it.number))
}

/// Finds the open pull request of the other workflow's head. The event's own list is empty for forks.
async fn of_workflow_run(
    client: &Client,
    repository: &Repository,
    event: &Value,
) -> Result<Option<PullRequest>, Failure> {
    let told = |name: &str| text(event, &format!("/workflow_run/{name}"));
    let sha = told("head_sha").filter(|sha| is_revision(sha));
    let sha = sha.ok_or_else(|| Failure::untold("workflow_run.head_sha"))?;
    let branch = told("head_branch");
    let branch = branch.ok_or_else(|| Failure::untold("workflow_run.head_branch"))?;
    // Absent if the fork was deleted.
    let from = told("head_repository/full_name").and_then(Repository::from_name);
    let from = from.ok_or_else(|| Failure::untold("workflow_run.head_repository.full_name"))?;
    let owner = from.name().split('/').next().unwrap_or_default();
    let path = format!(
        "/pulls?state=open&per_page=100&head={}%3A{}",
        encoded(owner),
        encoded(branch)
    );
    let listed: Vec<PullRequest> = client.get(&repository.path(&path)).await?;
    let mut fitting = listed;
    fitting.retain(|it| {
        let repo = it.head.repo.as_ref().map(|repo| repo.full_name.as_str());
        it.is_open_at(sha) && repo == Some(from.name())
    });
    the_one(fitting, event)
}

/// Selects among pull requests with the same head by the event's list. They have different bases, so a wrong one must
/// not get the comment.
fn the_one(fitting: Vec<PullRequest>, event: &Value) -> Result<Option<PullRequest>, Failure> {
    let only = |mut some: Vec<PullRequest>| (some.len() == 1).then(|| some.remove(0));
    if fitting.len() < 2 {
        return Ok(only(fitting));
    }
    let mut numbers: Vec<u64> = fitting.iter().map(|it| it.number).collect();
    numbers.sort_unstable();
    let told = event.pointer("/workflow_run/pull_requests");
    let told = told
        .and_then(Value::as_array)
        .map_or(&[][..], Vec::as_slice);
    let own = event.pointer("/repository/id");
    let named = |it: &PullRequest| {
        told.iter().any(|told| {
            // The list also has pull requests of other repositories.
            let base = told.pointer("/base/repo/id");
            let is_ours = base.is_none() || own.is_none() || base == own;
            is_ours && told.get("number").and_then(Value::as_u64) == Some(it.number)
        })
    };
    let named = fitting.into_iter().filter(named).collect();
    let numbers: Vec<String> = numbers.iter().map(|it| format!("#{it}")).collect();
    only(named).map(Some).ok_or_else(|| {
        Failure::Other(format!(
            "the open pull requests {} have the same head, and the event does not say which of them was tested",
            numbers.join(", ")
        ))
    })
}
