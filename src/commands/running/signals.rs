//! Handles SIGINT, SIGTERM, SIGQUIT and SIGHUP: the first ends the run, which still writes its reports; the second ends
//! the process. A thread listens, because PID 1 of a container ignores signals without a handler.

use std::{
    future::poll_fn,
    io,
    sync::{Arc, Mutex, OnceLock, PoisonError, mpsc},
    task::Poll,
    thread::{self, JoinHandle},
    time::Duration,
};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::runtime,
    deliver::{standard::Streams, workflow_log::WorkflowLog},
};
use host::{container::Containers, process::dispositions};
use text::exit::ExitCode;

/// The time for cleaning up after the second signal.
const LAST_WORD: Duration = Duration::from_secs(1);

/// The time for servers and containers to end after the first signal; reports follow within 5 s.
const PATIENCE: Duration = Duration::from_secs(4);

/// Sent when a file exceeds `ulimit -f`.
const FILE_TOO_LARGE: i32 = rustix::process::Signal::XFSZ.as_raw();

/// A handle on the process's signal listener.
#[derive(Clone, Default)]
pub(crate) struct Interrupts(Arc<Listener>);

/// The state of the listener.
#[derive(Default)]
struct Listener {
    first: CancellationToken,
    /// When the first signal came.
    came: OnceLock<Instant>,
    over: CancellationToken,
    containers: OnceLock<Arc<Containers>>,
    log: Option<WorkflowLog>,
    streams: Streams,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Interrupts {
    /// A listener that is not started yet.
    pub(crate) fn new(log: Option<WorkflowLog>, streams: &Streams) -> Self {
        Self(Arc::new(Listener {
            log,
            streams: streams.clone(),
            ..Listener::default()
        }))
    }

    /// Starts listening, until [`Interrupts::close`].
    pub(crate) fn listen(&self) {
        let running = self.0.thread.lock();
        let mut running = running.unwrap_or_else(PoisonError::into_inner);
        if running.is_some() {
            return;
        }
        let state = Arc::clone(&self.0);
        let (ready, installed) = mpsc::channel();
        let thread = thread::Builder::new().name("signals".to_owned());
        // Without a thread, signals keep their default action.
        *running = thread.spawn(move || state.run(&ready)).ok();
        // An error means that the listener could not start.
        let _ = installed.recv();
    }

    /// Cancelled with the first signal.
    pub(crate) fn token(&self) -> CancellationToken {
        self.0.first.clone()
    }

    /// Whether a signal came.
    pub(crate) fn came(&self) -> bool {
        self.0.first.is_cancelled()
    }

    /// Waits for `work`, after a signal at most until the deadline.
    pub(super) async fn while_patient<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let over = async {
            self.0.first.cancelled().await;
            if let Some(containers) = self.containers() {
                containers.hurry();
            }
            let came = self.0.came.get().copied().unwrap_or_else(Instant::now);
            sleep_until(came + PATIENCE).await;
        };
        tokio::select! {
            done = work => Some(done),
            () = over => None,
        }
    }

    /// Registers the containers that a second signal removes.
    pub(crate) fn hold(&self, containers: &Arc<Containers>) {
        // A process has one run.
        let _ = self.0.containers.set(Arc::clone(containers));
    }

    /// The containers of the run, if it has any.
    pub(super) fn containers(&self) -> Option<&Arc<Containers>> {
        self.0.containers.get()
    }

    /// Stops the listener.
    pub(crate) fn close(&self) {
        self.0.over.cancel();
        let running = self.0.thread.lock();
        let running = running.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(running) = running {
            // A panic has printed its message.
            let _ = running.join();
        }
    }
}

/// The handled signals.
struct Signals(Vec<Signal>);

impl Signals {
    /// Installs the handlers.
    fn new() -> io::Result<Self> {
        let ignored = dispositions::ignored();
        let is_ignored = |kind: SignalKind| ignored.is_some_and(|it| it.has(kind.as_raw_value()));
        // With a handler, exceeding `ulimit -f` is a write error. Child processes inherit ignored signals, not
        // handlers.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE))?);
        // If SIGCHLD is ignored, exit statuses are lost.
        if is_ignored(SignalKind::child()) {
            drop(signal(SignalKind::child())?);
        }
        // Signals ignored by the parent, as by `nohup`, stay ignored.
        let of_terminal = [SignalKind::quit(), SignalKind::hangup()];
        let of_terminal = of_terminal.into_iter().filter(|kind| !is_ignored(*kind));
        let always = [SignalKind::interrupt(), SignalKind::terminate()];
        let heard = always.into_iter().chain(of_terminal).map(signal);
        heard.collect::<io::Result<_>>().map(Self)
    }

    /// Waits for any of the signals.
    async fn next(&mut self) {
        poll_fn(|context| {
            let mut all = self.0.iter_mut();
            if all.any(|signal| signal.poll_recv(context).is_ready()) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
    }
}

impl Listener {
    /// The listener's thread.
    fn run(&self, ready: &mpsc::Sender<()>) {
        let Ok(runtime) = runtime::of_signals() else {
            return;
        };
        runtime.block_on(async {
            let Ok(mut signals) = Signals::new() else {
                return;
            };
            let _ = ready.send(());
            if self.next(&mut signals).await {
                self.came.get_or_init(Instant::now);
                self.streams.hurry();
                self.first.cancel();
                if self.next(&mut signals).await {
                    self.end_process().await;
                }
            }
        });
        runtime.shutdown_background();
    }

    /// Waits for a signal; false if the listener was stopped.
    async fn next(&self, signals: &mut Signals) -> bool {
        tokio::select! {
            () = signals.next() => true,
            () = self.over.cancelled() => false,
        }
    }

    /// Cleans up briefly and ends the process.
    async fn end_process(&self) {
        let containers = async {
            if let Some(containers) = self.containers.get() {
                containers.hurry();
                containers.close().await;
            }
        };
        let rest = async { tokio::join!(host::sweep::after_run(), containers) };
        let _ = timeout(LAST_WORD, rest).await;
        if let Some(log) = &self.log {
            log.close();
        }
        self.streams.settle();
        // A second Ctrl-C must end the process whatever it is doing.
        std::process::exit(i32::from(ExitCode::Interrupted.number()));
    }
}
