//! The threads of a run. Without an engine each has a runtime of its own, and a job stays on the thread that it began
//! on, so that the answers of its server wake nobody else; connections to an engine are shared, and so is the runtime
//! there. What is done on them is `run`'s.

use std::{
    io,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    runtime::{Handle, Runtime},
    sync::oneshot,
};

use crate::commands::runtime;

/// How long work that cannot be cancelled is waited for when the run is over.
const LAST_WORK: Duration = Duration::from_millis(100);

/// This thread and those beside it; all end with it.
#[derive(Debug)]
pub(super) struct Threads {
    own: Runtime,
    beside: Vec<Beside>,
}

/// What servers of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Servers {
    /// All are processes.
    Processes,
    /// Some are in containers.
    Contained,
}

impl Threads {
    /// As many as so many jobs need on so many cores, or fewer where the system refuses them: two wherever there are two
    /// jobs; beyond, no more than leaves half of the cores to the servers.
    pub(super) fn of(servers: Servers, jobs: usize, cores: usize) -> io::Result<Self> {
        let most = cores.div_ceil(2).max(2).min(cores);
        match servers {
            Servers::Processes => {
                let own = runtime::of_this_thread()?;
                let beside = (1..jobs.min(most)).map_while(|_| Beside::start().ok());
                let beside = beside.collect();
                Ok(Self { own, beside })
            }
            Servers::Contained => {
                let own = match jobs.div_ceil(2).min(most) {
                    0 | 1 => runtime::of_this_thread(),
                    threads => runtime::of_threads(threads),
                };
                let beside = Vec::new();
                Ok(Self { own: own?, beside })
            }
        }
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

/// A thread that does what is spawned onto it, until this is dropped.
#[derive(Debug)]
struct Beside {
    handle: Handle,
    /// Dropped, it ends the thread.
    over: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    fn start() -> io::Result<Self> {
        let runtime = runtime::of_this_thread()?;
        let handle = runtime.handle().clone();
        let (over, until) = oneshot::channel::<()>();
        let work = move || {
            // An error says that the other end was dropped, which is what it is there for.
            let _ = runtime.block_on(until);
            runtime.shutdown_timeout(LAST_WORK);
        };
        let thread = thread::Builder::new().name("jobs".to_owned()).spawn(work)?;
        Ok(Self {
            handle,
            over: Some(over),
            thread: Some(thread),
        })
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.over = None;
        if let Some(thread) = self.thread.take() {
            // Jobs that panic are seen where they end; the thread itself does nothing that could.
            let _ = thread.join();
        }
    }
}
