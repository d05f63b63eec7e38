//! The server's clock: real, fixed or virtual. Everything that waits or stamps asks here.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};

/// Longer than any server runs.
const AGES: Duration = Duration::from_hours(24 * 365);

/// Where time comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClockMode {
    /// The machine's clock.
    #[default]
    Real,
    /// Every stamp is this one; waits last as long as they say.
    Fixed(DateTime<Utc>),
    /// Waits end at once and move the clock by their nominal length; it starts at the epoch.
    Virtual,
}

impl ClockMode {
    /// `real`, `virtual` or `fixed:` and a moment of RFC 3339.
    pub fn read(text: &str) -> Option<Self> {
        match text {
            "real" => Some(Self::Real),
            "virtual" => Some(Self::Virtual),
            _ => {
                let at = DateTime::parse_from_rfc3339(text.strip_prefix("fixed:")?).ok()?;
                Some(Self::Fixed(at.with_timezone(&Utc)))
            }
        }
    }
}

/// A clock that all parts of one server share.
#[derive(Debug, Clone)]
pub struct Clock {
    mode: ClockMode,
    /// Real waits last their length times this.
    scale: f64,
    started: Instant,
    /// How far the virtual clock has been moved.
    waited_us: Arc<AtomicU64>,
}

impl Clock {
    /// A clock whose real waits are stretched by `scale`.
    pub fn new(mode: ClockMode, scale: f64) -> Self {
        Self {
            mode,
            scale,
            started: Instant::now(),
            waited_us: Arc::new(AtomicU64::new(0)),
        }
    }

    /// Waits, and says for how long: measured on the real clock, nominal on the others.
    pub async fn sleep(&self, length: Duration) -> Duration {
        let from = Instant::now();
        let due = self.due(length);
        // A virtual wait must not even yield: the order of messages would depend on the timer.
        if self.takes_time() {
            tokio::time::sleep_until(due.into()).await;
        }
        if self.is_real() {
            from.elapsed()
        } else {
            length
        }
    }

    /// When a wait of this length that begins now is over; a virtual clock is there at once.
    pub fn due(&self, length: Duration) -> Instant {
        let now = Instant::now();
        match self.mode {
            ClockMode::Virtual => {
                self.waited_us.fetch_add(micros(length), Ordering::Relaxed);
                now
            }
            ClockMode::Fixed(_) | ClockMode::Real => {
                let scaled = Duration::try_from_secs_f64(length.as_secs_f64() * self.scale);
                now + scaled.unwrap_or(AGES).min(AGES)
            }
        }
    }

    /// Whether it is the machine's clock, so that no two runs are alike.
    pub fn is_real(&self) -> bool {
        matches!(self.mode, ClockMode::Real)
    }

    /// Whether a wait takes any time.
    pub fn takes_time(&self) -> bool {
        !matches!(self.mode, ClockMode::Virtual)
    }

    /// Time since the server started: zero on a fixed clock, the sum of waits on a virtual one.
    pub fn elapsed(&self) -> Duration {
        match self.mode {
            ClockMode::Real => self.started.elapsed(),
            ClockMode::Fixed(_) => Duration::ZERO,
            ClockMode::Virtual => Duration::from_micros(self.waited_us.load(Ordering::Relaxed)),
        }
    }

    /// The moment as RFC 3339 with milliseconds.
    pub fn stamp(&self) -> String {
        let now = match self.mode {
            ClockMode::Real => Utc::now(),
            ClockMode::Fixed(at) => at,
            ClockMode::Virtual => DateTime::UNIX_EPOCH
                .checked_add_signed(TimeDelta::from_std(self.elapsed()).unwrap_or_default())
                .unwrap_or(DateTime::UNIX_EPOCH),
        };
        now.to_rfc3339_opts(SecondsFormat::Millis, true)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(ClockMode::Real, 1.0)
    }
}

fn micros(length: Duration) -> u64 {
    u64::try_from(length.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_virtual_sleep_ends_at_once_and_moves_the_clock() {
        let clock = Clock::new(ClockMode::Virtual, 1.0);
        let from = Instant::now();
        let hour = Duration::from_hours(1);
        assert_eq!(clock.sleep(hour).await, hour);
        assert!(from.elapsed() < Duration::from_secs(5));
        assert_eq!(clock.elapsed(), hour);
        assert_eq!(clock.stamp(), "1970-01-01T01:00:00.000Z");
    }

    #[test]
    fn a_fixed_clock_stands_still() {
        let at = DateTime::parse_from_rfc3339("2026-01-02T03:04:05Z")
            .unwrap()
            .with_timezone(&Utc);
        let clock = Clock::new(ClockMode::Fixed(at), 1.0);
        assert_eq!(clock.stamp(), "2026-01-02T03:04:05.000Z");
        assert_eq!(clock.elapsed(), Duration::ZERO);
    }
}
