//! The children of this process: those that were started and are accounted for, and those that came to us
//! because their parents ended first. Becoming their parent is what makes left-over daemons findable.

use std::{
    collections::BTreeSet,
    io,
    sync::{Mutex, Once, PoisonError, RwLock},
};

use rustix::process::{Pid, WaitId, WaitIdOptions, getpgrp, getpid, waitid};

use super::{
    spawn::{Spawned, Start},
    table,
};

/// Children that have an owner in this program.
static KNOWN: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// Held for reading while a child is started, until it is in [`KNOWN`]; for writing while strangers are reaped.
static STARTING: RwLock<()> = RwLock::new(());

/// Starts a child and accounts for it.
pub(super) fn start(start: &Start<'_>) -> io::Result<Spawned> {
    adopt_orphans();
    let _starting = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    let child = start.spawn()?;
    let number = child.pid.as_raw_nonzero().get();
    known(|known| known.insert(number));
    Ok(child)
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
    found.retain(|pid| !reap(*pid));
    found
}

/// Reaps an adopted child if it has ended; whether it is gone.
pub(super) fn reap(pid: Pid) -> bool {
    let _starting = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    if known(|known| known.contains(&pid.as_raw_nonzero().get())) {
        return false;
    }
    match table::status(pid) {
        None => true,
        Some(status) if status.parent != getpid().as_raw_nonzero().get() => false,
        // Whoever starts a child by other means keeps it in our group and waits for it himself.
        Some(status) if status.ended && status.group != getpgrp().as_raw_nonzero().get() => {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
            waitid(WaitId::Pid(pid), options).is_ok()
        }
        Some(_) => false,
    }
}

fn known<R>(ask: impl FnOnce(&mut BTreeSet<i32>) -> R) -> R {
    ask(&mut KNOWN.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Makes this process the parent of all descendants whose own parents end before them.
fn adopt_orphans() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Where it is refused, the search by the mark in the environment is left.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_child_subreaper(Some(getpid()));
    });
}
