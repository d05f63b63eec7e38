//! The time that files may be worked on: until a deadline or an interrupt, and on a thread of its own, because what a server
//! leaves may be of any size.

use std::{
    io::{self, Read},
    time::{Duration, Instant},
};

use tokio::{task, time::sleep_until};
use tokio_util::sync::CancellationToken;

use super::fixture::FixtureProblem;
use mcp::observation::disruption::{Disruption, DisruptionKind, Phase};

/// A deadline for work on files.
#[derive(Debug, Clone)]
pub struct Until {
    /// When the time is over.
    pub deadline: Instant,
    /// The time there was, for messages.
    pub timeout: Duration,
    /// Cancelled when the run is interrupted.
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

    /// An error once the time is over.
    pub(super) fn check(&self) -> io::Result<()> {
        if self.interrupt.is_cancelled() || Instant::now() >= self.deadline {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            Ok(())
        }
    }

    /// The disruption when the time was over.
    pub(super) fn over(&self, phase: Phase, what: &str) -> Disruption {
        let timeout = text::time(self.timeout);
        let message = format!("the timeout of {timeout} was over: {what}");
        Disruption::new(DisruptionKind::Timeout, phase, message)
    }

    /// Waits for something until the deadline.
    pub async fn wait<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            done = work => Some(done),
            () = sleep_until(self.deadline.into()) => None,
            () = self.interrupt.cancelled() => None,
        }
    }

    /// Looks at files on another thread. `what` was going on is reported when the time is over before that ends.
    pub(super) async fn look<R: Send + 'static>(
        &self,
        what: &str,
        look: impl FnOnce(&Self) -> R + Send + 'static,
    ) -> Result<R, FixtureProblem> {
        let until = self.clone();
        let looking = task::spawn_blocking(move || {
            let seen = look(&until);
            until.check().is_ok().then_some(seen)
        });
        // A read that never returns does not check the deadline.
        let seen = self.wait(looking).await.and_then(Result::ok).flatten();
        seen.ok_or_else(|| FixtureProblem::late(self, what.to_owned()))
    }

    /// Reads until the deadline.
    pub(super) fn reading<R: Read>(&self, reader: R) -> impl Read {
        Timed {
            reader,
            until: self,
        }
    }
}

struct Timed<'a, R> {
    reader: R,
    until: &'a Until,
}

impl<R: Read> Read for Timed<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.until.check()?;
        self.reader.read(buffer)
    }
}
