//! Looks at the files that expectations name, in the job's own place. Never follows anything out of the
//! fixture, never opens what could block, never reads more than it may hold.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read, Seek},
    path::{Path, PathBuf},
};

use super::{
    digest,
    fixture::{self, FixtureCopy, FixtureProblem, Standing},
    folder::{self, Folder},
    inside,
    pace::Until,
    regular,
};
use mcp::observation::files::{FileState, LONGEST_BYTES, PathKind};

/// Names that are looked through for a hint.
const MOST_NAMES: usize = 10_000;

/// What is wanted of a file that is too long for its content to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Its length.
    Content,
    /// Whether it is the same later.
    Digest,
}

/// What each path is now. Relative paths start in the copy when there is one, else in `directory`.
pub async fn look(
    paths: &BTreeMap<String, Depth>,
    copy: Option<&FixtureCopy>,
    directory: &Path,
    until: &Until,
) -> Result<BTreeMap<String, FileState>, FixtureProblem> {
    let mut seen = BTreeMap::new();
    for (path, depth) in paths {
        let given = Path::new(path);
        let (place, is_ours) = place_of(given, copy, directory);
        let (given, depth) = (given.to_owned(), *depth);
        let state = until.look(move |until| {
            let glance = Glance { depth, until };
            if is_ours {
                glance.in_fixture(&given, &place, &fixture::standing(&place))
            } else {
                glance.read(&place)
            }
        });
        let state = state.await.ok_or_else(|| late(until, path))?;
        seen.insert(path.clone(), state);
    }
    Ok(seen)
}

/// Where a path is looked for: below the copy of the fixture, which is given, or at a place of its own.
fn place_of(given: &Path, copy: Option<&FixtureCopy>, directory: &Path) -> (PathBuf, bool) {
    let root = copy.map(FixtureCopy::path);
    match root.filter(|root| given.is_relative() || given.starts_with(root)) {
        Some(root) => (root.to_owned(), true),
        None => (directory.join(given), false),
    }
}

/// What stands in the folder of a path instead of it, by the nearest name, written as the path is. Nothing where that
/// cannot be told: it is asked for a hint.
pub async fn nearest(
    path: &str,
    copy: Option<&FixtureCopy>,
    directory: &Path,
    until: &Until,
) -> Option<String> {
    let given = PathBuf::from(path);
    let name = given.file_name()?.to_str()?.to_owned();
    let (place, is_ours) = place_of(&given, copy, directory);
    let folder = given.parent().map(Path::to_owned).unwrap_or_default();
    let names = until.look(move |until| {
        if is_ours {
            names_in_fixture(&folder, &place, until)
        } else {
            names_outside(&place)
        }
    });
    let names = names.await??;
    let names = names.iter().filter_map(|name| name.to_str());
    let near = text::nearest_file(&name, names)?;
    Some(given.with_file_name(near).display().to_string())
}

/// The names in a folder of the fixture.
fn names_in_fixture(folder: &Path, root: &Path, until: &Until) -> Option<Vec<OsString>> {
    let standing = match fixture::standing(root) {
        Standing::There(standing) => standing,
        Standing::Gone | Standing::Replaced(_) | Standing::Closed(..) => return None,
    };
    let resolved = inside::resolve(root, folder).ok()?;
    let below = resolved.strip_prefix(root).ok()?;
    standing.below(below).ok()?.names(|| until.check()).ok()
}

/// The names beside a path that is not of the fixture.
fn names_outside(path: &Path) -> Option<Vec<OsString>> {
    let entries = fs::read_dir(path.parent()?).ok()?;
    let names = entries.take(MOST_NAMES).filter_map(Result::ok);
    Some(names.map(|entry| entry.file_name()).collect())
}

/// What a path relative to a folder is now; it is not followed out of it.
pub(super) async fn look_below(
    root: &Path,
    (path, depth): (String, Depth),
    until: &Until,
) -> Result<FileState, FixtureProblem> {
    let (root, given) = (root.to_owned(), PathBuf::from(&path));
    let state = until.look(move |until| {
        let standing = match Folder::open(&root) {
            Ok(folder) => Standing::There(folder),
            Err(error) if inside::is_absent(&error) => Standing::Gone,
            Err(error) => Standing::Closed(error, None),
        };
        Glance { depth, until }.in_fixture(&given, &root, &standing)
    });
    state.await.ok_or_else(|| late(until, &path))
}

fn late(until: &Until, path: &str) -> FixtureProblem {
    FixtureProblem::late(until, format!("`{path}` was still being read"))
}

/// A look at one path.
#[derive(Clone, Copy)]
struct Glance<'a> {
    depth: Depth,
    until: &'a Until,
}

impl Glance<'_> {
    /// What is at a path of the fixture.
    fn in_fixture(self, path: &Path, root: &Path, standing: &Standing) -> FileState {
        let folder = match standing {
            Standing::There(folder) => folder,
            Standing::Gone => return FileState::Absent,
            Standing::Replaced(kind) => {
                return FileState::Unknown(format!("the fixture's folder is {} now", kind.word()));
            }
            Standing::Closed(error, _) => {
                return FileState::Unknown(format!(
                    "the fixture's folder cannot be opened: {error}"
                ));
            }
        };
        match inside::resolve(root, path) {
            Ok(place) => self.below(folder, place.strip_prefix(root).unwrap_or(&place)),
            Err(stray) => FileState::Unknown(stray.to_string()),
        }
    }

    /// What is at a path below a folder that leads over no link: what is one by now is not followed.
    fn below(self, folder: &Folder, path: &Path) -> FileState {
        let Some(name) = path.file_name() else {
            return FileState::Directory;
        };
        let parent = folder.below(path.parent().unwrap_or(Path::new("")));
        let met = parent.and_then(|parent| Ok((parent.meet(name)?, parent)));
        let (met, parent) = match met {
            Ok(met) => met,
            Err(error) => return not_met(&error),
        };
        match met.kind() {
            PathKind::Directory => FileState::Directory,
            PathKind::Link => {
                FileState::Unknown("it became a link while it was looked at".to_owned())
            }
            PathKind::Special => FileState::Unreadable(format!("it is {}", met.word())),
            PathKind::File => parent
                .file(name)
                .and_then(|file| self.content(file))
                .unwrap_or_else(|error| failed(&error)),
        }
    }

    /// What is at a path, its links followed by the system.
    fn read(self, path: &Path) -> FileState {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) => return not_met(&error),
        };
        let kind = found.file_type();
        if kind.is_dir() {
            return FileState::Directory;
        }
        if !kind.is_file() {
            return FileState::Unreadable(format!("it is {}", folder::special(kind)));
        }
        regular::open(path)
            .and_then(|file| self.content(file))
            .unwrap_or_else(|error| failed(&error))
    }

    /// The content of a regular file; of one that is too long for that no more than is wanted.
    fn content(self, mut file: File) -> io::Result<FileState> {
        let mut length = file.metadata()?.len();
        if length <= LONGEST_BYTES {
            let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default() + 1);
            let reading = self.until.reading(&mut file);
            reading.take(LONGEST_BYTES + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 <= LONGEST_BYTES {
                return Ok(FileState::Content(bytes));
            }
            file.rewind()?;
            length = file.metadata()?.len().max(LONGEST_BYTES + 1);
        }
        match self.depth {
            Depth::Content => Ok(FileState::TooLong { length }),
            Depth::Digest => {
                // A file that grows while it is read is read no further than it was.
                let (sha256, length) = digest::of(self.until.reading(file.take(length)))?;
                Ok(FileState::Digest { sha256, length })
            }
        }
    }
}

/// Why it is not known what is at a path, if anything is.
fn not_met(error: &io::Error) -> FileState {
    if inside::is_absent(error) {
        FileState::Absent
    } else {
        FileState::Unknown(error.to_string())
    }
}

/// Why a file that is there cannot be read.
fn failed(error: &io::Error) -> FileState {
    if inside::is_absent(error) {
        FileState::Absent
    } else {
        FileState::Unreadable(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        collections::BTreeMap,
        fs,
        os::unix::fs::symlink,
        path::Path,
        process::Command,
        time::{Duration, Instant},
    };

    use super::{Depth, look};
    use crate::{
        fixture::{Fixture, FixtureCopy, FixtureProblem},
        pace::Until,
    };
    use mcp::observation::files::{FileState, LONGEST_BYTES};

    async fn state_by(
        (path, depth): (&str, Depth),
        copy: Option<&FixtureCopy>,
        directory: &Path,
        until: &Until,
    ) -> Result<FileState, FixtureProblem> {
        let paths = BTreeMap::from([(path.to_owned(), depth)]);
        let mut seen = look(&paths, copy, directory, until).await?;
        Ok(seen.remove(path).unwrap())
    }

    async fn state(path: &str, copy: Option<&FixtureCopy>, directory: &Path) -> FileState {
        let until = Until::in_a_minute();
        let seen = state_by((path, Depth::Digest), copy, directory, &until).await;
        seen.unwrap()
    }

    fn text(content: &str) -> FileState {
        FileState::Content(content.as_bytes().to_vec())
    }

    fn unreadable(reason: &str) -> FileState {
        FileState::Unreadable(reason.to_owned())
    }

    fn unknown(reason: &str) -> FileState {
        FileState::Unknown(reason.to_owned())
    }

    #[tokio::test]
    async fn with_a_fixture_paths_start_in_the_copy_and_stay_there() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("fixture");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("a.txt"), "original").unwrap();
        let elsewhere = folder.path().join("elsewhere.txt");
        fs::write(&elsewhere, "written by name").unwrap();
        let copy = Fixture::open(&root).unwrap().copy().await.unwrap();
        let place = copy.path().to_owned();
        fs::write(place.join("a.txt"), "changed").unwrap();
        fs::write(place.parent().unwrap().join("escaped.txt"), "secret").unwrap();
        fs::create_dir(place.join("sub")).unwrap();
        symlink("../a.txt", place.join("sub/inside")).unwrap();
        symlink(place.join("a.txt"), place.join("own")).unwrap();
        symlink("../escaped.txt", place.join("outside")).unwrap();
        symlink("/etc/passwd", place.join("passwd")).unwrap();
        symlink("nothing", place.join("dangling")).unwrap();
        let case = async |path: &str, wanted: FileState| {
            let seen = state(path, Some(&copy), folder.path()).await;
            assert_eq!(seen, wanted, "{path}");
        };
        case("a.txt", text("changed")).await;
        case("./sub/../a.txt", text("changed")).await;
        case(&format!("{}/a.txt", place.display()), text("changed")).await;
        case("sub/inside", text("changed")).await;
        case("own", text("changed")).await;
        case("sub", FileState::Directory).await;
        case("none", FileState::Absent).await;
        case("a.txt/below", FileState::Absent).await;
        case("dangling", FileState::Absent).await;
        case("../escaped.txt", unknown("it leads out of the fixture")).await;
        case(
            &format!("{}/../escaped.txt", place.display()),
            unknown("it leads out of the fixture"),
        )
        .await;
        case(
            "outside",
            unknown("the link `outside` leads out of the fixture, to `../escaped.txt`"),
        )
        .await;
        case(
            "passwd",
            unknown("the link `passwd` leads out of the fixture, to `/etc/passwd`"),
        )
        .await;
        case(&elsewhere.display().to_string(), text("written by name")).await;
        copy.close().await.unwrap();
    }

    #[tokio::test]
    async fn what_stands_in_place_of_the_copy_is_not_looked_through() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for root in ["fixture", "elsewhere"] {
            fs::create_dir(at(root)).unwrap();
            fs::write(at(root).join("a.txt"), "secret").unwrap();
        }
        let copy = Fixture::open(&at("fixture")).unwrap().copy().await.unwrap();
        let place = copy.path().to_owned();
        let case = async |wanted: &FileState| {
            for path in [".", "a.txt", "none", place.join("a.txt").to_str().unwrap()] {
                let seen = state(path, Some(&copy), folder.path()).await;
                assert_eq!(seen, *wanted, "{path}");
            }
        };
        fs::remove_dir_all(&place).unwrap();
        case(&FileState::Absent).await;
        symlink(at("elsewhere"), &place).unwrap();
        case(&unknown("the fixture's folder is a link now")).await;
        fs::remove_file(&place).unwrap();
        fs::write(&place, "a file").unwrap();
        case(&unknown("the fixture's folder is a file now")).await;
        copy.close().await.unwrap();
    }

    #[tokio::test]
    async fn without_a_fixture_paths_start_at_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir(at("dir")).unwrap();
        fs::write(at("a.txt"), "hello").unwrap();
        symlink("../a.txt", at("dir/link")).unwrap();
        let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let long = fs::File::create(at("long")).unwrap();
        long.set_len(LONGEST_BYTES + 1).unwrap();
        let case = async |path: &str, wanted: FileState| {
            let seen = state(path, None, &at("dir")).await;
            assert_eq!(seen, wanted, "{path}");
        };
        case("../a.txt", text("hello")).await;
        case("link", text("hello")).await;
        case(".", FileState::Directory).await;
        case("none", FileState::Absent).await;
        case("../pipe", unreadable("it is a FIFO")).await;
        case("/dev/zero", unreadable("it is a device")).await;
        let FileState::Digest { length, sha256 } = state("../long", None, &at("dir")).await else {
            panic!("a long file is known by its digest");
        };
        assert_eq!(length, LONGEST_BYTES + 1);
        assert_eq!(&sha256[..4], &[0x91, 0x99, 0x09, 0x77]);
    }

    #[tokio::test]
    async fn a_long_file_is_read_only_to_be_compared_and_only_in_time() {
        let folder = tempfile::tempdir().unwrap();
        let length = 1 << 40;
        let long = fs::File::create(folder.path().join("long")).unwrap();
        long.set_len(length).unwrap();
        let case = async |depth: Depth, until: &Until| {
            let begun = Instant::now();
            let seen = state_by(("long", depth), None, folder.path(), until).await;
            assert!(begun.elapsed() < Duration::from_secs(20));
            seen
        };
        let until = Until::in_a_minute();
        let seen = case(Depth::Content, &until).await;
        assert_eq!(seen, Ok(FileState::TooLong { length }));
        let soon = Until {
            deadline: Instant::now() + Duration::from_millis(200),
            ..until.clone()
        };
        let late = FixtureProblem::Late("`long` was still being read".to_owned());
        assert_eq!(case(Depth::Digest, &soon).await, Err(late));
        let (seen, ()) = tokio::join!(case(Depth::Digest, &until), async {
            until.interrupt.cancel();
        });
        assert_eq!(seen, Err(FixtureProblem::Interrupted));
    }
}
