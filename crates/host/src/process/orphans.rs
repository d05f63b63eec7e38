//! Processes that a server left behind. They are recognised by the mark in their environment or by their group, get a moment
//! to end by themselves (longer while they work), and are then ended.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, getpid, kill_process};
use tokio::time::sleep;

use super::{
    MARKER, family,
    table::{self, Work},
};
use crate::owner::{self, Life, Owner};

/// Time to end without being asked: a server's helper often ends a moment after it. A process that works all that time
/// gets as much again.
const UNASKED: Duration = Duration::from_millis(100);

/// Time to end after SIGTERM.
const ASKED: Duration = Duration::from_millis(400);

/// Time for all rounds together: killing one can bring its children to light.
const ALTOGETHER: Duration = Duration::from_secs(3);

/// How often the table is read again while waiting.
const STEP: Duration = Duration::from_millis(5);

/// Time for a process to be done with replacing its program.
const SETTLING: Duration = Duration::from_secs(1);

/// Ends what the job of this mark and group left behind; how many had to be ended. What is at work to end by itself
/// may be so for a time.
pub(super) async fn end_of_job(marker: &str, group: Pid, at_work: Duration) -> usize {
    if !settle().await {
        return 0;
    }
    end(|| of_job(marker, group), at_work).await
}

/// Waits while a child replaces its program: it has no environment for a moment, so that its job is unknown. Whether there
/// are any adopted children.
async fn settle() -> bool {
    let begin = Instant::now();
    let unclear = |pid: &Pid| {
        table::status(*pid).is_some_and(|status| !status.settled && !status.ended)
            && table::environment(*pid).is_some_and(|block| block.is_empty())
    };
    loop {
        let adopted = family::adopted();
        if !adopted.iter().any(unclear) || begin.elapsed() > SETTLING {
            return !adopted.is_empty();
        }
        sleep(STEP).await;
    }
}

/// Ends everything that this run started and that still lives, however well it hid; how many had to be ended.
/// To be called when all jobs are over.
pub(crate) async fn end_of_run() -> usize {
    end(of_run, Duration::ZERO).await
}

/// Ends the processes of runs that have ended; how many had to be ended.
pub(crate) async fn end_of_dead_runs() -> usize {
    end(of_dead_runs, Duration::ZERO).await
}

/// Ends what `find` finds, until it finds nothing.
async fn end(find: impl Fn() -> Vec<Pid>, at_work: Duration) -> usize {
    let mut found = end_unasked(&find, at_work).await;
    if found.is_empty() {
        return 0;
    }
    let begin = Instant::now();
    let mut ended = BTreeSet::new();
    while !found.is_empty() && begin.elapsed() < ALTOGETHER {
        let patient = begin.elapsed() < ASKED;
        for pid in &found {
            let new = ended.insert(pid.as_raw_nonzero());
            if !patient {
                signal(*pid, Signal::KILL);
            } else if new {
                signal(*pid, Signal::TERM);
            }
        }
        sleep(STEP).await;
        found = find();
    }
    ended.len()
}

/// Waits for what `find` finds to end by itself; what of it does not. Where all processors are busy that takes more than
/// a moment, and who waits for one is at work.
async fn end_unasked(find: &impl Fn() -> Vec<Pid>, at_work: Duration) -> Vec<Pid> {
    let begin = Instant::now();
    let mut found = find();
    let mut before = None;
    loop {
        let round = Instant::now();
        while !found.is_empty() && round.elapsed() < UNASKED {
            sleep(STEP).await;
            found = find();
            // Most are gone after a step.
            if before.is_none() && !found.is_empty() {
                before = Some(Work::of(&found));
            }
        }
        if found.is_empty() || begin.elapsed() >= at_work {
            return found;
        }
        let mut now = Work::of(&found);
        let rests = |now: Work| before.is_some_and(|before| !now.goes_on_since(before, UNASKED));
        if rests(now) {
            // One of them may have ended, and another be about to go on: between the two it looks like rest.
            now = Work::of(&found);
        }
        if rests(now) {
            return find();
        }
        before = Some(now);
    }
}

/// A process that is gone by now needs no signal, one that is not ours to signal cannot get it.
fn signal(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

/// Adopted children that belong to the job.
fn of_job(marker: &str, group: Pid) -> Vec<Pid> {
    let group = group.as_raw_nonzero().get();
    let mut found = family::adopted();
    found.retain(|pid| {
        table::environment(*pid)
            .is_some_and(|block| table::variable(&block, MARKER) == Some(marker))
            || table::status(*pid).is_some_and(|status| status.group == group)
    });
    found
}

/// Adopted children of whatever kind, and every process that carries our name.
fn of_run() -> Vec<Pid> {
    let this = Owner::this().to_text();
    let own_group = rustix::process::getpgrp().as_raw_nonzero().get();
    let mut found = family::adopted();
    found.retain(|pid| table::status(*pid).is_some_and(|status| status.group != own_group));
    let marked = others().filter(|pid| {
        table::environment(*pid)
            .is_some_and(|block| table::variable(&block, owner::VARIABLE) == Some(this.as_str()))
    });
    found.extend(marked);
    found
}

/// Processes whose owner is dead; never ourselves, and none that merely stands above us.
fn of_dead_runs() -> Vec<Pid> {
    let ancestors = ancestors();
    others()
        .filter(|pid| !ancestors.contains(&pid.as_raw_nonzero().get()))
        .filter(|pid| table::environment(*pid).is_some_and(|block| is_of_dead_run(&block)))
        .collect()
}

/// Whether an environment names an owner that is dead.
fn is_of_dead_run(block: &[u8]) -> bool {
    table::variable(block, owner::VARIABLE)
        .and_then(Owner::parse)
        .is_some_and(|owner| owner.life() == Life::Dead)
}

/// All processes but ourselves.
fn others() -> impl Iterator<Item = Pid> {
    let own = getpid();
    table::all().into_iter().filter(move |pid| *pid != own)
}

/// Our parent, its parent, and so on.
fn ancestors() -> BTreeSet<i32> {
    let mut found = BTreeSet::new();
    let mut next = table::status(getpid()).map(|status| status.parent);
    while let Some(number) = next.filter(|number| *number > 0) {
        if !found.insert(number) {
            break;
        }
        next = Pid::from_raw(number)
            .and_then(table::status)
            .map(|status| status.parent);
    }
    found
}
