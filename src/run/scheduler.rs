//! Runs the jobs of a plan as tasks of one set: begins them in plan order as far as [`Slots`](super::ahead::Slots) allow,
//! jobs of one lane one after another, and tells outcomes in plan order. Every job gets an outcome, whatever becomes of
//! its task.

use std::{
    any::Any,
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    panic::{self, AssertUnwindSafe},
    sync::Arc,
};

use futures_util::FutureExt;
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    task::JoinSet,
};

use super::{
    RunEnd, RunOptions,
    ahead::Slot,
    catalogs,
    job::{self, Common, Shared},
    revisions::{self, Repeated},
};
use check::outcome::{
    NOT_RUN, Outcome, Status,
    event::{Event, JobIndex},
};
use host::sweep;
use mcp::observation::disruption::{Disruption, DisruptionKind, Phase};
use suite::plan::{
    Plan,
    job::{Job, Work},
};

/// Runs a plan. Events come in the order things happen, outcomes in plan order.
pub(crate) async fn run(plan: Plan, options: RunOptions, mut emit: impl FnMut(Event)) -> RunEnd {
    let common = Common::of(&options);
    let conducted = conduct(plan, options, common, &mut emit).await;
    end(&[conducted], &mut emit).await
}

/// Runs two plans that are compared, at the same time and with the same slots, so that the load of the machine is the same
/// for both. Both have the jobs at once of the first. The second one's end is the first one's.
pub(crate) async fn run_both(
    (plan, options, mut emit): (Plan, RunOptions, impl FnMut(Event)),
    (other, other_options, mut emit_other): (Plan, RunOptions, impl FnMut(Event)),
) -> RunEnd {
    let common = Common {
        lanes: Some(Arc::default()),
        ..Common::of(&options)
    };
    let conducted = tokio::join!(
        Box::pin(conduct(plan, options, common.clone(), &mut emit)),
        Box::pin(conduct(other, other_options, common, &mut emit_other)),
    );
    end(&[conducted.0, conducted.1], &mut emit).await
}

/// What a plan's jobs shared, and why it was stopped, if it was.
type Conducted = (Arc<Shared>, Option<Stop>);

/// Runs the jobs of a plan and closes their servers.
async fn conduct(
    plan: Plan,
    options: RunOptions,
    common: Common,
    emit: &mut impl FnMut(Event),
) -> Conducted {
    let (events, heard) = unbounded_channel();
    let (lanes, free) = unbounded_channel();
    let mut shared = Shared::new(plan, options, common, (events, lanes));
    revisions::leave_out_unspoken(&mut shared, emit).await;
    let shared = Arc::new(shared);
    emit(Event::RunStarted {
        total: shared.plan.jobs.len(),
        jobs: shared.options.jobs.max(1),
    });
    let mut scheduler = Scheduler {
        shared: Arc::clone(&shared),
        queue: Queue::default(),
        next: 0,
        held: BTreeMap::new(),
        repeated: Repeated::of(&shared.plan),
        tasks: JoinSet::new(),
        heard,
        lanes: HashMap::new(),
        free,
        stopped: None,
        emit,
    };
    scheduler.fill_queue();
    scheduler.run_jobs().await;
    let stopped = scheduler.stopped;
    shared.close().await;
    catalogs::tell(&shared.plan, &shared, scheduler.emit).await;
    (shared, stopped)
}

/// Tells what is left behind by plans of which the first one's end is the run's.
async fn end(conducted: &[Conducted], emit: &mut impl FnMut(Event)) -> RunEnd {
    let stopped = conducted.first().and_then(|(_, stopped)| *stopped);
    for what in left_behind(conducted, stopped).await {
        emit(Event::LeftBehind { what });
    }
    emit(Event::RunFinished);
    match stopped {
        Some(Stop::Interrupted) => RunEnd::Interrupted,
        Some(Stop::FailFast) | None => RunEnd::Completed,
    }
}

/// What servers left behind. An interrupted run does not take the time to look for it.
async fn left_behind(conducted: &[Conducted], stopped: Option<Stop>) -> Vec<String> {
    let left = conducted.iter().flat_map(|(shared, _)| shared.left());
    let left = left.collect();
    if stopped == Some(Stop::Interrupted) {
        return left;
    }
    // Removes again what could not be removed while servers still wrote there.
    let rest = sweep::after_run().await;
    let hidden = (rest.processes > 0).then(|| {
        format!(
            "{} outlived the servers and had to be ended when all assertions were over; with neither the process group \
             nor the environment of a server, nothing tells which assertion started what",
            processes(rest.processes)
        )
    });
    rest.left.into_iter().chain(hidden).collect()
}

/// A number of processes, in words.
pub(super) fn processes(count: usize) -> String {
    match count {
        1 => "1 process".to_owned(),
        more => format!("{more} processes"),
    }
}

/// Why no more jobs begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    FailFast,
    Interrupted,
}

impl Stop {
    /// Why a job has no verdict.
    fn reason(self) -> &'static str {
        match self {
            Self::FailFast => "not run: an earlier assertion failed (--fail-fast)",
            Self::Interrupted => NOT_RUN,
        }
    }
}

/// What a job's task gives back.
struct Ended {
    index: JobIndex,
    /// The outcome, none for a job that was called off; or the panic in which it ended.
    outcome: Result<Option<Box<Outcome>>, Box<dyn Any + Send>>,
    /// The slot, where it was not given back before: no other job gets it until the outcome is known.
    slot: Slot,
}

struct Scheduler<'a, E> {
    shared: Arc<Shared>,
    queue: Queue,
    /// The job whose outcome is reported next.
    next: JobIndex,
    /// Outcomes that came before those of earlier jobs.
    held: BTreeMap<JobIndex, Box<Outcome>>,
    repeated: Repeated,
    /// Dropped, it aborts the tasks.
    tasks: JoinSet<Ended>,
    /// What jobs tell.
    heard: UnboundedReceiver<Event>,
    /// The lanes of the jobs that run.
    lanes: HashMap<JobIndex, String>,
    /// Jobs whose lanes are free before they are over.
    free: UnboundedReceiver<JobIndex>,
    stopped: Option<Stop>,
    emit: &'a mut E,
}

impl<E: FnMut(Event)> Scheduler<'_, E> {
    /// Puts every job that runs into the queue; the others have their outcome at once.
    fn fill_queue(&mut self) {
        let shared = Arc::clone(&self.shared);
        for (index, job) in shared.plan.jobs.iter().enumerate() {
            match &job.work {
                Work::Run(work) => self.queue.add(index, shared.lane(work)),
                Work::Skip(reason) => self.finish(index, skipped(job, reason)),
                Work::Invalid(reasons) => {
                    let disruption =
                        Disruption::new(DisruptionKind::Invalid, Phase::Place, reasons.join("; "));
                    self.finish(index, Box::new(job::not_observed(job, disruption)));
                }
            }
        }
    }

    /// Runs all jobs to their ends.
    async fn run_jobs(&mut self) {
        let interrupt = self.shared.options.interrupt.clone();
        while !(self.queue.is_empty() && self.tasks.is_empty()) {
            tokio::select! {
                biased;
                () = interrupt.cancelled(), if self.stopped != Some(Stop::Interrupted) => {
                    self.stop(Stop::Interrupted);
                }
                Some(event) = self.heard.recv() => (self.emit)(event),
                Some(index) = self.free.recv() => self.leave_lane(index),
                Some(ended) = self.tasks.join_next() => match ended {
                    Ok(ended) => self.task_ended(ended),
                    // Panics of jobs are caught before, and no task is aborted while this runs.
                    Err(error) => if let Ok(panic) = error.try_into_panic() {
                        panic::resume_unwind(panic);
                    },
                },
                slot = self.shared.common.slots.begin(), if !self.queue.is_empty() => self.begin(slot),
            }
        }
    }

    fn begin(&mut self, mut slot: Slot) {
        let Some(index) = self.queue.next() else {
            return;
        };
        let shared = Arc::clone(&self.shared);
        if let Work::Run(work) = &shared.plan.jobs[index].work
            && let Some(lane) = shared.lane(work)
        {
            self.lanes.insert(index, lane);
        }
        if !slot.is_awaited() {
            (self.emit)(shared.started(index));
        }
        self.tasks.spawn(async move {
            let job = Box::pin(job::carry_out(index, &shared, &mut slot));
            let outcome = AssertUnwindSafe(job).catch_unwind().await;
            Ended {
                index,
                outcome,
                slot,
            }
        });
    }

    fn task_ended(&mut self, ended: Ended) {
        let Ended {
            index,
            outcome,
            slot,
        } = ended;
        while let Ok(event) = self.heard.try_recv() {
            (self.emit)(event);
        }
        let shared = Arc::clone(&self.shared);
        let job = &shared.plan.jobs[index];
        let outcome = match outcome {
            Ok(Some(outcome)) => outcome,
            Ok(None) => skipped(job, self.stopped.map_or("not run", Stop::reason)),
            Err(panic) => {
                let message = format!("a defect of mcp-assert itself: {}", said(panic.as_ref()));
                let disruption = Disruption::new(DisruptionKind::Place, Phase::Subject, message);
                Box::new(job::not_observed(job, disruption))
            }
        };
        self.leave_lane(index);
        let red = outcome.status.is_red();
        self.finish(index, outcome);
        if red && self.stopped.is_none() && shared.options.fail_fast {
            self.stop(Stop::FailFast);
        }
        drop(slot);
    }

    /// The next job of the lane may begin.
    fn leave_lane(&mut self, index: JobIndex) {
        if let Some(lane) = self.lanes.remove(&index) {
            self.queue.release(&lane);
        }
    }

    /// Begins no more jobs; those that wait for a slot are called off, and the rest is skipped.
    fn stop(&mut self, stop: Stop) {
        self.stopped = Some(stop);
        if stop == Stop::Interrupted {
            (self.emit)(Event::Interrupted);
        }
        let shared = Arc::clone(&self.shared);
        shared.common.slots.stop();
        for index in self.queue.drain() {
            self.finish(index, skipped(&shared.plan.jobs[index], stop.reason()));
        }
    }

    /// Reports outcomes in plan order.
    fn finish(&mut self, index: JobIndex, outcome: Box<Outcome>) {
        self.held.insert(index, outcome);
        while let Some(mut outcome) = self.held.remove(&self.next) {
            let job = self.next;
            self.next += 1;
            let plan = &self.shared.plan;
            self.repeated
                .compare(&plan.jobs[job], &plan.servers, &mut outcome);
            (self.emit)(Event::JobFinished { job, outcome });
        }
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words")
}

fn skipped(job: &Job, reason: &str) -> Box<Outcome> {
    let mut outcome = job::blank(job, Status::Skip);
    outcome.skip_reason = Some(reason.to_owned());
    Box::new(outcome)
}

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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::Queue;

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
}
