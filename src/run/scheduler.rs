//! Runs the jobs of a plan: so many at once, lanes one at a time, closing beside the next job, outcomes in plan
//! order. Every job gets an outcome, whatever becomes of its task.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use tokio::{
    sync::mpsc,
    task::{Id, JoinError, JoinSet},
};

use super::{
    AfterFailure, CatalogsWanted, RunEnd, RunOptions,
    job::{self, Shared},
    ordered::Ordered,
    queue::Queue,
    surface,
};
use crate::{
    observation::disruption::{Disruption, DisruptionKind, Phase},
    outcome::{
        Outcome, Status,
        event::{Event, JobIndex},
    },
    plan::{
        Plan,
        job::{Job, Work},
    },
};

/// What a job's task tells the scheduler.
#[derive(Debug)]
pub(super) enum Message {
    /// For the live display.
    Progress(Event),
    /// The subject was observed; only closing is left, which happens beside the next job.
    SlotFree(JobIndex),
}

/// Runs a plan. Events come in the order things happen, outcomes in plan order.
pub(crate) async fn run(plan: Plan, options: RunOptions, emit: impl FnMut(Event)) -> RunEnd {
    let (sender, receiver) = mpsc::unbounded_channel();
    let jobs = options.jobs.max(1);
    let total = plan.jobs.len();
    let mut scheduler = Scheduler {
        plan: Arc::new(plan),
        shared: Arc::new(Shared::new(options, sender)),
        queue: Queue::default(),
        ordered: Ordered::default(),
        tasks: JoinSet::new(),
        jobs_of_tasks: HashMap::new(),
        in_slots: HashSet::new(),
        stopped: None,
        jobs,
        emit,
    };
    (scheduler.emit)(Event::RunStarted { total, jobs });
    scheduler.enqueue();
    scheduler.work(receiver).await;
    scheduler.shared.close().await;
    if scheduler.shared.options.catalogs == CatalogsWanted::OfEveryTarget {
        let known = surface::collect(&scheduler.plan, &scheduler.shared).await;
        for (target, catalog) in known {
            (scheduler.emit)(Event::CatalogKnown { target, catalog });
        }
    }
    (scheduler.emit)(Event::RunFinished);
    match scheduler.stopped {
        Some(Stop::Interrupted) => RunEnd::Interrupted,
        Some(Stop::FailFast) | None => RunEnd::Completed,
    }
}

/// Why nothing more is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    FailFast,
    Interrupted,
}

struct Scheduler<F> {
    plan: Arc<Plan>,
    shared: Arc<Shared>,
    queue: Queue,
    ordered: Ordered,
    tasks: JoinSet<(JobIndex, Box<Outcome>)>,
    jobs_of_tasks: HashMap<Id, JobIndex>,
    in_slots: HashSet<JobIndex>,
    stopped: Option<Stop>,
    jobs: usize,
    emit: F,
}

impl<F: FnMut(Event)> Scheduler<F> {
    /// Puts every job that runs into the queue; the others have their outcome at once.
    fn enqueue(&mut self) {
        let plan = Arc::clone(&self.plan);
        for (index, job) in plan.jobs.iter().enumerate() {
            match &job.work {
                Work::Run(work) => self.queue.add(index, self.shared.lane(work).as_deref()),
                Work::Skip(reason) => self.finish(index, Box::new(skipped(job, reason.clone()))),
                Work::Invalid(reasons) => {
                    let disruption =
                        Disruption::new(DisruptionKind::Invalid, Phase::Place, reasons.join("; "));
                    self.finish(index, Box::new(not_observed(job, disruption)));
                }
            }
        }
    }

    async fn work(&mut self, mut messages: mpsc::UnboundedReceiver<Message>) {
        let interrupt = self.shared.options.interrupt.clone();
        loop {
            self.start_what_fits();
            if self.tasks.is_empty() {
                break;
            }
            tokio::select! {
                Some(message) = messages.recv() => self.hear(message),
                Some(ended) = self.tasks.join_next_with_id() => {
                    // What the job said last comes before its outcome.
                    while let Ok(message) = messages.try_recv() {
                        self.hear(message);
                    }
                    self.task_ended(ended);
                }
                () = interrupt.cancelled(), if self.stopped != Some(Stop::Interrupted) => {
                    self.stop(Stop::Interrupted);
                }
            }
        }
    }

    fn start_what_fits(&mut self) {
        if self.stopped.is_none() && self.shared.options.interrupt.is_cancelled() {
            self.stop(Stop::Interrupted);
        }
        // Servers that will not close must not pile up beside the running ones.
        let most_tasks = self.jobs * 3 + 4;
        while self.in_slots.len() < self.jobs && self.tasks.len() < most_tasks {
            let Some(index) = self.queue.next() else {
                return;
            };
            self.in_slots.insert(index);
            (self.emit)(Event::JobStarted {
                job: index,
                case: Arc::clone(&self.plan.jobs[index].case),
            });
            let (plan, shared) = (Arc::clone(&self.plan), Arc::clone(&self.shared));
            let handle = self.tasks.spawn(async move {
                let outcome = Box::pin(job::carry_out(index, &plan.jobs[index], &shared)).await;
                (index, Box::new(outcome))
            });
            self.jobs_of_tasks.insert(handle.id(), index);
        }
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Progress(event) => (self.emit)(event),
            Message::SlotFree(index) => {
                self.in_slots.remove(&index);
            }
        }
    }

    fn task_ended(&mut self, ended: Result<(Id, (JobIndex, Box<Outcome>)), JoinError>) {
        let (index, outcome) = match ended {
            Ok((id, finished)) => {
                self.jobs_of_tasks.remove(&id);
                finished
            }
            Err(error) => {
                let Some(index) = self.jobs_of_tasks.remove(&error.id()) else {
                    return;
                };
                let message = format!("a defect of mcp-assert itself: {error}");
                let disruption = Disruption::new(DisruptionKind::Place, Phase::Subject, message);
                (
                    index,
                    Box::new(not_observed(&self.plan.jobs[index], disruption)),
                )
            }
        };
        self.in_slots.remove(&index);
        if let Work::Run(work) = &self.plan.jobs[index].work
            && let Some(lane) = self.shared.lane(work)
        {
            self.queue.release(&lane);
        }
        let red = outcome.status.is_red();
        self.finish(index, outcome);
        if red && self.stopped.is_none() && self.shared.options.after_failure == AfterFailure::Stop
        {
            self.stop(Stop::FailFast);
        }
    }

    /// Starts nothing more; what has not begun is skipped and says why.
    fn stop(&mut self, stop: Stop) {
        self.stopped = Some(stop);
        let reason = match stop {
            Stop::FailFast => "not run: an earlier assertion failed (--fail-fast)",
            Stop::Interrupted => {
                (self.emit)(Event::Interrupted);
                "not run: interrupted"
            }
        };
        for index in self.queue.drain() {
            let outcome = skipped(&self.plan.jobs[index], reason.to_owned());
            self.finish(index, Box::new(outcome));
        }
    }

    fn finish(&mut self, index: JobIndex, outcome: Box<Outcome>) {
        for (job, outcome) in self.ordered.add(index, outcome) {
            (self.emit)(Event::JobFinished { job, outcome });
        }
    }
}

fn skipped(job: &Job, reason: String) -> Outcome {
    let mut outcome = job::blank(job, Status::Skip);
    outcome.skip_reason = Some(reason);
    outcome
}

fn not_observed(job: &Job, disruption: Disruption) -> Outcome {
    let mut outcome = job::blank(job, Status::Error);
    outcome.disruption = Some(disruption);
    outcome
}
