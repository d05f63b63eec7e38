//! The children of this process: those that were started here, and those that it adopted because their parents ended first.
//! As their new parent we find daemons that a server left behind.

use std::{
    collections::BTreeSet,
    io,
    process::Command,
    sync::{Mutex, PoisonError, RwLock},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, waitid};

use super::table;
use crate::locked;

/// Children that have an owner in this program. Process-wide, as children are.
static KNOWN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Held for reading while a child is started, until it is in [`KNOWN`]; for writing while strangers are reaped.
static STARTING: RwLock<()> = RwLock::new(());

/// Starts a child and accounts for it. Blocks until the system has loaded the program.
pub(super) fn start(command: &mut Command) -> io::Result<std::process::Child> {
    adopt_orphans();
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    let child = command.spawn()?;
    let number = Pid::from_child(&child).as_raw_nonzero().get();
    known(|known| known.insert(number));
    Ok(child)
}

/// Ends a child that was just started, and what it may have started by then.
pub(super) fn discard(pid: Pid) {
    super::signal_group(pid, Signal::KILL);
    let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
    forget(pid);
}

/// A child was reaped, or is not accounted for any more.
pub(super) fn forget(pid: Pid) {
    known(|known| known.remove(&pid.as_raw_nonzero().get()));
}

/// Living children that were not started here: adopted ones. Dead ones are reaped on the way.
pub(super) fn adopted() -> Vec<Pid> {
    let mut found = table::children();
    if found.is_empty() {
        return found;
    }
    known(|known| found.retain(|pid| !known.contains(&pid.as_raw_nonzero().get())));
    // One that is being started beside this stands in the system's list before it is known.
    found.retain(|pid| reap(*pid) == Child::Adopted);
    found
}

/// What an unknown process turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Child {
    /// It is gone, by now at least.
    Gone,
    /// It was adopted, or is not a child of ours.
    Adopted,
    /// It was started here and has an owner.
    Started,
}

/// Reaps an adopted child if it has ended.
fn reap(pid: Pid) -> Child {
    let _starting = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    if known(|known| known.contains(&pid.as_raw_nonzero().get())) {
        return Child::Started;
    }
    let Some(status) = table::status(pid) else {
        return Child::Gone;
    };
    let is_ours = status.parent == getpid().as_raw_nonzero().get();
    // A child that was started by other means is in our group and is waited for where it was started.
    let is_left = is_ours && status.group != getpgrp().as_raw_nonzero().get();
    if is_left && status.ended {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
        if waitid(WaitId::Pid(pid), options).is_ok() {
            return Child::Gone;
        }
    }
    Child::Adopted
}

fn known<R>(ask: impl FnOnce(&mut BTreeSet<i32>) -> R) -> R {
    ask(&mut locked(&KNOWN))
}

/// Makes this process the parent of all descendants whose own parents end before them.
fn adopt_orphans() {
    // Where it is refused, the search by the mark in the environment is left.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_child_subreaper(Some(getpid()));
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::CommandExt, process::Command};

    use rustix::process::Pid;

    use super::{Child, discard, reap, start};
    use crate::process::table;

    #[test]
    fn a_child_that_nobody_takes_is_ended_and_reaped() {
        let mut child = start(Command::new("/bin/sleep").arg("600").process_group(0)).unwrap();
        let pid = Pid::from_child(&child);
        assert!(table::status(pid).is_some_and(|status| !status.ended));
        assert_eq!(reap(pid), Child::Started, "it is nobody's orphan");
        discard(pid);
        assert!(child.wait().is_err(), "it is reaped");
        assert_eq!(table::status(pid), None);
        assert_eq!(reap(pid), Child::Gone);
    }
}
