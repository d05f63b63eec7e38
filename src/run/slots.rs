//! Who may talk to a server: so many jobs at once, and as many again whose servers are started meanwhile and wait for
//! their turn. Knows neither tasks nor servers.

use std::collections::{BTreeMap, HashSet};

use tokio::sync::oneshot;

use crate::{observation::disruption::Phase, outcome::event::JobIndex};

/// The slots of a run.
#[derive(Debug)]
pub(super) struct Slots {
    jobs: usize,
    held: HashSet<JobIndex>,
    /// Those that have no slot yet. There are none while a slot is free.
    ahead: BTreeMap<JobIndex, Ahead>,
}

/// A job that was started ahead of its turn.
#[derive(Debug)]
struct Ahead {
    /// Given, it has its slot; dropped, it is not wanted any more.
    turn: oneshot::Sender<()>,
    /// Whether there is nothing left to do without a slot.
    ready: bool,
    /// How far it is.
    phase: Option<Phase>,
}

/// What there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// A job that talks.
    Slot,
    /// A job that is started ahead.
    Ahead,
    /// Nothing.
    None,
}

/// A job that was started ahead and has its slot now.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Promoted {
    pub(super) job: JobIndex,
    /// How far it is.
    pub(super) phase: Option<Phase>,
}

impl Slots {
    /// No slot is held yet.
    pub(super) fn new(jobs: usize) -> Self {
        Self {
            jobs: jobs.max(1),
            held: HashSet::new(),
            ahead: BTreeMap::new(),
        }
    }

    /// How many talk at once.
    pub(super) fn jobs(&self) -> usize {
        self.jobs
    }

    /// What may be started next.
    pub(super) fn room(&self) -> Room {
        if self.held.len() < self.jobs {
            Room::Slot
        } else if self.ahead.len() < self.jobs {
            Room::Ahead
        } else {
            Room::None
        }
    }

    /// A job is started that may talk.
    pub(super) fn hold(&mut self, job: JobIndex) {
        self.held.insert(job);
    }

    /// A job is started ahead; what is handed out tells it of its turn.
    pub(super) fn wait(&mut self, job: JobIndex) -> oneshot::Receiver<()> {
        let (turn, told) = oneshot::channel();
        let ahead = Ahead {
            turn,
            ready: false,
            phase: None,
        };
        self.ahead.insert(job, ahead);
        told
    }

    /// A job that was started ahead can do nothing more without a slot.
    pub(super) fn ready(&mut self, job: JobIndex) {
        if let Some(ahead) = self.ahead.get_mut(&job) {
            ahead.ready = true;
        }
    }

    /// Whether a job that reached a phase is seen to run; else it is remembered until it is.
    pub(super) fn reached(&mut self, job: JobIndex, phase: Phase) -> Seen {
        match self.ahead.get_mut(&job) {
            Some(ahead) => {
                ahead.phase = Some(phase);
                Seen::NotYet
            }
            None => Seen::Runs,
        }
    }

    /// A job needs its slot no longer, or is over.
    pub(super) fn leave(&mut self, job: JobIndex) {
        self.held.remove(&job);
        self.ahead.remove(&job);
    }

    /// Gives a free slot to a job that waits for one: the first in plan order that is ready, else the first.
    pub(super) fn promote(&mut self) -> Option<Promoted> {
        while self.held.len() < self.jobs {
            let ready = self.ahead.iter().find(|(_, ahead)| ahead.ready);
            let (job, _) = ready.or_else(|| self.ahead.first_key_value())?;
            let job = *job;
            let ahead = self.ahead.remove(&job)?;
            // A task that is gone needs none.
            if ahead.turn.send(()).is_ok() {
                self.held.insert(job);
                let phase = ahead.phase;
                return Some(Promoted { job, phase });
            }
        }
        None
    }

    /// Tells everybody who has no slot that none will come.
    pub(super) fn call_off(&mut self) {
        self.ahead.clear();
    }

    /// How many wait for a slot.
    pub(super) fn waiting(&self) -> usize {
        self.ahead.len()
    }
}

/// Whether a job is seen to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    /// It is.
    Runs,
    /// It was started ahead.
    NotYet,
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot::{self, error::TryRecvError};

    use super::{Promoted, Room, Seen, Slots};
    use crate::observation::disruption::Phase;

    #[test]
    fn as_many_are_started_ahead_as_may_talk_and_no_more() {
        let mut slots = Slots::new(2);
        let mut seen = Vec::new();
        let mut kept = Vec::new();
        for job in 0.. {
            let room = slots.room();
            seen.push(room);
            match room {
                Room::Slot => slots.hold(job),
                Room::Ahead => kept.push(slots.wait(job)),
                Room::None => break,
            }
        }
        let [slot, ahead] = [Room::Slot, Room::Ahead];
        assert_eq!(seen, [slot, slot, ahead, ahead, Room::None]);
        assert_eq!((slots.waiting(), slots.promote()), (2, None));
        slots.leave(0);
        assert_eq!(slots.promote().map(|next| next.job), Some(2));
        assert_eq!((slots.promote(), slots.room()), (None, Room::Ahead));
        assert_eq!(Slots::new(0).room(), Room::Slot, "somebody talks always");
    }

    #[test]
    fn a_slot_goes_to_the_first_that_is_ready_and_else_to_the_first() {
        let mut slots = Slots::new(3);
        (0..3).for_each(|job| slots.hold(job));
        let mut told: Vec<_> = (3..6).map(|job| slots.wait(job)).collect();
        assert_eq!(slots.reached(5, Phase::Start), Seen::NotYet);
        assert_eq!(slots.reached(0, Phase::Handshake), Seen::Runs);
        slots.ready(5);
        slots.ready(0);
        let mut next = || {
            slots.leave(0);
            slots.leave(1);
            slots.promote()
        };
        let phase = Some(Phase::Start);
        assert_eq!(next(), Some(Promoted { job: 5, phase }));
        let phase = None;
        assert_eq!(next(), Some(Promoted { job: 3, phase }));
        assert_eq!(next(), None, "three hold one");
        let told: Vec<_> = told.iter_mut().map(oneshot::Receiver::try_recv).collect();
        assert_eq!(told, [Ok(()), Err(TryRecvError::Empty), Ok(())]);
        assert_eq!(slots.reached(5, Phase::Handshake), Seen::Runs);
    }

    #[test]
    fn who_is_called_off_hears_of_it_and_gets_no_slot() {
        let mut slots = Slots::new(1);
        slots.hold(0);
        let mut told = slots.wait(1);
        slots.call_off();
        assert_eq!(told.try_recv(), Err(TryRecvError::Closed));
        slots.leave(0);
        assert_eq!((slots.promote(), slots.waiting()), (None, 0));
    }

    #[test]
    fn a_task_that_is_gone_takes_no_slot() {
        let mut slots = Slots::new(1);
        slots.hold(0);
        drop(slots.wait(1));
        slots.leave(0);
        assert_eq!((slots.promote(), slots.room()), (None, Room::Slot));
    }
}
