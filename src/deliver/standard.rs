//! Standard output and standard error of this process. A thread writes what is said, in order. While jobs run nobody
//! waits for it, so that a slow reader delays no job; at other times `flush` waits. After a signal a reader that stands
//! still is waited for only briefly.

use std::{
    collections::VecDeque,
    io::{self, Write},
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
};

/// How long after a signal a reader that stands still is waited for.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a waiting writer looks for a signal.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Bytes that a reader has to take to count as reading.
const PIECE: usize = 16 * 1024;

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Out,
    Error,
}

/// Standard output and standard error; all clones share one queue.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    signalled: OnceLock<Instant>,
    given_up: AtomicBool,
}

/// What waits to be written.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(Which, Vec<u8>)>,
    has_writer: bool,
    is_writing: bool,
    /// Whether jobs run, which must not wait for a reader.
    is_deferred: bool,
    /// When a reader last took something.
    taken: Option<Instant>,
    /// Why a stream cannot be written to any more: nothing follows a gap.
    broken: Vec<(Which, Errno)>,
}

impl Queue {
    fn is_settled(&self) -> bool {
        self.waiting.is_empty() && !self.is_writing
    }

    fn whole(&self, which: Which) -> io::Result<()> {
        let broken = self.broken.iter().find(|(it, _)| *it == which);
        broken.map_or(Ok(()), |(_, errno)| Err((*errno).into()))
    }
}

impl Streams {
    /// From here on nobody is waited for any longer than a moment.
    pub(crate) fn hurry(&self) {
        self.0.signalled.get_or_init(Instant::now);
    }

    /// Whether a reader that stands still is not waited for any more, counted from a moment at which it did.
    pub(super) fn is_over(&self, since: Instant) -> bool {
        let signalled = self.0.signalled.get();
        signalled.is_some_and(|at| since.max(*at).elapsed() >= PATIENCE)
    }

    /// Whether a reader stood still for too long, so that it lacks something.
    pub(crate) fn has_given_up(&self) -> bool {
        self.0.given_up.load(Ordering::SeqCst)
    }

    /// Standard output, not buffered.
    pub(super) fn out(&self) -> Standard {
        Standard(self.clone(), Which::Out)
    }

    /// Standard error, not buffered.
    pub(super) fn error(&self) -> Standard {
        Standard(self.clone(), Which::Error)
    }

    /// Writes to standard error. If nobody reads it, there is nobody to tell.
    pub(crate) fn say(&self, text: &[u8]) {
        let _ = self.write(Which::Error, text);
    }

    /// Whether everything was taken. What is drawn anew every moment is not kept for a reader that stands still.
    pub(crate) fn is_read(&self) -> bool {
        self.lock().is_settled()
    }

    /// Lets no writer wait for a reader until [`Streams::settle`].
    pub(crate) fn defer(&self) {
        self.lock().is_deferred = true;
    }

    /// Waits until everything is written, or a reader is given up.
    pub(crate) fn settle(&self) {
        let begun = Instant::now();
        let mut queue = self.lock();
        queue.is_deferred = false;
        while !queue.is_settled() && !self.has_given_up() {
            if self.is_over(queue.taken.map_or(begun, |taken| taken.max(begun))) {
                // The thread may wait in the middle of a piece: it goes with the process.
                self.0.given_up.store(true, Ordering::SeqCst);
                let gone = [Which::Out, Which::Error].map(|which| (which, Errno::PIPE));
                queue.broken.extend(gone);
                queue.waiting.clear();
            } else {
                let waited = self.0.changed.wait_timeout(queue, LOOK);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands the bytes to the thread that writes; where the system refuses one, writes them.
    fn write(&self, which: Which, bytes: &[u8]) -> io::Result<()> {
        let mut queue = self.lock();
        queue.whole(which)?;
        if !queue.has_writer {
            let streams = self.clone();
            let thread = thread::Builder::new().name("output".to_owned());
            queue.has_writer = thread.spawn(move || streams.carry()).is_ok();
        }
        if !queue.has_writer {
            return Ok(write_all(which, bytes)?);
        }
        match queue.waiting.back_mut() {
            Some((last, text)) if *last == which => text.extend_from_slice(bytes),
            Some(_) | None => queue.waiting.push_back((which, bytes.to_owned())),
        }
        self.0.changed.notify_all();
        Ok(())
    }

    /// Writes what waits, as long as the process lives.
    fn carry(&self) {
        let mut queue = self.lock();
        loop {
            let Some((which, bytes)) = queue.waiting.pop_front() else {
                let waited = self.0.changed.wait(queue);
                queue = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            queue.is_writing = true;
            drop(queue);
            let written = bytes.chunks(PIECE).try_for_each(|piece| {
                write_all(which, piece)?;
                self.lock().taken = Some(Instant::now());
                Ok(())
            });
            queue = self.lock();
            queue.is_writing = false;
            if let Err(errno) = written {
                queue.broken.push((which, errno));
                queue.waiting.retain(|(other, _)| *other != which);
            }
            self.0.changed.notify_all();
        }
    }
}

/// Writes all of it, however long that takes.
fn write_all(which: Which, mut bytes: &[u8]) -> Result<(), Errno> {
    let stream = match which {
        Which::Out => rustix::stdio::stdout(),
        Which::Error => rustix::stdio::stderr(),
    };
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            // Another process may have made the stream return at once.
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&stream, PollFlags::OUT)], None)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// One of the streams, to be written to.
pub(super) struct Standard(Streams, Which);

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(self.1, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if !self.0.lock().is_deferred {
            self.0.settle();
        }
        self.0.lock().whole(self.1)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Streams;

    #[test]
    fn a_reader_that_stands_still_is_given_up_after_a_signal() {
        let streams = Streams::default();
        streams.lock().has_writer = true;
        streams.say(b"not taken");
        assert!(!streams.is_read() && !streams.has_given_up());
        let past = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        assert!(!streams.is_over(past));
        streams.hurry();
        streams.settle();
        assert!(streams.has_given_up());
        streams.write(super::Which::Out, b"more").unwrap_err();
    }
}
