//! The files of a job: its own copy of the fixture, and the files that expectations name, read before and after the
//! server runs.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    container::image::ReadyImage,
    container_files::ContainerFiles,
    files,
    fixture::{Comparison, Fixture, FixtureCopy, FixtureProblem, ProblemKind},
    host::Peer,
    pace::Until,
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{FileSeen, FileState, FilesSeen},
    },
    script::template::Bindings,
};
use suite::model::{expectation::FilesLook, server::Target};

/// Paths as expectations name them, and how each is looked at.
pub type Paths = BTreeMap<String, FilesLook>;

/// What is read.
#[derive(Debug, Default)]
pub struct Sought {
    /// Paths that start in the fixture, where there is one.
    pub paths: Paths,
    /// Paths that start in the caller's directory although there may be a fixture.
    pub callers: Paths,
    /// Whether the whole fixture is compared with the original.
    pub compared: bool,
}

/// The states of paths, by name.
pub(super) type States = BTreeMap<String, FileState>;

/// A job's files.
pub struct Place {
    files: Files,
    /// The caller's directory: where relative paths start when there is no fixture, and in the Go tool always.
    caller: PathBuf,
    /// The paths outside of the fixture, before the server ran. In the fixture they were as in the original.
    before: States,
}

/// Where the files are.
enum Files {
    /// On this machine.
    Here(Option<FixtureCopy>),
    /// In the server's container.
    InContainer(ContainerFiles),
}

impl Place {
    /// Copies the fixture where the job uses one.
    pub async fn new(
        (target, image): (&Target, Option<&ReadyImage>),
        fixture: Option<&Arc<Fixture>>,
        bindings: &Bindings,
        until: &Until,
    ) -> Result<Self, Disruption> {
        let files = match (image, fixture) {
            (Some(image), _) => {
                Files::InContainer(ContainerFiles::new(target, fixture, image, bindings))
            }
            (None, None) => Files::Here(None),
            (None, Some(fixture)) => {
                let copied = fixture.copy_by(until.clone()).await;
                Files::Here(Some(
                    copied.map_err(|problem| disrupted(&problem, NOT_COPIED, until))?,
                ))
            }
        };
        Ok(Self {
            files,
            caller: bindings.environment.directory.clone(),
            before: States::new(),
        })
    }

    /// The copy's path as the server sees it.
    pub fn fixture_path(&self) -> Option<String> {
        match &self.files {
            Files::Here(copy) => copy.as_ref().map(|copy| copy.path().display().to_string()),
            Files::InContainer(inside) => inside.fixture_path(),
        }
    }

    /// The files of a container, when the server runs in one.
    pub(super) fn in_container(&self) -> Option<&ContainerFiles> {
        match &self.files {
            Files::Here(_) => None,
            Files::InContainer(inside) => Some(inside),
        }
    }

    /// Whether the next assertion of the same server finds the fixture as a fresh one would. A running server may hold
    /// open what it changed, so changes are never undone for it. What cannot be looked at counts as changed.
    pub async fn is_untouched(&self, server: &Peer, until: &Until) -> bool {
        match &self.files {
            Files::Here(None) => true,
            Files::Here(Some(copy)) => copy.is_untouched(until).await.unwrap_or(false),
            Files::InContainer(inside) => {
                let untouched = Box::pin(inside.is_untouched(server, until)).await;
                untouched.unwrap_or(false)
            }
        }
    }

    /// Reads the named paths outside of the fixture before the server starts.
    pub async fn look_before(&mut self, sought: &Sought, until: &Until) -> Result<(), Disruption> {
        self.before.clear();
        let mut outside = sought.paths.clone();
        outside.retain(|path, _| self.below(path).is_none());
        let failed = |problem| disrupted(&problem, (Phase::Place, NOT_READ), until);
        if let Files::InContainer(inside) = &mut self.files {
            // Read once the container is there.
            inside.watch(outside.into_keys());
        } else {
            let before = files::look(&outside, None, &self.caller, until).await;
            self.before = before.map_err(failed)?;
        }
        let callers = files::look(&sought.callers, None, &self.caller, until).await;
        self.before.extend(callers.map_err(failed)?);
        Ok(())
    }

    /// Reads what the next assertion of a running container names.
    pub async fn look_again(&mut self, server: &Peer) {
        if let (Files::InContainer(inside), Some(server)) = (&self.files, server.container()) {
            for (name, place) in inside.outside() {
                let state = Box::pin(server.look(place)).await;
                self.before.insert(name.clone(), state);
            }
        }
    }

    /// Takes over what was read in a container before its server started.
    pub fn took_place(&mut self, server: &Peer) {
        if let Some(container) = server.container() {
            self.before.extend(container.before.clone());
        }
    }

    /// Reads the named paths after the subject, and compares the copy with the original.
    pub async fn look_after(
        &self,
        sought: &Sought,
        server: &Peer,
        until: &Until,
    ) -> Result<FilesSeen, Disruption> {
        let failed = |problem| disrupted(&problem, (Phase::Subject, NOT_READ), until);
        let Sought { paths, callers, .. } = sought;
        let (after, compared) = match (&self.files, server.container()) {
            (Files::InContainer(inside), Some(container)) => {
                inside.look_after(sought, container, until).await?
            }
            (Files::InContainer(_), None) => (States::new(), None),
            (Files::Here(copy), _) => {
                let after = files::look(paths, copy.as_ref(), &self.caller, until).await;
                let compared = match copy.as_ref().filter(|_| sought.compared) {
                    Some(copy) => Some(copy.changes(until).await.map_err(|problem| {
                        disrupted(&problem, (Phase::Subject, NOT_COMPARED), until)
                    })?),
                    None => None,
                };
                (after.map_err(failed)?, compared)
            }
        };
        let of_caller = files::look(callers, None, &self.caller, until).await;
        let of_caller = of_caller.map_err(failed)?;
        let mut seen = BTreeMap::new();
        for (path, after) in after {
            let file = self.file(&path, after, (sought, until)).await;
            seen.insert(path, file.map_err(failed)?);
        }
        for (path, after) in of_caller {
            let before = self.before_of(&path);
            let file = FileSeen {
                before,
                after,
                inside: None,
            };
            seen.insert(path, file);
        }
        let (changed, unseen) = compared
            .map(|Comparison { changes, unseen }| (changes, unseen))
            .unzip();
        Ok(FilesSeen {
            paths: seen,
            changed,
            unseen: unseen.unwrap_or_default(),
            root: self.fixture_path(),
        })
    }

    /// A path as it is now, and as it was before the server ran.
    async fn file(
        &self,
        path: &str,
        after: FileState,
        (sought, until): (&Sought, &Until),
    ) -> Result<FileSeen, FixtureProblem> {
        let look = sought.paths.get(path).copied();
        let look = look.unwrap_or(FilesLook::Content);
        Ok(match (self.below(path), self.original()) {
            (Some(below), Some(original)) => FileSeen {
                before: original.look(below, look, until).await?,
                after,
                inside: original.way(below),
            },
            _ => FileSeen {
                before: self.before_of(path),
                after,
                inside: None,
            },
        })
    }

    /// A path outside of the fixture, before the server ran.
    fn before_of(&self, path: &str) -> FileState {
        let unknown =
            || FileState::Unknown("its name was not known before the server ran".to_owned());
        self.before.get(path).cloned().unwrap_or_else(unknown)
    }

    fn original(&self) -> Option<&Fixture> {
        match &self.files {
            Files::Here(copy) => copy.as_ref().map(FixtureCopy::original),
            Files::InContainer(inside) => inside.fixture().map(|fixture| &**fixture),
        }
    }

    /// A path relative to the fixture, if it starts there.
    fn below<'a>(&self, path: &'a str) -> Option<&'a Path> {
        below(self.fixture_path()?.as_ref(), path)
    }

    /// Removes the copy; says why, where it cannot be removed. Files of a container go with the container.
    pub async fn close(self) -> Option<String> {
        match self.files {
            Files::Here(Some(copy)) => Some(copy.close().await.err()?.to_string()),
            Files::Here(None) | Files::InContainer(_) => None,
        }
    }
}

/// A path relative to `root`, if it starts there.
pub(super) fn below<'a>(root: &Path, path: &'a str) -> Option<&'a Path> {
    let given = Path::new(path);
    if given.is_relative() {
        return Some(given);
    }
    given.strip_prefix(root).ok()
}

/// When something failed, and what.
type Failed = (Phase, &'static str);

const NOT_COPIED: Failed = (Phase::Place, "the fixture could not be copied");

const NOT_READ: &str = "the files that are asked for could not be looked at";

pub(super) const NOT_COMPARED: &str = "the fixture's copy could not be compared with the original";

/// The disruption that a problem with files means for the assertion.
pub(super) fn disrupted(problem: &FixtureProblem, failed: Failed, until: &Until) -> Disruption {
    let (phase, what) = failed;
    let message = &problem.message;
    let disruption = match problem.kind {
        ProblemKind::Late => until.over(phase, message),
        ProblemKind::Interrupted => Disruption::new(DisruptionKind::Interrupted, phase, message),
        ProblemKind::Fixture | ProblemKind::Machine => {
            Disruption::new(DisruptionKind::Place, phase, format!("{what}: {message}"))
        }
    };
    Disruption {
        help: problem.help.map(str::to_owned),
        ..disruption
    }
}
