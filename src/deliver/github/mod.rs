//! GitHub's API: baseline, data branch and comment. A refusal is reported and never changes a verdict.

mod branch;
mod client;
pub(crate) mod comment;
mod data;
mod failure;
pub(crate) mod history;
mod legs;
mod marker;
mod names;
mod pull_request;

use std::{fs::File, path::Path};

use serde_json::Value;

pub(crate) use self::failure::Failure;
use self::{
    branch::{Branch, Written},
    client::Client,
    comment::{CommentOutcome, CommentResult, Sticky},
    data::Data,
    history::Lookup,
    marker::Marker,
    names::{Repository, is_revision},
    pull_request::PullRequest,
};
use crate::{
    cli::ci::CommentWhen,
    deliver::facts::{CiEnvironment, Facts},
};
use report::{
    RunReport,
    baseline::Baseline,
    comment::{COMMENT_BYTES, Surroundings, within},
    source::workflow_file,
    timings::Timings,
    verdict::Verdict,
};
use text::{address::encoded, head};

/// The repository of this process, with a token.
#[derive(Debug)]
pub(crate) struct GitHub<'a> {
    here: &'a CiEnvironment,
    repository: Repository,
}

impl<'a> GitHub<'a> {
    /// Requires GitHub, a token and a repository.
    pub(crate) fn new(here: &'a CiEnvironment) -> Result<Self, Failure> {
        if let Some(system) = here.other_system() {
            return Err(Failure::Other(format!(
                "{system} has another API than GitHub"
            )));
        }
        here.token().ok_or(Failure::NoToken)?;
        let name = here.source.repository.as_deref();
        let none = || Failure::Other("no repository; set GITHUB_REPOSITORY".to_owned());
        let name = name.ok_or_else(none)?;
        let repository = Repository::from_name(name).ok_or_else(|| {
            let name = head(name, 100);
            Failure::Other(format!(
                "GITHUB_REPOSITORY is `{name}`, and not `owner/name`"
            ))
        })?;
        Ok(Self { here, repository })
    }

    /// Searches the data branch for a suite's baseline.
    pub(crate) async fn baseline(&self, branch: &str, suite: &str) -> Result<Lookup, Failure> {
        let client = Client::new(self.here)?;
        let branch = self.branch(&client, branch);
        history::find(&branch, self.here, suite).await
    }

    /// Reads a suite's durations on the default branch.
    pub(crate) async fn timings(&self, branch: &str, suite: &str) -> Result<Timings, Failure> {
        let client = Client::new(self.here)?;
        let branch = self.branch(&client, branch);
        let Some(head) = branch.head().await? else {
            return Ok(Timings::default());
        };
        let text = branch
            .file(&head, &history::timings_of(suite))
            .await?
            .unwrap_or_default();
        // An unreadable file counts as empty.
        Ok(Timings::parse(&text).unwrap_or_default())
    }

    /// Gets an archive of the revision that the tested one is compared with. Returns the revision, and how it is called;
    /// `None` if there is none.
    pub(crate) async fn base(&self, archive: &Path) -> Result<Option<(String, String)>, Failure> {
        let client = Client::new(self.here)?;
        let branch = self.branch(&client, "");
        let Some((sha, words)) = history::base(&branch, self.here).await? else {
            return Ok(None);
        };
        let archive = File::create(archive);
        let archive = archive.map_err(|error| Failure::Other(error.to_string()))?;
        let path = branch.path(&format!("/tarball/{sha}"));
        client.download(&path, archive).await?;
        Ok(Some((sha, words)))
    }

    fn branch<'b>(&'b self, client: &'b Client, name: &'b str) -> Branch<'b> {
        Branch {
            client,
            repository: &self.repository,
            name,
        }
    }

    /// Writes badge, baseline and durations to the data branch, if this run may. Returns notes.
    pub(crate) async fn publish(
        &self,
        facts: &Facts<'_>,
        known: Option<&Baseline>,
    ) -> Result<Vec<String>, Failure> {
        let Some(data) = Data::of(facts, known) else {
            return Ok(Vec::new());
        };
        let client = Client::new(self.here)?;
        let branch = self.branch(&client, &facts.wishes.data_branch);
        let name = branch.name;
        if let Some(reason) = data::refusal(&branch, self.here).await? {
            return Ok(vec![format!(
                "the branch `{name}` is not written: {reason}"
            )]);
        }
        let (written, overtaken) = data.write(&branch).await?;
        let written =
            (written == Written::Written).then(|| format!("the branch `{name}` was written"));
        let overtaken = overtaken
            .iter()
            .map(|what| format!("the branch `{name}`: {what}"));
        Ok(written.into_iter().chain(overtaken).collect())
    }

    /// Creates or updates the comment on the pull request.
    pub(crate) async fn comment(&self, facts: &Facts<'_>) -> Result<CommentResult, Failure> {
        let is_wanted = match facts.wishes.comment {
            CommentWhen::Off => return Ok(CommentOutcome::Off.into()),
            CommentWhen::Always => true,
            CommentWhen::Changes => is_news(facts.report),
            CommentWhen::Failures => facts.report.is_bad(),
        };
        let client = Client::new(self.here)?;
        let found = pull_request::find(&client, &self.repository, self.here).await?;
        let Some(pull_request) = found else {
            return Ok(CommentOutcome::Off.into());
        };
        let Some(marker) = self.marker(&pull_request, facts.report)? else {
            return Ok(CommentOutcome::Off.into());
        };
        let around = Surroundings {
            secrets: facts.secrets.clone(),
            ..self.surroundings(&pull_request, &marker)
        };
        let first = format!("{marker}\n");
        let page = within(facts.report, &around, COMMENT_BYTES - first.len());
        let sticky = Sticky {
            client: &client,
            repository: &self.repository,
            number: pull_request.number,
            body: first + &page,
            nameless: self.key(None, None),
            marker,
            is_wanted,
        };
        sticky.settle().await
    }

    /// The marker of the comment. Under `workflow_run`, only the event is trusted, not the report.
    fn marker(
        &self,
        pull_request: &PullRequest,
        report: &RunReport,
    ) -> Result<Option<Marker>, Failure> {
        let source = &self.here.source;
        let age = match self.other() {
            Some(other) => {
                let number = |name| {
                    let told = other.get(name).and_then(Value::as_u64);
                    told.ok_or_else(|| Failure::untold(name))
                };
                Some((number("id")?, number("run_attempt")?))
            }
            None => source.run.zip(source.attempt),
        };
        let sha = Some(&*pull_request.head.sha).filter(|sha| is_revision(sha));
        let (job, suite) = (&report.source.job, &report.source.suite);
        Ok(age.zip(sha).map(|((run, attempt), sha)| Marker {
            key: self.key(job.as_deref(), suite.as_deref()),
            run,
            attempt,
            sha: sha.to_owned(),
        }))
    }

    /// The other workflow's run that is reported.
    fn other(&self) -> Option<&Value> {
        self.here.event.get("workflow_run")
    }

    /// The key of a comment. Job and suite are unknown if the report cannot be read.
    fn key(&self, job: Option<&str>, suite: Option<&str>) -> String {
        let source = &self.here.source;
        let workflow = match self.other() {
            Some(other) => {
                let path = other.get("path").and_then(Value::as_str);
                path.map(workflow_file)
            }
            None => source.workflow.as_deref(),
        };
        Marker::key([
            self.repository.name(),
            workflow.unwrap_or_default(),
            job.or(source.job.as_deref()).unwrap_or_default(),
            suite.unwrap_or_default(),
        ])
    }

    fn surroundings(&self, pull_request: &PullRequest, marker: &Marker) -> Surroundings {
        let server = self.here.environment.set("GITHUB_SERVER_URL");
        let server = server.unwrap_or("https://github.com");
        let server = server.trim_end_matches('/');
        let head = pull_request.head.repo.as_ref();
        let head = head.and_then(|repo| Repository::from_name(&repo.full_name));
        let head = head.unwrap_or_else(|| self.repository.clone());
        let (run, attempt) = marker.age();
        let (own, head, sha) = (self.repository.name(), head.name(), &marker.sha);
        let repository = format!("{server}/{}", encoded(own));
        Surroundings {
            files: Some(format!("{server}/{}/blob/{sha}", encoded(head))),
            run: Some(format!(
                "{repository}/actions/runs/{run}/attempts/{attempt}"
            )),
            repository: Some(repository),
            head: Some(marker.sha.clone()),
            ..Surroundings::default()
        }
    }

    /// Whether the pull request comes from a fork, whose workflows get a read-only token.
    pub(crate) fn is_fork(&self) -> bool {
        let head = self.here.event.pointer("/pull_request/head/repo/full_name");
        let head = head.and_then(Value::as_str);
        head.is_some_and(|head| head != self.repository.name())
    }
}

/// Whether the run differs from the baseline, is red without one, or did not complete.
fn is_news(report: &RunReport) -> bool {
    let judged = report.judgement.as_ref().map(|it| it.verdict);
    let complete = matches!(judged, Some(Verdict::Pass | Verdict::Fail));
    report.has_news() || report.is_bad() && !(complete && report.comparison.is_some())
}
