//! The one clock of a job: every frame, notification and timing of it counts from the same moment.

use std::time::{Duration, Instant};

/// When a job began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JobClock {
    start: Instant,
}

impl JobClock {
    /// A job begins now.
    pub(crate) fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// Time since the job began.
    pub(crate) fn elapsed(self) -> Duration {
        self.start.elapsed()
    }

    /// Microseconds since the job began.
    pub(crate) fn at_us(self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// The moment a later point of the job falls on.
    pub(crate) fn at(self, offset: Duration) -> Instant {
        self.start + offset
    }
}
