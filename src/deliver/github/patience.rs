//! How long a sink may take, and how long of it GitHub's rate limits are waited for: these have a time of their own, so
//! that a wait that GitHub asks for does not use up what is left for asking again.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::time::{Instant, sleep};

/// How long everything together may take, waits apart.
const SINK: Duration = Duration::from_mins(1);

/// How long all waits for a rate limit may take together.
const WAITS: Duration = Duration::from_mins(1);

/// The time of one sink, which is running.
#[derive(Debug)]
pub(super) struct Patience {
    deadline: Instant,
    /// Milliseconds that were waited for limits.
    waited: AtomicU64,
}

impl Patience {
    /// Begins now.
    pub(super) fn new() -> Self {
        Self {
            deadline: Instant::now() + SINK,
            waited: AtomicU64::new(0),
        }
    }

    /// When it ends.
    pub(super) fn deadline(&self) -> Instant {
        self.deadline + self.waited()
    }

    fn waited(&self) -> Duration {
        Duration::from_millis(self.waited.load(Ordering::Relaxed))
    }

    /// Waits, if that is not for too long; whether it did.
    pub(super) async fn wait(&self, wait: Duration) -> bool {
        let all = self.waited().saturating_add(wait);
        if all > WAITS {
            return false;
        }
        let millis = u64::try_from(all.as_millis()).unwrap_or(u64::MAX);
        self.waited.store(millis, Ordering::Relaxed);
        sleep(wait).await;
        true
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::Patience;

    #[tokio::test(start_paused = true)]
    async fn a_minute_is_waited_and_does_not_shorten_the_minute_for_asking() {
        let began = Instant::now();
        let patience = Patience::new();
        sleep(Duration::from_secs(20)).await;
        assert!(patience.wait(Duration::from_secs(45)).await);
        assert!(!patience.wait(Duration::from_secs(16)).await);
        assert!(patience.wait(Duration::from_secs(15)).await);
        assert!(!patience.wait(Duration::from_millis(1)).await);
        assert_eq!(began.elapsed(), Duration::from_secs(80));
        assert_eq!(patience.deadline(), began + Duration::from_mins(2));
        assert!(!Patience::new().wait(Duration::MAX).await);
    }
}
