//! What comes, and by when it came. Where a time is over, what lies there at that moment is read first: this process may
//! have been stopped, or this thread held up, and what a server did meanwhile it did in time. What messages mean is
//! the dialogue's.

use std::{task::Poll, time::Duration};

use tokio::time::{Instant, timeout_at};

use super::Exchange;
use crate::transport::Inbound;

/// How much later than asked for this process goes on when it was stopped, or this thread held up.
const LATE: Duration = Duration::from_millis(250);

impl Exchange {
    /// What comes until then. A flood always has a next message, so the time is looked at before each. When it is over,
    /// what lies there then is still read, once: it may have come while nobody could look.
    pub(super) async fn receive_by(&mut self, wake: Instant) -> Option<Inbound> {
        let begun = Instant::now();
        let in_time = {
            let mut receiving = std::pin::pin!(self.connection.next());
            let in_time = std::future::poll_fn(|context| {
                if Instant::now() >= wake {
                    Poll::Ready(None)
                } else {
                    receiving.as_mut().poll(context).map(Some)
                }
            });
            timeout_at(wake, in_time).await.ok().flatten()
        };
        if in_time.is_some() {
            return in_time;
        }
        self.at_the_end(wake, begun).await
    }

    /// The messages that have arrived when a time is over.
    async fn at_the_end(&mut self, wake: Instant, begun: Instant) -> Option<Inbound> {
        // In this order, and rounded up, what is read now never came later than asked for.
        let now_us = self.connection.clock().at_us();
        let now = Instant::now();
        if now.saturating_duration_since(wake.max(begun)) >= LATE {
            // Nobody knows since when.
            self.lost += now - begun;
        }
        let over_for = now.saturating_duration_since(wake).as_micros() + 1;
        let wake_us = now_us.saturating_sub(u64::try_from(over_for).unwrap_or(u64::MAX));
        self.connection.look(wake_us).await;
        self.connection.ready()
    }

    /// A deadline with the time added in which this process may not have run: that is nobody's time.
    pub(in crate::session) fn with_lost(&self, deadline: Instant) -> Instant {
        deadline + self.lost
    }

    /// A new assertion begins, with a deadline of its own.
    pub(in crate::session) fn begin(&mut self) {
        self.lost = Duration::ZERO;
    }

    /// Takes what has come by a time that may be over, in microseconds of the job, without waiting for more.
    pub(in crate::session) async fn take_come_by(&mut self, by_us: u64) {
        let by_us = by_us.min(self.connection.clock().at_us());
        self.connection.look(by_us).await;
        while !self.closed
            && let Some(received) = self.connection.ready()
        {
            self.take(received);
        }
    }

    /// Takes what has arrived already, without waiting for more.
    pub(in crate::session) async fn take_arrived(&mut self) {
        self.take_come_by(u64::MAX).await;
    }
}
