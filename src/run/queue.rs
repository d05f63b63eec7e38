//! Which job may start next: in plan order, but jobs of one lane one at a time.

use std::collections::{BTreeSet, HashMap, VecDeque};

use crate::outcome::event::JobIndex;

/// The jobs that have not started.
#[derive(Debug, Default)]
pub(super) struct Queue {
    ready: BTreeSet<JobIndex>,
    waiting: HashMap<String, VecDeque<JobIndex>>,
}

impl Queue {
    /// Adds a job; the second and later ones of a lane wait for the one before.
    pub(super) fn add(&mut self, job: JobIndex, lane: Option<&str>) {
        let Some(lane) = lane else {
            self.ready.insert(job);
            return;
        };
        if let Some(waiting) = self.waiting.get_mut(lane) {
            waiting.push_back(job);
        } else {
            self.waiting.insert(lane.to_owned(), VecDeque::new());
            self.ready.insert(job);
        }
    }

    /// The job to start next.
    pub(super) fn first(&self) -> Option<JobIndex> {
        self.ready.first().copied()
    }

    /// Takes the job to start next.
    pub(super) fn next(&mut self) -> Option<JobIndex> {
        self.ready.pop_first()
    }

    /// A job of this lane is over: the next one may start. Tells whether there is one.
    pub(super) fn release(&mut self, lane: &str) -> LaneState {
        let Some(waiting) = self.waiting.get_mut(lane) else {
            return LaneState::Empty;
        };
        if let Some(job) = waiting.pop_front() {
            self.ready.insert(job);
            LaneState::GoesOn
        } else {
            self.waiting.remove(lane);
            LaneState::Empty
        }
    }

    /// Takes every job that has not started, in plan order.
    pub(super) fn drain(&mut self) -> Vec<JobIndex> {
        let mut left: Vec<JobIndex> = std::mem::take(&mut self.ready).into_iter().collect();
        left.extend(self.waiting.drain().flat_map(|(_, waiting)| waiting));
        left.sort_unstable();
        left
    }
}

/// Whether a lane has further jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LaneState {
    /// Another job was made ready.
    GoesOn,
    /// There is none.
    Empty,
}

#[cfg(test)]
mod tests {
    use super::{LaneState, Queue};

    #[test]
    fn a_lane_runs_one_at_a_time_and_the_rest_in_order() {
        let mut queue = Queue::default();
        queue.add(0, Some("db"));
        queue.add(1, None);
        queue.add(2, Some("db"));
        queue.add(3, None);
        assert_eq!(queue.first(), Some(0), "looking takes nothing");
        assert_eq!(
            [queue.next(), queue.next(), queue.next(), queue.next()],
            [Some(0), Some(1), Some(3), None]
        );
        assert_eq!(queue.release("db"), LaneState::GoesOn);
        assert_eq!(queue.next(), Some(2));
        assert_eq!(queue.release("db"), LaneState::Empty);
        queue.add(4, Some("db"));
        assert_eq!(queue.drain(), [4]);
    }
}
