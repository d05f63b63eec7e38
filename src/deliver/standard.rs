//! The standard streams of this process, as one value that is handed to everybody who writes. While jobs run, a thread
//! writes what was said, in its order, so that a slow reader delays no job. A reader that does not read is waited for, as
//! by any program, but after a signal only for a moment: whoever sent it waits for our end.

use std::{
    collections::VecDeque,
    io::{self, Write},
    os::fd::BorrowedFd,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
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
const MOMENT: Duration = Duration::from_millis(100);
const LOOK: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};

/// What a pipe takes without waiting when it says that it takes something (`PIPE_BUF`).
const PIECE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// How long readers are waited for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Patience(Arc<Waited>);

#[derive(Debug, Default)]
struct Waited {
    /// When the signal came.
    hurry: OnceLock<Instant>,
    given_up: AtomicBool,
}

impl Patience {
    /// From here on nobody is waited for any longer than a moment.
    pub(crate) fn hurry(&self) {
        self.0.hurry.get_or_init(Instant::now);
    }

    /// Whether a reader stood still for longer than that, so that it lacks something.
    pub(crate) fn has_given_up(&self) -> bool {
        self.0.given_up.load(Ordering::SeqCst)
    }

    fn is_over(&self) -> bool {
        self.came_before(PATIENCE)
    }

    /// Whether a write that began when there was patience had to give up long ago.
    fn has_been_over(&self) -> bool {
        self.came_before(2 * PATIENCE)
    }

    fn came_before(&self, time: Duration) -> bool {
        let hurry = self.0.hurry.get();
        hurry.is_some_and(|since| since.elapsed() >= time)
    }

    /// Writes all of it to an open file, as long as there is patience.
    pub(super) fn write_all(&self, stream: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
        let is_file = fstat(stream)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile);
        while !bytes.is_empty() {
            match takes_within(stream, &LOOK) {
                Ok(false) if self.is_over() => {
                    self.0.given_up.store(true, Ordering::SeqCst);
                    return Err(io::ErrorKind::BrokenPipe.into());
                }
                Ok(false) | Err(Errno::INTR) => continue,
                // What cannot be asked is written to.
                Ok(true) | Err(_) => {}
            }
            let piece = if is_file {
                bytes
            } else {
                &bytes[..bytes.len().min(PIECE)]
            };
            match rustix::io::write(stream, piece) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

fn takes_within(stream: BorrowedFd<'_>, time: &Timespec) -> Result<bool, Errno> {
    let mut asked = [PollFd::new(&stream, PollFlags::OUT)];
    poll(&mut asked, Some(time)).map(|ready| ready > 0)
}

/// One of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    Out,
    Error,
}

impl Which {
    fn stream(self) -> BorrowedFd<'static> {
        match self {
            Self::Out => rustix::stdio::stdout(),
            Self::Error => rustix::stdio::stderr(),
        }
    }
}

/// Standard output and standard error.
#[derive(Debug, Clone, Default)]
pub(crate) struct Streams {
    patience: Patience,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    news: Condvar,
}

/// What waits to be written while jobs run.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<(Which, Vec<u8>)>,
    /// Whether a thread writes it; else everybody writes for themselves.
    is_open: bool,
    /// Whether the thread ends when nothing waits any more.
    is_ending: bool,
    /// Whether the thread is writing something.
    is_busy: bool,
    /// Why a stream cannot be written to any more: nothing follows a gap.
    broken: Vec<(Which, Errno)>,
}

impl Queue {
    fn is_settled(&self) -> bool {
        self.waiting.is_empty() && !self.is_busy
    }

    fn whole(&self, which: Which) -> io::Result<()> {
        let broken = self.broken.iter().find(|(it, _)| *it == which);
        broken.map_or(Ok(()), |(_, errno)| Err((*errno).into()))
    }
}

impl Shared {
    /// Waits for news, at most for a moment.
    fn wait<'a>(&self, queue: MutexGuard<'a, Queue>) -> MutexGuard<'a, Queue> {
        let waited = self.news.wait_timeout(queue, MOMENT);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    /// How long readers are waited for.
    pub(crate) fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Standard output, not buffered.
    pub(super) fn out(&self) -> Standard {
        Standard(self.clone(), Which::Out)
    }

    /// Standard error, not buffered.
    pub(super) fn error(&self) -> Standard {
        Standard(self.clone(), Which::Error)
    }

    /// Writes something to standard error. If nobody reads it, there is nobody to tell.
    pub(crate) fn say(&self, text: &str) {
        let _ = self.write(Which::Error, text.as_bytes());
    }

    /// Likewise, for whoever gives up when it is gone.
    pub(crate) fn draw(&self, bytes: &[u8]) -> io::Result<()> {
        self.write(Which::Error, bytes)
    }

    /// Whether both streams take something at this moment. What is drawn anew every moment is not kept for a reader that
    /// stands still.
    pub(crate) fn is_read(&self) -> bool {
        let queue = self.shared.lock();
        let takes = |which: &Which| {
            let takes = takes_within(which.stream(), &Timespec::default());
            takes.unwrap_or(true)
        };
        queue.is_settled() && [Which::Out, Which::Error].iter().all(takes)
    }

    /// From here on a thread writes, and nobody else waits for a reader; until what is given back is dropped.
    pub(crate) fn unhindered(&self) -> Unhindered {
        let streams = self.clone();
        let thread = thread::Builder::new().name("output".to_owned());
        let mut queue = self.shared.lock();
        // Without a thread everybody goes on to wait.
        let writer = thread.spawn(move || streams.carry()).ok();
        queue.is_open = writer.is_some();
        queue.is_ending = false;
        drop(queue);
        Unhindered {
            streams: self.clone(),
            writer,
        }
    }

    /// Waits until nothing waits to be written.
    pub(crate) fn settle(&self) {
        let mut queue = self.shared.lock();
        while queue.is_open && !queue.is_settled() {
            queue = self.shared.wait(queue);
        }
    }

    /// Writes all of it, or hands it to the thread that does.
    fn write(&self, which: Which, bytes: &[u8]) -> io::Result<()> {
        let mut queue = self.shared.lock();
        queue.whole(which)?;
        if !queue.is_open {
            drop(queue);
            return self.patience.write_all(which.stream(), bytes);
        }
        queue.waiting.push_back((which, bytes.to_owned()));
        self.shared.news.notify_all();
        Ok(())
    }

    /// Writes what waits until it is told to end and nothing does.
    fn carry(&self) {
        let mut queue = self.shared.lock();
        loop {
            if let Some((which, bytes)) = queue.waiting.pop_front() {
                queue.is_busy = true;
                drop(queue);
                let written = self.patience.write_all(which.stream(), &bytes);
                queue = self.shared.lock();
                queue.is_busy = false;
                if let Err(error) = written {
                    let errno = Errno::from_io_error(&error).unwrap_or(Errno::PIPE);
                    queue.broken.push((which, errno));
                    queue.waiting.retain(|(other, _)| *other != which);
                }
                self.shared.news.notify_all();
            } else if queue.is_ending {
                queue.is_open = false;
                self.shared.news.notify_all();
                return;
            } else {
                queue = self.shared.wait(queue);
            }
        }
    }
}

/// As long as this is there nobody waits for a reader; when it goes, what waits is written.
#[derive(Debug)]
pub(crate) struct Unhindered {
    streams: Streams,
    writer: Option<JoinHandle<()>>,
}

impl Drop for Unhindered {
    fn drop(&mut self) {
        let Streams { patience, shared } = &self.streams;
        let begun = Instant::now();
        let mut queue = shared.lock();
        queue.is_ending = true;
        shared.news.notify_all();
        while queue.is_open && self.writer.as_ref().is_some_and(|it| !it.is_finished()) {
            // The run may have taken longer than that to end after the signal: a reader that reads has its time.
            if patience.has_been_over() && begun.elapsed() >= 2 * PATIENCE {
                // A terminal may take part of a piece and then nothing: the thread goes with the process.
                patience.0.given_up.store(true, Ordering::SeqCst);
                let gone = [Which::Out, Which::Error].map(|which| (which, Errno::PIPE));
                queue.broken.extend(gone);
                queue.is_open = false;
                return;
            }
            queue = shared.wait(queue);
        }
        queue.is_open = false;
        drop(queue);
        if let Some(writer) = self.writer.take() {
            // A thread that panicked has told so.
            let _ = writer.join();
        }
    }
}

/// One of the streams, to be written to.
#[derive(Debug)]
pub(super) struct Standard(Streams, Which);

impl Write for Standard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(self.1, bytes).map(|()| bytes.len())
    }

    /// What was handed to the thread is not waited for.
    fn flush(&mut self) -> io::Result<()> {
        self.0.shared.lock().whole(self.1)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::ErrorKind,
        os::fd::AsFd,
        time::{Duration, Instant},
    };

    use super::Patience;

    #[test]
    fn a_reader_that_stands_still_is_given_up_after_a_signal() {
        let (_reader, writer) = rustix::pipe::pipe().unwrap();
        let patience = Patience::default();
        patience.write_all(writer.as_fd(), b"taken").unwrap();
        assert!(!patience.has_given_up());
        let past = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        patience.0.hurry.set(past).unwrap();
        let more = vec![b'x'; 10_000_000];
        let error = patience.write_all(writer.as_fd(), &more).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        assert!(patience.has_given_up());
    }
}
