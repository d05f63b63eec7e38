//! The standard streams of this process as long as somebody reads them. A reader that stands still is waited for, as by
//! any program; once a signal has come, only for a moment, because whoever sent it waits for our end.

use std::{
    io::{self, Write},
    os::fd::BorrowedFd,
    sync::OnceLock,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, fstat},
    io::Errno,
};

/// How long after the signal a reader that stands still is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often it is looked whether there was a signal.
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// What a pipe takes without waiting when it says that it takes something (`PIPE_BUF`).
const PIECE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// When the signal came.
static HURRY: OnceLock<Instant> = OnceLock::new();

/// From here on nobody is waited for any longer than there is patience.
pub(crate) fn hurry() {
    HURRY.get_or_init(Instant::now);
}

fn is_over() -> bool {
    HURRY.get().is_some_and(|since| since.elapsed() >= PATIENCE)
}

/// A standard stream, not buffered.
#[derive(Debug)]
pub(super) struct Standard {
    stream: BorrowedFd<'static>,
    /// As much as is written at once.
    piece: usize,
}

impl Standard {
    /// Standard output.
    pub(super) fn out() -> Self {
        Self::of(rustix::stdio::stdout())
    }

    /// Standard error.
    pub(super) fn error() -> Self {
        Self::of(rustix::stdio::stderr())
    }

    fn of(stream: BorrowedFd<'static>) -> Self {
        let is_file = fstat(stream)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        Self {
            stream,
            piece: if is_file { usize::MAX } else { PIECE },
        }
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            let mut asked = [PollFd::new(&self.stream, PollFlags::OUT)];
            match poll(&mut asked, Some(&LOOK)) {
                Ok(0) if is_over() => return Err(io::ErrorKind::BrokenPipe.into()),
                Ok(0) | Err(Errno::INTR) => continue,
                // What cannot be asked is written to.
                Ok(_) | Err(_) => {}
            }
            match rustix::io::write(self.stream, &bytes[..bytes.len().min(self.piece)]) {
                Err(Errno::AGAIN) => {}
                written => return Ok(written?),
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes something to standard error. If nobody reads it, there is nobody to tell.
pub(crate) fn say(text: &str) {
    let _ = Standard::error().write_all(text.as_bytes());
}
