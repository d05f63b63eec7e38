//! Looks at the files that expectations name, in the job's own place. Never follows anything out of the
//! fixture, never opens what could block, never reads more than it may hold.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read, Seek},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

use super::{
    digest,
    fixture::{FixtureCopy, Standing},
    folder::Folder,
    inside,
};
use crate::observation::files::{FileState, LONGEST_BYTES, PathKind};

/// What each path is now. Relative paths start in the copy when there is one, else in `directory`.
pub(crate) fn look(
    paths: &[String],
    copy: Option<&FixtureCopy>,
    directory: &Path,
) -> BTreeMap<String, FileState> {
    let fixture = copy.map(|copy| (copy.path(), copy.standing()));
    let look = |path: &Path| match &fixture {
        Some((root, standing)) if path.is_relative() || path.starts_with(root) => {
            in_fixture(path, root, standing)
        }
        Some(_) | None => read(&directory.join(path)),
    };
    paths
        .iter()
        .map(|path| (path.clone(), look(Path::new(path))))
        .collect()
}

/// What paths relative to a folder are now; none is followed out of it.
pub(super) fn look_below(paths: &[String], root: &Path) -> BTreeMap<String, FileState> {
    let standing = match Folder::open(root) {
        Ok(folder) => Standing::There(folder),
        Err(error) if inside::is_absent(&error) => Standing::Gone,
        Err(error) => Standing::Closed(error, None),
    };
    paths
        .iter()
        .map(|path| (path.clone(), in_fixture(Path::new(path), root, &standing)))
        .collect()
}

/// What is at a path of the fixture.
fn in_fixture(path: &Path, root: &Path, standing: &Standing) -> FileState {
    let folder = match standing {
        Standing::There(folder) => folder,
        Standing::Gone => return FileState::Absent,
        Standing::Replaced(kind) => {
            return FileState::Unknown(format!("the fixture's folder is {} now", kind.word()));
        }
        Standing::Closed(error, _) => {
            return FileState::Unknown(format!("the fixture's folder cannot be opened: {error}"));
        }
    };
    match inside::resolve(root, path) {
        Ok(place) => below(folder, place.strip_prefix(root).unwrap_or(&place)),
        Err(stray) => FileState::Unknown(stray.to_string()),
    }
}

/// What is at a path below a folder that leads over no link: what is one by now is not followed.
fn below(folder: &Folder, path: &Path) -> FileState {
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
        PathKind::Link => FileState::Unknown("it became a link while it was looked at".to_owned()),
        PathKind::Special => FileState::Unreadable(format!("it is {}", met.word())),
        PathKind::File => parent
            .file(name)
            .and_then(content)
            .unwrap_or_else(|error| failed(&error)),
    }
}

/// What is at a path, its links followed by the system.
fn read(path: &Path) -> FileState {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) => return not_met(&error),
    };
    let kind = found.file_type();
    if kind.is_dir() {
        return FileState::Directory;
    }
    if !kind.is_file() {
        let kind = if kind.is_fifo() {
            "a FIFO"
        } else if kind.is_socket() {
            "a socket"
        } else {
            "a device"
        };
        return FileState::Unreadable(format!("it is {kind}"));
    }
    // Should it have become a FIFO by now, opening it does not wait for a writer.
    let opened = fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path);
    opened
        .and_then(content)
        .unwrap_or_else(|error| failed(&error))
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

/// The content of a regular file, or its digest when it is too long.
fn content(mut file: File) -> io::Result<FileState> {
    let length = file.metadata()?.len();
    if length <= LONGEST_BYTES {
        let mut bytes = Vec::new();
        Read::by_ref(&mut file)
            .take(LONGEST_BYTES + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= LONGEST_BYTES {
            return Ok(FileState::Content(bytes));
        }
        file.rewind()?;
    }
    // A file that grows while it is read is read no further than it was.
    let (sha256, length) = digest::of(file.take(length.max(LONGEST_BYTES + 1)))?;
    Ok(FileState::Digest { sha256, length })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

    use super::look;
    use crate::{
        isolate::fixture::{Fixture, FixtureCopy},
        observation::files::{FileState, LONGEST_BYTES},
    };

    fn state(path: &str, copy: Option<&FixtureCopy>, directory: &Path) -> FileState {
        look(&[path.to_owned()], copy, directory)
            .remove(path)
            .unwrap()
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
        let case = |path: &str, wanted: FileState| {
            assert_eq!(state(path, Some(&copy), folder.path()), wanted, "{path}");
        };
        case("a.txt", text("changed"));
        case("./sub/../a.txt", text("changed"));
        case(&format!("{}/a.txt", place.display()), text("changed"));
        case("sub/inside", text("changed"));
        case("own", text("changed"));
        case("sub", FileState::Directory);
        case("none", FileState::Absent);
        case("a.txt/below", FileState::Absent);
        case("dangling", FileState::Absent);
        case("../escaped.txt", unknown("it leads out of the fixture"));
        case(
            &format!("{}/../escaped.txt", place.display()),
            unknown("it leads out of the fixture"),
        );
        case(
            "outside",
            unknown("the link `outside` leads out of the fixture, to `../escaped.txt`"),
        );
        case(
            "passwd",
            unknown("the link `passwd` leads out of the fixture, to `/etc/passwd`"),
        );
        case(&elsewhere.display().to_string(), text("written by name"));
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
        let case = |wanted: &FileState| {
            for path in [".", "a.txt", "none", place.join("a.txt").to_str().unwrap()] {
                let seen = state(path, Some(&copy), folder.path());
                assert_eq!(seen, *wanted, "{path}");
            }
        };
        fs::remove_dir_all(&place).unwrap();
        case(&FileState::Absent);
        symlink(at("elsewhere"), &place).unwrap();
        case(&unknown("the fixture's folder is a link now"));
        fs::remove_file(&place).unwrap();
        fs::write(&place, "a file").unwrap();
        case(&unknown("the fixture's folder is a file now"));
        copy.close().await.unwrap();
    }

    #[test]
    fn without_a_fixture_paths_start_at_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        fs::create_dir(at("dir")).unwrap();
        fs::write(at("a.txt"), "hello").unwrap();
        symlink("../a.txt", at("dir/link")).unwrap();
        let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        let long = fs::File::create(at("long")).unwrap();
        long.set_len(LONGEST_BYTES + 1).unwrap();
        let case = |path: &str, wanted: FileState| {
            assert_eq!(state(path, None, &at("dir")), wanted, "{path}");
        };
        case("../a.txt", text("hello"));
        case("link", text("hello"));
        case(".", FileState::Directory);
        case("none", FileState::Absent);
        case("../pipe", unreadable("it is a FIFO"));
        case("/dev/zero", unreadable("it is a device"));
        let FileState::Digest { length, sha256 } = state("../long", None, &at("dir")) else {
            panic!("a long file is known by its digest");
        };
        assert_eq!(length, LONGEST_BYTES + 1);
        assert_eq!(&sha256[..4], &[0x91, 0x99, 0x09, 0x77]);
    }
}
