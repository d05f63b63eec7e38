//! The files of a job whose server runs in a container: the fixture in its volume, and whatever else an expectation
//! names inside.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    launch,
    place::{NOT_COMPARED, disrupted},
};
use crate::{
    isolate::{
        container::{
            body,
            image::ReadyImage,
            readback::{ReadFailure, Tree},
            server::ServerContainer,
            sight, upload,
        },
        fixture::{Comparison, Fixture},
        running::Running,
    },
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::{Change, FileState},
    },
    plan::job::RunJob,
    suite::{
        model::server::{Server, Target},
        template::Bindings,
    },
};

/// Whether the fixture is compared with the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compared {
    /// It is.
    Yes,
    /// Nobody asked.
    No,
}

/// Files by the paths that expectations name, and what changed.
type Seen = (BTreeMap<String, FileState>, Option<Comparison>);

/// The files of a container.
pub(super) struct Inside {
    server: Arc<Server>,
    /// The original, and where its copy is in the container.
    fixture: Option<(Arc<Fixture>, String)>,
    /// Where the server starts, and relative paths without a fixture.
    directory: String,
    /// Places outside of the fixture that expectations name, absolute, with the names they have there.
    outside: Vec<String>,
    names: BTreeMap<String, Vec<String>>,
}

impl Inside {
    /// The files of a job; the container is not there yet.
    pub(super) fn new(
        job: &RunJob,
        fixture: Option<&Arc<Fixture>>,
        image: &ReadyImage,
        bindings: &Bindings,
    ) -> Self {
        let fixture = fixture.filter(|_| job.planned.assertion.uses_fixture);
        let fixture = fixture.map(|fixture| (Arc::clone(fixture), upload::place(fixture)));
        let bindings = Bindings {
            fixture: fixture.as_ref().map(|(_, path)| path.clone()),
            ..bindings.clone()
        };
        let directory = match &job.planned.server.target {
            Target::Container { container, program } => {
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
            server: Arc::clone(&job.planned.server),
            fixture,
            directory,
            outside: Vec::new(),
            names: BTreeMap::new(),
        }
    }

    /// The original.
    pub(super) fn fixture(&self) -> Option<&Arc<Fixture>> {
        self.fixture.as_ref().map(|(fixture, _)| fixture)
    }

    /// Where the server sees it.
    pub(super) fn fixture_path(&self) -> Option<String> {
        self.fixture.as_ref().map(|(_, path)| path.clone())
    }

    /// Places outside of the fixture to be looked at.
    pub(super) fn outside(&self) -> &[String] {
        &self.outside
    }

    /// What the paths are before the server runs: those of the fixture as in the original.
    pub(super) fn look_before(&mut self, paths: &[String]) -> BTreeMap<String, FileState> {
        self.outside.clear();
        self.names.clear();
        let mut before = BTreeMap::new();
        for path in paths {
            if let Some((fixture, relative)) = self.below_fixture(path) {
                let mut seen = fixture.look(std::slice::from_ref(&relative));
                before.extend(seen.remove(&relative).map(|state| (path.clone(), state)));
                continue;
            }
            let place = self.place_of(path);
            let names = self.names.entry(place.clone()).or_default();
            names.push(path.clone());
            if names.len() == 1 {
                self.outside.push(place);
            }
        }
        before
    }

    /// Adds what was outside of the fixture when the container was made.
    pub(super) fn add_before(
        &self,
        container: &ServerContainer,
        before: &mut BTreeMap<String, FileState>,
    ) {
        for (place, state) in container.before() {
            self.add_one(place, state, before);
        }
    }

    /// Adds what is at a place under every name it has.
    pub(super) fn add_one(
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
    pub(super) async fn look_after(
        &self,
        paths: &[String],
        container: &ServerContainer,
        compared: Compared,
    ) -> Result<Seen, Disruption> {
        let Target::Container {
            container: model, ..
        } = &self.server.target
        else {
            return Ok((BTreeMap::new(), None));
        };
        let below = |path: &String| self.below_fixture(path).is_some();
        let (inner, outer): (Vec<&String>, Vec<&String>) =
            paths.iter().partition(|path| below(path));
        let mut after = BTreeMap::new();
        for path in outer {
            let state = container.look(model, &self.place_of(path)).await;
            after.insert(path.clone(), state);
        }
        let Some((fixture, root)) = &self.fixture else {
            return Ok((after, None));
        };
        if inner.is_empty() && compared == Compared::No {
            return Ok((after, None));
        }
        let tree = tree(container, root).await?;
        let mut unlisted = BTreeMap::new();
        for path in inner {
            let mut state = tree.look(path, root);
            if state == FileState::Absent {
                let place = Path::new(root).join(path).display().to_string();
                // No archive holds a socket; asked for by name, it is there.
                let found = container.look(model, &place).await;
                if matches!(found, FileState::Unreadable(_)) {
                    unlisted.extend(self.below_clean(&place).map(|path| (path, Change::Added)));
                    state = found;
                }
            }
            after.insert(path.clone(), state);
        }
        if compared == Compared::No {
            return Ok((after, None));
        }
        let mut changes = compare(fixture, tree).await?;
        changes.changes.extend(unlisted);
        Ok((after, Some(changes)))
    }

    /// What the changes call a place of the fixture.
    fn below_clean(&self, place: &str) -> Option<String> {
        let (_, root) = self.fixture.as_ref()?;
        let place = sight::clean(Path::new(place));
        Some(place.strip_prefix(root).ok()?.display().to_string())
    }

    /// Whether the next assertion can use the container as it is. A fixture that a server changed cannot be made as
    /// it was: a fresh container is.
    pub(super) async fn is_untouched(&self, server: &Running) -> Result<(), Disruption> {
        let (Some((fixture, root)), Some(container)) = (&self.fixture, server.container()) else {
            return Ok(());
        };
        let changes = compare(fixture, tree(container, root).await?).await?;
        if changes.is_empty() {
            return Ok(());
        }
        Err(disruption("the fixture was changed".to_owned()))
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
async fn tree(container: &ServerContainer, root: &str) -> Result<Tree, Disruption> {
    match container.tree(root).await {
        Ok(tree) => Ok(tree),
        Err(ReadFailure::Absent(_)) => Ok(Tree::default()),
        Err(failure @ (ReadFailure::TooMuch { .. } | ReadFailure::Failed { .. })) => Err(
            disruption(format!("the fixture could not be read: {failure}")),
        ),
    }
}

async fn compare(fixture: &Arc<Fixture>, tree: Tree) -> Result<Comparison, Disruption> {
    let fixture = Arc::clone(fixture);
    let compared =
        tokio::task::spawn_blocking(move || fixture.compare(&tree.into_returned())).await;
    match compared {
        Ok(Ok(changes)) => Ok(changes),
        Ok(Err(problem)) => Err(disrupted(Phase::Subject, NOT_COMPARED, &problem)),
        Err(error) => Err(disruption(error.to_string())),
    }
}

fn disruption(message: String) -> Disruption {
    Disruption::new(DisruptionKind::Place, Phase::Subject, message)
}
