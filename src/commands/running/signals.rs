//! Ctrl-C, SIGTERM, SIGQUIT and the end of the terminal: the first ends the run and still writes the reports, the second
//! ends the process. They are heard from the moment a verb asks for it, also while nothing else is awaited: a process
//! that is the first of its container does not even die of a signal that it does not listen for.

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
    sync::oneshot,
    time::{Instant, sleep_until, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    commands::runtime,
    deliver::{standard::Streams, workflow_log::WorkflowLog},
};
use host::{container::Containers, process::dispositions};
use text::exit::ExitCode;

/// How long what is left may take to be removed when somebody does not want to wait.
const LAST_WORD: Duration = Duration::from_millis(1200);

/// How long after the first signal servers and containers may take to be gone; what follows is written within 5 s.
const PATIENCE: Duration = Duration::from_secs(4);

/// How long the log may take to be ended then.
const LAST_LINE: Duration = Duration::from_millis(200);

/// The signal that says that a file would be larger than the limit (`ulimit -f`).
const FILE_TOO_LARGE: i32 = rustix::process::Signal::XFSZ.as_raw();

/// The signals of this process; all handles are of one listener.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interrupts(Arc<Heard>);

/// What was heard, and who is to be ended then.
#[derive(Debug, Default)]
struct Heard {
    first: CancellationToken,
    /// When the first came.
    came: OnceLock<Instant>,
    over: CancellationToken,
    containers: OnceLock<Arc<Containers>>,
    log: Option<WorkflowLog>,
    streams: Streams,
    listener: Mutex<Option<JoinHandle<()>>>,
}

impl Interrupts {
    /// Nothing is heard yet.
    pub(crate) fn new(log: Option<WorkflowLog>, streams: &Streams) -> Self {
        Self(Arc::new(Heard {
            log,
            streams: streams.clone(),
            ..Heard::default()
        }))
    }

    /// From here on signals are heard, until [`Interrupts::close`].
    pub(crate) fn listen(&self) {
        let mut listener = self
            .0
            .listener
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if listener.is_some() {
            return;
        }
        let heard = Arc::clone(&self.0);
        let (ready, installed) = mpsc::channel();
        let thread = thread::Builder::new().name("signals".to_owned());
        // Without a thread signals do what they always do.
        *listener = thread.spawn(move || heard.hear(&ready)).ok();
        // An error says that there is nothing to wait for.
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

    /// Waits for what is still to be done, after a signal no longer than there is patience.
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

    /// What a second signal has removed before it ends the process.
    pub(super) fn hold(&self, containers: &Arc<Containers>) {
        // A process makes one run.
        let _ = self.0.containers.set(Arc::clone(containers));
    }

    /// The containers of the run, if it has any.
    pub(super) fn containers(&self) -> Option<&Arc<Containers>> {
        self.0.containers.get()
    }

    /// Ends listening.
    pub(crate) fn close(&self) {
        self.0.over.cancel();
        let listener = self
            .0
            .listener
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(listener) = listener {
            // A listener that panicked has told so.
            let _ = listener.join();
        }
    }
}

/// The signals that are listened for.
struct Signals(Vec<Signal>);

impl Signals {
    /// From here on they are heard.
    fn new() -> io::Result<Self> {
        let ignored = dispositions::ignored();
        let is_ignored = |kind: SignalKind| ignored.is_some_and(|it| it.has(kind.as_raw_value()));
        // From here on a file that may not grow is an error of who writes it, and can be told. Programs that we start
        // are spared this: they inherit what is ignored, not what is listened for.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE))?);
        // Where it is ignored, the system keeps no child until it was asked how it ended.
        if is_ignored(SignalKind::child()) {
            drop(signal(SignalKind::child())?);
        }
        // Whoever starts us with these ignored, as `nohup` does, wants it to stay so: listening would undo that.
        let of_terminal = [SignalKind::quit(), SignalKind::hangup()];
        let of_terminal = of_terminal.into_iter().filter(|kind| !is_ignored(*kind));
        let always = [SignalKind::interrupt(), SignalKind::terminate()];
        let heard = always.into_iter().chain(of_terminal).map(signal);
        heard.collect::<io::Result<_>>().map(Self)
    }

    /// Waits for any of them.
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

impl Heard {
    /// Hears signals until it is over.
    fn hear(&self, ready: &mpsc::Sender<()>) {
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

    /// Waits for a signal; whether one came before it was over.
    async fn next(&self, signals: &mut Signals) -> bool {
        tokio::select! {
            () = signals.next() => true,
            () = self.over.cancelled() => false,
        }
    }

    /// Removes what can be removed in a moment, and ends the process whatever it is doing.
    async fn end_process(&self) {
        let containers = async {
            if let Some(containers) = self.containers.get() {
                containers.hurry();
                containers.close().await;
            }
        };
        let rest = async { tokio::join!(host::sweep::after_run(), containers) };
        let _ = timeout(LAST_WORD, rest).await;
        if let Some(log) = self.log.clone() {
            let (tell, closed) = oneshot::channel::<()>();
            let streams = self.streams.clone();
            let closing = move || {
                log.close();
                streams.settle();
                drop(tell);
            };
            // Where no thread is to be had, the log stays as it is.
            let _ = thread::Builder::new().spawn(closing);
            let _ = timeout(LAST_LINE, closed).await;
        }
        // A second Ctrl-C must end the process whatever it is doing.
        std::process::exit(i32::from(ExitCode::Interrupted.number()));
    }
}
