//! The order of a run: which job begins next, and outcomes in plan order. Knows neither tasks nor servers.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use check::outcome::event::JobIndex;

/// The jobs that have not begun, in plan order; jobs of one lane are handed out one at a time.
#[derive(Debug, Default)]
pub(super) struct Queue {
    ready: BTreeSet<JobIndex>,
    /// The jobs that wait for an earlier one of their lane. A lane is listed while one of its jobs is ready or runs.
    lanes: HashMap<String, VecDeque<JobIndex>>,
}

impl Queue {
    /// Adds a job; jobs are added in plan order.
    pub(super) fn add(&mut self, job: JobIndex, lane: Option<String>) {
        if let Some(lane) = lane {
            if let Some(waiting) = self.lanes.get_mut(&lane) {
                waiting.push_back(job);
                return;
            }
            self.lanes.insert(lane, VecDeque::new());
        }
        self.ready.insert(job);
    }

    /// Takes the job that begins next.
    pub(super) fn next(&mut self) -> Option<JobIndex> {
        self.ready.pop_first()
    }

    /// Whether no job can begin.
    pub(super) fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// A job of this lane has ended: the next one becomes ready.
    pub(super) fn release(&mut self, lane: &str) {
        match self.lanes.get_mut(lane).and_then(VecDeque::pop_front) {
            Some(job) => {
                self.ready.insert(job);
            }
            None => {
                self.lanes.remove(lane);
            }
        }
    }

    /// Takes every job that has not begun, in plan order.
    pub(super) fn drain(&mut self) -> BTreeSet<JobIndex> {
        let mut left = std::mem::take(&mut self.ready);
        left.extend(self.lanes.drain().flat_map(|(_, waiting)| waiting));
        left
    }
}

/// Puts outcomes in plan order: holds back those that come too early.
#[derive(Debug)]
pub(super) struct Ordered<T> {
    next: JobIndex,
    held: BTreeMap<JobIndex, T>,
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self {
            next: 0,
            held: BTreeMap::new(),
        }
    }
}

impl<T> Ordered<T> {
    /// Takes an outcome.
    pub(super) fn add(&mut self, job: JobIndex, outcome: T) {
        self.held.insert(job, outcome);
    }

    /// The next outcome in plan order, once it is there.
    pub(super) fn next(&mut self) -> Option<(JobIndex, T)> {
        let job = self.next;
        let outcome = self.held.remove(&job)?;
        self.next += 1;
        Some((job, outcome))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Ordered, Queue};

    #[test]
    fn a_lane_runs_one_at_a_time_and_the_rest_in_order() {
        let mut queue = Queue::default();
        let lane = || Some("db".to_owned());
        queue.add(0, lane());
        queue.add(1, None);
        queue.add(2, lane());
        queue.add(3, None);
        assert_eq!(
            [queue.next(), queue.next(), queue.next(), queue.next()],
            [Some(0), Some(1), Some(3), None]
        );
        queue.release("db");
        assert_eq!(queue.next(), Some(2));
        queue.release("db");
        assert!(queue.is_empty());
        queue.add(4, lane());
        queue.add(5, lane());
        assert_eq!(queue.drain(), BTreeSet::from([4, 5]));
    }

    #[test]
    fn what_became_ready_in_a_lane_begins_before_what_is_later_in_the_plan() {
        let mut queue = Queue::default();
        for (job, lane) in [(0, "a"), (1, "b"), (2, "a"), (3, "b"), (4, "c")] {
            queue.add(job, Some(lane.to_owned()));
        }
        assert_eq!([queue.next(), queue.next()], [Some(0), Some(1)]);
        queue.release("b");
        queue.release("a");
        let rest = [queue.next(), queue.next(), queue.next(), queue.next()];
        assert_eq!(rest, [Some(2), Some(3), Some(4), None]);
    }

    #[test]
    fn outcomes_come_in_plan_order_whichever_is_first() {
        let mut ordered = Ordered::default();
        let mut told = Vec::new();
        for (index, outcome) in [(2, "c"), (0, "a"), (3, "d"), (1, "b")] {
            ordered.add(index, outcome);
            told.push(std::iter::from_fn(|| ordered.next()).collect::<Vec<_>>());
        }
        let rest = vec![(1, "b"), (2, "c"), (3, "d")];
        assert_eq!(told, [vec![], vec![(0, "a")], vec![], rest]);
    }
}
