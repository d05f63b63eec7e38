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
use crate::{
    isolate::inside::{Stray, resolve_with},
    observation::files::{FileState, PathKind},
};

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

/// Where the regular file is that a path of the image leads to.
pub(super) async fn file(docker: &Docker, id: &str, path: &str) -> Option<String> {
    let stat = |place: PathBuf| stat(docker, id, place);
    match follow(Path::new(path), &Overlaid::default(), stat).await {
        Found::There(place, Kind::File) => Some(place.display().to_string()),
        Found::There(..)
        | Found::Absent(_)
        | Found::Hidden(_)
        | Found::Circle
        | Found::Failed(_) => None,
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
pub(crate) fn clean(path: &Path) -> PathBuf {
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
mod tests {
    use std::{
        future::ready,
        path::{Path, PathBuf},
    };

    use bollard::container::PathStatResponse;

    use super::{Found, Kind, Overlaid, Stat, clean, follow, follow_below, told};

    /// The image that paths lead through.
    fn stat(place: &Path) -> Stat {
        match place.to_str().unwrap() {
            "/etc" | "/tmp" | "/run" | "/var" | "/a" | "/mnt" | "/tmp/mount" | "/tmp/volume" => {
                Stat::There(Kind::Directory)
            }
            "/etc/passwd" | "/tmp/mount/file" | "/tmp/volume/file" => Stat::There(Kind::File),
            "/a/s.sock" => Stat::There(Kind::Special("it is a socket".into())),
            "/var/run" => Stat::Link("/run".into()),
            "/a/etc" => Stat::Link("../etc".into()),
            "/a/tmp" => Stat::Link("/tmp".into()),
            "/a/deep" => Stat::Link("/tmp/x".into()),
            "/a/self" => Stat::Link("self".into()),
            "/broken" => Stat::Failed("no answer".into()),
            _ => Stat::Absent,
        }
    }

    async fn case(path: &str, wanted: Found) {
        let overlaid = Overlaid::new(
            ["/tmp/", "/var/run"].into_iter(),
            ["/tmp/mount"].into_iter(),
            ["/tmp/", "/tmp/volume/"].into_iter(),
        );
        let overlaid = overlaid.real(|place: PathBuf| ready(stat(&place))).await;
        let found = follow(Path::new(path), &overlaid, |place| ready(stat(&place))).await;
        assert_eq!(found, wanted, "{path}");
    }

    #[tokio::test]
    async fn what_lies_in_memory_is_known_by_whatever_name() {
        for path in [
            "/tmp/x",
            "//tmp/x",
            "/./tmp/x",
            "/etc/../tmp/x",
            "/a/tmp/x",
            "/a/deep",
            "/a/etc/../tmp/x",
        ] {
            case(path, Found::Hidden("/tmp/x".into())).await;
        }
        case("/nowhere/../tmp/x", Found::Absent("/tmp/x".into())).await;
        case("/var/run/x", Found::Hidden("/run/x".into())).await;
        case("/run/x/y", Found::Hidden("/run/x/y".into())).await;
        case("/dev/shm/x", Found::Hidden("/dev/shm/x".into())).await;
        case("/dev/x", Found::Hidden("/dev/x".into())).await;
        case("/proc/1/status", Found::Hidden("/proc/1/status".into())).await;
        case("/tmp/mounted", Found::Hidden("/tmp/mounted".into())).await;
    }

    #[tokio::test]
    async fn what_the_engine_sees_is_found_where_it_is() {
        let there = |place: &str, kind| Found::There(place.into(), kind);
        case("/", there("/", Kind::Directory)).await;
        case("/tmp", there("/tmp", Kind::Directory)).await;
        case("/tmp/../etc/passwd", there("/etc/passwd", Kind::File)).await;
        case("/tmp/mount/file", there("/tmp/mount/file", Kind::File)).await;
        case("/tmp/volume/file", there("/tmp/volume/file", Kind::File)).await;
        case("/tmp/mount/none", Found::Absent("/tmp/mount/none".into())).await;
        case("/a/etc/passwd", there("/etc/passwd", Kind::File)).await;
        case("/etc/passwd/x", Found::Absent("/etc/passwd/x".into())).await;
        case("/etc/passwd/../x", Found::Absent("/etc/x".into())).await;
        case("/none/x", Found::Absent("/none/x".into())).await;
        case("/a/self", Found::Circle).await;
        case("/broken/x", Found::Failed("no answer".into())).await;
        let socket = Kind::Special("it is a socket".into());
        case("/a/s.sock", there("/a/s.sock", socket)).await;
        assert_eq!(clean(Path::new("/a/../../b/./c")), Path::new("/b/c"));
    }

    #[tokio::test]
    async fn below_a_root_links_are_followed_and_never_out() {
        let stat = |place: PathBuf| {
            ready(match place.to_str().unwrap() {
                "/f/sub" => Stat::There(Kind::Directory),
                "/f/a.txt" => Stat::There(Kind::File),
                "/f/sub/up" => Stat::Link("../a.txt".into()),
                "/f/own" => Stat::Link("/f/sub".into()),
                "/f/out" => Stat::Link("/etc/passwd".into()),
                "/f/self" => Stat::Link("self".into()),
                "/f/broken" => Stat::Failed("no answer".into()),
                "/f/s.sock" => Stat::There(Kind::Special("it is a socket".into())),
                below if below.starts_with("/f/a.txt/") => panic!("asked for {below}"),
                _ => Stat::Absent,
            })
        };
        let case = async |path: &str, wanted: Found| {
            let found = follow_below(Path::new("/f"), Path::new(path), stat).await;
            assert_eq!(found, wanted, "{path}");
        };
        let there = |place: &str, kind| Found::There(place.into(), kind);
        let failed = |reason: &str| Found::Failed(reason.into());
        case(".", there("/f", Kind::Directory)).await;
        case("a.txt", there("/f/a.txt", Kind::File)).await;
        case("/f/a.txt", there("/f/a.txt", Kind::File)).await;
        case("own/up", there("/f/a.txt", Kind::File)).await;
        case("own", there("/f/sub", Kind::Directory)).await;
        case("a.txt/x", Found::Absent("/f/a.txt/x".into())).await;
        case("none/x", Found::Absent("/f/none/x".into())).await;
        let socket = Kind::Special("it is a socket".into());
        case("s.sock", there("/f/s.sock", socket)).await;
        case("../x", failed("it leads out of the fixture")).await;
        case(
            "out",
            failed("the link `out` leads out of the fixture, to `/etc/passwd`"),
        )
        .await;
        case("self", failed("too many links lead to each other")).await;
        case("broken", failed("no answer")).await;
    }

    #[test]
    fn the_engine_says_what_a_thing_is() {
        let case = |file_mode: u32, target: &str, wanted: Stat| {
            let found = PathStatResponse {
                name: "x".into(),
                size: 0,
                file_mode,
                modification_time: None,
                link_target: target.into(),
            };
            assert_eq!(told(&found, Path::new("/x")), wanted);
        };
        let special = |kind: &str| Stat::There(Kind::Special(kind.into()));
        case(420, "", Stat::There(Kind::File));
        // Podman names every place's own.
        case(420, "/x", Stat::There(Kind::File));
        case(2_148_532_735, "", Stat::There(Kind::Directory));
        case(134_218_239, "/etc", Stat::Link("/etc".into()));
        case(16_777_709, "", special("it is a socket"));
        case(33_554_852, "", special("it is a FIFO"));
        case(69_206_454, "", special("it is a device"));
    }
}
