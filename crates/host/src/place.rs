//! The files of a server: its own copy of the fixture where it needs one, and what is looked at in it, before the server
//! starts and later. Which paths those are is for others to say.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

pub use super::container_files::Compared;
use super::{
    container::image::ReadyImage,
    container_files::{ContainerFiles, Seen},
    files::{self, Depth},
    fixture::{Comparison, Fixture, FixtureCopy, FixtureProblem},
    host::Peer,
    pace::Until,
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{FileSeen, FileState, FilesSeen, Way},
    },
    script::template::Bindings,
};
use suite::model::server::Target;

/// Paths by their names, with what is wanted of each.
pub type Paths = BTreeMap<String, Depth>;

/// What is looked for in a place.
#[derive(Debug, Default)]
pub struct Sought {
    /// Paths that start in the fixture, where there is one.
    pub paths: Paths,
    /// Paths that start in the caller's directory although there may be a fixture.
    pub callers: Paths,
    /// Of all these, the ones where the name of a near file helps when nothing is there.
    pub missed: BTreeSet<String>,
    /// Whether the whole fixture is compared with the original.
    pub compared: Compared,
}

/// A job's files.
pub struct Place {
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
    InContainer(ContainerFiles),
}

impl Place {
    /// Makes the copy for a job that uses one, as long as that is worth it.
    pub async fn new(
        (target, image): (&Target, Option<&ReadyImage>),
        fixture: Option<&Arc<Fixture>>,
        bindings: &Bindings,
        until: &Until,
    ) -> Result<Self, Disruption> {
        let caller = bindings.environment.directory.clone();
        if let Some(image) = image {
            return Ok(Self {
                caller,
                files: Files::InContainer(ContainerFiles::new(target, fixture, image, bindings)),
                before: BTreeMap::new(),
            });
        }
        let copy = match fixture {
            Some(fixture) => {
                let copied = fixture.copy_by(until.clone()).await;
                Some(copied.map_err(|problem| disrupted(&problem, NOT_COPIED, until))?)
            }
            None => None,
        };
        Ok(Self {
            caller,
            files: Files::Here { copy },
            before: BTreeMap::new(),
        })
    }

    /// The copy's path as the server sees it.
    pub fn fixture_path(&self) -> Option<String> {
        match &self.files {
            Files::Here { copy } => copy.as_ref().map(|copy| copy.path().display().to_string()),
            Files::InContainer(inside) => inside.fixture_path(),
        }
    }

    /// The files of a container, when it is one.
    pub(super) fn in_container(&self) -> Option<&ContainerFiles> {
        match &self.files {
            Files::Here { .. } => None,
            Files::InContainer(inside) => Some(inside),
        }
    }

    /// Whether the next assertion of the same server finds the fixture as a fresh one would. What the server changed
    /// cannot be taken back under it: it may hold open what it made, and count on it. A fresh server can.
    pub async fn is_untouched(&self, server: &Peer, until: &Until) -> bool {
        match &self.files {
            Files::Here { copy: None } => true,
            // What cannot be looked at may be changed.
            Files::Here { copy: Some(copy) } => copy.is_untouched(until).await.unwrap_or(false),
            Files::InContainer(inside) => {
                let untouched = Box::pin(inside.is_untouched(server, until)).await;
                untouched.unwrap_or(false)
            }
        }
    }

    /// Remembers the files that are sought, as far as their names are known by now.
    pub async fn look_before(&mut self, sought: &Sought, until: &Until) -> Result<(), Disruption> {
        self.before.clear();
        let Sought { paths, callers, .. } = sought;
        if paths.is_empty() && callers.is_empty() {
            return Ok(());
        }
        let failed = |problem| disrupted(&problem, (Phase::Place, NOT_READ), until);
        let before = match &mut self.files {
            Files::Here { copy } => files::look(paths, copy.as_ref(), &self.caller, until).await,
            Files::InContainer(inside) => inside.look_before(paths, until).await,
        };
        self.before = before.map_err(failed)?;
        let callers = files::look(callers, None, &self.caller, until).await;
        self.before.extend(callers.map_err(failed)?);
        Ok(())
    }

    /// Looks at what the next assertion of a running container names.
    pub async fn look_again(&mut self, server: &Peer) {
        if let (Files::InContainer(inside), Some(server)) = (&self.files, server.container()) {
            for path in inside.outside() {
                let state = Box::pin(server.look(path)).await;
                inside.add_one(path, &state, &mut self.before);
            }
        }
    }

    /// Takes over what was seen in a container that was made meanwhile.
    pub fn took_place(&mut self, server: &Peer) {
        if let (Files::InContainer(inside), Some(container)) = (&self.files, server.container()) {
            inside.add_before(container, &mut self.before);
        }
    }

    /// What the files that are sought are now, and everything that changed in the copy.
    pub async fn look_after(
        &self,
        sought: &Sought,
        server: &Peer,
        until: &Until,
    ) -> Result<FilesSeen, Disruption> {
        let failed = |problem| disrupted(&problem, (Phase::Subject, NOT_READ), until);
        let Sought { paths, callers, .. } = sought;
        let Seen {
            mut after,
            mut near,
            changed,
        } = match (&self.files, server) {
            (Files::InContainer(inside), Peer::Container(container)) => {
                let compared = (sought.compared, until);
                inside.look_after(paths, container, compared).await?
            }
            (
                Files::Here { copy },
                Peer::Process(_) | Peer::Container(_) | Peer::Launched(_) | Peer::Remote,
            ) => {
                let after = files::look(paths, copy.as_ref(), &self.caller, until).await;
                let compared = copy.as_ref().filter(|_| sought.compared == Compared::Yes);
                let changed = changes(compared, until).await?;
                Seen {
                    after: after.map_err(failed)?,
                    near: BTreeMap::new(),
                    changed,
                }
            }
            (Files::InContainer(_), Peer::Process(_) | Peer::Launched(_) | Peer::Remote) => {
                Seen::default()
            }
        };
        let of_caller = files::look(callers, None, &self.caller, until).await;
        after.extend(of_caller.map_err(failed)?);
        near.extend(self.near(&after, sought, until).await);
        let late = paths
            .iter()
            .filter(|(path, _)| !self.before.contains_key(*path));
        let original = self.look_at_original(late, until).await.map_err(failed)?;
        let compared = changed.map(|compared| (compared.changes, compared.unseen));
        let (changed, unseen) = compared.unzip();
        Ok(FilesSeen {
            paths: self.before_and_after(after, &original, callers),
            near,
            changed,
            unseen: unseen.unwrap_or_default(),
            root: self.fixture_path(),
        })
    }

    /// The paths as they are, with what they were; `original` has those of the fixture that were not known then.
    fn before_and_after(
        &self,
        after: BTreeMap<String, FileState>,
        original: &BTreeMap<String, FileState>,
        callers: &Paths,
    ) -> BTreeMap<String, FileSeen> {
        let unseen =
            || FileState::Unknown("its name was not known before the server ran".to_owned());
        let both = after.into_iter().map(|(path, after)| {
            let before = self.before.get(&path).or_else(|| original.get(&path));
            let is_callers = callers.contains_key(&path);
            let seen = FileSeen {
                before: before.cloned().unwrap_or_else(unseen),
                after,
                inside: self.way(Path::new(&path)).filter(|_| !is_callers),
            };
            (path, seen)
        });
        both.collect()
    }

    /// What may have been meant by paths where a file is wanted and nothing is.
    async fn near(
        &self,
        after: &BTreeMap<String, FileState>,
        sought: &Sought,
        until: &Until,
    ) -> BTreeMap<String, String> {
        let mut near = BTreeMap::new();
        let Files::Here { copy } = &self.files else {
            return near;
        };
        for (path, state) in after {
            let copy = copy.as_ref();
            let copy = copy.filter(|_| !sought.callers.contains_key(path));
            if *state == FileState::Absent
                && sought.missed.contains(path)
                && let Some(name) = files::nearest(path, copy, &self.caller, until).await
            {
                near.insert(path.clone(), name);
            }
        }
        near
    }

    /// What paths of the fixture were before the server ran whose names are known only now: all of the original is there
    /// still. Of a path outside of it nobody can tell that any more.
    async fn look_at_original(
        &self,
        paths: impl Iterator<Item = (&String, &Depth)>,
        until: &Until,
    ) -> Result<BTreeMap<String, FileState>, FixtureProblem> {
        let mut seen = BTreeMap::new();
        for (path, depth) in paths {
            let state = match &self.files {
                Files::Here { copy: None } => None,
                Files::Here { copy: Some(copy) } => {
                    copy.look_at_original(path, *depth, until).await
                }
                Files::InContainer(inside) => inside.look_at_original(path, *depth, until).await,
            };
            if let Some(state) = state {
                seen.insert(path.clone(), state?);
            }
        }
        Ok(seen)
    }

    /// Where a path leads in the fixture, if it leads there.
    fn way(&self, path: &Path) -> Option<Way> {
        let root = self.fixture_path()?;
        let below = if path.is_absolute() {
            path.strip_prefix(root).ok()?
        } else {
            path
        };
        match &self.files {
            Files::Here { copy } => copy.as_ref()?.way(below),
            Files::InContainer(inside) => inside.fixture()?.way(below),
        }
    }

    /// Removes the copy; gives back why it stays where it cannot be removed.
    pub async fn close(self) -> Option<String> {
        match self.files {
            Files::Here { copy: Some(copy) } => {
                let problem = copy.close().await.err()?;
                Some(problem.to_string())
            }
            // They go with the container.
            Files::Here { copy: None } | Files::InContainer(_) => None,
        }
    }
}

/// Everything that changed in a copy.
async fn changes(
    copy: Option<&FixtureCopy>,
    until: &Until,
) -> Result<Option<Comparison>, Disruption> {
    let Some(copy) = copy else {
        return Ok(None);
    };
    let changes = copy.changes(until).await;
    changes
        .map(Some)
        .map_err(|problem| disrupted(&problem, (Phase::Subject, NOT_COMPARED), until))
}

/// When something failed, and what.
type Failed = (Phase, &'static str);

const NOT_COPIED: Failed = (Phase::Place, "the fixture could not be copied");

/// How a look that failed is told.
const NOT_READ: &str = "the files that are asked for could not be looked at";

/// How a comparison that failed is told.
pub(super) const NOT_COMPARED: &str = "the fixture's copy could not be compared with the original";

/// What takes too long takes the time of the assertion, and nobody else's.
pub(super) fn disrupted(problem: &FixtureProblem, failed: Failed, until: &Until) -> Disruption {
    let (phase, what) = failed;
    let disruption = match problem {
        FixtureProblem::Slow { .. } => {
            let what = format!("{problem}; nothing was sent to the server");
            until.over(phase, &what)
        }
        FixtureProblem::Late(what) => until.over(phase, what),
        FixtureProblem::Interrupted => {
            Disruption::new(DisruptionKind::Interrupted, phase, problem.to_string())
        }
        FixtureProblem::Unusable { .. } => {
            Disruption::new(DisruptionKind::Place, phase, format!("{what}: {problem}"))
        }
    };
    match problem.help() {
        Some(help) => disruption.with_help(help),
        None => disruption,
    }
}
