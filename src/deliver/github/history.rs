//! Selects the baseline to compare with: of the merge base for a pull request, of the previous commit for a push, else
//! of the nearest ancestor that has one. The choice is reported.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::Value;

use super::{
    branch::{Branch, Head},
    failure::Failure,
    names::{file_name, is_revision},
};
use crate::deliver::facts::CiEnvironment;
use report::{baseline::Baseline, baselines};
use text::address::encoded;

/// The most ancestors that are considered.
const MOST_ANCESTORS: usize = 50;

/// The digits of a shortened revision.
const SHORT: usize = 10;

/// The folder of the baselines.
pub(super) const FOLDER: &str = "baseline";

/// A baseline with the description of its commit, or why there is none.
type Found = Result<(String, Baseline), String>;

/// The result of the search.
#[derive(Debug)]
pub(crate) struct Lookup {
    /// The baseline with its description, or why there is none.
    pub(crate) found: Found,
    /// The error of a nearer file that cannot be read.
    pub(crate) unreadable: Option<String>,
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
pub(super) async fn find(
    branch: &Branch<'_>,
    here: &CiEnvironment,
    suite: &str,
) -> Result<Lookup, Failure> {
    let none = |reason: &str| {
        Ok(Lookup {
            found: Err(reason.to_owned()),
            unreadable: None,
        })
    };
    let Some(head) = branch.head().await? else {
        return none(&format!("the branch `{}` does not exist yet", branch.name));
    };
    let files = branch.files(&head, FOLDER).await?;
    let shas = files.iter().filter_map(|file| file.strip_suffix(".json"));
    let unread: HashSet<String> = shas
        .filter(|sha| is_revision(sha))
        .map(str::to_owned)
        .collect();
    if unread.is_empty() {
        return none("no baseline was saved yet");
    }
    // Runs write durations with every baseline; without them, no file holds this suite.
    if branch.file(&head, &timings_of(suite)).await?.is_none() {
        return none("no run of this suite has saved a baseline yet");
    }
    let mut search = Search {
        branch,
        head: &head,
        unread,
        suite,
        unreadable: None,
    };
    Ok(Lookup {
        found: search.run(here).await?,
        unreadable: search.unreadable,
    })
}

/// The revision that the tested one is compared with, and how it is called, if there is one.
pub(super) async fn base(
    branch: &Branch<'_>,
    here: &CiEnvironment,
) -> Result<Option<(String, String)>, Failure> {
    let tested = here.source.sha.as_deref().filter(|sha| is_revision(sha));
    let Some(tested) = tested else {
        return Ok(None);
    };
    let Some(base) = here.base_branch() else {
        let parents = branch.parents(tested).await?.into_iter();
        let mut before = parents.map(|parent| (parent.sha, "the commit before".to_owned()));
        return Ok(before.next());
    };
    let fork = match branch.merge_parent(here, tested).await? {
        Some(parent) => Some(parent),
        None => branch.merge_base(&base, tested).await?,
    };
    let words = format!("the merge base with `{base}`");
    Ok(fork.filter(|sha| is_revision(sha)).map(|sha| (sha, words)))
}

struct Search<'a> {
    branch: &'a Branch<'a>,
    head: &'a Head,
    /// Commits whose file is not read yet.
    unread: HashSet<String>,
    suite: &'a str,
    unreadable: Option<String>,
}

impl Search<'_> {
    async fn run(&mut self, here: &CiEnvironment) -> Result<Found, Failure> {
        let other = here.event.pointer("/workflow_run/head_sha");
        let tested = other.map_or(here.source.sha.as_deref(), Value::as_str);
        let Some(tested) = tested.filter(|sha| is_revision(sha)) else {
            return Ok(Err("the tested revision is unknown".to_owned()));
        };
        let Some(base) = here.base_branch() else {
            let history = self.branch.history(tested).await?.into_iter();
            let before = history.filter(|sha| sha != tested).zip(1..);
            let told = before.map(|(sha, steps)| match steps {
                1 => (sha, "the commit before".to_owned()),
                more => (sha, format!("{more} commits before")),
            });
            let none = || format!("none of the last {MOST_ANCESTORS} commits has a baseline");
            return Ok(self.first(told).await?.ok_or_else(none));
        };
        let fork = match self.branch.merge_parent(here, tested).await? {
            Some(parent) => Some(parent),
            None => self.branch.merge_base(&base, tested).await?,
        };
        if let Some(fork) = &fork {
            let words = format!("the merge base with `{base}`");
            let history = self.branch.history(fork).await?.into_iter().zip(0..);
            let told = history.map(|(sha, steps)| match steps {
                0 => (sha, words.clone()),
                1 => (sha, format!("1 commit before {words}")),
                more => (sha, format!("{more} commits before {words}")),
            });
            if let Some(found) = self.first(told).await? {
                return Ok(Ok(found));
            }
        }
        let what = format!("the latest of `{base}`, not the merge base");
        let latest = self.branch.history(&base).await?.into_iter();
        let found = self.first(latest.map(|sha| (sha, what.clone()))).await?;
        Ok(found.ok_or_else(|| {
            format!("neither the merge base nor the last commits of `{base}` have a baseline")
        }))
    }

    /// Returns the baseline of the first commit that has one, reading no file twice. The first file that is damaged or
    /// of another version is remembered and skipped.
    async fn first(
        &mut self,
        choices: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Option<(String, Baseline)>, Failure> {
        for (sha, what) in choices {
            if !self.unread.remove(&sha) {
                continue;
            }
            let path = format!("{FOLDER}/{sha}.json");
            let Some(text) = self.branch.file(self.head, &path).await? else {
                continue;
            };
            match baselines::of_suite(&text, self.suite) {
                Ok(Some(baseline)) => {
                    return Ok(Some((format!("{}, {what}", short(&sha)), baseline)));
                }
                Ok(None) => {}
                Err(problem) => {
                    let told = || format!("`{path}` cannot be read: {problem}");
                    self.unreadable.get_or_insert_with(told);
                }
            }
        }
        Ok(None)
    }
}

impl Branch<'_> {
    /// Lists a revision or branch tip and its ancestors.
    async fn history(&self, from: &str) -> Result<Vec<String>, Failure> {
        let from = encoded(from).replace('/', "%2F");
        let commits = self.commits(&from, MOST_ANCESTORS + 1).await?.into_iter();
        Ok(commits.map(|commit| commit.sha).collect())
    }

    async fn parents(&self, commit: &str) -> Result<Vec<Commit>, Failure> {
        let commits = self.commits(commit, 1).await?.into_iter();
        let found = commits.filter(|it| it.sha == commit);
        Ok(found.flat_map(|it| it.parents).collect())
    }

    async fn commits(&self, from: &str, most: usize) -> Result<Vec<Commit>, Failure> {
        let path = format!("/commits?sha={from}&per_page={most}");
        let found = self.client.find(&self.path(&path)).await?;
        Ok(found.unwrap_or_default())
    }

    /// The first parent of GitHub's merge commit: the base branch at that time.
    async fn merge_parent(
        &self,
        here: &CiEnvironment,
        tested: &str,
    ) -> Result<Option<String>, Failure> {
        if !here.tests_merge(tested) {
            return Ok(None);
        }
        Ok(match &self.parents(tested).await?[..] {
            [first, _, ..] => Some(first.sha.clone()),
            [] | [_] => None,
        })
    }

    /// The merge base of a revision and a branch.
    async fn merge_base(&self, base: &str, tested: &str) -> Result<Option<String>, Failure> {
        let base = encoded(base).replace('/', "%2F");
        let path = format!("/compare/{base}...{tested}?per_page=1");
        let compared: Option<Compared> = self.client.find(&self.path(&path)).await?;
        Ok(compared.map(|it| it.merge_base_commit.sha))
    }
}

/// The file of a suite's durations.
pub(super) fn timings_of(suite: &str) -> String {
    format!("timings/{}.json", file_name(suite))
}

/// The first digits of a revision.
pub(crate) fn short(sha: &str) -> &str {
    sha.get(..SHORT).unwrap_or(sha)
}
