//! Reads the files that expectations name. Inside the fixture, links are not followed out of it. Pipes and devices are
//! never opened, and file contents are bounded.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Seek},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::FileType;

use super::{
    fixture::{self, FixtureCopy, FixtureProblem, Standing},
    folder::{self, Folder},
    inside,
    pace::Until,
    regular,
};
use mcp::observation::files::{FileState, LONGEST_BYTES, PathKind};
use suite::model::expectation::FilesLook;
use text::digest::sha256_of_all;

/// Reads each path. Relative paths start in the copy when there is one, else in `directory`.
pub async fn look(
    paths: &BTreeMap<String, FilesLook>,
    copy: Option<&FixtureCopy>,
    directory: &Path,
    until: &Until,
) -> Result<BTreeMap<String, FileState>, FixtureProblem> {
    let mut seen = BTreeMap::new();
    for (path, look) in paths {
        let given = PathBuf::from(path);
        let root = copy.map(|copy| copy.path().to_owned());
        let root = root.filter(|root| given.is_relative() || given.starts_with(root));
        let (place, look) = (directory.join(&given), *look);
        let read = move |until: &Until| {
            let reader = Reader { look, until };
            match root {
                Some(root) => reader.in_fixture(&given, &root, fixture::standing(&root)),
                None => reader.anywhere(&place),
            }
        };
        seen.insert(path.clone(), until.look(&reading(path), read).await?);
    }
    Ok(seen)
}

/// Reads a path below a folder, without following it out of the folder.
pub(super) async fn look_below(
    root: &Path,
    (path, look): (&Path, FilesLook),
    until: &Until,
) -> Result<FileState, FixtureProblem> {
    let (root, given) = (root.to_owned(), path.to_owned());
    let what = reading(&path.display().to_string());
    let state = until.look(&what, move |until| {
        let standing =
            Folder::open(&root).map_or_else(|error| Standing::Closed(error, None), Standing::There);
        Reader { look, until }.in_fixture(&given, &root, standing)
    });
    state.await
}

fn reading(path: &str) -> String {
    format!("`{path}` was still being read")
}

/// Reads one path.
#[derive(Clone, Copy)]
struct Reader<'a> {
    look: FilesLook,
    until: &'a Until,
}

impl Reader<'_> {
    /// Reads a path of the fixture at `root`.
    fn in_fixture(self, path: &Path, root: &Path, standing: Standing) -> FileState {
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
            Ok(place) => self.below(&folder, place.strip_prefix(root).unwrap_or(&place)),
            Err(error) => FileState::Unknown(error.to_string()),
        }
    }

    /// Reads a path below a folder. Its links are resolved already: a new one is not followed.
    fn below(self, folder: &Folder, path: &Path) -> FileState {
        let Some(name) = path.file_name() else {
            return FileState::Directory;
        };
        let parent = folder.below(path.parent().unwrap_or(Path::new("")));
        let entry = parent.and_then(|parent| Ok((parent.entry(name)?, parent)));
        let (entry, parent) = match entry {
            Ok(entry) => entry,
            Err(error) => return absent_or(&error, FileState::Unknown),
        };
        match entry.kind() {
            PathKind::Directory => FileState::Directory,
            PathKind::Link => {
                FileState::Unknown("it became a link while it was looked at".to_owned())
            }
            PathKind::Special => FileState::Unreadable(format!("it is {}", entry.word())),
            PathKind::File => self.content(parent.file(name)),
        }
    }

    /// Reads a path anywhere on this machine; links are followed by the system.
    fn anywhere(self, path: &Path) -> FileState {
        match fs::metadata(path) {
            Err(error) => absent_or(&error, FileState::Unknown),
            Ok(found) if found.is_dir() => FileState::Directory,
            Ok(found) if !found.is_file() => FileState::Unreadable(format!(
                "it is {}",
                folder::word(FileType::from_raw_mode(found.mode()))
            )),
            Ok(_) => self.content(regular::open(path)),
        }
    }

    fn content(self, file: io::Result<File>) -> FileState {
        file.and_then(|file| self.read(file))
            .unwrap_or_else(|error| absent_or(&error, FileState::Unreadable))
    }

    /// Reads a regular file; of one that is too long to be kept, its length or its digest.
    fn read(self, mut file: File) -> io::Result<FileState> {
        let mut length = file.metadata()?.len();
        if length <= LONGEST_BYTES {
            let mut bytes = Vec::new();
            let reading = self.until.reading(&mut file);
            reading.take(LONGEST_BYTES + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 <= LONGEST_BYTES {
                return Ok(FileState::Content(bytes));
            }
            file.rewind()?;
            length = file.metadata()?.len().max(LONGEST_BYTES + 1);
        }
        match self.look {
            FilesLook::Content => Ok(FileState::TooLong { length }),
            FilesLook::Changed => {
                // A file that grows while it is read is read up to its first length.
                let (sha256, length) = sha256_of_all(self.until.reading(file.take(length)))?;
                Ok(FileState::Digest { sha256, length })
            }
        }
    }
}

/// What an error says of a path: that nothing is there, or why it could not be read.
fn absent_or(error: &io::Error, other: impl FnOnce(String) -> FileState) -> FileState {
    if inside::is_absent(error) {
        FileState::Absent
    } else {
        other(error.to_string())
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

    use super::look;
    use crate::{
        fixture::{Fixture, FixtureCopy, FixtureProblem, ProblemKind},
        pace::Until,
    };
    use mcp::observation::files::{FileState, LONGEST_BYTES};
    use suite::model::expectation::FilesLook;

    async fn state_by(
        (path, depth): (&str, FilesLook),
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
        let seen = state_by((path, FilesLook::Changed), copy, directory, &until).await;
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
        case("outside", unknown("it leads out of the fixture")).await;
        case("passwd", unknown("it leads out of the fixture")).await;
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
        let case = async |depth: FilesLook, until: &Until| {
            let begun = Instant::now();
            let seen = state_by(("long", depth), None, folder.path(), until).await;
            assert!(begun.elapsed() < Duration::from_secs(20));
            seen
        };
        let until = Until::in_a_minute();
        let seen = case(FilesLook::Content, &until).await;
        assert_eq!(seen, Ok(FileState::TooLong { length }));
        let soon = Until {
            deadline: Instant::now() + Duration::from_millis(200),
            ..until.clone()
        };
        let late = case(FilesLook::Changed, &soon).await.unwrap_err();
        assert_eq!(late.message, "`long` was still being read");
        let (seen, ()) = tokio::join!(case(FilesLook::Changed, &until), async {
            until.interrupt.cancel();
        });
        assert_eq!(seen.unwrap_err().kind, ProblemKind::Interrupted);
    }
}
