//! Whether a server is in use, so that it can end by itself when idle.

use std::sync::Arc;

use tokio::sync::watch;

use crate::wire::Limits;

/// Requests that came, and exchanges that go on; clones share them.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<watch::Sender<Counts>>);

#[derive(Default)]
struct Counts {
    requests: u64,
    open: u64,
}

/// An exchange that is going on until this is dropped.
pub(super) struct Going(Activity);

impl Activity {
    /// An HTTP request begins.
    pub(super) fn begins(&self) -> Going {
        self.0.send_modify(|counts| counts.open += 1);
        Going(self.clone())
    }

    /// A JSON-RPC request came.
    pub(super) fn requested(&self) {
        self.0.send_modify(|counts| counts.requests += 1);
    }

    /// Waits until a limit is met and nothing goes on.
    pub(super) async fn over(&self, limits: Limits) {
        let mut counts = self.0.subscribe();
        loop {
            let (requests, open) = {
                let now = counts.borrow_and_update();
                (now.requests, now.open)
            };
            let quiet = open == 0;
            if quiet && limits.max_requests.is_some_and(|most| requests >= most) {
                return;
            }
            // We hold a sender, so that there is always a next change.
            let changed = counts.changed();
            match limits.idle_exit.filter(|_| quiet) {
                Some(idle) => match tokio::time::timeout(idle, changed).await {
                    Ok(_) => {}
                    Err(_) => return,
                },
                None => drop(changed.await),
            }
        }
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        self.0.0.send_modify(|counts| counts.open -= 1);
    }
}
