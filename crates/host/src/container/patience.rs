//! How long the engine is waited for while things of ours are listed and removed. Each request has its own time; once one
//! had no answer, all others share a short rest. A later run removes what is left.

use std::{sync::OnceLock, time::Duration};

use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

/// How long the engine may take to list or to remove.
const ANSWER: Duration = Duration::from_secs(20);

/// The same of an engine that was silent before.
const SHORT_ANSWER: Duration = Duration::from_secs(5);

/// What all others have together once a request had no answer.
const REST: Duration = Duration::from_secs(2);

/// The patience of one clean-up.
#[derive(Debug)]
pub(super) struct Patience {
    each: Duration,
    silent: CancellationToken,
    rest: OnceLock<Instant>,
}

impl Patience {
    /// With an engine that nothing is known of.
    pub(super) fn usual() -> Self {
        Self::of(ANSWER)
    }

    /// With one that was silent before.
    pub(super) fn short() -> Self {
        Self::of(SHORT_ANSWER)
    }

    fn of(each: Duration) -> Self {
        Self {
            each,
            silent: CancellationToken::new(),
            rest: OnceLock::new(),
        }
    }

    /// The engine's answer, if it comes in time.
    pub(super) async fn answer<T>(&self, asked: impl Future<Output = T>) -> Result<T, String> {
        tokio::select! {
            biased;
            answer = asked => Ok(answer),
            () = self.is_over() => Err(format!(
                "the engine did not answer within {} s",
                self.each.as_secs()
            )),
        }
    }

    /// Whether a request had no answer.
    pub(super) fn has_run_out(&self) -> bool {
        self.silent.is_cancelled()
    }

    async fn is_over(&self) {
        tokio::select! {
            () = sleep(self.each) => self.silent.cancel(),
            () = self.silent.cancelled() => {
                let rest = self.rest.get_or_init(|| Instant::now() + REST);
                sleep_until(*rest).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use futures_util::future::join_all;
    use tokio::time::{Instant, sleep};

    use super::Patience;

    #[tokio::test(start_paused = true)]
    async fn once_an_engine_is_silent_all_others_have_one_rest() {
        let patience = Patience::usual();
        assert_eq!(patience.answer(async { 1 }).await, Ok(1));
        let begun = Instant::now();
        let silent = || patience.answer(pending::<()>());
        let late = async {
            sleep(Duration::from_secs(19)).await;
            silent().await
        };
        let (first, second) = tokio::join!(silent(), late);
        let said = Err("the engine did not answer within 20 s".to_owned());
        assert_eq!((&first, &second), (&said, &said));
        assert!(patience.has_run_out());
        assert_eq!(begun.elapsed().as_secs(), 22);
        join_all((0..9).map(|_| silent())).await;
        for _ in 0..9 {
            assert!(silent().await.is_err());
        }
        assert_eq!(begun.elapsed().as_secs(), 22);
        // One that is there again is still heard.
        assert_eq!(patience.answer(async { 1 }).await, Ok(1));
    }
}
