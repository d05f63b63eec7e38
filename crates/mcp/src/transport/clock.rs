//! The one clock of a job: every frame, notification and timing of it counts from the same moment.

use std::time::{Duration, Instant};

/// Longer than any run.
const AGES: Duration = Duration::from_hours(24 * 365);

/// When a job began.
#[derive(Debug, Clone, Copy)]
pub struct JobClock {
    start: Instant,
}

impl JobClock {
    /// A job begins now.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
        }
    }

    /// No job has begun yet: whatever happens until it has, happens at its beginning.
    pub fn before_the_next() -> Self {
        Self::start().without(AGES)
    }

    /// The same clock, stopped for as long as was waited.
    pub fn without(self, waited: Duration) -> Self {
        Self {
            start: self.start.checked_add(waited).unwrap_or(self.start),
        }
    }

    /// Microseconds since the job began.
    pub fn at_us(self) -> u64 {
        self.us_of(Instant::now())
    }

    /// Microseconds from the beginning of the job to a moment; none for one before it.
    pub fn us_of(self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.start);
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    }
}
