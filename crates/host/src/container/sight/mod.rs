//! What one path of a container is, as its server would find it: step by step, links followed inside and never on the
//! host. The engine does not see what lies in a container's memory, and would say that nothing is there: of such a path
//! it is said that nobody can tell.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use bollard::{
    Docker, container::PathStatResponse, errors::Error,
    query_parameters::ContainerArchiveInfoOptionsBuilder,
};
use tokio::time::timeout;

use super::{
    failure::chain,
    readback::{First, ReadFailure, in_place_of_fixture, is_there, tree},
};
use crate::inside::{Stray, resolve_with};
use mcp::observation::files::{FileState, PathKind};

/// Links that are followed to one path.
const MOST_LINKS: usize = 40;

/// How long the engine may take to say what a path is.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// What every container has in memory, and what is the kernel's.
const ALWAYS: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Where a container has other things than its image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Overlaid {
    /// Folders that the engine cannot read.
    hidden: Vec<PathBuf>,
    /// Mounts, which it can.
    shown: Vec<PathBuf>,
    /// Volumes of the image, which it can; what is in memory at the same place lies over them.
    volumes: Vec<PathBuf>,
}

/// Whether the engine sees a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sight {
    /// It does.
    Clear,
    /// It is a folder, and what is in it is not seen.
    Folder,
    /// It is in such a folder.
    Hidden,
}

impl Overlaid {
    /// Of a running container: folders in memory, and mounts.
    pub(super) fn new<'a>(
        memory: impl Iterator<Item = &'a str>,
        mounts: impl Iterator<Item = &'a str>,
        volumes: impl Iterator<Item = &'a str>,
    ) -> Self {
        let clean = |path: &str| clean(Path::new(path));
        Self {
            hidden: memory.chain(ALWAYS).map(clean).collect(),
            shown: mounts.map(clean).collect(),
            volumes: volumes.map(clean).collect(),
        }
    }

    /// The innermost of what lies over a place decides.
    fn sight(&self, place: &Path) -> Sight {
        let innermost = |all: &[PathBuf]| {
            let over = all.iter().filter(|folder| place.starts_with(folder));
            over.map(|folder| folder.components().count()).max()
        };
        let hidden = innermost(&self.hidden);
        let volume = innermost(&self.volumes).filter(|volume| Some(*volume) > hidden);
        match (hidden, innermost(&self.shown).max(volume)) {
            (None, _) => Sight::Clear,
            (Some(hidden), Some(shown)) if shown >= hidden => Sight::Clear,
            (Some(hidden), _) if hidden == place.components().count() => Sight::Folder,
            (Some(_), _) => Sight::Hidden,
        }
    }

    /// Whether a mount lies below a place.
    fn leads_to_mount(&self, place: &Path) -> bool {
        let mut mounts = self.shown.iter().chain(&self.volumes);
        mounts.any(|mount| mount.starts_with(place))
    }

    /// The same with the folders where they are, whose names may lead over links of the image.
    async fn real<F: Future<Output = Stat>>(&self, stat: impl Fn(PathBuf) -> F) -> Self {
        let plain = Self::default();
        let mut hidden = Vec::new();
        for folder in &self.hidden {
            let is_usual = ALWAYS.iter().any(|usual| Path::new(usual) == folder);
            if is_usual {
                hidden.push(folder.clone());
                continue;
            }
            hidden.push(match follow(folder, &plain, &stat).await {
                Found::There(place, _) | Found::Absent(place) => place,
                Found::Hidden(_) | Found::Circle | Found::Failed(_) => folder.clone(),
            });
        }
        Self {
            hidden,
            shown: self.shown.clone(),
            volumes: self.volumes.clone(),
        }
    }
}

/// What the engine says of a place; links are not followed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stat {
    Absent,
    Link(PathBuf),
    There(Kind),
    Failed(String),
}

/// What a thing is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    /// In words.
    Special(String),
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// To this.
    There(PathBuf, Kind),
    /// To nothing; the place is where it would be.
    Absent(PathBuf),
    /// To a place that is not seen.
    Hidden(PathBuf),
    /// To itself.
    Circle,
    /// The engine did not tell.
    Failed(String),
}

/// What one path of a container is.
pub(super) async fn look(docker: &Docker, id: &str, path: &str, overlaid: &Overlaid) -> FileState {
    let stat = |place: PathBuf| stat(docker, id, place);
    let overlaid = overlaid.real(stat).await;
    let found = follow(Path::new(path), &overlaid, stat).await;
    state(docker, id, path, found).await
}

/// What one path of the fixture is, which is at `root`; links are followed in there, and never out of it.
pub(super) async fn look_below(docker: &Docker, id: &str, root: &str, path: &str) -> FileState {
    let stat = |place: PathBuf| stat(docker, id, place);
    let instead = match stat(root.into()).await {
        Stat::There(Kind::Directory) | Stat::Absent | Stat::Failed(_) => None,
        Stat::There(Kind::File) => Some(PathKind::File),
        Stat::There(Kind::Special(_)) => Some(PathKind::Special),
        Stat::Link(_) => Some(PathKind::Link),
    };
    if let Some(instead) = instead {
        return in_place_of_fixture(instead);
    }
    let found = follow_below(Path::new(root), Path::new(path), stat).await;
    state(docker, id, path, found).await
}

/// What is where a path was found to lead.
async fn state(docker: &Docker, id: &str, path: &str, found: Found) -> FileState {
    match found {
        Found::Absent(_) => match is_there(docker, id).await {
            Ok(()) => FileState::Absent,
            Err(reason) => FileState::Unknown(reason),
        },
        Found::There(_, Kind::Directory) => FileState::Directory,
        Found::There(place, Kind::File) => read(docker, id, &place).await,
        Found::There(_, Kind::Special(kind)) => FileState::Unreadable(kind),
        Found::Hidden(place) => FileState::Unknown(format!(
            "{} in memory, where the engine cannot read; let the server write into {{{{fixture}}}}",
            if place == clean(Path::new(path)) {
                "it is".to_owned()
            } else {
                format!("it leads to `{}`,", place.display())
            }
        )),
        Found::Circle => FileState::Unknown(Stray::Circle.to_string()),
        Found::Failed(reason) => FileState::Unknown(reason),
    }
}

/// What a path of the image leads to, where that may be run.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Runnable {
    /// The regular file at this place.
    File(String),
    /// A directory, which cannot.
    Directory,
}

/// What a path of the image leads to.
pub(super) async fn runnable(docker: &Docker, id: &str, path: &str) -> Option<Runnable> {
    let stat = |place: PathBuf| stat(docker, id, place);
    match follow(Path::new(path), &Overlaid::default(), stat).await {
        Found::There(place, Kind::File) => Some(Runnable::File(place.display().to_string())),
        Found::There(_, Kind::Directory) => Some(Runnable::Directory),
        Found::There(_, Kind::Special(_))
        | Found::Absent(_)
        | Found::Hidden(_)
        | Found::Circle
        | Found::Failed(_) => None,
    }
}

/// Where the regular file is that a path of the image leads to.
pub(super) async fn file(docker: &Docker, id: &str, path: &str) -> Option<String> {
    match runnable(docker, id, path).await? {
        Runnable::File(place) => Some(place),
        Runnable::Directory => None,
    }
}

/// Goes along a path.
async fn follow<F: Future<Output = Stat>>(
    path: &Path,
    overlaid: &Overlaid,
    stat: impl Fn(PathBuf) -> F,
) -> Found {
    let mut steps = steps(path);
    let mut place = PathBuf::from("/");
    let mut kind = Kind::Directory;
    let mut links = 0;
    while let Some(step) = steps.pop_front() {
        if kind != Kind::Directory {
            return Found::Absent(rest(place, step, steps));
        }
        let Some(name) = step else {
            place.pop();
            continue;
        };
        let next = place.join(&name);
        match overlaid.sight(&next) {
            Sight::Clear => {}
            Sight::Folder => {
                place = next;
                continue;
            }
            // The folders on the way to a mount are there.
            Sight::Hidden if overlaid.leads_to_mount(&next) => {
                place = next;
                continue;
            }
            Sight::Hidden => return Found::Hidden(rest(place, Some(name), steps)),
        }
        match stat(next.clone()).await {
            Stat::Absent => return Found::Absent(rest(place, Some(name), steps)),
            Stat::Failed(reason) => return Found::Failed(reason),
            Stat::There(there) => (place, kind) = (next, there),
            Stat::Link(target) => {
                links += 1;
                if links > MOST_LINKS {
                    return Found::Circle;
                }
                if target.is_absolute() {
                    place = PathBuf::from("/");
                }
                for step in self::steps(&target).into_iter().rev() {
                    steps.push_front(step);
                }
            }
        }
    }
    Found::There(place, kind)
}

/// Goes along a path below a root, asking about each place on its way once.
async fn follow_below<F: Future<Output = Stat>>(
    root: &Path,
    path: &Path,
    stat: impl Fn(PathBuf) -> F,
) -> Found {
    let mut known: BTreeMap<PathBuf, Stat> = BTreeMap::new();
    loop {
        let unknown = Cell::new(None);
        let resolved = resolve_with(root, path, |full| match known.get(full) {
            Some(Stat::Link(target)) => Ok(Some(target.clone())),
            Some(Stat::Failed(reason)) => Err(io::Error::other(reason.clone())),
            Some(Stat::Absent | Stat::There(_)) => Ok(None),
            None => {
                unknown.set(Some(full.to_owned()));
                Err(io::ErrorKind::WouldBlock.into())
            }
        });
        if let Some(place) = unknown.take() {
            let found = match place.parent().and_then(|folder| known.get(folder)) {
                // Below that there is nothing.
                Some(Stat::Absent | Stat::There(Kind::File | Kind::Special(_))) => Stat::Absent,
                Some(Stat::There(Kind::Directory) | Stat::Link(_) | Stat::Failed(_)) | None => {
                    stat(place.clone()).await
                }
            };
            known.insert(place, found);
            continue;
        }
        return match resolved {
            Ok(place) if place == root => Found::There(place, Kind::Directory),
            Ok(place) => match known.remove(&place) {
                Some(Stat::There(kind)) => Found::There(place, kind),
                Some(Stat::Absent | Stat::Link(_) | Stat::Failed(_)) | None => Found::Absent(place),
            },
            Err(stray) => Found::Failed(stray.to_string()),
        };
    }
}

/// The steps of a path; `None` is the one up.
fn steps(path: &Path) -> VecDeque<Option<OsString>> {
    let step = |part: Component<'_>| match part {
        Component::Normal(name) => Some(Some(name.to_owned())),
        Component::ParentDir => Some(None),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().filter_map(step).collect()
}

/// Where the steps that are left would lead.
fn rest(mut place: PathBuf, step: Option<OsString>, steps: VecDeque<Option<OsString>>) -> PathBuf {
    for step in std::iter::once(step).chain(steps) {
        match step {
            Some(name) => place.push(name),
            None => {
                place.pop();
            }
        }
    }
    place
}

/// A path without `.` and `..`, which stay below the root.
pub fn clean(path: &Path) -> PathBuf {
    rest(PathBuf::from("/"), None, steps(path))
}

/// What is at a place.
async fn stat(docker: &Docker, id: &str, place: PathBuf) -> Stat {
    let shown = place.display().to_string();
    let options = ContainerArchiveInfoOptionsBuilder::default()
        .path(&shown)
        .build();
    let asked = docker.get_container_archive_info(id, Some(options));
    match timeout(ANSWER, asked).await {
        Ok(Ok(found)) => told(&found, &place),
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => Stat::Absent,
        // The answer has no words: reading it has.
        Ok(Err(_)) => match first(docker, id, &shown).await {
            Ok(None) => Stat::Absent,
            Ok(Some(First::Link(target))) => Stat::Link(target),
            Ok(Some(First::State(state))) => match state {
                FileState::Absent => Stat::Absent,
                FileState::Content(_) | FileState::Digest { .. } | FileState::TooLong { .. } => {
                    Stat::There(Kind::File)
                }
                FileState::Directory => Stat::There(Kind::Directory),
                FileState::Unreadable(kind) => Stat::There(Kind::Special(kind)),
                FileState::Unknown(reason) => Stat::Failed(reason),
            },
            Err(reason) => Stat::Failed(reason),
        },
        Err(_) => Stat::Failed(format!(
            "the engine did not answer within {} s",
            ANSWER.as_secs()
        )),
    }
}

/// The engine's answer; its numbers are those of Go's `os.FileMode`.
fn told(found: &PathStatResponse, place: &Path) -> Stat {
    let is = |bit: u32| found.file_mode & (1 << bit) != 0;
    let target = Path::new(&found.link_target);
    let elsewhere = !found.link_target.is_empty() && target != place;
    if is(27) || elsewhere {
        return Stat::Link(target.to_owned());
    }
    let special = |kind: &str| Kind::Special(format!("it is {kind}"));
    Stat::There(if is(31) {
        Kind::Directory
    } else if is(24) {
        special("a socket")
    } else if is(25) {
        special("a FIFO")
    } else if is(26) {
        special("a device")
    } else {
        Kind::File
    })
}

/// What the archive of a place begins with.
async fn first(docker: &Docker, id: &str, place: &str) -> Result<Option<First>, String> {
    match tree(docker, id, place, BTreeSet::from([PathBuf::new()])).await {
        Ok(tree) => Ok(tree.into_first()),
        Err(ReadFailure::Absent(_)) => Ok(None),
        Err(failure @ (ReadFailure::TooMuch { .. } | ReadFailure::Failed { .. })) => {
            Err(chain(&failure))
        }
    }
}

/// The content of a regular file.
async fn read(docker: &Docker, id: &str, place: &Path) -> FileState {
    match first(docker, id, &place.display().to_string()).await {
        Ok(Some(First::State(state))) => state,
        Ok(Some(First::Link(_)) | None) => FileState::Absent,
        Err(reason) => FileState::Unreadable(reason),
    }
}

#[cfg(test)]
mod tests;
