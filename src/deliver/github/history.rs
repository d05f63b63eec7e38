//! Which earlier commit a run is compared with: of a pull request the one it branched off, of a push the one before;
//! where that one has no baseline, the nearest ancestor that has. Each step down is said.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::{
    branch::{Branch, Head},
    client::Client,
    failure::Failure,
    names::{Repository, file_name, is_revision},
};
use crate::deliver::facts::Here;
use report::{baseline::Baseline, baselines};
use text::address::encoded;

/// Ancestors that are looked at.
const MOST_ANCESTORS: usize = 50;

/// Files without the suite, after which is asked whether any can have it.
const FEW: usize = 5;

/// Digits of a revision for people.
const SHORT: usize = 10;

/// The folder of the baselines.
pub(super) const FOLDER: &str = "baseline";

/// A commit that may have a baseline, and what it is to the run.
type Choice = (String, String);

/// A baseline of an earlier commit.
#[derive(Debug)]
pub(crate) struct Found {
    /// What it is, for people.
    pub(crate) against: String,
    /// The baseline.
    pub(crate) baseline: Baseline,
    /// Why a nearer one was passed over.
    pub(crate) passed_over: Option<String>,
}

/// What looking for a baseline came to.
#[derive(Debug)]
pub(crate) enum Looked {
    /// There is one.
    Found(Box<Found>),
    /// There is none, for this reason.
    None(String),
    /// Those that there are cannot be read, for this reason.
    Unreadable(String),
}

#[derive(Debug, Deserialize)]
struct Commit {
    sha: String,
    #[serde(default)]
    parents: Vec<Self>,
}

#[derive(Debug, Deserialize)]
struct Compared {
    merge_base_commit: Commit,
}

/// Finds the baseline of a suite on the data branch.
pub(super) async fn find(branch: &Branch<'_>, here: &Here, suite: &str) -> Result<Looked, Failure> {
    let Some(head) = branch.head().await? else {
        return Ok(Looked::None(format!(
            "the branch `{}` does not exist yet",
            branch.name
        )));
    };
    let files = branch.files(&head, FOLDER).await?;
    let known: HashSet<String> = files
        .iter()
        .filter_map(|file| file.strip_suffix(".json"))
        .filter(|sha| is_revision(sha))
        .map(str::to_owned)
        .collect();
    if known.is_empty() {
        return Ok(Looked::None("no baseline was saved yet".to_owned()));
    }
    let mut search = Search {
        branch,
        head: &head,
        unread: known,
        suite,
        missed: 0,
        is_new: false,
        unreadable: None,
    };
    let looked = search.run(here).await?;
    Ok(match (looked, search.unreadable) {
        (Looked::None(_), None) if search.is_new => {
            Looked::None("no run of this suite has left a baseline yet".to_owned())
        }
        (Looked::Found(mut found), passed_over) => {
            found.passed_over = passed_over;
            Looked::Found(found)
        }
        (Looked::None(_), Some(problem)) => Looked::Unreadable(problem),
        (looked @ (Looked::None(_) | Looked::Unreadable(_)), _) => looked,
    })
}

struct Search<'a> {
    branch: &'a Branch<'a>,
    head: &'a Head,
    /// Commits with a file that was not read yet.
    unread: HashSet<String>,
    suite: &'a str,
    /// Files that were read and do not have the suite.
    missed: usize,
    /// Whether none can have it.
    is_new: bool,
    /// Which file that should have been taken cannot be read, and why.
    unreadable: Option<String>,
}

impl Search<'_> {
    async fn run(&mut self, here: &Here) -> Result<Looked, Failure> {
        let other = here.event.pointer("/workflow_run/head_sha");
        let tested = other.map_or(here.source.sha.as_deref(), Value::as_str);
        let Some(tested) = tested.filter(|sha| is_revision(sha)) else {
            return Ok(Looked::None("the tested revision is not known".to_owned()));
        };
        let Some(base) = base_branch(here) else {
            return self.before(tested).await;
        };
        let client = self.branch.client;
        let repository = self.branch.repository;
        let fork = match merge_parent(client, repository, here, tested).await? {
            Some(parent) => Some(parent),
            None => merge_base(client, repository, &base, tested).await?,
        };
        if let Some(fork) = &fork {
            let words = format!("the merge base with `{base}`");
            if let Some(found) = self.nearest(fork, &words).await? {
                return Ok(Looked::Found(Box::new(found)));
            }
        }
        let latest = self.history(&base).await?;
        let what = format!("the latest of `{base}`, not the merge base");
        let latest = latest.into_iter().map(|sha| (sha, what.clone()));
        Ok(match self.first(latest).await? {
            Some(found) => Looked::Found(Box::new(found)),
            None => Looked::None(format!(
                "neither the merge base nor the last commits of `{base}` have a baseline"
            )),
        })
    }

    /// The nearest ancestor of a revision that was pushed, never itself.
    async fn before(&mut self, tested: &str) -> Result<Looked, Failure> {
        let ancestors = self.ancestors(tested, |steps| match steps {
            1 => "the commit before".to_owned(),
            more => format!("{more} commits before"),
        });
        Ok(match self.first(ancestors.await?).await? {
            Some(found) => Looked::Found(Box::new(found)),
            None => Looked::None(format!(
                "none of the last {MOST_ANCESTORS} commits has a baseline"
            )),
        })
    }

    /// The baseline of a revision, else of its nearest ancestor that has one.
    async fn nearest(&mut self, sha: &str, words: &str) -> Result<Option<Found>, Failure> {
        let itself = (sha.to_owned(), words.to_owned());
        if let Some(found) = self.first([itself]).await? {
            return Ok(Some(found));
        }
        let ancestors = self.ancestors(sha, |steps| match steps {
            1 => format!("1 commit before {words}"),
            more => format!("{more} commits before {words}"),
        });
        self.first(ancestors.await?).await
    }

    /// What lies before a revision, the nearest first, each told by how many steps it lies before.
    async fn ancestors(
        &self,
        sha: &str,
        what: impl Fn(usize) -> String,
    ) -> Result<Vec<Choice>, Failure> {
        let history = self.history(sha).await?;
        let ancestors = history.into_iter().filter(|it| it != sha);
        let told = ancestors.zip(1..).map(|(sha, steps)| (sha, what(steps)));
        Ok(told.collect())
    }

    /// The first of these that has a baseline. No file is read twice: one that was read and is looked for again has none.
    async fn first(
        &mut self,
        choices: impl IntoIterator<Item = Choice>,
    ) -> Result<Option<Found>, Failure> {
        for choice in choices {
            if !self.unread.contains(&choice.0) {
                continue;
            }
            if self.missed == FEW && !self.has_ever_run().await? {
                self.is_new = true;
                self.unread.clear();
                return Ok(None);
            }
            self.unread.remove(&choice.0);
            if let Some(found) = self.load(choice).await? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// Whether a run of this suite left durations, as each does that leaves a baseline: the files of a new suite's
    /// neighbours need not all be read to know that it has none.
    async fn has_ever_run(&self) -> Result<bool, Failure> {
        let path = timings_of(self.suite);
        Ok(self.branch.file(self.head, &path).await?.is_some())
    }

    /// A revision or the tip of a branch, and what lies before it.
    async fn history(&self, from: &str) -> Result<Vec<String>, Failure> {
        let path = format!(
            "/commits?sha={}&per_page={}",
            encoded(from).replace('/', "%2F"),
            MOST_ANCESTORS + 1
        );
        let repository = self.branch.repository;
        let commits: Option<Vec<Commit>> = self.branch.client.find(&repository.path(&path)).await?;
        let commits = commits.unwrap_or_default().into_iter();
        Ok(commits.map(|commit| commit.sha).collect())
    }

    /// The baseline of the suite in a commit's file. One that cannot be read, because another version wrote it or it is
    /// damaged, is remembered, and an earlier one taken where there is one.
    async fn load(&mut self, (sha, what): Choice) -> Result<Option<Found>, Failure> {
        let path = format!("{FOLDER}/{sha}.json");
        let Some(text) = self.branch.file(self.head, &path).await? else {
            return Ok(None);
        };
        let baseline = match baselines::of_suite(&text, self.suite) {
            Ok(Some(baseline)) => baseline,
            Ok(None) => {
                self.missed += 1;
                return Ok(None);
            }
            Err(problem) => {
                self.unreadable
                    .get_or_insert_with(|| format!("`{path}` cannot be read: {problem}"));
                return Ok(None);
            }
        };
        Ok(Some(Found {
            against: format!("{}, {what}", short(&sha)),
            baseline,
            passed_over: None,
        }))
    }
}

/// The file of a suite's durations.
pub(super) fn timings_of(suite: &str) -> String {
    format!("timings/{}.json", file_name(suite))
}

/// The first digits of a revision.
pub(super) fn short(sha: &str) -> &str {
    sha.get(..SHORT).unwrap_or(sha)
}

/// The branch that a pull request or a merge queue wants to change.
fn base_branch(here: &Here) -> Option<String> {
    let text = |pointer: &str| here.event.pointer(pointer).and_then(Value::as_str);
    let queue = || text("/merge_group/base_ref")?.strip_prefix("refs/heads/");
    // What another workflow tested for a pull request of a fork does not say which branch that wants to change.
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

/// The first parent of what GitHub merged to test a pull request: the base branch as it was then.
async fn merge_parent(
    client: &Client,
    repository: &Repository,
    here: &Here,
    tested: &str,
) -> Result<Option<String>, Failure> {
    let reference = here.source.reference.as_deref().unwrap_or_default();
    let merged = reference.starts_with("refs/pull/") && reference.ends_with("/merge");
    let is_it = here.environment.variable("GITHUB_SHA") == Some(tested);
    if !merged || !is_it {
        return Ok(None);
    }
    let path = repository.path(&format!("/commits?sha={tested}&per_page=1"));
    let commits: Option<Vec<Commit>> = client.find(&path).await?;
    let commit = commits.into_iter().flatten().find(|it| it.sha == tested);
    Ok(commit.and_then(|commit| match &commit.parents[..] {
        [first, _, ..] => Some(first.sha.clone()),
        [] | [_] => None,
    }))
}

/// Where a revision left a branch.
async fn merge_base(
    client: &Client,
    repository: &Repository,
    base: &str,
    tested: &str,
) -> Result<Option<String>, Failure> {
    let base = encoded(base).replace('/', "%2F");
    let path = repository.path(&format!("/compare/{base}...{tested}?per_page=1"));
    let compared: Option<Compared> = client.find(&path).await?;
    Ok(compared.map(|it| it.merge_base_commit.sha))
}
