//! The files of a job: its own copy of the fixture where it needs one, and what its expectations look at, before
//! the server starts and after the subject.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    inside::{Compared, Inside, Seen},
    job::Shared,
    overdue,
};
use check::Read;
use host::{
    container::image::ReadyImage,
    files::{self, Depth},
    fixture::{Comparison, Fixture, FixtureCopy, FixtureProblem},
    pace::Until,
    running::Running,
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{FileSeen, FileState, FilesSeen, Way},
    },
    script::template::Bindings,
};
use suite::{
    Dialect,
    lower::expectation::resolve,
    model::expectation::{Expectation, Wanted},
    plan::job::{Planned, RunJob},
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
    /// Makes the copy for a job that uses one, as long as that is worth it.
    pub(super) async fn new(
        planned: &Planned,
        fixture: Option<&Arc<Fixture>>,
        bindings: &Bindings,
        image: Option<&ReadyImage>,
        until: &Until,
    ) -> Result<Self, Disruption> {
        let caller = bindings.environment.directory.clone();
        if let Some(image) = image {
            return Ok(Self {
                caller,
                files: Files::Inside(Inside::new(planned, fixture, image, bindings)),
                before: BTreeMap::new(),
            });
        }
        let copy = match planned.terms.fixture.of(fixture) {
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

    /// Whether the next assertion of the same server finds the fixture as a fresh one would. What the server changed
    /// cannot be taken back under it: it may hold open what it made, and count on it. A fresh server can.
    pub(super) async fn is_untouched(&self, server: &Running, until: &Until) -> bool {
        match &self.files {
            Files::Here { copy: None } => true,
            // What cannot be looked at may be changed.
            Files::Here { copy: Some(copy) } => copy.is_untouched(until).await.unwrap_or(false),
            Files::Inside(inside) => {
                let untouched = Box::pin(inside.is_untouched(server, until)).await;
                untouched.unwrap_or(false)
            }
        }
    }

    /// Remembers the files that the expectations name, as far as their names are known by now.
    pub(super) async fn look_before(
        &mut self,
        job: &RunJob,
        bindings: &Bindings,
        dialect: Dialect,
        until: &Until,
    ) -> Result<(), Disruption> {
        self.before.clear();
        let paths = paths(wanted_of(job), bindings, dialect);
        if paths.is_empty() {
            return Ok(());
        }
        let failed = |problem| disrupted(&problem, (Phase::Place, NOT_READ), until);
        let (callers, paths) = of_caller(paths, dialect);
        let before = match &mut self.files {
            Files::Here { copy } => files::look(&paths, copy.as_ref(), &self.caller, until).await,
            Files::Inside(inside) => inside.look_before(&paths, until).await,
        };
        self.before = before.map_err(failed)?;
        let callers = files::look(&callers, None, &self.caller, until).await;
        self.before.extend(callers.map_err(failed)?);
        Ok(())
    }

    /// Looks at what the next assertion of a running container names.
    pub(super) async fn look_again(&mut self, server: &Running) {
        if let (Files::Inside(inside), Some(server)) = (&self.files, server.container()) {
            for path in inside.outside() {
                let state = Box::pin(server.look(path)).await;
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
        until: &Until,
    ) -> Result<FilesSeen, Disruption> {
        let failed = |problem| disrupted(&problem, (Phase::Subject, NOT_READ), until);
        let paths = paths(wanted.iter().copied(), bindings, dialect);
        let (callers, paths) = of_caller(paths, dialect);
        let asked = wanted
            .iter()
            .any(|wanted| matches!(wanted.key, "not" | "only_changed" | "file_unchanged"));
        let Seen {
            mut after,
            mut near,
            changed,
        } = match (&self.files, server) {
            (Files::Inside(inside), Running::Container(container)) => {
                let asked = if asked { Compared::Yes } else { Compared::No };
                inside.look_after(&paths, container, (asked, until)).await?
            }
            (Files::Here { copy }, Running::Process(_) | Running::Container(_)) => {
                let after = files::look(&paths, copy.as_ref(), &self.caller, until).await;
                let changed = changes(copy.as_ref().filter(|_| asked), until).await?;
                Seen {
                    after: after.map_err(failed)?,
                    near: BTreeMap::new(),
                    changed,
                }
            }
            (Files::Inside(_), Running::Process(_)) => Seen::default(),
        };
        let of_caller = files::look(&callers, None, &self.caller, until).await;
        after.extend(of_caller.map_err(failed)?);
        near.extend(self.near(&after, wanted, (bindings, dialect), until).await);
        let late = paths
            .iter()
            .filter(|(path, _)| !self.before.contains_key(*path));
        let original = self.look_at_original(late, until).await.map_err(failed)?;
        let compared = changed.map(|compared| (compared.changes, compared.unseen));
        let (changed, unseen) = compared.unzip();
        Ok(FilesSeen {
            paths: self.before_and_after(after, &original, &callers),
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
                prepared: None,
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
        wanted: &[&Wanted],
        (bindings, dialect): (&Bindings, Dialect),
        until: &Until,
    ) -> BTreeMap<String, String> {
        let mut near = BTreeMap::new();
        let Files::Here { copy } = &self.files else {
            return near;
        };
        let mut absent = after
            .iter()
            .filter(|(_, state)| **state == FileState::Absent);
        let Some(first) = absent.next() else {
            return near;
        };
        let wants_some = |wanted: &&&Wanted| WANT_A_FILE.contains(&wanted.key);
        let missed = paths(wanted.iter().filter(wants_some).copied(), bindings, dialect);
        let (callers, _) = of_caller(missed.clone(), dialect);
        for (path, _) in std::iter::once(first).chain(absent) {
            let copy = copy.as_ref().filter(|_| !callers.contains_key(path));
            if missed.contains_key(path)
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
                Files::Inside(inside) => inside.look_at_original(path, *depth, until).await,
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
            Files::Inside(inside) => inside.fixture()?.way(below),
        }
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
            overdue::disruption(until.timeout, phase, &what)
        }
        FixtureProblem::Late(what) => overdue::disruption(until.timeout, phase, what),
        FixtureProblem::Interrupted => {
            Disruption::new(DisruptionKind::Interrupted, phase, problem.to_string())
        }
        FixtureProblem::Missing(_)
        | FixtureProblem::NotADirectory(_)
        | FixtureProblem::HoldsTemporary { .. }
        | FixtureProblem::AbsoluteLink { .. }
        | FixtureProblem::EscapingLink { .. }
        | FixtureProblem::Special { .. }
        | FixtureProblem::Unreadable { .. }
        | FixtureProblem::Temporary { .. }
        | FixtureProblem::Copy { .. }
        | FixtureProblem::Handling { .. } => {
            Disruption::new(DisruptionKind::Place, phase, format!("{what}: {problem}"))
        }
    };
    match problem.help() {
        Some(help) => disruption.with_help(help),
        None => disruption,
    }
}

/// The expectations that are told of a file that is not there.
const WANT_A_FILE: [&str; 5] = [
    "file_contains",
    "file_not_contains",
    "file_equals",
    "file_exists",
    "not",
];

/// Paths by their names, with what is wanted of each.
type Paths = BTreeMap<String, Depth>;

/// The paths that expectations name.
fn paths<'a>(
    wanted: impl Iterator<Item = &'a Wanted>,
    bindings: &Bindings,
    dialect: Dialect,
) -> Paths {
    let mut paths = BTreeMap::new();
    for wanted in wanted {
        if let Ok(expectation) = resolve(wanted, bindings, dialect) {
            collect(expectation.as_ref(), &mut paths);
        }
    }
    paths
}

/// The paths that start in the caller's directory although there may be a fixture, and the others.
fn of_caller(paths: Paths, dialect: Dialect) -> (Paths, Paths) {
    paths
        .into_iter()
        .partition(|(path, _)| dialect == Dialect::Compat && Path::new(path).is_relative())
}

/// The expectations that may name files, those of steps included.
fn wanted_of(job: &RunJob) -> impl Iterator<Item = &Wanted> {
    let all = job.body.all_wanted();
    all.filter(|wanted| about_files(wanted))
}

/// Whether an expectation may be about files.
pub(super) fn about_files(wanted: &Wanted) -> bool {
    wanted.key.starts_with("file_") || matches!(wanted.key, "not" | "only_changed")
}

fn collect(expectation: &Expectation, paths: &mut Paths) {
    check::read(expectation, &mut |path: &str, read: Read| {
        let depth = match read {
            Read::Content => Depth::Content,
            Read::Digest => Depth::Digest,
        };
        let known = paths.entry(path.to_owned()).or_insert(depth);
        *known = depth.max(*known);
    });
}
