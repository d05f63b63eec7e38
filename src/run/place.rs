//! The files of a job: its own copy of the fixture where it needs one, and what its expectations look at, before
//! the server starts and after the subject.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
};

use crate::{
    isolate::{
        files,
        fixture::{Fixture, FixtureCopy, FixtureProblem},
    },
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{FileSeen, FileState, FilesSeen},
    },
    plan::job::RunJob,
    suite::{
        Dialect,
        lower::expectation::resolve,
        model::expectation::{Expectation, Wanted},
        template::Bindings,
    },
    words::environment::Environment,
};

/// A job's files.
pub(super) struct Place {
    copy: Option<FixtureCopy>,
    /// Where relative paths start when there is no copy.
    directory: PathBuf,
    before: BTreeMap<String, FileState>,
}

impl Place {
    /// Makes the copy for a job that uses one.
    pub(super) async fn new(
        job: &RunJob,
        fixture: Option<&Arc<Fixture>>,
        environment: &Environment,
    ) -> Result<Self, Disruption> {
        let copy = match fixture {
            Some(fixture) if job.assertion.uses_fixture => {
                let copied = fixture.copy().await;
                Some(copied.map_err(|problem| {
                    disrupted(Phase::Place, "the fixture could not be copied", &problem)
                })?)
            }
            Some(_) | None => None,
        };
        Ok(Self {
            copy,
            directory: environment.directory.clone(),
            before: BTreeMap::new(),
        })
    }

    /// The copy's path as the server sees it.
    pub(super) fn fixture_path(&self) -> Option<String> {
        self.copy
            .as_ref()
            .map(|copy| copy.path().display().to_string())
    }

    /// Makes the copy as it was, for the next assertion of the same server.
    pub(super) async fn reset(&mut self) -> Result<(), Disruption> {
        self.before.clear();
        let Some(copy) = &self.copy else {
            return Ok(());
        };
        copy.reset()
            .await
            .map_err(|problem| disrupted(Phase::Place, "the fixture could not be reset", &problem))
    }

    /// Remembers the files that the expectations name, as far as their names are known by now.
    pub(super) fn look_before(&mut self, job: &RunJob, bindings: &Bindings, dialect: Dialect) {
        let paths = paths(job, bindings, dialect);
        if !paths.is_empty() {
            self.before = files::look(&paths, self.copy.as_ref(), &self.directory);
        }
    }

    /// The same files after the subject, and everything that changed in the copy.
    pub(super) async fn look_after(
        &self,
        job: &RunJob,
        bindings: &Bindings,
        dialect: Dialect,
    ) -> Result<FilesSeen, Disruption> {
        let paths = paths(job, bindings, dialect);
        let after = if paths.is_empty() {
            BTreeMap::new()
        } else {
            files::look(&paths, self.copy.as_ref(), &self.directory)
        };
        let paths = after
            .into_iter()
            .map(|(path, after)| {
                let unseen = || {
                    FileState::Unreadable("its name was not known before the server ran".to_owned())
                };
                let before = self.before.get(&path).cloned().unwrap_or_else(unseen);
                (path, FileSeen { before, after })
            })
            .collect();
        let asked = wanted_of(job).any(|wanted| matches!(wanted.key, "not" | "only_changed"));
        let changed = match self.copy.as_ref().filter(|_| asked) {
            Some(copy) => Some(copy.changes().await.map_err(|problem| {
                let what = "the fixture's copy could not be compared with the original";
                disrupted(Phase::Subject, what, &problem)
            })?),
            None => None,
        };
        Ok(FilesSeen { paths, changed })
    }

    /// Removes the copy, or says why it could not be.
    pub(super) async fn close(self) -> Option<String> {
        let problem = self.copy?.close().await.err()?;
        Some(format!(
            "the fixture's copy could not be removed: {problem}"
        ))
    }
}

fn disrupted(phase: Phase, what: &str, problem: &FixtureProblem) -> Disruption {
    let disruption = Disruption::new(DisruptionKind::Place, phase, format!("{what}: {problem}"));
    match problem.help() {
        Some(help) => disruption.with_help(help),
        None => disruption,
    }
}

/// The paths that the expectations of the subject and of the steps name.
fn paths(job: &RunJob, bindings: &Bindings, dialect: Dialect) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for wanted in wanted_of(job) {
        if let Ok(expectation) = resolve(wanted, bindings, dialect) {
            collect(expectation.as_ref(), &mut paths);
        }
    }
    paths.into_iter().collect()
}

/// The expectations that may name files, those of steps included.
fn wanted_of(job: &RunJob) -> impl Iterator<Item = &Wanted> {
    let of_steps = job
        .assertion
        .setup
        .iter()
        .chain(job.assertion.subject.steps())
        .flat_map(|step| &step.wanted);
    let all = job.assertion.wanted.iter().chain(of_steps);
    all.filter(|wanted| {
        wanted.key.starts_with("file_") || matches!(wanted.key, "not" | "only_changed")
    })
}

fn collect(expectation: &Expectation, paths: &mut BTreeSet<String>) {
    match expectation {
        Expectation::FileContains(files)
        | Expectation::FileNotContains(files)
        | Expectation::FileEquals(files) => {
            paths.extend(files.iter().map(|file| file.path.clone()));
        }
        Expectation::FileExists(named)
        | Expectation::FileNotExists(named)
        | Expectation::FileUnchanged(named) => {
            paths.extend(named.iter().cloned());
        }
        Expectation::Not(inner) => inner
            .iter()
            .for_each(|(_, expectation)| collect(expectation, paths)),
        Expectation::NotError(_)
        | Expectation::IsError(_)
        | Expectation::Error(_)
        | Expectation::NotEmpty(_)
        | Expectation::Equals(_)
        | Expectation::Contains(_)
        | Expectation::ContainsAny(_)
        | Expectation::NotContains(_)
        | Expectation::InOrder(_)
        | Expectation::MatchesRegex(_)
        | Expectation::JsonPath(_)
        | Expectation::Structured(_)
        | Expectation::JsonSchema(_)
        | Expectation::OutputSchema(_)
        | Expectation::Content(_)
        | Expectation::MinResults(_)
        | Expectation::MaxResults(_)
        | Expectation::NetDelta { .. }
        | Expectation::OnlyChanged(_)
        | Expectation::MinProgress(_)
        | Expectation::Progress(_)
        | Expectation::MaxDuration(_)
        | Expectation::MaxBytes(_)
        | Expectation::Notifications(_)
        | Expectation::Logging(_)
        | Expectation::ResourceUpdated { .. }
        | Expectation::ServerRequests(_)
        | Expectation::Stderr(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Snapshot(_)
        | Expectation::Trajectory(_) => {}
    }
}
