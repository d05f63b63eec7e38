//! The processor time of a container as the engine counts it, by which a container at work is recognised.

use std::time::Duration;

use bollard::{Docker, query_parameters::StatsOptionsBuilder};
use futures_util::StreamExt;
use tokio::time::{Instant, timeout};

/// How long the engine may take to say so.
const ANSWER: Duration = Duration::from_secs(2);

/// The part of a processor that is work, and not just being awake now and then: one part in so many. Where many servers
/// end at once on few processors each has no more.
const PART: u32 = 20;

/// The processor time of a container, and when it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Work {
    used: Duration,
    at: Instant,
}

impl Work {
    /// What the engine says; `None` where it says nothing in time, or nothing runs.
    pub(super) async fn of(docker: &Docker, id: &str) -> Option<Self> {
        let options = StatsOptionsBuilder::default()
            .stream(false)
            .one_shot(true)
            .build();
        let mut stats = Box::pin(docker.stats(id, Some(options)));
        let stats = timeout(ANSWER, stats.next()).await.ok()??.ok()?;
        Some(Self {
            used: Duration::from_nanos(stats.cpu_stats?.cpu_usage?.total_usage?),
            at: Instant::now(),
        })
    }

    /// Whether it was at work since then.
    pub(super) fn goes_on_since(self, before: Self) -> bool {
        let time = self.at.saturating_duration_since(before.at);
        self.used.saturating_sub(before.used) >= time / PART && self.used > before.used
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::Work;

    #[test]
    fn to_be_awake_now_and_then_is_no_work() {
        let begun = Instant::now();
        let work = |used_ms, at_ms| Work {
            used: Duration::from_millis(used_ms),
            at: begun + Duration::from_millis(at_ms),
        };
        let before = work(1_000, 0);
        assert!(work(1_250, 250).goes_on_since(before));
        assert!(work(1_015, 250).goes_on_since(before));
        assert!(!work(1_002, 250).goes_on_since(before));
        assert!(!work(1_000, 250).goes_on_since(before));
        // A container that ended has used nothing.
        assert!(!work(0, 250).goes_on_since(before));
        assert!(!work(1_000, 0).goes_on_since(before));
    }
}
