//! How long files may be worked on: as long as somebody waits for what comes of it, and never on a thread that others
//! need. What a server leaves may be of any size.

use std::{
    io::{self, Read},
    time::{Duration, Instant},
};

use tokio::{task, time::sleep_until};
use tokio_util::sync::CancellationToken;

use super::fixture::FixtureProblem;
use mcp::observation::disruption::{Disruption, DisruptionKind, Phase};

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

    /// What is told when it was too late.
    pub(super) fn over(&self, phase: Phase, what: &str) -> Disruption {
        let timeout = text::time(self.timeout);
        let message = format!("the timeout of {timeout} was over: {what}");
        Disruption::new(DisruptionKind::Timeout, phase, message)
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

    /// Looks at files on another thread. `what` was going on is told when the time is over before all was seen.
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

    /// Reads as long as that is worth it.
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
