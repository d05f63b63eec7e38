//! Knows at once that a process has ended, and how, without reaping it: until it is reaped its number and its
//! group's belong to nobody else, so that signals to the group cannot hit strangers.

use std::sync::OnceLock;

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use tokio::signal::unix::{SignalKind, signal};

use mcp::observation::process::ExitStatus;

/// What is said of a process whose end nobody saw: SIGKILL was sent, and it had not vanished when we stopped waiting.
pub(super) const UNSEEN: ExitStatus = ExitStatus::Signal(9);

/// Eyes on one child.
#[derive(Debug)]
pub(super) struct Watch {
    pid: Pid,
    seen: OnceLock<ExitStatus>,
}

impl Watch {
    /// Watches a child that was not reaped yet.
    pub(super) fn new(pid: Pid) -> Self {
        Self {
            pid,
            seen: OnceLock::new(),
        }
    }

    /// How the process ended, if it has; stays known when it is reaped.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.look();
        self.seen.get().copied()
    }

    /// Waits for the end of the process.
    pub(super) async fn exited(&self) -> ExitStatus {
        self.over().await;
        self.status().unwrap_or(UNSEEN)
    }

    /// Waits until the process has ended, whether or not it was reaped since: the end of a child raises a signal.
    pub(super) async fn over(&self) {
        let mut ends = signal(SignalKind::child()).ok();
        while self.look() == Life::On {
            let told = match &mut ends {
                Some(ends) => ends.recv().await,
                None => None,
            };
            if told.is_none() {
                // The runtime is shutting down, and with it whoever waits here.
                std::future::pending::<()>().await;
            }
        }
    }

    fn look(&self) -> Life {
        if self.seen.get().is_some() {
            return Life::Over;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        match waitid(WaitId::Pid(self.pid), options) {
            Ok(None) => Life::On,
            Ok(Some(status)) => {
                self.seen.get_or_init(|| meaning(&status));
                Life::Over
            }
            // Somebody else reaped it, or the system did by itself.
            Err(_) => {
                self.seen.get_or_init(|| ExitStatus::Unknown);
                Life::Over
            }
        }
    }
}

/// Whether the process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Life {
    On,
    Over,
}

/// Code or signal.
fn meaning(status: &WaitIdStatus) -> ExitStatus {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ExitStatus::Code(code),
        (None, Some(signal)) => ExitStatus::Signal(signal),
        (None, None) => ExitStatus::Code(0),
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::Pid;

    use super::Watch;
    use mcp::observation::process::ExitStatus;

    #[tokio::test]
    async fn a_watch_tells_code_and_signal_and_leaves_the_process_unreaped() {
        for (script, wanted) in [
            ("exit 7", ExitStatus::Code(7)),
            ("kill -9 $$", ExitStatus::Signal(9)),
        ] {
            let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            let pid = Pid::from_child(&child);
            let watch = Watch::new(pid);
            assert_eq!(watch.exited().await, wanted, "{script}");
            assert!(child.wait().is_ok(), "{script}: it was left to be reaped");
            assert_eq!(watch.exited().await, wanted, "{script}: and is remembered");
        }
    }
}
