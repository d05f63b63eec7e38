//! The runtimes of the verbs. Work that blocks is given threads when it comes, and where not even the first of them is to
//! be had, that is a panic in the middle of a run: so it is there from the beginning, or there is no runtime.

use std::{
    fs, io,
    os::fd::OwnedFd,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

/// How long a thread without work is kept: work finds one until the end.
const KEPT: Duration = Duration::from_hours(24 * 365);

/// Open files that a runtime needs, those of signals, of a server and of removing its files included.
const FILES: usize = 12;

/// How long a thread that has ended may count as one.
const LINGERING: Duration = Duration::from_secs(1);

/// A runtime whose tasks share this thread.
pub(super) fn of_this_thread() -> io::Result<Runtime> {
    made(Builder::new_current_thread(), 1)
}

/// A runtime for so many jobs on so many cores: two threads where there are two jobs, and beyond that half of the cores,
/// because the servers need the others. One thread where the system refuses more.
pub(super) fn of_jobs(jobs: usize, cores: usize) -> io::Result<Runtime> {
    let most = cores.div_ceil(2).max(2).min(cores);
    match jobs.min(most) {
        0 | 1 => of_this_thread(),
        threads => {
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(threads);
            // One more for blocking work, and one for a server.
            made(builder, threads + 2).or_else(|_| of_this_thread())
        }
    }
}

fn made(mut builder: Builder, needed: usize) -> io::Result<Runtime> {
    let before = own_threads();
    let tried = are_to_be_had(needed);
    let begun = Instant::now();
    while own_threads() > before && begun.elapsed() < LINGERING {
        thread::yield_now();
    }
    tried?;
    files_are_to_be_had()?;
    let runtime = builder.enable_all().thread_keep_alive(KEPT).build()?;
    runtime.spawn_blocking(|| ());
    Ok(runtime)
}

/// A runtime that hears signals alone.
pub(super) fn of_signals() -> io::Result<Runtime> {
    files_are_to_be_had()?;
    Builder::new_current_thread().enable_all().build()
}

/// Whether the system lets us have the open files that a runtime needs: where it refuses them, that is a panic.
fn files_are_to_be_had() -> io::Result<()> {
    let tried: io::Result<Vec<OwnedFd>> = (0..FILES)
        .map(|_| rustix::stdio::stdin().try_clone_to_owned())
        .collect();
    tried.map(drop).map_err(|error| {
        let message =
            format!("the system refuses an open file: {error}; `ulimit -n` is such a limit");
        io::Error::new(error.kind(), message)
    })
}

/// The threads of this process that the system counts; none where it does not tell.
fn own_threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Whether the system lets us have so many threads more. A runtime that is refused one of them never comes to an end.
fn are_to_be_had(threads: usize) -> io::Result<()> {
    let gate = Mutex::new(());
    let tried = thread::scope(|scope| {
        let _closed = gate.lock().unwrap_or_else(PoisonError::into_inner);
        let wait = || drop(gate.lock());
        (0..threads).try_for_each(|_| thread::Builder::new().spawn_scoped(scope, wait).map(|_| ()))
    });
    tried.map_err(|error| {
        let limits =
            "`ulimit -u`, `ulimit -v` and a container's limit of processes are such limits";
        io::Error::new(
            error.kind(),
            format!("the system refuses a thread: {error}; {limits}"),
        )
    })
}
