//! Files that somebody named and that are read to their end. Reading them ends, whatever the name leads to: what is no
//! regular file is refused at once, and a pipe that this process was given is waited for until a signal comes, or for a
//! while.

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

/// The longest baseline that is read, in bytes.
const LONGEST: u64 = 1 << 30;

/// How long whoever writes into a pipe may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// The text of a regular file that is no longer than this.
pub(crate) fn regular_text(path: &Path, longest: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    let file = regular::open(path)?;
    file.take(longest + 1).read_to_end(&mut bytes)?;
    text_of(bytes, longest)
}

/// The same, also of a pipe that this process was given: the standard input, or what a shell puts in the place of
/// `<(…)`. One that has a place in a folder is anybody's, and nobody may ever write into it.
pub(crate) fn text(path: &Path, longest: u64, interrupts: &Interrupts) -> io::Result<String> {
    if !is_given_pipe(path) {
        return regular_text(path, longest);
    }
    // Made inside of the runtime that it is for.
    let reading = async { timeout(PATIENCE, piped(path, longest)).await };
    let read = unless_interrupted(interrupts, reading)?;
    let read = read.ok_or_else(|| io::Error::new(io::ErrorKind::Interrupted, "interrupted"))?;
    let bytes = read.map_err(|_| {
        let seconds = PATIENCE.as_secs();
        let problem = format!("whoever writes into this pipe did not end within {seconds} s");
        io::Error::new(io::ErrorKind::TimedOut, problem)
    })?;
    text_of(bytes?, longest)
}

/// The text of a baseline; `None` when there is no file of that name.
pub(crate) fn baseline(path: &Path, interrupts: &Interrupts) -> Result<Option<String>, Refusal> {
    let refused = |cause: io::Error| {
        let code = if cause.kind() == io::ErrorKind::Interrupted {
            ExitCode::Interrupted
        } else {
            ExitCode::Invalid
        };
        Refusal::new(code, DeliverError::new("read", path, cause).to_string())
    };
    there(text(path, LONGEST, interrupts)).map_err(refused)
}

/// What stands where a text will be written; `None` too where nothing can stand: whoever reads from a pipe or a device
/// takes what somebody else wrote.
pub(crate) fn replaced(path: &Path) -> Result<Option<String>, DeliverError> {
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Ok(None);
    }
    there(regular_text(path, LONGEST)).map_err(|cause| DeliverError::new("read", path, cause))
}

/// What is not there is no text, and no problem.
fn there(read: io::Result<String>) -> io::Result<Option<String>> {
    match read {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_given_pipe(path: &Path) -> bool {
    let is_pipe = |found: fs::Metadata| found.file_type().is_fifo();
    stream(path).is_some() && fs::metadata(path).is_ok_and(is_pipe)
}

/// Reads a pipe until nobody can write into it any more.
async fn piped(path: &Path, longest: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let pipe = pipe::OpenOptions::new().open_receiver(path)?;
    pipe.take(longest + 1).read_to_end(&mut bytes).await?;
    Ok(bytes)
}

fn text_of(bytes: Vec<u8>, longest: u64) -> io::Result<String> {
    if bytes.len() as u64 > longest {
        return Err(io::Error::other(format!(
            "it is longer than {longest} bytes"
        )));
    }
    String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no UTF-8"))
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
            assert_eq!(refused.to_string(), "it is no regular file", "{path:?}");
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
        assert_eq!(refused, "it is no UTF-8");
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
