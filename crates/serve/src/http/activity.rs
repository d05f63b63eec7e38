//! What is going on, for a server that ends by itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::wire::Limits;

/// Requests that came, and those whose answers are still on their way; clones share them.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<Counts>);

#[derive(Default)]
struct Counts {
    requests: AtomicU64,
    open: Mutex<u64>,
    changed: Notify,
}

/// An exchange that is going on until this is dropped.
pub(super) struct Going(Activity);

impl Activity {
    /// An HTTP request begins.
    pub(super) fn begins(&self) -> Going {
        self.shift(|open| open.saturating_add(1));
        Going(self.clone())
    }

    /// A JSON-RPC request came.
    pub(super) fn requested(&self) {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits until a limit is met and nothing goes on.
    pub(super) async fn over(&self, limits: Limits) {
        loop {
            let changed = self.0.changed.notified();
            let requests = self.0.requests.load(Ordering::Relaxed);
            let quiet = self.open(|open| *open == 0);
            if quiet && limits.max_requests.is_some_and(|most| requests >= most) {
                return;
            }
            match limits.idle_exit {
                Some(idle) if quiet => {
                    if tokio::time::timeout(idle, changed).await.is_err() {
                        return;
                    }
                }
                Some(_) | None => changed.await,
            }
        }
    }

    fn shift(&self, by: impl FnOnce(u64) -> u64) {
        self.open(|open| *open = by(*open));
        self.0.changed.notify_waiters();
    }

    fn open<T>(&self, look: impl FnOnce(&mut u64) -> T) -> T {
        look(&mut self.0.open.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.0.shift(|open| open.saturating_sub(1));
    }
}
