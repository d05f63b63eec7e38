//! Standard output and standard error of this process. One thread writes all output in order. While jobs run, writers
//! do not wait for it, so that a slow reader delays no job; otherwise `flush` waits. After a signal, a stalled reader
//! is given up.

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

/// How long a stalled reader is waited for after a signal.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a waiting writer checks for a signal.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// The bytes per write, after which a reader counts as reading.
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

/// Output that is not written yet.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(Which, Vec<u8>)>,
    has_writer: bool,
    is_writing: bool,
    /// Whether writers do not wait, because jobs run.
    is_deferred: bool,
    /// When a write last succeeded.
    taken: Option<Instant>,
    /// Errors of streams. Nothing is written after an error, to leave no gap.
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
    /// Records the signal: from now on, stalled readers are given up.
    pub(crate) fn hurry(&self) {
        self.0.signalled.get_or_init(Instant::now);
    }

    /// Whether a reader stalled since `since` is given up.
    pub(super) fn is_over(&self, since: Instant) -> bool {
        let signalled = self.0.signalled.get();
        signalled.is_some_and(|at| since.max(*at).elapsed() >= PATIENCE)
    }

    /// Whether a reader was given up, so that output is missing.
    pub(crate) fn has_given_up(&self) -> bool {
        self.0.given_up.load(Ordering::SeqCst)
    }

    /// Unbuffered standard output.
    pub(super) fn out(&self) -> Standard {
        Standard(self.clone(), Which::Out)
    }

    /// Unbuffered standard error.
    pub(super) fn error(&self) -> Standard {
        Standard(self.clone(), Which::Error)
    }

    /// Writes to standard error, ignoring errors.
    pub(crate) fn say(&self, text: &[u8]) {
        let _ = self.write(Which::Error, text);
    }

    /// Whether all output is written. Bars are not drawn for a stalled reader.
    pub(crate) fn is_read(&self) -> bool {
        self.lock().is_settled()
    }

    /// Makes writers not wait, until [`Streams::settle`].
    pub(crate) fn defer(&self) {
        self.lock().is_deferred = true;
    }

    /// Waits until all output is written or a reader is given up.
    pub(crate) fn settle(&self) {
        let begun = Instant::now();
        let mut queue = self.lock();
        queue.is_deferred = false;
        while !queue.is_settled() && !self.has_given_up() {
            if self.is_over(queue.taken.map_or(begun, |taken| taken.max(begun))) {
                // The thread may be blocked in a write; it ends with the process.
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

    /// Queues the bytes for the writer thread, or writes them if the system refuses a thread.
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

    /// The writer thread.
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

/// Writes all bytes, blocking.
fn write_all(which: Which, mut bytes: &[u8]) -> Result<(), Errno> {
    let stream = match which {
        Which::Out => rustix::stdio::stdout(),
        Which::Error => rustix::stdio::stderr(),
    };
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            // Another process may have made the stream non-blocking.
            Err(Errno::AGAIN) => drop(poll(&mut [PollFd::new(&stream, PollFlags::OUT)], None)),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// One of the streams as a writer.
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
