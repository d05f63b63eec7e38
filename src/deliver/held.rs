//! What a standard stream does not take at once while jobs run: it is kept here, in its order, and written by a thread of
//! its own, so that whoever reads slowly, or not at all, stands in the way of no job. Most streams take everything at
//! once, and then there is neither copy nor thread. What is kept is no more than the report keeps of the same run.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use rustix::{fs::fstat, io::Errno};

use super::standard::Outlet;

/// How many runs drive jobs at this moment.
static RUNS: AtomicUsize = AtomicUsize::new(0);

/// What waits for standard output, and for standard error where both lead to the same place: what is told on both is
/// read in its order.
static OF_OUT: Held = Held::new();

/// What waits for standard error where it leads elsewhere.
static OF_ERROR: Held = Held::new();

/// As long as this is there nobody waits for a reader; when it goes, what was kept is waited for.
#[derive(Debug)]
pub(crate) struct Unhindered(());

impl Unhindered {
    /// From here on.
    pub(crate) fn begin() -> Self {
        RUNS.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Unhindered {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::SeqCst);
        for held in [&OF_OUT, &OF_ERROR] {
            // Whoever writes next hears of it.
            let _ = held.settle();
        }
    }
}

/// What is kept, and who writes it.
#[derive(Debug)]
pub(super) struct Held {
    state: Mutex<State>,
    settled: Condvar,
}

#[derive(Debug)]
struct State {
    waiting: VecDeque<(Outlet<'static>, Vec<u8>)>,
    /// Whether a thread writes it. As long as it does, everything else goes behind.
    is_carried: bool,
    /// Why nothing can be written any more: nothing follows a gap.
    broken: Option<Errno>,
}

impl Held {
    const fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                is_carried: false,
                broken: None,
            }),
            settled: Condvar::new(),
        }
    }

    /// What is kept for standard output.
    pub(super) fn of_out() -> &'static Self {
        &OF_OUT
    }

    /// What is kept for standard error.
    pub(super) fn of_error() -> &'static Self {
        static SHARED: OnceLock<bool> = OnceLock::new();
        let leads = || {
            let out = fstat(rustix::stdio::stdout()).ok()?;
            let error = fstat(rustix::stdio::stderr()).ok()?;
            Some((out.st_dev, out.st_ino) == (error.st_dev, error.st_ino))
        };
        if *SHARED.get_or_init(|| leads().unwrap_or(false)) {
            &OF_OUT
        } else {
            &OF_ERROR
        }
    }

    /// Writes all of it, or keeps what is not taken at once; outside of a run it is waited for.
    pub(super) fn write(&'static self, outlet: Outlet<'static>, bytes: &[u8]) -> io::Result<usize> {
        if RUNS.load(Ordering::SeqCst) == 0 {
            self.settle()?;
            return outlet.write(bytes);
        }
        let mut state = self.lock();
        state.whole()?;
        let mut rest = bytes;
        while !rest.is_empty() && !state.is_carried {
            let Some(count) = outlet.write_at_once(rest)? else {
                break;
            };
            rest = &rest[count..];
        }
        if rest.is_empty() {
            return Ok(bytes.len());
        }
        state.waiting.push_back((outlet, rest.to_owned()));
        if !state.is_carried {
            state.is_carried = true;
            drop(state);
            let thread = thread::Builder::new().name("output".to_owned());
            if thread.spawn(|| self.carry()).is_err() {
                // Without a thread it is waited for here.
                self.carry();
            }
        }
        Ok(bytes.len())
    }

    /// Waits until nothing is kept any more.
    pub(super) fn settle(&self) -> io::Result<()> {
        let mut state = self.lock();
        while state.is_carried {
            let waited = self.settled.wait(state);
            state = waited.unwrap_or_else(PoisonError::into_inner);
        }
        state.whole()
    }

    /// What is known without waiting, in a run, or when it is settled.
    pub(super) fn flush(&self) -> io::Result<()> {
        if RUNS.load(Ordering::SeqCst) == 0 {
            return self.settle();
        }
        self.lock().whole()
    }

    /// Whether nothing is kept.
    pub(super) fn is_settled(&self) -> bool {
        !self.lock().is_carried
    }

    /// Writes what is kept until nothing is.
    fn carry(&self) {
        loop {
            let mut state = self.lock();
            let Some((outlet, bytes)) = state.waiting.pop_front() else {
                state.is_carried = false;
                break;
            };
            drop(state);
            if let Err(error) = outlet.write_all(&bytes) {
                let mut state = self.lock();
                state.broken = Some(Errno::from_io_error(&error).unwrap_or(Errno::PIPE));
                state.waiting.clear();
                state.is_carried = false;
                break;
            }
        }
        self.settled.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// That nothing is missing.
    fn whole(&self) -> io::Result<()> {
        self.broken.map_or(Ok(()), |errno| Err(errno.into()))
    }
}
