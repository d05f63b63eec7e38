//! The standard streams of this process as long as somebody reads them. A reader that stands still is waited for, as by
//! any program, but not by jobs; once a signal has come, only for a moment, because whoever sent it waits for our end.

use std::{
    io::{self, IsTerminal, Write},
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, Mode, OFlags, fstat, open},
    io::Errno,
};

use super::held::Held;

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

/// Whether something was not written because of that.
static GIVEN_UP: AtomicBool = AtomicBool::new(false);

/// Whether a reader stood still after the signal for longer than there was patience, so that it lacks something.
pub(crate) fn has_given_up() -> bool {
    GIVEN_UP.load(Ordering::SeqCst)
}

fn is_over() -> bool {
    HURRY.get().is_some_and(|since| since.elapsed() >= PATIENCE)
}

/// A standard stream, not buffered. While jobs run nobody waits for its reader.
#[derive(Debug)]
pub(super) struct Standard {
    stream: Outlet<'static>,
    held: &'static Held,
}

impl Standard {
    /// Standard output.
    pub(super) fn out() -> Self {
        Self {
            stream: Outlet::of(rustix::stdio::stdout()),
            held: Held::of_out(),
        }
    }

    /// Standard error.
    pub(super) fn error() -> Self {
        Self {
            stream: Outlet::of(rustix::stdio::stderr()),
            held: Held::of_error(),
        }
    }
}

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.held.write(self.stream, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.held.flush()
    }
}

/// Where something is written whose reader is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outlet<'a> {
    stream: BorrowedFd<'a>,
    takes: Takes,
}

/// How a stream takes what is written when it says that it takes something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// A file: all of it.
    All,
    /// A pipe, a socket: a piece.
    Piece,
    /// A terminal: nobody knows how much, and it waits with the rest.
    Some,
}

impl<'a> Outlet<'a> {
    /// That of an open file.
    pub(super) fn of(stream: BorrowedFd<'a>) -> Self {
        let is_file = fstat(stream)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        let takes = if is_file {
            Takes::All
        } else if stream.is_terminal() {
            Takes::Some
        } else {
            Takes::Piece
        };
        Self { stream, takes }
    }

    fn piece(self, bytes: &[u8]) -> &[u8] {
        match self.takes {
            Takes::All => bytes,
            Takes::Piece | Takes::Some => &bytes[..bytes.len().min(PIECE)],
        }
    }

    /// Writes some of it, however long the reader stands still.
    pub(super) fn write(self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.takes_within(&LOOK) {
                Ok(false) if is_over() => {
                    GIVEN_UP.store(true, Ordering::SeqCst);
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                Ok(false) | Err(Errno::INTR) => continue,
                // What cannot be asked is written to.
                Ok(true) | Err(_) => {}
            }
            match rustix::io::write(self.stream, self.piece(bytes)) {
                Err(Errno::AGAIN) => {}
                written => return Ok(written?),
            }
        }
    }

    /// Likewise all of it.
    pub(super) fn write_all(self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn takes_within(self, time: &Timespec) -> Result<bool, Errno> {
        let mut asked = [PollFd::new(&self.stream, PollFlags::OUT)];
        poll(&mut asked, Some(time)).map(|ready| ready > 0)
    }
}

impl Outlet<'static> {
    /// Writes what is taken without waiting; `None` where nothing is, or that cannot be known.
    pub(super) fn write_at_once(self, bytes: &[u8]) -> io::Result<Option<usize>> {
        if !self.takes_within(&Timespec::default()).unwrap_or(true) {
            return Ok(None);
        }
        let written = match self.takes {
            Takes::All | Takes::Piece => rustix::io::write(self.stream, self.piece(bytes)),
            Takes::Some => match unwaiting(self.stream) {
                Some(terminal) => rustix::io::write(terminal, bytes),
                None => return Ok(None),
            },
        };
        match written {
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            written => Ok(Some(written?)),
        }
    }
}

/// The terminal that a stream leads to, opened once more so that it answers at once that it takes nothing: whoever
/// started us shares the stream itself.
fn unwaiting(stream: BorrowedFd<'static>) -> Option<&'static OwnedFd> {
    static OUT: OnceLock<Option<OwnedFd>> = OnceLock::new();
    static ERROR: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let number = stream.as_raw_fd();
    let is_out = number == rustix::stdio::stdout().as_raw_fd();
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = || open(format!("/proc/self/fd/{number}"), flags, Mode::empty()).ok();
    if is_out { &OUT } else { &ERROR }
        .get_or_init(opened)
        .as_ref()
}

/// Writes something to standard error. If nobody reads it, there is nobody to tell.
pub(crate) fn say(text: &str) {
    let _ = draw(text.as_bytes());
}

/// Likewise, for whoever gives up when it is gone.
pub(crate) fn draw(bytes: &[u8]) -> io::Result<()> {
    Standard::error().write_all(bytes)
}

/// Whether both streams take something at this moment. What is drawn anew every moment is not kept for a reader that
/// stands still.
pub(crate) fn is_read() -> bool {
    [Standard::out(), Standard::error()].iter().all(|it| {
        let takes = it.stream.takes_within(&Timespec::default());
        it.held.is_settled() && takes.unwrap_or(true)
    })
}
