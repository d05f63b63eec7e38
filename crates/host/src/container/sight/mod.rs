//! What one path of a container is, as its server would find it: step by step, links followed inside and never on the
//! host. The engine cannot read what is in a container's memory and reports it as absent, so that such a path is unknown.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Component, Path, PathBuf},
    time::Duration,
};

use super::{
    failure::{answer, chain},
    readback::{ReadFailure, in_place_of_fixture, is_there, tree},
};
use crate::inside::resolve_with;
use bollard::{
    Docker, container::PathStatResponse, query_parameters::ContainerArchiveInfoOptionsBuilder,
};
use mcp::observation::files::{FileState, PathKind};

/// How long the engine may take to say what a path is.
pub(super) const ANSWER: Duration = Duration::from_secs(10);

/// What every container has in memory, and what is the kernel's.
const ALWAYS: [&str; 3] = ["/dev", "/proc", "/sys"];

/// Where a container has other things than its image.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Overlaid {
    /// Folders that the engine cannot read.
    hidden: Vec<PathBuf>,
    /// Mounts and volumes, which it can.
    shown: Vec<PathBuf>,
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
        let hidden: Vec<PathBuf> = memory.chain(ALWAYS).map(clean).collect();
        // A folder in memory lies over a volume of the image at the same place.
        let volumes = volumes.map(clean).filter(|volume| !hidden.contains(volume));
        let shown = mounts.map(clean).chain(volumes).collect();
        Self { hidden, shown }
    }

    /// The innermost of what lies over a place decides.
    fn sight(&self, place: &Path) -> Sight {
        let innermost = |all: &[PathBuf]| {
            let over = all.iter().filter(|folder| place.starts_with(folder));
            over.map(|folder| folder.components().count()).max()
        };
        match (innermost(&self.hidden), innermost(&self.shown)) {
            (None, _) => Sight::Clear,
            (Some(hidden), Some(shown)) if shown >= hidden => Sight::Clear,
            (Some(hidden), _) if hidden == place.components().count() => Sight::Folder,
            (Some(_), _) => Sight::Hidden,
        }
    }

    /// Whether a mount lies below a place.
    fn leads_to_mount(&self, place: &Path) -> bool {
        self.shown.iter().any(|mount| mount.starts_with(place))
    }

    /// The same with the folders where they are, whose names may lead over links of the image.
    async fn real<F: Future<Output = Stat>>(&self, stat: impl Fn(PathBuf) -> F) -> Self {
        let mut real = self.clone();
        let is_own =
            |folder: &&mut PathBuf| !ALWAYS.iter().any(|usual| Path::new(usual) == *folder);
        for folder in real.hidden.iter_mut().filter(is_own) {
            match follow(Path::new("/"), folder, &Self::default(), &stat).await {
                Found::There(place, _) | Found::Absent(place) => *folder = place,
                Found::Hidden(_) | Found::Failed(_) => {}
            }
        }
        real
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
    /// The engine did not tell.
    Failed(String),
}

/// What one path of a container is.
pub(super) async fn look(docker: &Docker, id: &str, path: &str, overlaid: &Overlaid) -> FileState {
    let stat = |place: PathBuf| stat(docker, id, place);
    let overlaid = overlaid.real(stat).await;
    let found = follow(Path::new("/"), Path::new(path), &overlaid, stat).await;
    state(docker, id, path, found).await
}

/// A table of users or groups; empty when it is missing.
pub(super) async fn table(docker: &Docker, id: &str, path: &str) -> String {
    match look(docker, id, path, &Overlaid::default()).await {
        FileState::Content(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        FileState::Absent
        | FileState::Digest { .. }
        | FileState::TooLong { .. }
        | FileState::Directory
        | FileState::Unreadable(_)
        | FileState::Unknown(_) => String::new(),
    }
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
    let found = follow(Path::new(root), Path::new(path), &Overlaid::default(), stat).await;
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
        Found::Failed(reason) => FileState::Unknown(reason),
    }
}

/// Goes along a path below a root, asking about each place on its way once.
async fn follow<F: Future<Output = Stat>>(
    root: &Path,
    path: &Path,
    overlaid: &Overlaid,
    stat: impl Fn(PathBuf) -> F,
) -> Found {
    let mut known: BTreeMap<PathBuf, Stat> = BTreeMap::new();
    loop {
        let unknown = Cell::new(None);
        let resolved = resolve_with(root, path, |full| match known.get(full) {
            // What is in memory is taken for no link.
            _ if overlaid.sight(full) != Sight::Clear => Ok(None),
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
        let place = match resolved {
            Ok(place) => place,
            Err(error) => return Found::Failed(error.to_string()),
        };
        return match (overlaid.sight(&place), known.remove(&place)) {
            // The folders on the way to a mount are there.
            (Sight::Hidden, _) if !overlaid.leads_to_mount(&place) => Found::Hidden(place),
            (Sight::Hidden | Sight::Folder, _) => Found::There(place, Kind::Directory),
            (Sight::Clear, _) if place == root => Found::There(place, Kind::Directory),
            (Sight::Clear, Some(Stat::There(kind))) => Found::There(place, kind),
            (Sight::Clear, Some(Stat::Absent | Stat::Link(_) | Stat::Failed(_)) | None) => {
                Found::Absent(place)
            }
        };
    }
}

/// A path without `.` and `..`, which stay below the root.
pub fn clean(path: &Path) -> PathBuf {
    let mut place = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => place.push(name),
            Component::ParentDir => {
                place.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    place
}

/// What is at a place.
async fn stat(docker: &Docker, id: &str, place: PathBuf) -> Stat {
    let shown = place.display().to_string();
    let options = ContainerArchiveInfoOptionsBuilder::default()
        .path(&shown)
        .build();
    let asked = docker.get_container_archive_info(id, Some(options));
    match answer(ANSWER, asked).await {
        Ok(Some(found)) => told(&found, &place),
        Ok(None) => Stat::Absent,
        Err(reason) => Stat::Failed(reason),
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

/// The content of a regular file.
async fn read(docker: &Docker, id: &str, place: &Path) -> FileState {
    let itself = BTreeSet::from([PathBuf::new()]);
    match tree(docker, id, &place.display().to_string(), itself).await {
        Ok(tree) => tree.into_state(),
        Err(ReadFailure::Absent(_)) => FileState::Absent,
        Err(failure @ (ReadFailure::TooMuch { .. } | ReadFailure::Failed { .. })) => {
            FileState::Unreadable(chain(&failure))
        }
    }
}

#[cfg(test)]
mod tests;
