//! Tokio runtimes. Tokio panics if the system refuses a thread or a file in the middle of a run, so both are checked
//! before, and a thread for blocking work is started at once.

use std::{
    fs, io,
    os::fd::OwnedFd,
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

/// Keep-alive of idle threads: effectively for ever.
const KEPT: Duration = Duration::from_hours(24 * 365);

/// Open files that a runtime needs, including those for signals and one server.
const FILES: usize = 12;

/// How long the system may still count a thread that has ended.
const LINGERING: Duration = Duration::from_secs(1);

/// A single-threaded runtime.
pub(super) fn of_this_thread() -> io::Result<Runtime> {
    made(Builder::new_current_thread(), 1)
}

/// A runtime for this many jobs and cores: up to half the cores (at least two threads), because the servers need the
/// others. Falls back to one thread if the system refuses more.
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

/// A runtime for the signal listener only.
pub(super) fn of_signals() -> io::Result<Runtime> {
    files_are_to_be_had()?;
    Builder::new_current_thread().enable_all().build()
}

/// Checks that the open files a runtime needs are available.
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

/// The number of this process's threads; 0 if unknown.
fn own_threads() -> usize {
    fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// Checks that this many more threads are available. Tokio hangs on shutdown if one of its threads is refused.
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
