//! Reads files that the user names, never without end: anything but a regular file is refused, except a pipe that this
//! process inherited, which is read until a signal or a deadline.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::FileTypeExt,
    path::Path,
    time::Duration,
};

use tokio::{io::AsyncReadExt, net::unix::pipe, time::timeout};

use super::{Interrupts, Refusal, unless_interrupted};
use crate::deliver::{DeliverError, stream::stream};
use host::regular;
use text::exit::ExitCode;

/// The largest baseline, in bytes.
const LONGEST: u64 = 1 << 30;

/// The deadline for reading a pipe.
const PATIENCE: Duration = Duration::from_mins(1);

/// Reads a regular file of at most `longest` bytes.
pub(crate) fn regular_text(path: &Path, longest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = regular::open(path)?;
    file.take(longest + 1).read_to_end(&mut bytes)?;
    text_of(bytes, longest)
}

/// Also reads an inherited pipe: standard input, or the shell's `<(…)`. A named pipe is refused, because it may never
/// get a writer.
fn text(path: &Path, longest: u64, interrupts: &Interrupts) -> io::Result<String> {
    let is_pipe = |found: fs::Metadata| found.file_type().is_fifo();
    if stream(path).is_none() || !fs::metadata(path).is_ok_and(is_pipe) {
        return regular_text(path, longest);
    }
    let reading = async {
        let mut bytes = Vec::new();
        let pipe = pipe::OpenOptions::new().open_receiver(path)?;
        pipe.take(longest + 1).read_to_end(&mut bytes).await?;
        Ok::<_, io::Error>(bytes)
    };
    // The timer must be created inside the runtime.
    let read = unless_interrupted(interrupts, async { timeout(PATIENCE, reading).await })?;
    let read = read.ok_or(io::ErrorKind::Interrupted)?;
    let bytes = read.map_err(|_| {
        let seconds = PATIENCE.as_secs();
        let problem = format!("the writer of this pipe did not end within {seconds} s");
        io::Error::new(io::ErrorKind::TimedOut, problem)
    })?;
    text_of(bytes?, longest)
}

/// Reads a baseline; `None` if there is no such file.
pub(crate) fn baseline(path: &Path, interrupts: &Interrupts) -> Result<Option<String>, Refusal> {
    there(text(path, LONGEST, interrupts)).map_err(|cause| {
        let code = if cause.kind() == io::ErrorKind::Interrupted {
            ExitCode::Interrupted
        } else {
            ExitCode::Invalid
        };
        Refusal::new(code, DeliverError::new("read", path, cause).to_string())
    })
}

/// Reads the file that will be replaced; `None` if there is none, or if it is a pipe or a device.
pub(crate) fn replaced(path: &Path) -> Result<Option<String>, DeliverError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(None);
    }
    there(regular_text(path, LONGEST)).map_err(|cause| DeliverError::new("read", path, cause))
}

/// Maps `NotFound` to `None`.
fn there(read: io::Result<String>) -> io::Result<Option<String>> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn text_of(bytes: Vec<u8>, longest: u64) -> io::Result<String> {
    if bytes.len() as u64 > longest {
        return Err(io::Error::other(format!(
            "it is longer than {longest} bytes"
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write, os::fd::AsRawFd, path::Path, thread};

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::{regular_text, replaced, text};
    use crate::commands::running::Interrupts;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
        for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
            let refused = text(path, 10, &Interrupts::default()).unwrap_err();
            assert_eq!(refused.to_string(), "it is not a regular file", "{path:?}");
            assert_eq!(replaced(path).unwrap(), None);
        }
        assert_eq!(replaced(&folder.path().join("none")).unwrap(), None);
    }

    #[test]
    fn a_text_is_read_up_to_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "0123456789").unwrap();
        assert_eq!(regular_text(&file, 10).unwrap(), "0123456789");
        assert_eq!(replaced(&file).unwrap().as_deref(), Some("0123456789"));
        let refused = regular_text(&file, 9).unwrap_err().to_string();
        assert_eq!(refused, "it is longer than 9 bytes");
        fs::write(&file, [0xff]).unwrap();
        let refused = regular_text(&file, 9).unwrap_err().to_string();
        assert_eq!(refused, "it is not valid UTF-8");
    }

    #[test]
    fn a_pipe_that_was_given_is_read_to_its_end() {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let writing = thread::spawn(move || writer.write_all(b"0123456789").unwrap());
        let read = text(Path::new(&path), 10, &Interrupts::default()).unwrap();
        assert_eq!(read, "0123456789");
        writing.join().unwrap();
    }

    #[test]
    fn a_signal_ends_waiting_for_a_pipe() {
        let (reader, _writer) = std::io::pipe().unwrap();
        let path = format!("/dev/fd/{}", reader.as_raw_fd());
        let interrupts = Interrupts::default();
        let token = interrupts.token();
        let ending = thread::spawn(move || token.cancel());
        let refused = text(Path::new(&path), 10, &interrupts).unwrap_err();
        assert_eq!(refused.kind(), std::io::ErrorKind::Interrupted);
        ending.join().unwrap();
    }
}
