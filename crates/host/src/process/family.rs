//! The children of this process: those that were started and are accounted for, and those that came to us
//! because their parents ended first. Becoming their parent is what makes left-over daemons findable.

use std::{
    collections::BTreeSet,
    io,
    sync::{Mutex, PoisonError, RwLock},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, getpid, waitid};

use super::{
    spawn::{Spawned, Start},
    table,
};
use crate::locked;

/// Children that have an owner in this program. Process-wide, as children are.
static KNOWN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Held for reading while a child is started, until it is in [`KNOWN`]; for writing while strangers are reaped.
static STARTING: RwLock<()> = RwLock::new(());

/// A child that was just started and that nobody looks after yet: it ends when this is dropped.
#[derive(Debug)]
pub(super) struct Newborn {
    pub(super) child: Spawned,
    pub(super) unattended: Unattended,
}

/// A child to be ended when this is dropped, unless somebody took it.
#[derive(Debug)]
pub(super) struct Unattended(Option<Pid>);

impl Unattended {
    /// Somebody looks after the child from now on.
    pub(super) fn keep(mut self) {
        self.0 = None;
    }
}

impl Drop for Unattended {
    fn drop(&mut self) {
        if let Some(pid) = self.0 {
            discard(pid);
        }
    }
}

/// Starts a child and accounts for it. Stands still until the system has loaded the program.
pub(super) fn start(start: &Start) -> io::Result<Newborn> {
    adopt_orphans();
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    let child = start.spawn()?;
    let number = child.pid.as_raw_nonzero().get();
    known(|known| known.insert(number));
    Ok(Newborn {
        unattended: Unattended(Some(child.pid)),
        child,
    })
}

/// Ends a child that was just started, and what it may have started by then.
fn discard(pid: Pid) {
    super::signal_group(pid, Signal::KILL);
    let _ = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED);
    forget(pid);
}

/// A child was reaped, or nobody accounts for it any more.
pub(super) fn forget(pid: Pid) {
    known(|known| known.remove(&pid.as_raw_nonzero().get()));
}

/// Living children that nobody started here: adopted ones. The dead among them are reaped on the way.
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

/// What a process that is not known as a child turns out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Child {
    /// It is gone, by now at least.
    Gone,
    /// It came to us, or is no child of ours at all.
    Adopted,
    /// It was started here, and somebody accounts for it.
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
    // Whoever starts a child by other means keeps it in our group and waits for it himself.
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
    use std::path::PathBuf;

    use super::{Child, reap, start};
    use crate::process::{ProcessSpec, spawn::Start, table};

    #[test]
    fn a_child_that_nobody_takes_is_ended_and_reaped() {
        let spec = ProcessSpec {
            program: "sleep".to_owned(),
            args: vec!["600".to_owned()],
            directory: PathBuf::from("/"),
            ..ProcessSpec::default()
        };
        let newborn = start(&Start {
            spec,
            path: "/bin/sleep".into(),
            marker: "mark".to_owned(),
        });
        let newborn = newborn.unwrap();
        let pid = newborn.child.pid;
        assert!(table::status(pid).is_some_and(|status| !status.ended));
        assert_eq!(reap(pid), Child::Started, "it is nobody's orphan");
        drop(newborn);
        assert_eq!(table::status(pid), None);
        assert_eq!(reap(pid), Child::Gone);
    }
}
