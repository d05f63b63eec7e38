//! What a run learns of the servers of a target: how they take the end of their stdin, so that not every one of them is
//! waited for as long as the first, and whether several of them ran at once.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use host::{host::Ended, process::Patience};
use mcp::observation::{Observation, process::Ending};
use suite::plan::target_key::TargetKey;

/// How long a server may spin of which another one did.
const SPINS_AGAIN: Duration = Duration::from_millis(100);

/// How long a server may live on after its stdin was closed of which another one did for all of its time.
const LIVES_ON_AGAIN: Duration = Duration::from_millis(500);

/// What is known of the targets of a run.
#[derive(Debug, Default)]
pub(super) struct Habits(Mutex<HashMap<TargetKey, Habit>>);

/// What is known of the servers of a target.
#[derive(Debug, Default)]
struct Habit {
    /// Whether one took a processor for nothing after its stdin was closed.
    spins: bool,
    /// Whether one had to be ended by a signal.
    lives_on: bool,
    /// How many of them run.
    running: usize,
    /// How many were started.
    started: u64,
}

/// A server that runs.
#[derive(Debug)]
pub(super) struct Instance {
    habits: Arc<Habits>,
    target: Option<TargetKey>,
    /// Its number among those of its target.
    number: u64,
    /// Whether another one ran when it was started.
    met: bool,
}

impl Habits {
    /// A server of this target is started.
    pub(super) fn started(self: &Arc<Self>, target: Option<TargetKey>) -> Instance {
        let (mut number, mut met) = (0, false);
        if let Some(target) = target {
            let mut known = self.known();
            let habit = known.entry(target).or_default();
            met = habit.running > 0;
            number = habit.started;
            habit.running += 1;
            habit.started += 1;
        }
        Instance {
            habits: Arc::clone(self),
            target,
            number,
            met,
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<TargetKey, Habit>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Instance {
    /// Looks at what is known of its target, or adds to it.
    fn habit<T>(&self, look: impl FnOnce(&mut Habit) -> T) -> Option<T> {
        self.habits.known().get_mut(&self.target?).map(look)
    }

    /// How long it may take to end, of which this was seen.
    pub(super) fn patience(&self, seen: &Observation) -> Patience {
        let mut patience = Patience::after(seen);
        self.habit(|habit| {
            if habit.spins {
                patience.spinning = SPINS_AGAIN;
            }
            if habit.lives_on {
                patience.closed = patience.closed.min(LIVES_ON_AGAIN);
            }
        });
        patience
    }

    /// It has ended like this.
    pub(super) fn learn(&self, ended: &Ended) {
        let ending = ended.exit.map(|exit| exit.ending);
        self.habit(|habit| match ending {
            Some(Ending::Terminated | Ending::Killed) if ended.parting.spun => habit.spins = true,
            Some(Ending::Terminated | Ending::Killed) => habit.lives_on = true,
            Some(Ending::ByItself | Ending::StdinClosed | Ending::Asked) | None => {}
        });
    }

    /// Whether another server of its target ran at the same time.
    pub(super) fn has_company(&self) -> bool {
        let later = self.habit(|habit| habit.started > self.number + 1);
        self.met || later.unwrap_or(false)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.habit(|habit| habit.running = habit.running.saturating_sub(1));
    }
}
