//! Ctrl-C and SIGTERM: the first ends the run and still writes the reports, the second ends the process.

use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{isolate, words::exit::ExitCode};

/// Listens until aborted.
pub(super) fn listen(interrupt: CancellationToken) -> JoinHandle<()> {
    tokio::spawn(async move {
        let (Ok(mut interrupted), Ok(mut terminated)) = (
            signal(SignalKind::interrupt()),
            signal(SignalKind::terminate()),
        ) else {
            return;
        };
        let mut again = false;
        loop {
            tokio::select! {
                Some(()) = interrupted.recv() => {}
                Some(()) = terminated.recv() => {}
                else => return,
            }
            if again {
                isolate::sweep::after_run().await;

                #[expect(
                    clippy::exit,
                    reason = "a second Ctrl-C must end the process whatever it is doing"
                )]
                std::process::exit(i32::from(ExitCode::Interrupted.number()));
            }
            again = true;
            interrupt.cancel();
        }
    })
}
