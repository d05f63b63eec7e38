//! What a container's files are: read through the engine, links followed inside and never on the host, sizes
//! bounded whatever the server wrote.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, Read},
    path::{Path, PathBuf},
    time::Duration,
};

use bollard::{
    Docker,
    errors::Error,
    models::{ContainerState, ContainerStateStatusEnum},
    query_parameters::DownloadFromContainerOptionsBuilder,
};
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};
use tokio_util::{
    io::{StreamReader, SyncIoBridge},
    sync::CancellationToken,
};

use super::{
    failure::{answer, chain, is_unknown},
    sight::ANSWER,
    upload::FOLDERS,
};
use crate::{
    fixture::{Kind, Listing, Thing},
    inside::resolve_with,
};
use mcp::observation::files::{FileState, LONGEST_BYTES, PathKind};
use text::digest::sha256_of_all;

/// How long reading back may take.
const READING: Duration = Duration::from_secs(30);

/// Bytes that are read of one place at most.
const MOST_BYTES: u64 = 1024 * 1024 * 1024;

/// Things that one place may hold.
const MOST_ENTRIES: usize = 200_000;

/// Why files could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadFailure {
    /// There is nothing.
    #[error("there is nothing at `{0}`")]
    Absent(String),
    /// It is more than is read.
    #[error("`{path}` holds more than is read of a container ({limit})")]
    TooMuch {
        /// The place.
        path: String,
        /// The limit that was met.
        limit: &'static str,
    },
    /// The engine did not deliver.
    #[error("`{path}` could not be read from the container: {reason}")]
    Failed {
        /// The place.
        path: String,
        /// What went wrong.
        reason: String,
    },
}

/// Everything below one place of a container, by path relative to the place, which is the empty path itself.
#[derive(Debug, Default)]
pub struct Tree {
    /// All of it, for a comparison.
    pub things: Listing,
    /// What an expectation sees of it; links are followed first.
    states: BTreeMap<PathBuf, FileState>,
    /// The folders that were changed since the fixture was put there.
    pub(super) changed: Vec<PathBuf>,
}

/// Reads everything below a place; of the files that are asked for, by their paths relative to it, the content too.
pub(super) async fn tree(
    docker: &Docker,
    id: &str,
    path: &str,
    asked: BTreeSet<PathBuf>,
) -> Result<Tree, ReadFailure> {
    let failed = |reason: String| ReadFailure::Failed {
        path: path.to_owned(),
        reason,
    };
    let options = DownloadFromContainerOptionsBuilder::default()
        .path(path)
        .build();
    let stream = docker.download_from_container(id, Some(options));
    // The stream ends after a while and with its reader, and the reading thread with it.
    let wanted = CancellationToken::new();
    let unwanted = wanted.clone().cancelled_owned();
    let _wanted = wanted.drop_guard();
    let stream = stream.take_until(async move {
        tokio::select! {
            () = sleep(READING) => {}
            () = unwanted => {}
        }
    });
    let mut stream = Box::pin(stream.map(|piece| piece.map_err(io::Error::other)));
    let read = async {
        // The first piece tells whether there is anything at all.
        let first = match stream.next().await {
            Some(Err(error)) if is_absent(&error) => {
                return Err(match is_there(docker, id).await {
                    Ok(()) => ReadFailure::Absent(path.to_owned()),
                    Err(reason) => failed(reason),
                });
            }
            first => first,
        };
        let pieces = futures_util::stream::iter(first).chain(stream);
        let reader = SyncIoBridge::new(StreamReader::new(Box::pin(pieces)));
        let parsed = tokio::task::spawn_blocking(move || unpack(reader, &asked));
        match parsed.await {
            Ok(Ok(tree)) => Ok(tree),
            Ok(Err(Unpacking::Read(error))) => Err(failed(chain(&error))),
            Ok(Err(Unpacking::Bound(limit))) => Err(ReadFailure::TooMuch {
                path: path.to_owned(),
                limit,
            }),
            Err(error) => Err(failed(error.to_string())),
        }
    };
    match timeout(READING, read).await {
        Ok(read) => read,
        Err(_) => Err(failed(format!("it took over {READING:?}"))),
    }
}

/// Whether the container itself is there: engines answer 404 for a missing container as for a missing file.
pub(super) async fn is_there(docker: &Docker, id: &str) -> Result<(), String> {
    let state = state(docker, id, ANSWER).await?;
    state
        .map(drop)
        .ok_or_else(|| "the container is gone".to_owned())
}

/// The state of a container; `None` when it is gone or being removed.
pub(super) async fn state(
    docker: &Docker,
    id: &str,
    limit: Duration,
) -> Result<Option<ContainerState>, String> {
    let found = answer(limit, docker.inspect_container(id, None)).await?;
    let state = found.map(|found| found.state.unwrap_or_default());
    Ok(state.filter(|state| {
        let is_going = |status| {
            matches!(
                status,
                ContainerStateStatusEnum::REMOVING | ContainerStateStatusEnum::DEAD
            )
        };
        !state.status.is_some_and(is_going)
    }))
}

/// Whether the engine says that nothing is there.
fn is_absent(error: &io::Error) -> bool {
    let inner = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<Error>());
    inner.is_some_and(is_unknown)
}

impl Tree {
    /// What a path is, relative to the tree or absolute below `root`, where the tree is in the container. `None` where
    /// that takes a look of its own: archives hold no sockets, and not the content of every file is kept.
    pub fn look(&self, path: &str, root: &str) -> Option<FileState> {
        let found = self.found(path, root);
        let is_kept = match &found {
            FileState::Absent => false,
            FileState::Digest { length, .. } => *length > LONGEST_BYTES,
            FileState::Content(_)
            | FileState::TooLong { .. }
            | FileState::Directory
            | FileState::Unreadable(_)
            | FileState::Unknown(_) => true,
        };
        is_kept.then_some(found)
    }

    fn found(&self, path: &str, root: &str) -> FileState {
        let itself = self.things.get(Path::new(""));
        let itself = itself.map_or(PathKind::Directory, |itself| itself.kind.of_path());
        if itself != PathKind::Directory {
            return in_place_of_fixture(itself);
        }
        let root = Path::new(root);
        let below = |full: &Path| full.strip_prefix(root).unwrap_or(full).to_owned();
        let link = |full: &Path| {
            Ok(match self.things.get(&below(full)).map(|it| &it.kind) {
                Some(Kind::Link(target)) => Some(target.clone()),
                Some(Kind::File { .. } | Kind::Directory | Kind::Special) | None => None,
            })
        };
        match resolve_with(root, Path::new(path), link) {
            Ok(place) => {
                let state = self.states.get(&below(&place)).cloned();
                state.unwrap_or(FileState::Absent)
            }
            Err(error) => FileState::Unknown(error.to_string()),
        }
    }

    /// Adds a socket, which no archive holds.
    pub(crate) fn add_socket(&mut self, path: PathBuf) {
        let (kind, mode) = (Kind::Special, 0);
        self.things.insert(path, Thing { kind, mode });
    }

    /// What is at the place itself; nothing of a link.
    pub(super) fn into_state(mut self) -> FileState {
        let state = self.states.remove(Path::new(""));
        state.unwrap_or(FileState::Absent)
    }
}

/// What is said of every path when something else is where the fixture's folder was.
pub(super) fn in_place_of_fixture(kind: PathKind) -> FileState {
    FileState::Unknown(format!("the fixture's folder is {} now", kind.word()))
}

/// Why a tar was not read to its end.
#[derive(Debug)]
enum Unpacking {
    /// It is broken, or broke off.
    Read(io::Error),
    /// It met a limit.
    Bound(&'static str),
}

impl From<io::Error> for Unpacking {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

/// The tree of a tar, whose first component is the place itself.
fn unpack(reader: impl Read, asked: &BTreeSet<PathBuf>) -> Result<Tree, Unpacking> {
    let mut archive = tar::Archive::new(reader);
    let mut tree = Tree::default();
    let mut total = 0_u64;
    for entry in archive.entries()? {
        let mut entry = entry?;
        if tree.things.len() >= MOST_ENTRIES {
            return Err(Unpacking::Bound("200,000 entries"));
        }
        total = total.saturating_add(entry.size());
        if total > MOST_BYTES {
            return Err(Unpacking::Bound("1 GiB"));
        }
        let path: PathBuf = entry.path()?.components().skip(1).collect();
        let mode = entry.header().mode()? & 0o7777;
        let kind = entry.header().entry_type();
        let (kind, state) = if kind.is_dir() {
            if entry.header().mtime()? != FOLDERS {
                tree.changed.push(path.clone());
            }
            (Kind::Directory, Some(FileState::Directory))
        } else if kind.is_symlink() {
            let target = entry.link_name()?.unwrap_or_default().into_owned();
            (Kind::Link(target), None)
        } else if kind.is_hard_link() {
            let first = entry.link_name()?.unwrap_or_default().into_owned();
            let first: PathBuf = first.components().skip(1).collect();
            match tree.things.get(&first) {
                Some(same) => (same.kind.clone(), tree.states.get(&first).cloned()),
                None => special("a link to a file elsewhere"),
            }
        } else if kind.is_file() || kind.is_gnu_sparse() || kind.is_contiguous() {
            let length = entry.size();
            let room = asked.get(&path).map_or(0, |_| LONGEST_BYTES);
            let (digest, state) = content(&mut entry, room)?;
            let sha256 = Some(digest);
            (Kind::File { length, sha256 }, Some(state))
        } else {
            special(if kind.is_fifo() { "a FIFO" } else { "a device" })
        };
        tree.states.extend(state.map(|state| (path.clone(), state)));
        tree.things.insert(path, Thing { kind, mode });
    }
    Ok(tree)
}

fn special(kind: &str) -> (Kind, Option<FileState>) {
    let state = FileState::Unreadable(format!("it is {kind}"));
    (Kind::Special, Some(state))
}

/// The content of a file, or its digest when there is no room for it.
fn content(reader: &mut impl Read, room: u64) -> io::Result<([u8; 32], FileState)> {
    let mut bytes = Vec::new();
    Read::by_ref(reader)
        .take(room + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= room {
        let (digest, _) = sha256_of_all(&bytes[..])?;
        return Ok((digest, FileState::Content(bytes)));
    }
    let (sha256, length) = sha256_of_all((&bytes[..]).chain(reader))?;
    Ok((sha256, FileState::Digest { sha256, length }))
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, io, path::Path};

    use super::{Tree, Unpacking};
    use mcp::observation::files::FileState;

    /// The tree of a tar, of which these files are asked for.
    fn unpack(reader: impl io::Read, asked: &[&str]) -> Result<Tree, Unpacking> {
        let asked: BTreeSet<_> = asked.iter().map(|path| (*path).into()).collect();
        super::unpack(reader, &asked)
    }

    fn tar(entries: &[(&str, tar::EntryType, &str)]) -> Vec<u8> {
        let mut builder = tar::Builder::new(Vec::new());
        for (path, kind, text) in entries {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(*kind);
            header.set_mode(0o644);
            if kind.is_symlink() || kind.is_hard_link() {
                header.set_size(0);
                builder.append_link(&mut header, path, text).unwrap();
            } else {
                header.set_size(text.len() as u64);
                builder
                    .append_data(&mut header, path, text.as_bytes())
                    .unwrap();
            }
        }
        builder.into_inner().unwrap()
    }

    #[test]
    fn paths_are_followed_inside_the_tree_and_never_out() {
        use tar::EntryType::{Directory, Fifo, Link, Regular, Symlink};
        let tree = unpack(
            &tar(&[
                ("fixture/", Directory, ""),
                ("fixture/a.txt", Regular, "hello"),
                ("fixture/sub/", Directory, ""),
                ("fixture/sub/up", Symlink, "../a.txt"),
                ("fixture/out", Symlink, "/etc/passwd"),
                ("fixture/own", Symlink, "/mcp-assert/fixture/sub"),
                ("fixture/again", Link, "fixture/a.txt"),
                ("fixture/pipe", Fifo, ""),
                ("fixture/other", Regular, "not asked for"),
                ("fixture/empty", Regular, ""),
            ])[..],
            &["a.txt"],
        )
        .unwrap();
        let look = |path: &str| tree.look(path, "/mcp-assert/fixture");
        let case = |path: &str, wanted: FileState| {
            assert_eq!(look(path), Some(wanted), "{path}");
        };
        let hello = || FileState::Content(b"hello".to_vec());
        case("a.txt", hello());
        case("./sub/../a.txt", hello());
        case("/mcp-assert/fixture/a.txt", hello());
        case("sub/up", hello());
        case("own/up", hello());
        case("again", hello());
        case("sub", FileState::Directory);
        case("empty", FileState::Content(Vec::new()));
        for unkept in ["none", "other", "sub/../other"] {
            assert_eq!(look(unkept), None, "{unkept}");
        }
        case("pipe", FileState::Unreadable("it is a FIFO".into()));
        case(
            "out",
            FileState::Unknown("it leads out of the fixture".into()),
        );
        case(
            "../x",
            FileState::Unknown("it leads out of the fixture".into()),
        );
        let paths: Vec<_> = tree.things.into_keys().collect();
        assert_eq!(paths[0], Path::new(""), "the place itself comes first");
        assert_eq!(paths.len(), 10);
    }

    #[test]
    fn what_stands_in_place_of_the_fixture_is_not_looked_through() {
        use tar::EntryType::{Regular, Symlink};
        let case = |kind: tar::EntryType, wanted: &str| {
            let tree = unpack(&tar(&[("fixture", kind, "/etc")])[..], &["a.txt"]).unwrap();
            for path in [".", "a.txt", "/mcp-assert/fixture/a.txt"] {
                let seen = tree.look(path, "/mcp-assert/fixture");
                assert_eq!(seen, Some(FileState::Unknown(wanted.into())), "{path}");
            }
        };
        case(Symlink, "the fixture's folder is a link now");
        case(Regular, "the fixture's folder is a file now");
        let gone = unpack(&tar(&[])[..], &[]).unwrap();
        assert_eq!(gone.look("a.txt", "/mcp-assert/fixture"), None);
    }

    #[test]
    fn a_tar_that_breaks_off_is_an_error() {
        let whole = tar(&[("f/a", tar::EntryType::Regular, &"x".repeat(4000))]);
        assert!(unpack(&whole[..1500], &[]).is_err());
        assert!(unpack(io::empty(), &[]).is_ok());
    }
}
