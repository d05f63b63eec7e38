//! The files of a job: its own copy of the fixture where it needs one, and what its expectations look at, before
//! the server starts and after the subject.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Component, Path, PathBuf},
    sync::Arc,
};

use super::{
    inside::{Compared, Inside},
    job::Shared,
};
use crate::{
    isolate::{
        container::image::ReadyImage,
        files,
        fixture::{Comparison, Fixture, FixtureCopy, FixtureProblem},
        running::Running,
    },
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{FileSeen, FileState, FilesSeen},
    },
    plan::job::RunJob,
    suite::{
        Dialect,
        lower::expectation::resolve,
        model::{
            expectation::{Expectation, Wanted},
            server::Target,
        },
        template::Bindings,
    },
};

/// A job's files.
pub(super) struct Place {
    files: Files,
    /// The caller's directory: where relative paths start when there is no fixture, and in the Go tool always.
    caller: PathBuf,
    before: BTreeMap<String, FileState>,
}

/// Where they are.
enum Files {
    /// On this machine.
    Here { copy: Option<FixtureCopy> },
    /// In the server's container.
    Inside(Inside),
}

impl Place {
    /// Makes the copy for a job that uses one.
    pub(super) async fn new(
        job: &RunJob,
        fixture: Option<&Arc<Fixture>>,
        bindings: &Bindings,
        image: Option<&ReadyImage>,
    ) -> Result<Self, Disruption> {
        let caller = bindings.environment.directory.clone();
        if let Some(image) = image {
            return Ok(Self {
                caller,
                files: Files::Inside(Inside::new(job, fixture, image, bindings)),
                before: BTreeMap::new(),
            });
        }
        let copy = match fixture {
            Some(fixture) if job.planned.assertion.uses_fixture => {
                let copied = fixture.copy().await;
                Some(copied.map_err(|problem| {
                    disrupted(Phase::Place, "the fixture could not be copied", &problem)
                })?)
            }
            Some(_) | None => None,
        };
        Ok(Self {
            caller,
            files: Files::Here { copy },
            before: BTreeMap::new(),
        })
    }

    /// The copy's path as the server sees it.
    pub(super) fn fixture_path(&self) -> Option<String> {
        match &self.files {
            Files::Here { copy } => copy.as_ref().map(|copy| copy.path().display().to_string()),
            Files::Inside(inside) => inside.fixture_path(),
        }
    }

    /// The files of a container, when it is one.
    pub(super) fn inside(&self) -> Option<&Inside> {
        match &self.files {
            Files::Here { .. } => None,
            Files::Inside(inside) => Some(inside),
        }
    }

    /// Makes the copy as it was, for the next assertion of the same server.
    pub(super) async fn reset(&mut self, server: &Running) -> Result<(), Disruption> {
        self.before.clear();
        match &self.files {
            Files::Here { copy: None } => Ok(()),
            Files::Here { copy: Some(copy) } => copy.reset().await.map_err(|problem| {
                disrupted(Phase::Place, "the fixture could not be reset", &problem)
            }),
            Files::Inside(inside) => inside.is_untouched(server).await,
        }
    }

    /// Remembers the files that the expectations name, as far as their names are known by now.
    pub(super) fn look_before(&mut self, job: &RunJob, bindings: &Bindings, dialect: Dialect) {
        let paths = paths(wanted_of(job), bindings, dialect);
        if paths.is_empty() {
            return;
        }
        let (callers, paths) = of_caller(paths, dialect);
        self.before = match &mut self.files {
            Files::Here { copy } => files::look(&paths, copy.as_ref(), &self.caller),
            Files::Inside(inside) => inside.look_before(&paths),
        };
        let callers = files::look(&callers, None, &self.caller);
        self.before.extend(callers);
    }

    /// Looks at what the next assertion of a running container names.
    pub(super) async fn look_again(&mut self, job: &RunJob, server: &Running) {
        if let (Files::Inside(inside), Some(server), Target::Container { container, .. }) =
            (&self.files, server.container(), &job.planned.server.target)
        {
            for path in inside.outside() {
                let state = server.look(container, path).await;
                inside.add_one(path, &state, &mut self.before);
            }
        }
    }

    /// Takes over what was seen in a container that was made meanwhile.
    pub(super) fn took_place(&mut self, server: &Running) {
        if let (Files::Inside(inside), Some(container)) = (&self.files, server.container()) {
            inside.add_before(container, &mut self.before);
        }
    }

    /// What the files are now that these expectations are about, and everything that changed in the copy.
    pub(super) async fn look_after(
        &self,
        wanted: &[&Wanted],
        (bindings, dialect): (&Bindings, Dialect),
        server: &Running,
    ) -> Result<FilesSeen, Disruption> {
        let paths = paths(wanted.iter().copied(), bindings, dialect);
        let (callers, paths) = of_caller(paths, dialect);
        let asked = wanted
            .iter()
            .any(|wanted| matches!(wanted.key, "not" | "only_changed" | "file_unchanged"));
        let (mut after, changed) = match (&self.files, server) {
            (Files::Inside(inside), Running::Container(container)) => {
                let asked = if asked { Compared::Yes } else { Compared::No };
                inside.look_after(&paths, container, asked).await?
            }
            (Files::Here { copy }, Running::Process(_) | Running::Container(_)) => {
                let after = if paths.is_empty() {
                    BTreeMap::new()
                } else {
                    files::look(&paths, copy.as_ref(), &self.caller)
                };
                (after, changes(copy.as_ref().filter(|_| asked)).await?)
            }
            (Files::Inside(_), Running::Process(_)) => (BTreeMap::new(), None),
        };
        let root = self.fixture_path();
        let inside = |path: &str| {
            let is_callers = callers.iter().any(|own| own == path);
            let root = root.as_deref().filter(|_| !is_callers);
            root.and_then(|root| below(root, path))
        };
        after.extend(files::look(&callers, None, &self.caller));
        let paths = after
            .into_iter()
            .map(|(path, after)| {
                let unseen = || {
                    FileState::Unknown("its name was not known before the server ran".to_owned())
                };
                let before = self.before.get(&path).cloned().unwrap_or_else(unseen);
                let inside = inside(&path);
                let seen = FileSeen {
                    before,
                    after,
                    inside,
                };
                (path, seen)
            })
            .collect();
        let compared = changed.map(|compared| (compared.changes, compared.unseen));
        let (changed, unseen) = compared.unzip();
        Ok(FilesSeen {
            paths,
            changed,
            unseen: unseen.unwrap_or_default(),
            root,
        })
    }

    /// Removes the copy; why it could not be is the run's to tell, for it stays whatever becomes of the job.
    pub(super) async fn close(self, shared: &Shared) {
        match self.files {
            Files::Here { copy: Some(copy) } => {
                if let Err(problem) = copy.close().await {
                    shared.leave(problem.to_string());
                }
            }
            // They go with the container.
            Files::Here { copy: None } | Files::Inside(_) => {}
        }
    }
}

/// Everything that changed in a copy.
async fn changes(copy: Option<&FixtureCopy>) -> Result<Option<Comparison>, Disruption> {
    let Some(copy) = copy else {
        return Ok(None);
    };
    let changes = copy.changes().await;
    changes
        .map(Some)
        .map_err(|problem| disrupted(Phase::Subject, NOT_COMPARED, &problem))
}

/// How a comparison that failed is told.
pub(super) const NOT_COMPARED: &str = "the fixture's copy could not be compared with the original";

pub(super) fn disrupted(phase: Phase, what: &str, problem: &FixtureProblem) -> Disruption {
    let disruption = Disruption::new(DisruptionKind::Place, phase, format!("{what}: {problem}"));
    match problem.help() {
        Some(help) => disruption.with_help(help),
        None => disruption,
    }
}

/// The paths that expectations name.
fn paths<'a>(
    wanted: impl Iterator<Item = &'a Wanted>,
    bindings: &Bindings,
    dialect: Dialect,
) -> Vec<String> {
    let mut paths = BTreeSet::new();
    for wanted in wanted {
        if let Ok(expectation) = resolve(wanted, bindings, dialect) {
            collect(expectation.as_ref(), &mut paths);
        }
    }
    paths.into_iter().collect()
}

/// The paths that start in the caller's directory although there may be a fixture, and the others.
fn of_caller(paths: Vec<String>, dialect: Dialect) -> (Vec<String>, Vec<String>) {
    paths
        .into_iter()
        .partition(|path| dialect == Dialect::Compat && Path::new(path).is_relative())
}

/// A path relative to the fixture, if it leads there; only its letters are looked at.
fn below(root: &str, path: &str) -> Option<String> {
    let path = Path::new(path);
    let path = if path.is_absolute() {
        path.strip_prefix(root).ok()?
    } else {
        path
    };
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => parts.push(name.to_string_lossy()),
            Component::ParentDir => {
                parts.pop()?;
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    let below = parts.join("/");
    Some(if below.is_empty() {
        ".".to_owned()
    } else {
        below
    })
}

/// The expectations that may name files, those of steps included.
fn wanted_of(job: &RunJob) -> impl Iterator<Item = &Wanted> {
    let of_steps = job
        .body
        .setup
        .iter()
        .chain(job.body.subject.steps())
        .flat_map(|step| &step.wanted);
    let all = job.body.wanted.iter().chain(of_steps);
    all.filter(|wanted| about_files(wanted))
}

/// Whether an expectation may be about files.
pub(super) fn about_files(wanted: &Wanted) -> bool {
    wanted.key.starts_with("file_") || matches!(wanted.key, "not" | "only_changed")
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
        | Expectation::ResourceUpdated(_)
        | Expectation::ServerRequests(_)
        | Expectation::Stderr(_)
        | Expectation::Exit(_)
        | Expectation::Findings(_)
        | Expectation::Snapshot(_)
        | Expectation::Trajectory(_) => {}
    }
}
