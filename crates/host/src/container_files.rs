//! The files of a job whose server runs in a container: the fixture in its volume, and whatever else an expectation
//! names inside.

use std::{
    collections::BTreeSet,
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
    fixture::{Comparison, Fixture, FixtureProblem},
    host::Peer,
    launch,
    pace::Until,
    place::{self, NOT_COMPARED, Sought, States, disrupted},
};
use mcp::{
    observation::{
        disruption::{Disruption, DisruptionKind, Phase},
        files::FileState,
    },
    script::template::Bindings,
};
use suite::model::server::Target;

/// The files of a container.
pub(crate) struct ContainerFiles {
    /// The original, and where its copy is in the container.
    fixture: Option<(Arc<Fixture>, String)>,
    /// Where the server starts, and relative paths without a fixture.
    directory: String,
    /// The paths outside of the fixture that expectations name, each with its absolute path.
    outside: Vec<(String, String)>,
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
        // The port is chosen later, and is no part of a directory.
        bindings.captured.insert("port".to_owned(), 0.into());
        let directory = match target {
            Target::Container {
                container, program, ..
            } => {
                // A directory that cannot be rendered is reported when the server is started.
                let own = launch::contained(program, &bindings).ok();
                let own = own.and_then(|command| command.directory);
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
        }
    }

    /// The original.
    pub(crate) fn fixture(&self) -> Option<&Arc<Fixture>> {
        self.fixture.as_ref().map(|(fixture, _)| fixture)
    }

    /// Where the server sees its copy.
    pub(crate) fn fixture_path(&self) -> Option<String> {
        self.fixture.as_ref().map(|(_, path)| path.clone())
    }

    /// Where the server starts.
    pub(crate) fn directory(&self) -> &str {
        &self.directory
    }

    /// The named paths outside of the fixture, each with its absolute path.
    pub(crate) fn outside(&self) -> &[(String, String)] {
        &self.outside
    }

    /// Names the paths outside of the fixture that are read before the server starts.
    pub(crate) fn watch(&mut self, paths: impl Iterator<Item = String>) {
        let placed = paths.map(|path| (path.clone(), self.place_of(&path)));
        self.outside = placed.collect();
    }

    /// Reads the named paths, and compares the fixture with the original.
    pub(crate) async fn look_after(
        &self,
        sought: &Sought,
        container: &ServerContainer,
        until: &Until,
    ) -> Result<(States, Option<Comparison>), Disruption> {
        let mut seen = States::new();
        let root = self.fixture.as_ref().map(|(_, root)| root.as_str());
        let is_below =
            |path: &&String| root.is_some_and(|root| place::below(root.as_ref(), path).is_some());
        let (inner, outer): (Vec<&String>, Vec<&String>) = sought.paths.keys().partition(is_below);
        for path in outer {
            let place = self.place_of(path);
            let state = within(until, &place, container.look(&place)).await?;
            seen.insert(path.clone(), state);
        }
        let Some((fixture, root)) = &self.fixture else {
            return Ok((seen, None));
        };
        if inner.is_empty() && !sought.compared {
            return Ok((seen, None));
        }
        let asked = inner.iter().filter_map(|path| relative(path, root));
        let tree = container.tree(root, asked.collect());
        let mut tree = match within(until, root, tree).await? {
            // The named paths can be read one by one.
            Err(ReadFailure::TooMuch { .. }) if !sought.compared => Tree::default(),
            read => whole(read)?,
        };
        for path in inner {
            let state = if let Some(listed) = tree.look(path, root) {
                listed
            } else {
                let found = within(until, path, container.look_below(root, path)).await?;
                if let (FileState::Unreadable(_), Some(below)) = (&found, relative(path, root)) {
                    tree.add_socket(below);
                }
                found
            };
            seen.insert(path.clone(), state);
        }
        if !sought.compared {
            return Ok((seen, None));
        }
        let compared = compare(fixture, (tree, root), container, until).await?;
        Ok((seen, Some(compared)))
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

    /// The absolute path of a path outside of the fixture.
    fn place_of(&self, path: &str) -> String {
        let place: PathBuf = Path::new(&self.directory).join(path);
        place.display().to_string()
    }
}

/// What is in the container's fixture; nothing when the server removed all of it.
fn whole(read: Result<Tree, ReadFailure>) -> Result<Tree, Disruption> {
    read.or_else(|failure| match failure {
        ReadFailure::Absent(_) => Ok(Tree::default()),
        ReadFailure::TooMuch { .. } | ReadFailure::Failed { .. } => Err(Disruption::new(
            DisruptionKind::Place,
            Phase::Subject,
            format!("the fixture could not be read: {failure}"),
        )),
    })
}

/// Reads a path of a container within the time that is left.
async fn within<T>(
    until: &Until,
    place: &str,
    reading: impl Future<Output = T>,
) -> Result<T, Disruption> {
    until.wait(reading).await.ok_or_else(|| {
        let what = format!("`{place}` was still being read from the container");
        not_compared(&FixtureProblem::late(until, what), until)
    })
}

/// What changed in the fixture, whose tree is at `root` of the container.
async fn compare(
    fixture: &Arc<Fixture>,
    (mut tree, root): (Tree, &str),
    container: &ServerContainer,
    until: &Until,
) -> Result<Comparison, Disruption> {
    within(until, root, container.add_sockets(root, &mut tree)).await?;
    let compared = fixture.compare(tree.things, until).await;
    compared.map_err(|problem| not_compared(&problem, until))
}

/// A path of the fixture at `root`, relative to it.
fn relative(path: &str, root: &str) -> Option<PathBuf> {
    let place = sight::clean(&Path::new(root).join(path));
    Some(place.strip_prefix(root).ok()?.to_owned())
}

fn not_compared(problem: &FixtureProblem, until: &Until) -> Disruption {
    disrupted(problem, (Phase::Subject, NOT_COMPARED), until)
}
