//! The threads of a run. Each has a runtime of its own, and a job stays on the thread that it began on, so that the
//! answers of its server wake nobody else. What is done on them is decided by `run`.

use std::{
    io,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::sync::CancellationToken;

/// How long work that cannot be cancelled is waited for when the run is over.
const LAST_WORK: Duration = Duration::from_millis(100);

/// This thread and those beside it; all end with it.
#[derive(Debug)]
pub(super) struct Threads {
    own: Runtime,
    beside: Vec<Beside>,
}

impl Threads {
    /// As many as so many jobs need on so many cores. A thread that starts a server stands still until the system has
    /// loaded it, so that two are better than one wherever there are two jobs; beyond, half of the cores belong to
    /// the servers.
    pub(super) fn of(jobs: usize, cores: usize) -> io::Result<Self> {
        let most = cores.div_ceil(2).max(2).min(cores);
        let beside = (1..jobs.min(most)).map(|_| Beside::start());
        Ok(Self {
            own: runtime()?,
            beside: beside.collect::<io::Result<_>>()?,
        })
    }

    /// The threads beside this one, for what can be spawned there.
    pub(super) fn beside(&self) -> Vec<Handle> {
        let handles = self.beside.iter().map(|it| it.handle.clone());
        handles.collect()
    }

    /// Does work on this thread.
    pub(super) fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.own.block_on(work)
    }

    /// Ends all of them; what still runs there is dropped.
    pub(super) fn end(self) {
        drop(self.beside);
        self.own.shutdown_timeout(LAST_WORK);
    }
}

/// A thread that does what is spawned onto it, until it is dropped.
#[derive(Debug)]
struct Beside {
    handle: Handle,
    over: CancellationToken,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    fn start() -> io::Result<Self> {
        let runtime = runtime()?;
        let handle = runtime.handle().clone();
        let over = CancellationToken::new();
        let until = over.clone();
        let thread = thread::Builder::new()
            .name("jobs".to_owned())
            .spawn(move || {
                runtime.block_on(until.cancelled());
                runtime.shutdown_timeout(LAST_WORK);
            })?;
        Ok(Self {
            handle,
            over,
            thread: Some(thread),
        })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.over.cancel();
        if let Some(thread) = self.thread.take() {
            // Jobs that panic are seen where they are awaited; the thread itself does nothing that could.
            let _ = thread.join();
        }
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
