//! Ctrl-C and SIGTERM: the first ends the run and still writes the reports, the second ends the process.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use tokio::{
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use crate::{
    isolate::{self, container::Containers},
    words::exit::ExitCode,
};

/// How long containers may take to be removed when somebody does not want to wait.
const LAST_WORD: Duration = Duration::from_secs(2);

/// Listens until aborted.
pub(super) fn listen(
    interrupt: CancellationToken,
    containers: Arc<OnceLock<Arc<Containers>>>,
) -> JoinHandle<()> {
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
                if let Some(containers) = containers.get() {
                    containers.hurry();
                    let _ = timeout(LAST_WORD, containers.close()).await;
                }

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
