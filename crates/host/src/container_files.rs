//! The files of a job whose server runs in a container: the fixture in its volume, and whatever else an expectation
//! names inside.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    container::{
        body,
        image::ReadyImage,
        readback::{ReadFailure, Tree},
        server::ServerContainer,
        sight, upload,
    },
    files::Depth,
    fixture::{Comparison, Fixture, FixtureProblem},
    host::Peer,
    launch,
    pace::Until,
    place::{NOT_COMPARED, disrupted},
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{Change, FileState},
    },
    script::template::Bindings,
};
use suite::model::server::Target;

/// Whether the fixture is compared with the original.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Compared {
    /// It is.
    Yes,
    /// Nobody asked.
    #[default]
    No,
}

/// What was seen of the files.
#[derive(Default)]
pub(crate) struct Seen {
    /// By the paths that expectations name.
    pub after: BTreeMap<String, FileState>,
    /// What stands in the folder of a path where nothing is.
    pub near: BTreeMap<String, String>,
    /// What changed.
    pub changed: Option<Comparison>,
}

/// The files of a container.
pub(crate) struct ContainerFiles {
    /// The original, and where its copy is in the container.
    fixture: Option<(Arc<Fixture>, String)>,
    /// Where the server starts, and relative paths without a fixture.
    directory: String,
    /// Places outside of the fixture that expectations name, absolute, with the names they have there.
    outside: Vec<String>,
    names: BTreeMap<String, Vec<String>>,
}

impl ContainerFiles {
    /// The files of a job; the container is not there yet.
    pub(crate) fn new(
        target: &Target,
        fixture: Option<&Arc<Fixture>>,
        image: &ReadyImage,
        bindings: &Bindings,
    ) -> Self {
        let fixture = fixture.map(|fixture| (Arc::clone(fixture), upload::place(fixture)));
        let mut bindings = Bindings {
            fixture: fixture.as_ref().map(|(_, path)| path.clone()),
            ..bindings.clone()
        };
        // Whichever it will be.
        bindings.captured.insert("port".to_owned(), 0.into());
        let directory = match target {
            Target::Container {
                container, program, ..
            } => {
                // One that cannot be told keeps the server from being started, too.
                let own = launch::contained(program, &bindings).ok();
                let own = own.and_then(|command| command.workdir);
                body::directory(container, image, own.as_deref())
            }
            Target::Process(_) | Target::Builtin { .. } | Target::Url { .. } | Target::None => {
                "/".to_owned()
            }
        };
        Self {
            fixture,
            directory,
            outside: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// The original.
    pub(crate) fn fixture(&self) -> Option<&Arc<Fixture>> {
        self.fixture.as_ref().map(|(fixture, _)| fixture)
    }

    /// Where the server sees it.
    pub(crate) fn fixture_path(&self) -> Option<String> {
        self.fixture.as_ref().map(|(_, path)| path.clone())
    }

    /// Where the server starts.
    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    /// Places outside of the fixture to be looked at.
    pub(crate) fn outside(&self) -> &[String] {
        &self.outside
    }

    /// What the paths are before the server runs: those of the fixture as in the original.
    pub(crate) async fn look_before(
        &mut self,
        paths: &BTreeMap<String, Depth>,
        until: &Until,
    ) -> Result<BTreeMap<String, FileState>, FixtureProblem> {
        self.outside.clear();
        self.names.clear();
        let mut before = BTreeMap::new();
        for (path, depth) in paths {
            if let Some((fixture, relative)) = self.below_fixture(path) {
                let state = fixture.look(relative, *depth, until).await?;
                before.insert(path.clone(), state);
                continue;
            }
            let place = self.place_of(path);
            let names = self.names.entry(place.clone()).or_default();
            names.push(path.clone());
            if names.len() == 1 {
                self.outside.push(place);
            }
        }
        Ok(before)
    }

    /// What a path was before the server ran, if it is one of the fixture.
    pub(crate) async fn look_at_original(
        &self,
        path: &str,
        depth: Depth,
        until: &Until,
    ) -> Option<Result<FileState, FixtureProblem>> {
        let (fixture, relative) = self.below_fixture(path)?;
        Some(fixture.look(relative, depth, until).await)
    }

    /// Adds what was outside of the fixture when the container was made.
    pub(crate) fn add_before(
        &self,
        container: &ServerContainer,
        before: &mut BTreeMap<String, FileState>,
    ) {
        for (place, state) in container.before() {
            self.add_one(place, state, before);
        }
    }

    /// Adds what is at a place under every name it has.
    pub(crate) fn add_one(
        &self,
        place: &str,
        state: &FileState,
        into: &mut BTreeMap<String, FileState>,
    ) {
        for name in self.names.get(place).into_iter().flatten() {
            into.insert(name.clone(), state.clone());
        }
    }

    /// What the paths are now, and what changed in the fixture.
    pub(crate) async fn look_after(
        &self,
        paths: &BTreeMap<String, Depth>,
        container: &ServerContainer,
        (compared, until): (Compared, &Until),
    ) -> Result<Seen, Disruption> {
        let below = |path: &String| self.below_fixture(path).is_some();
        let (inner, outer): (Vec<&String>, Vec<&String>) =
            paths.keys().partition(|path| below(path));
        let mut seen = Seen::default();
        for path in outer {
            let place = self.place_of(path);
            let state = within(until, &place, container.look(&place)).await?;
            seen.after.insert(path.clone(), state);
        }
        let Some((fixture, root)) = &self.fixture else {
            return Ok(seen);
        };
        if inner.is_empty() && compared == Compared::No {
            return Ok(seen);
        }
        let asked = inner.iter().filter_map(|path| self.below_clean(path));
        let asked = asked.map(PathBuf::from).collect();
        let tree = match within(until, root, container.tree(root, asked)).await? {
            // Those that are named can be looked at one by one.
            Err(ReadFailure::TooMuch { .. }) if compared == Compared::No => None,
            read => Some(whole(read)?),
        };
        let mut unlisted = BTreeMap::new();
        for path in inner {
            let listed = tree.as_ref().and_then(|tree| tree.look(path, root));
            let state = if let Some(state) = listed {
                state
            } else {
                let found = within(until, path, container.look_below(root, path)).await?;
                // A socket: no archive holds one.
                if matches!(found, FileState::Unreadable(_)) {
                    unlisted.extend(self.below_clean(path).map(|path| (path, Change::Added)));
                }
                found
            };
            if state == FileState::Absent {
                let near = tree.as_ref().and_then(|tree| tree.nearest(path, root));
                seen.near.extend(near.map(|near| (path.clone(), near)));
            }
            seen.after.insert(path.clone(), state);
        }
        let Some(tree) = tree.filter(|_| compared == Compared::Yes) else {
            return Ok(seen);
        };
        let mut changes = compare(fixture, (tree, root), container, until).await?;
        changes.changes.extend(unlisted);
        seen.changed = Some(changes);
        Ok(seen)
    }

    /// What the changes call a place of the fixture.
    fn below_clean(&self, path: &str) -> Option<String> {
        let (_, root) = self.fixture.as_ref()?;
        let place = sight::clean(&Path::new(root).join(path));
        Some(place.strip_prefix(root).ok()?.display().to_string())
    }

    /// Whether the fixture is as it was when the container was made.
    pub(crate) async fn is_untouched(
        &self,
        server: &Peer,
        until: &Until,
    ) -> Result<bool, Disruption> {
        let (Some((fixture, root)), Some(container)) = (&self.fixture, server.container()) else {
            return Ok(true);
        };
        let tree = within(until, root, container.tree(root, BTreeSet::new())).await?;
        let changes = compare(fixture, (whole(tree)?, root), container, until).await?;
        Ok(changes.is_empty())
    }

    /// A path relative to the fixture, if it leads there.
    fn below_fixture(&self, path: &str) -> Option<(&Arc<Fixture>, String)> {
        let (fixture, root) = self.fixture.as_ref()?;
        let given = Path::new(path);
        if given.is_relative() {
            return Some((fixture, path.to_owned()));
        }
        let below = given.strip_prefix(root).ok()?;
        Some((fixture, below.display().to_string()))
    }

    /// The absolute place of a path outside of the fixture.
    fn place_of(&self, path: &str) -> String {
        let place: PathBuf = Path::new(&self.directory).join(path);
        place.display().to_string()
    }
}

/// What is in the container's fixture; nothing when the server removed all of it.
fn whole(read: Result<Tree, ReadFailure>) -> Result<Tree, Disruption> {
    match read {
        Ok(tree) => Ok(tree),
        Err(ReadFailure::Absent(_)) => Ok(Tree::default()),
        Err(failure @ (ReadFailure::TooMuch { .. } | ReadFailure::Failed { .. })) => Err(
            disruption(format!("the fixture could not be read: {failure}")),
        ),
    }
}

/// What is read of a place in a container, if that ends in time.
async fn within<T>(
    until: &Until,
    place: &str,
    reading: impl Future<Output = T>,
) -> Result<T, Disruption> {
    until.wait(reading).await.ok_or_else(|| late(until, place))
}

fn late(until: &Until, place: &str) -> Disruption {
    let what = format!("`{place}` was still being read from the container");
    let problem = FixtureProblem::late(until, what);
    disrupted(&problem, (Phase::Subject, NOT_COMPARED), until)
}

/// What changed in the fixture, whose tree is at a root of the container.
async fn compare(
    fixture: &Arc<Fixture>,
    (mut tree, root): (Tree, &str),
    container: &ServerContainer,
    until: &Until,
) -> Result<Comparison, Disruption> {
    within(until, root, container.add_sockets(root, &mut tree)).await?;
    let compared = fixture.compare(tree.into_returned(), until).await;
    compared.map_err(|problem| disrupted(&problem, (Phase::Subject, NOT_COMPARED), until))
}

fn disruption(message: String) -> Disruption {
    Disruption::new(DisruptionKind::Place, Phase::Subject, message)
}
