//! Writes texts to stdout, files, the step summary and GitHub. `report` makes the texts. Files are replaced atomically;
//! a write error ends the run with exit code 3.

pub(crate) mod bounds;
pub(crate) mod command_file;
pub(crate) mod facts;
pub(crate) mod file;
pub(crate) mod github;
pub(crate) mod standard;
pub(crate) mod stdout;
pub(crate) mod stream;
pub(crate) mod token;
pub(crate) mod workflow_log;

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use self::{bounds::Bounds, stdout::Stdout, stream::Stream};

/// The destination of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Destination {
    /// Standard output.
    Stdout,
    /// A file, replaced atomically.
    File(PathBuf),
    /// A file within the bounds of a workflow step.
    Within(Bounds, PathBuf),
    /// The step summary, which is appended to.
    StepSummary(PathBuf),
}

impl Destination {
    /// The destination of a typed path, which may name stdout.
    pub(crate) fn from_path(path: &Path) -> Self {
        if stream::stream(path) == Some(Stream::Out) {
            Self::Stdout
        } else {
            Self::File(path.to_owned())
        }
    }
}

/// An error on writing a report or reading a file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{path}`: {cause}")]
pub(crate) struct DeliverError {
    /// The action, such as `write`.
    pub(crate) action: &'static str,
    /// The path, for messages.
    pub(crate) path: String,
    /// The cause.
    pub(crate) cause: io::Error,
}

impl DeliverError {
    /// Creates the error of an action on a path.
    pub(crate) fn new(action: &'static str, path: &Path, cause: io::Error) -> Self {
        Self {
            action,
            path: path.display().to_string(),
            cause,
        }
    }
}

/// Writes a text to its destination.
pub(crate) fn write(
    destination: &Destination,
    text: &str,
    stdout: &mut Stdout,
) -> Result<(), DeliverError> {
    let streams = stdout.streams().clone();
    let (action, place, written) = match destination {
        Destination::Stdout => {
            let written = stdout.write_all(text.as_bytes());
            let written = written.and_then(|()| stdout.flush());
            ("write", Path::new("stdout"), written)
        }
        Destination::File(path) => {
            let written = file::replace(path, text, None, &streams);
            ("write", path.as_path(), written)
        }
        Destination::Within(bounds, path) => (
            "write",
            path.as_path(),
            bounds.replace(path, text, &streams),
        ),
        Destination::StepSummary(path) => {
            ("append to", path.as_path(), command_file::add(path, text))
        }
    };
    written.map_err(|cause| DeliverError::new(action, place, cause))
}

/// The size of a file in bytes; 0 if it does not exist.
pub(crate) fn size(path: &Path) -> usize {
    let bytes = fs::metadata(path).map_or(0, |file| file.len());
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Destination, stdout::Stdout, write};

    fn deliver(destination: &Destination, text: &str) -> Result<(), String> {
        write(destination, text, &mut Stdout::closed()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_is_replaced_whole_and_its_folders_made() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/report.xml");
        let destination = Destination::File(path.clone());
        deliver(&destination, "a longer first text").unwrap();
        deliver(&destination, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "{left:?}");
    }

    #[cfg(unix)]
    #[test]
    fn modes_links_and_devices_stay_what_they_are() {
        use std::os::unix::fs::{PermissionsExt, symlink};

        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("real"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        deliver(&Destination::File(link.clone()), "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(
            fs::metadata(&path).unwrap().permissions().mode() & 0o777,
            0o640
        );
        deliver(&Destination::File("/dev/null".into()), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = deliver(&Destination::File(file.join("below")), "x").unwrap_err();
        assert!(
            error.contains("cannot write") && error.contains("below"),
            "{error}"
        );
        let error = deliver(&Destination::File(folder.path().to_owned()), "x").unwrap_err();
        assert!(error.contains("it is a directory"), "{error}");
    }

    #[test]
    fn a_step_summary_is_appended_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("summary.md");
        fs::write(&path, "theirs\n").unwrap();
        let destination = Destination::StepSummary(path.clone());
        deliver(&destination, "ours\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\nours\n");
        fs::write(&path, "theirs").unwrap();
        deliver(&destination, "ours\n").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs\nours\n");
    }

    #[test]
    fn a_hyphen_is_stdout_and_a_closed_pipe_is_success() {
        assert_eq!(Destination::from_path("-".as_ref()), Destination::Stdout);
        deliver(&Destination::Stdout, "nobody reads this").unwrap();
    }
}
