//! The server's process: its start without a shell, its stderr, its end with everything that came of it.
//! What is said over its pipes goes through the link that is handed out.

mod client;
pub mod dispositions;
mod family;
pub(super) mod orphans;
mod program;
mod spawn;
mod stderr;
pub(super) mod table;
#[cfg(test)]
mod tests;
mod watch;

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    io,
    path::PathBuf,
    process::Child,
    sync::Arc,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, getpgid, kill_process, kill_process_group, waitid,
};
use tokio::{
    net::unix::pipe,
    task::JoinHandle,
    time::{sleep, timeout},
};

pub use self::program::StartFailure;
use self::{
    client::Client,
    stderr::Stderr,
    table::{Spin, Work},
    watch::Watch,
};
use super::{launch::CommandLine, owner::Owner};
use mcp::{
    observation::{
        Observation,
        disruption::DisruptionKind,
        process::{Ending, Exit, ExitStatus, StderrTail},
    },
    transport::{
        Connection,
        clock::JobClock,
        stdio::{Input, StdioParts},
    },
};
use suite::model::runtime_rules::Lookup;
use text::environment::Environment;

/// The environment variable by which the processes of a job are found again.
pub const MARKER: &str = "MCP_ASSERT_JOB";

/// How long pipes are still read after the process ended: something it left behind may hold them open.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// How often a process that is to end is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How long a process may take to vanish after SIGKILL.
const VANISHING: Duration = Duration::from_secs(2);

/// How often a start is tried again while the program's file is still open for writing somewhere: a copy made
/// a moment ago, whose descriptor a process just being started elsewhere holds until it runs.
const BUSY_TRIES: u32 = 20;

/// What is started.
#[derive(Debug, Clone, Default)]
pub struct ProcessSpec {
    /// The command line. The program is a path if it holds a `/`, else a name on the PATH; the marks of the job and its
    /// owner are added to the variables.
    pub line: CommandLine,
    /// The caller's environment.
    pub environment: Arc<Environment>,
    /// Whether the server's `PATH` says where its program is.
    pub lookup: Lookup,
}

impl ProcessSpec {
    /// The directory it starts in; relative paths of programs start here too.
    fn directory(&self) -> PathBuf {
        let callers = &self.environment.directory;
        match &self.line.directory {
            Some(own) => callers.join(own),
            None => callers.clone(),
        }
    }
}

/// How long a server may take to end.
#[derive(Debug, Clone, Copy)]
pub struct Patience {
    /// After its stdin was closed.
    pub closed: Duration,
    /// Longer than that, as long as it is at work: to end takes an interpreter its time where the machine is busy. What
    /// outlives it has as long.
    pub at_work: Duration,
    /// While it takes a processor and writes nothing. One that reads the end of its stdin again and again has a quarter of
    /// that.
    pub spinning: Duration,
    /// After SIGTERM.
    pub terminated: Duration,
}

impl Patience {
    /// For servers that are ended because the run was interrupted: all of it is over within 5 s.
    pub const HURRIED: Self = Self {
        closed: Duration::from_millis(500),
        at_work: Duration::ZERO,
        spinning: Duration::from_millis(500),
        terminated: Duration::from_secs(1),
    };

    /// For a server of which this was seen. One that hung, flooded or broke the protocol may work without end: how it
    /// ends decides nothing, and it takes processors from the others.
    pub fn after(seen: &Observation) -> Self {
        let mut patience = Self::default();
        let kind = seen.disruption.as_ref().map(|disruption| disruption.kind);
        if matches!(
            kind,
            Some(DisruptionKind::Timeout | DisruptionKind::Violation | DisruptionKind::Transport)
        ) {
            patience.closed = Self::BROKEN;
            patience.at_work = Duration::ZERO;
        }
        patience
    }

    /// After its stdin was closed, for a server that hung, flooded or broke the protocol.
    const BROKEN: Duration = Duration::from_secs(2);

    /// The longest that a server may take to end before it is killed.
    pub fn altogether(self) -> Duration {
        self.closed + self.at_work + self.terminated
    }
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            closed: Duration::from_secs(5),
            at_work: Duration::from_secs(5),
            spinning: Duration::from_secs(2),
            terminated: Duration::from_secs(2),
        }
    }
}

/// A server's process, owned: to be ended with [`Process::end`]; dropping it kills its group as a net.
#[derive(Debug)]
pub struct Process {
    pid: Pid,
    watch: Arc<Watch>,
    stderr: Arc<Stderr>,
    drain: JoinHandle<()>,
    marker: String,
    client: Option<Box<Client>>,
    /// How it took the end of its stdin.
    parting: Parting,
    /// Whether it lived when it was asked to end; `None` before that.
    lived: Option<bool>,
    /// How it ended; its number may be reused since.
    ended: Option<Exit>,
}

/// How a server took the end of its stdin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Parting {
    /// How long it took to end, or was waited for.
    pub took: Duration,
    /// Whether it took a processor all the while, and wrote nothing.
    pub spun: bool,
}

/// What a server did in the time that it had to end unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unasked {
    Ended,
    Spun,
    LivedOn,
}

impl Process {
    /// Starts the process in a group of its own, and a link over its stdin and stdout.
    pub async fn start(
        mut spec: ProcessSpec,
        clock: JobClock,
    ) -> Result<(Self, Connection), StartFailure> {
        let path = program::named(&spec)?;
        let marker = next_marker();
        let client = Client::labelled(&mut spec, &marker);
        let mut command = spawn::command(&spec, &path, &marker);
        let mut tries = 0;
        let child = loop {
            // Blocks until the system has loaded the program: a fraction of a millisecond, less than another thread takes.
            match family::start(&mut command) {
                Ok(child) => break child,
                Err(error)
                    if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
                {
                    tries += 1;
                    sleep(Duration::from_millis(u64::from(tries))).await;
                }
                Err(error) => return Err(program::explain(&spec, &path, &error)),
            }
        };
        let pid = Pid::from_child(&child);
        Self::take_over(child, (marker, client), clock).map_err(|error| {
            family::discard(pid);
            StartFailure::refused(&spec.line.program, &error)
        })
    }

    /// Makes the owner of a child that was just started.
    fn take_over(
        child: Child,
        (marker, client): (String, Option<Client>),
        clock: JobClock,
    ) -> io::Result<(Self, Connection)> {
        let pid = Pid::from_child(&child);
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin, child.stdout, child.stderr)
        else {
            return Err(io::Error::other("the system started it without a pipe"));
        };
        let watch = Arc::new(Watch::new(pid)?);
        let stderr = pipe::Receiver::from_owned_fd(stderr.into())?;
        let stderr = Arc::new(Stderr::new(stderr));
        let (watched, drained) = (Arc::clone(&watch), Arc::clone(&stderr));
        let connection = Connection::stdio(StdioParts {
            input: Input::Pipe(pipe::Receiver::from_owned_fd(stdout.into())?),
            output: Box::new(pipe::Sender::from_owned_fd(stdin.into())?),
            gone: Some(Box::pin(async move {
                watched.over().await;
            })),
            clock,
        });
        let process = Self {
            pid,
            watch,
            stderr,
            drain: tokio::spawn(async move { drained.drain().await }),
            marker,
            client: client.map(Box::new),
            parting: Parting::default(),
            lived: None,
            ended: None,
        };
        Ok((process, connection))
    }

    /// Its number.
    #[cfg(test)]
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// How it ended, if it has.
    pub fn status(&self) -> Option<ExitStatus> {
        self.watch.status()
    }

    /// How it took the end of its stdin.
    pub fn parting(&self) -> Parting {
        self.parting
    }

    /// What is to be said of a container that it may have left.
    pub fn left(&self) -> Option<&str> {
        self.client.as_ref()?.left()
    }

    /// Waits for its end.
    pub async fn exited(&self) -> ExitStatus {
        self.watch.exited().await
    }

    /// Waits for its end without borrowing it.
    pub fn end_watch(&self) -> impl Future<Output = ExitStatus> + Send + use<> {
        let watch = Arc::clone(&self.watch);
        async move { watch.exited().await }
    }

    /// Whether a signal has stopped it.
    pub fn is_stopped(&self) -> bool {
        table::status(self.pid).is_some_and(|status| status.doing == table::Doing::Stopped)
    }

    /// What it wrote to stderr so far.
    pub fn stderr(&self) -> StderrTail {
        self.stderr.tail()
    }

    /// Says that from now on it is expected to end, so that its end counts as asked for. To be called just
    /// before its stdin is closed.
    pub fn ask(&mut self) {
        if self.lived.is_none() {
            self.lived = Some(self.watch.status().is_none());
        }
    }

    /// Ends it and everything that came of it: stdin was closed by now, then SIGTERM to the group, then
    /// SIGKILL, then what it left behind. Its stdout must be read meanwhile.
    pub async fn end(&mut self, patience: Patience) -> Exit {
        if let Some(exit) = self.ended {
            return exit;
        }
        self.ask();
        let ending = self.descend(patience).await;
        if let (Some(client), Ending::Terminated | Ending::Killed) = (&mut self.client, ending) {
            // The container does not end because its client is killed.
            Box::pin(client.remove()).await;
        }
        // Until it is reaped its number is its own, and the group's too.
        let orphans = orphans::end_of_job(&self.marker, self.pid, patience.at_work).await;
        let exit = self.reap(ending, orphans);
        if timeout(LAST_WORDS, &mut self.drain).await.is_err() {
            self.drain.abort();
        }
        exit
    }

    /// The steps down to the end of the process itself.
    async fn descend(&mut self, patience: Patience) -> Ending {
        if self.lived == Some(false) {
            return Ending::ByItself;
        }
        let begun = Instant::now();
        let unasked = self.ends_unasked(patience).await;
        self.parting = Parting {
            took: begun.elapsed(),
            spun: unasked == Unasked::Spun,
        };
        if unasked == Unasked::Ended {
            return Ending::StdinClosed;
        }
        self.signal(Signal::TERM);
        // A stopped process gets the signal when it goes on.
        self.signal(Signal::CONT);
        if timeout(patience.terminated, self.exited()).await.is_ok() {
            return Ending::Terminated;
        }
        self.signal(Signal::KILL);
        let _ = timeout(VANISHING, self.exited()).await;
        Ending::Killed
    }

    /// Signals the group, and the process itself where it has left the group, so that it gets one signal.
    fn signal(&self, signal: Signal) {
        signal_group(self.pid, signal);
        if getpgid(Some(self.pid)) != Ok(self.pid) {
            let _ = kill_process(self.pid, signal);
        }
    }

    /// Whether it ends without a signal, in the time it has for it.
    async fn ends_unasked(&self, patience: Patience) -> Unasked {
        let begun = Instant::now();
        let step = LOOK.min(patience.closed).min(patience.spinning / 2);
        let (mut before, mut spinning) = (None::<Work>, Duration::ZERO);
        loop {
            let looked = Instant::now();
            if timeout(step, self.exited()).await.is_ok() {
                return Unasked::Ended;
            }
            let now = Work::of(&[self.pid]);
            let since = looked.elapsed();
            spinning = match before.and_then(|before| now.spun_since(before, since)) {
                Some(Spin::Reads) => spinning + since * 4,
                Some(Spin::Computes) => spinning + since,
                None => Duration::ZERO,
            };
            // It may have ended while the table was read.
            let is_over = |other| match self.status() {
                Some(_) => Unasked::Ended,
                None => other,
            };
            if !spinning.is_zero() && spinning >= patience.spinning {
                return is_over(Unasked::Spun);
            }
            let waited = begun.elapsed();
            let rests = |now: Work| before.is_none_or(|before| !now.goes_on_since(before, since));
            // One of them may have ended, and another be about to go on: between the two it looks like rest.
            if waited >= patience.closed + patience.at_work
                || waited >= patience.closed && rests(now) && rests(Work::of(&[self.pid]))
            {
                return is_over(Unasked::LivedOn);
            }
            before = Some(now);
        }
    }

    /// Kills what is left of the group and takes the exit status away. A process that still does not vanish is
    /// reaped later, as an adopted one.
    fn reap(&mut self, ending: Ending, orphans: usize) -> Exit {
        signal_group(self.pid, Signal::KILL);
        let exit = Exit {
            status: self.watch.status().unwrap_or(watch::UNSEEN),
            ending,
            orphans,
        };
        self.ended = Some(exit);
        let _ = waitid(
            WaitId::Pid(self.pid),
            WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
        );
        family::forget(self.pid);
        exit
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended.is_none() {
            self.reap(Ending::Killed, 0);
        }
        self.drain.abort();
    }
}

/// A mark that no other job has, of this run or of any other.
fn next_marker() -> String {
    let number = RandomState::new().build_hasher().finish();
    let owner = Owner::this();
    format!(
        "{}-{}-{}-{number:016x}",
        owner.place, owner.pid, owner.started
    )
}

/// A group that is gone by now needs no signal.
fn signal_group(group: Pid, signal: Signal) {
    let _ = kill_process_group(group, signal);
}
