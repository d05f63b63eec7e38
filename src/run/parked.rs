//! A server between two assertions that share it: its session goes on, and what it asks is answered. One that looks after
//! its session with pings would otherwise end it.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::live::Live;
use mcp::transport::clock::JobClock;

/// A server that waits for its next assertion. Whoever drops it ends the server.
pub(super) struct Parked {
    /// Gives the server back when it is wanted.
    attended: JoinHandle<Live>,
    wanted: CancellationToken,
}

impl Parked {
    /// Looks after a server until it is taken back.
    pub(super) fn new(mut live: Live) -> Self {
        let wanted = CancellationToken::new();
        let taken = wanted.clone();
        live.session.set_clock(JobClock::before_the_next());
        let attended = tokio::spawn(async move {
            live.session.meanwhile(taken.cancelled()).await;
            live
        });
        Self { attended, wanted }
    }

    /// The server; `None` if looking after it broke off in a panic, which has told of itself and has ended the server.
    pub(super) async fn take(mut self) -> Option<Live> {
        self.wanted.cancel();
        (&mut self.attended).await.ok()
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.attended.abort();
    }
}
