//! Looks at the files that expectations name, in the job's own place. Never follows anything out of the
//! fixture, never opens what could block, never reads more than it may hold.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    os::unix::fs::{FileTypeExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::OFlags;

use super::{digest, fixture::FixtureCopy, inside};
use crate::observation::files::{FileState, LONGEST_BYTES};

/// What each path is now. Relative paths start in the copy when there is one, else in `directory`.
pub(crate) fn look(
    paths: &[String],
    copy: Option<&FixtureCopy>,
    directory: &Path,
) -> BTreeMap<String, FileState> {
    let root = copy.map(FixtureCopy::path);
    paths
        .iter()
        .map(|path| (path.clone(), look_at(Path::new(path), root, directory)))
        .collect()
}

/// What paths relative to a folder are now; none is followed out of it.
pub(super) fn look_below(paths: &[String], root: &Path) -> BTreeMap<String, FileState> {
    paths
        .iter()
        .map(|path| (path.clone(), look_at(Path::new(path), Some(root), root)))
        .collect()
}

fn look_at(path: &Path, root: Option<&Path>, directory: &Path) -> FileState {
    let Some(root) = root.filter(|root| path.is_relative() || path.starts_with(root)) else {
        return read(&directory.join(path));
    };
    match inside::resolve(root, path) {
        Ok(place) => read(&place),
        Err(stray) => FileState::Unreadable(stray.to_string()),
    }
}

/// What is at a path, its last links followed by the system.
fn read(path: &Path) -> FileState {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) => return failed(&error),
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
    content(path).unwrap_or_else(|error| failed(&error))
}

fn failed(error: &io::Error) -> FileState {
    if inside::is_absent(error) {
        FileState::Absent
    } else {
        FileState::Unreadable(error.to_string())
    }
}

/// The content of a regular file, or its digest when it is too long.
fn content(path: &Path) -> io::Result<FileState> {
    // Should it have become a FIFO by now, opening it does not wait for a writer.
    let mut file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    let length = file.metadata()?.len();
    if length <= LONGEST_BYTES {
        let mut bytes = Vec::new();
        Read::by_ref(&mut file)
            .take(LONGEST_BYTES + 1)
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= LONGEST_BYTES {
            return Ok(FileState::Content(bytes));
        }
        file = fs::File::open(path)?;
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
        case("../escaped.txt", unreadable("it leads out of the fixture"));
        case(
            &format!("{}/../escaped.txt", place.display()),
            unreadable("it leads out of the fixture"),
        );
        case(
            "outside",
            unreadable("the link `outside` leads out of the fixture, to `../escaped.txt`"),
        );
        case(
            "passwd",
            unreadable("the link `passwd` leads out of the fixture, to `/etc/passwd`"),
        );
        case(&elsewhere.display().to_string(), text("written by name"));
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
