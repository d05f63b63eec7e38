//! GitHub through its API: the baseline that a run is compared with, the data branch, the comment on the pull
//! request. What GitHub refuses is told and never changes a verdict.

mod answer;
mod branch;
mod client;
pub(crate) mod comment;
mod data;
mod failure;
pub(crate) mod history;
mod legs;
mod marker;
mod names;
mod patience;
mod proxy;
mod pull_request;
mod writers;

use serde_json::Value;

use self::{
    branch::{Branch, Written},
    client::Client,
    comment::{Commented, Creation, Settled, Sticky},
    data::Data,
    history::Looked,
    marker::Marker,
    names::{Repository, is_revision},
    pull_request::PullRequest,
};
pub(crate) use self::{failure::Failure, writers::Overtaken};
use crate::deliver::facts::{CommentWhen, Facts, Here};
use report::{
    RunReport,
    baseline::Baseline,
    comment::{COMMENT_BYTES, Surroundings, within},
    source::workflow_file,
    timings::Timings,
    verdict::Verdict,
};
use text::{address::encoded, head};

/// The repository that this process runs for, with the right to ask.
#[derive(Debug)]
pub(crate) struct GitHub<'a> {
    here: &'a Here,
    repository: Repository,
}

/// What became of the data branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Published {
    /// A commit was made, but for what a later run wrote before.
    Written(Vec<Overtaken>),
    /// All of it was there, or a later run has written it.
    Unchanged(Vec<Overtaken>),
    /// It is not for this run to write, for this reason.
    NotHere(String),
    /// Nothing was to be written.
    Nothing,
}

impl<'a> GitHub<'a> {
    /// GitHub, where there is a token and a repository.
    pub(crate) fn new(here: &'a Here) -> Result<Self, Failure> {
        here.token().ok_or(Failure::NoToken)?;
        let name = here.source.repository.as_deref();
        let name = name.ok_or(Failure::NoRepository)?;
        let repository = Repository::from_name(name);
        let repository = repository.ok_or_else(|| Failure::BadRepository(head(name, 100)))?;
        Ok(Self { here, repository })
    }

    /// The baseline of a suite on the data branch.
    pub(crate) async fn baseline(&self, branch: &str, suite: &str) -> Result<Looked, Failure> {
        let client = Client::new(self.here)?;
        let branch = self.branch(&client, branch);
        history::find(&branch, self.here, suite).await
    }

    /// How long the assertions of a suite took on the default branch.
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
        // A file that cannot be read, of whatever version, knows nothing.
        Ok(Timings::parse(&text).unwrap_or_default())
    }

    fn branch<'b>(&'b self, client: &'b Client, name: &'b str) -> Branch<'b> {
        Branch {
            client,
            repository: &self.repository,
            name,
        }
    }

    /// Writes badge, baseline and durations to the data branch, where this run may.
    pub(crate) async fn publish(
        &self,
        facts: &Facts<'_>,
        known: Option<&Baseline>,
    ) -> Result<Published, Failure> {
        let Some(data) = Data::of(facts, known) else {
            return Ok(Published::Nothing);
        };
        let client = Client::new(self.here)?;
        let branch = self.branch(&client, &facts.wishes.data_branch);
        if let Some(reason) = data::refusal(&branch, self.here).await? {
            return Ok(Published::NotHere(reason));
        }
        Ok(match data.write(&branch).await? {
            (Written::Written, overtaken) => Published::Written(overtaken),
            (Written::Unchanged, overtaken) => Published::Unchanged(overtaken),
        })
    }

    /// Brings the comment on the pull request up to date.
    pub(crate) async fn comment(&self, facts: &Facts<'_>) -> Result<Settled, Failure> {
        let creation = match facts.wishes.comment {
            CommentWhen::Off => return Ok(Commented::Off.into()),
            CommentWhen::Always => Creation::Wanted,
            CommentWhen::Changes => wanted(is_news(facts.report)),
            CommentWhen::Failures => wanted(facts.report.is_bad()),
        };
        let client = Client::new(self.here)?;
        let found = pull_request::find(&client, &self.repository, self.here).await?;
        let Some(pull_request) = found else {
            return Ok(Commented::Off.into());
        };
        let Some(marker) = self.marker(&pull_request, facts.report)? else {
            return Ok(Commented::Off.into());
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
        };
        sticky.settle(creation).await
    }

    /// Whose comment it is. Under `workflow_run` the report comes from an artifact, and only the event is believed.
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
                    told.ok_or(Failure::Untold(name))
                };
                Some((number("id")?, number("run_attempt")?))
            }
            None => source.run.zip(source.attempt),
        };
        let sha = pull_request.head_sha.as_deref();
        let sha = sha.or(source.head_sha.as_deref());
        let sha = sha.filter(|sha| is_revision(sha));
        let (job, suite) = (&report.source.job, &report.source.suite);
        Ok(age.zip(sha).map(|((run, attempt), sha)| Marker {
            key: self.key(job.as_deref(), suite.as_deref()),
            run,
            attempt,
            sha: sha.to_owned(),
        }))
    }

    /// The run of another workflow that this one tells of.
    fn other(&self) -> Option<&Value> {
        self.here.event.get("workflow_run")
    }

    /// The identity of a comment; nobody knows the suite of a run whose report cannot be read, nor its job.
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
        let server = self.here.environment.variable("GITHUB_SERVER_URL");
        let server = server.unwrap_or("https://github.com");
        let fine = |sign: char| sign.is_ascii_alphanumeric() || ".:/-_".contains(sign);
        let server = server.trim_end_matches('/').trim().to_owned();
        let server = server.chars().all(fine).then_some(server);
        let head = pull_request
            .head_repository
            .as_deref()
            .and_then(Repository::from_name)
            .unwrap_or_else(|| self.repository.clone());
        let (run, attempt) = marker.age();
        Surroundings {
            files: server.as_ref().map(|server| {
                let (name, sha) = (encoded(head.name()), &marker.sha);
                format!("{server}/{name}/blob/{sha}")
            }),
            run: server.map(|server| {
                let name = encoded(self.repository.name());
                format!("{server}/{name}/actions/runs/{run}/attempts/{attempt}")
            }),
            head: Some(marker.sha.clone()),
            ..Surroundings::default()
        }
    }

    /// Whether what is proposed comes from another repository, whose workflows get a token that only reads.
    pub(crate) fn is_fork(&self) -> bool {
        let head = self.here.event.pointer("/pull_request/head/repo/full_name");
        let head = head.and_then(Value::as_str);
        head.is_some_and(|head| head != self.repository.name())
    }
}

fn wanted(news: bool) -> Creation {
    if news {
        Creation::Wanted
    } else {
        Creation::Unwanted
    }
}

/// Something differs from the baseline, or it is bad and there is none, or it did not come so far.
fn is_news(report: &RunReport) -> bool {
    let judged = report.judgement.as_ref().map(|it| it.verdict);
    let complete = matches!(judged, Some(Verdict::Pass | Verdict::Fail));
    report.has_news() || report.is_bad() && !(complete && report.comparison.is_some())
}
