//! Reports the end of a process at once, without reaping it: until it is reaped, its number and its group's are not reused,
//! so that signals to the group cannot hit other processes.

use std::{io, os::fd::OwnedFd, sync::OnceLock};

use rustix::process::{Pid, WaitId, WaitIdOptions, WaitIdStatus, waitid};
use tokio::{
    net::unix::pipe,
    signal::unix::{SignalKind, signal},
};

use mcp::observation::process::ExitStatus;

/// The status of a process whose end was not seen: SIGKILL was sent, and it had not vanished when we stopped waiting.
pub(super) const UNSEEN: ExitStatus = ExitStatus::Signal(9);

/// Eyes on one child.
#[derive(Debug)]
pub(super) struct Watch {
    pid: Pid,
    seen: OnceLock<ExitStatus>,
    /// No pipe, but a descriptor that becomes readable when the process ends; none where the system has none.
    descriptor: Option<pipe::Receiver>,
}

impl Watch {
    /// Watches a child that was not reaped yet.
    pub(super) fn new(pid: Pid) -> io::Result<Self> {
        Ok(Self {
            pid,
            seen: OnceLock::new(),
            descriptor: descriptor(pid)
                .map(pipe::Receiver::from_owned_fd_unchecked)
                .transpose()?,
        })
    }

    /// How the process ended, if it has; stays known when it is reaped.
    pub(super) fn status(&self) -> Option<ExitStatus> {
        self.lives();
        self.seen.get().copied()
    }

    /// Waits for the end of the process.
    pub(super) async fn exited(&self) -> ExitStatus {
        self.over().await;
        self.status().unwrap_or(UNSEEN)
    }

    /// Waits until the process has ended, whether or not it was reaped since.
    pub(super) async fn over(&self) {
        match &self.descriptor {
            Some(descriptor) if descriptor.readable().await.is_ok() => {}
            Some(_) | None => self.over_by_signal().await,
        }
    }

    /// The same by SIGCHLD, which wakes every watch.
    async fn over_by_signal(&self) {
        let mut ends = signal(SignalKind::child()).ok();
        while self.lives() {
            let told = match &mut ends {
                Some(ends) => ends.recv().await,
                None => None,
            };
            if told.is_none() {
                // The runtime is shutting down.
                std::future::pending::<()>().await;
            }
        }
    }

    /// Whether the process lives.
    fn lives(&self) -> bool {
        if self.seen.get().is_some() {
            return false;
        }
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = match waitid(WaitId::Pid(self.pid), options) {
            Ok(None) => return true,
            Ok(Some(status)) => meaning(&status),
            // It was reaped elsewhere, or by the system.
            Err(_) => ExitStatus::Unknown,
        };
        self.seen.get_or_init(|| status);
        false
    }
}

/// A descriptor of the process (`pidfd_open(2)`), which Linux has since 5.3.
#[cfg(target_os = "linux")]
fn descriptor(pid: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    pidfd_open(pid, PidfdFlags::NONBLOCK).ok()
}

/// Elsewhere processes have no descriptors.
#[cfg(not(target_os = "linux"))]
fn descriptor(_pid: Pid) -> Option<OwnedFd> {
    None
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
    async fn both_ways_to_watch_tell_code_and_signal_and_leave_the_process_unreaped() {
        for (script, wanted) in [
            ("exit 7", ExitStatus::Code(7)),
            ("kill -9 $$", ExitStatus::Signal(9)),
        ] {
            let mut child = Command::new("sh").args(["-c", script]).spawn().unwrap();
            let pid = Pid::from_child(&child);
            Watch::new(pid).unwrap().over_by_signal().await;
            let watch = Watch::new(pid).unwrap();
            assert_eq!(watch.exited().await, wanted, "{script}");
            assert!(child.wait().is_ok(), "{script}: it was left to be reaped");
            assert_eq!(watch.exited().await, wanted, "{script}: and is remembered");
        }
    }
}
