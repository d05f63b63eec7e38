//! How long files may be worked on: for a moment on the thread that all jobs share, and on a thread of its own as long
//! as somebody waits for it. What a server leaves may be of any size, and nobody else may have to wait for it.

use std::{
    cell::Cell,
    io::{self, Read},
    time::{Duration, Instant},
};

use tokio::{task, time::sleep_until};
use tokio_util::sync::CancellationToken;

/// Bytes that are read where we stand, for one assertion at one time.
const MOMENT: u64 = 4 * 1024 * 1024;

/// What one entry of a folder counts for.
const ENTRY: u64 = 4 * 1024;

/// Until when something is worth doing.
#[derive(Debug, Clone)]
pub struct Until {
    /// When it would be too late.
    pub deadline: Instant,
    /// The time there was, to be told.
    pub timeout: Duration,
    /// Cancelled when nobody wants it any more.
    pub interrupt: CancellationToken,
}

impl Until {
    /// Time enough.
    #[cfg(test)]
    pub fn in_a_minute() -> Self {
        let timeout = Duration::from_mins(1);
        Self {
            deadline: Instant::now() + timeout,
            timeout,
            interrupt: CancellationToken::new(),
        }
    }

    /// An error once it is not worth it any more.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.interrupt.is_cancelled() || Instant::now() >= self.deadline {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(())
        }
    }

    /// Waits for something as long as that is worth it.
    pub async fn wait<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = sleep_until(self.deadline.into()) => None,
            () = self.interrupt.cancelled() => None,
        }
    }

    /// Looks at files. `None` when it was not worth it any more before all was seen.
    pub(super) async fn look<R: Send + 'static>(
        &self,
        moment: &mut Moment,
        look: impl Fn(&Pace) -> R + Send + 'static,
    ) -> Option<R> {
        if let Some(seen) = moment.spend(&look) {
            return Some(seen);
        }
        let until = self.clone();
        let looking = task::spawn_blocking(move || {
            let pace = Pace::of(Bound::Until(until));
            let seen = look(&pace);
            (!pace.is_over()).then_some(seen)
        });
        // Who reads where nothing comes sees no deadline.
        self.wait(looking).await?.ok().flatten()
    }
}

/// What may still be read where we stand.
#[derive(Debug)]
pub(super) struct Moment(u64);

impl Moment {
    /// A whole one.
    pub(super) fn new() -> Self {
        Self(MOMENT)
    }

    /// One of so many bytes.
    #[cfg(test)]
    pub(super) fn of(bytes: u64) -> Self {
        Self(bytes)
    }

    /// None, for what is known to be long.
    pub(super) fn none() -> Self {
        Self(0)
    }

    /// Does something in this time; `None` when there was not enough.
    pub(super) fn spend<R>(&mut self, work: impl FnOnce(&Pace) -> R) -> Option<R> {
        if self.0 == 0 {
            return None;
        }
        let pace = Pace::of(Bound::Bytes(Cell::new(self.0)));
        let done = work(&pace);
        self.0 = pace.left();
        (!pace.is_over()).then_some(done)
    }
}

/// Asked by whoever works on files whether to go on.
#[derive(Debug)]
pub(super) struct Pace {
    bound: Bound,
    over: Cell<bool>,
}

#[derive(Debug)]
enum Bound {
    Bytes(Cell<u64>),
    Until(Until),
    None,
}

impl Pace {
    fn of(bound: Bound) -> Self {
        Self {
            bound,
            over: Cell::new(false),
        }
    }

    /// As long as it takes.
    pub(super) fn endless() -> Self {
        Self::of(Bound::None)
    }

    fn left(&self) -> u64 {
        match &self.bound {
            Bound::Bytes(left) if !self.is_over() => left.get(),
            Bound::Bytes(_) | Bound::Until(_) | Bound::None => 0,
        }
    }

    /// Whether the work was broken off: then nothing that it brought counts.
    pub(super) fn is_over(&self) -> bool {
        self.over.get()
    }

    /// Counts an entry of a folder.
    pub(super) fn entry(&self) -> io::Result<()> {
        self.spend(ENTRY)
    }

    /// An error where so many bytes are more than there is time for.
    pub(super) fn foresee(&self, bytes: u64) -> io::Result<()> {
        match &self.bound {
            Bound::Bytes(left) if left.get() < bytes => self.end(),
            Bound::Bytes(_) | Bound::Until(_) | Bound::None => Ok(()),
        }
    }

    /// Counts what was read.
    fn spend(&self, bytes: u64) -> io::Result<()> {
        let goes_on = match &self.bound {
            Bound::Bytes(left) => match left.get().checked_sub(bytes) {
                Some(rest) => {
                    left.set(rest);
                    true
                }
                None => false,
            },
            Bound::Until(until) => until.check().is_ok(),
            Bound::None => true,
        };
        if goes_on && !self.is_over() {
            Ok(())
        } else {
            self.end()
        }
    }

    fn end(&self) -> io::Result<()> {
        self.over.set(true);
        Err(io::ErrorKind::TimedOut.into())
    }

    /// Reads at this pace.
    pub(super) fn reading<R: Read>(&self, reader: R) -> impl Read {
        Paced { reader, pace: self }
    }
}

struct Paced<'a, R> {
    reader: R,
    pace: &'a Pace,
}

impl<R: Read> Read for Paced<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.pace.spend(count as u64)?;
        Ok(count)
    }
}
