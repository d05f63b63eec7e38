//! Runs the jobs of a plan: so many at once, lanes one at a time, containers started ahead and closing beside the next
//! job, outcomes in plan order. Every job gets an outcome, whatever becomes of its task.

use std::{collections::HashMap, sync::Arc};

use tokio::{
    sync::mpsc,
    task::{Id, JoinError, JoinSet},
};

use super::{
    AfterFailure, CatalogsWanted, RunEnd, RunOptions,
    ahead::{self, Slot},
    job::{self, Shared},
    ordered::Ordered,
    queue::Queue,
    slots::{Promoted, Room, Seen, Slots},
    surface,
};
use crate::{
    isolate::sweep,
    observation::disruption::{Disruption, DisruptionKind, Phase},
    outcome::{
        NOT_RUN, Outcome, Status,
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
    /// The subject was observed; only closing is left, which happens beside the next job. Not told where a red job is to
    /// be the last one: there a slot is held until the outcome is known.
    SlotFree(JobIndex),
    /// All that can be done without a slot is done, for a job that was started ahead.
    Ready(JobIndex),
    /// An image was made ready: jobs that need it can be started ahead.
    ImageThere,
}

/// Runs a plan. Events come in the order things happen, outcomes in plan order.
pub(crate) async fn run(plan: Plan, options: RunOptions, emit: impl FnMut(Event)) -> RunEnd {
    let (sender, receiver) = mpsc::unbounded_channel();
    let slots = Slots::new(options.jobs);
    let jobs = slots.jobs();
    let total = plan.jobs.len();
    let mut scheduler = Scheduler {
        plan: Arc::new(plan),
        shared: Arc::new(Shared::new(options, sender)),
        queue: Queue::default(),
        ordered: Ordered::default(),
        tasks: JoinSet::new(),
        jobs_of_tasks: HashMap::new(),
        slots,
        stopped: None,
        emit,
    };
    (scheduler.emit)(Event::RunStarted { total, jobs });
    scheduler.enqueue();
    scheduler.work(receiver).await;
    scheduler.shared.close().await;
    if scheduler.shared.options.catalogs == CatalogsWanted::OfEveryTarget {
        let known = surface::collect(&scheduler.plan, &scheduler.shared).await;
        for (target, catalog) in known {
            (scheduler.emit)(Event::CatalogKnown {
                target: target.server.name.clone(),
                catalog,
                used_by: target.server.users(),
            });
        }
    }
    for (target, why) in surface::missing(&scheduler.plan, &scheduler.shared).await {
        (scheduler.emit)(Event::CatalogMissing { target, why });
    }
    for what in scheduler.left_behind().await {
        (scheduler.emit)(Event::LeftBehind { what });
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

impl Stop {
    /// Why a job has no verdict.
    fn reason(self) -> &'static str {
        match self {
            Self::FailFast => "not run: an earlier assertion failed (--fail-fast)",
            Self::Interrupted => NOT_RUN,
        }
    }
}

/// That processes were found which nothing ties to an assertion.
fn hidden(processes: usize) -> String {
    let (what, had) = match processes {
        1 => ("1 process".to_owned(), "it"),
        more => (format!("{more} processes"), "they"),
    };
    format!(
        "{what} outlived the servers and had to be ended when all assertions were over: {had} had left the server's \
         group and environment, so that nothing tells whose {had} {}",
        if processes == 1 { "was" } else { "were" }
    )
}

/// A job that is over; without an outcome it was called off.
type Finished = (JobIndex, Option<Box<Outcome>>);

struct Scheduler<F> {
    plan: Arc<Plan>,
    shared: Arc<Shared>,
    queue: Queue,
    ordered: Ordered,
    tasks: JoinSet<Finished>,
    jobs_of_tasks: HashMap<Id, JobIndex>,
    slots: Slots,
    stopped: Option<Stop>,
    emit: F,
}

impl<F: FnMut(Event)> Scheduler<F> {
    /// What servers left behind. Whoever interrupts a run does not wait until that is looked for.
    async fn left_behind(&self) -> Vec<String> {
        let left = self.shared.left();
        if self.stopped == Some(Stop::Interrupted) {
            return left;
        }
        // What could not be removed may be by now: those who wrote there have ended.
        let rest = sweep::after_run().await;
        let hidden = (rest.processes > 0).then(|| hidden(rest.processes));
        rest.left.into_iter().chain(hidden).collect()
    }

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
                    self.finish(index, Box::new(job::not_observed(job, disruption)));
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
        while let Some(Promoted { job, phase }) = self.slots.promote() {
            self.tell_started(job);
            if let Some(phase) = phase {
                (self.emit)(Event::PhaseReached { job, phase });
            }
        }
        // Servers that will not close must not pile up beside the running ones.
        let most_tasks = self.slots.jobs() * 3 + 4;
        while self.tasks.len() - self.slots.waiting() < most_tasks {
            let Some(index) = self.queue.first() else {
                return;
            };
            let slot = match self.slots.room() {
                Room::Slot => {
                    self.slots.hold(index);
                    self.tell_started(index);
                    Slot::Held
                }
                Room::Ahead if self.can_start_ahead(index) => Slot::Awaited(self.slots.wait(index)),
                Room::Ahead | Room::None => return,
            };
            self.queue.next();
            self.begin(index, slot);
        }
    }

    fn can_start_ahead(&self, index: JobIndex) -> bool {
        match &self.plan.jobs[index].work {
            Work::Run(work) => ahead::can_start(work, &self.shared),
            Work::Skip(_) | Work::Invalid(_) => false,
        }
    }

    fn tell_started(&mut self, index: JobIndex) {
        (self.emit)(Event::JobStarted {
            job: index,
            case: Arc::clone(&self.plan.jobs[index].case),
        });
    }

    fn begin(&mut self, index: JobIndex, slot: Slot) {
        let (plan, shared) = (Arc::clone(&self.plan), Arc::clone(&self.shared));
        let handle = self.tasks.spawn(async move {
            let job = &plan.jobs[index];
            let outcome = Box::pin(job::carry_out(index, job, &shared, slot)).await;
            (index, outcome.map(Box::new))
        });
        self.jobs_of_tasks.insert(handle.id(), index);
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Progress(event) => {
                if let Event::PhaseReached { job, phase } = event
                    && self.slots.reached(job, phase) == Seen::NotYet
                {
                    return;
                }
                (self.emit)(event);
            }
            Message::SlotFree(index) => self.slots.leave(index),
            Message::Ready(index) => self.slots.ready(index),
            // Whoever hears this looks again what can be started.
            Message::ImageThere => {}
        }
    }

    fn task_ended(&mut self, ended: Result<(Id, Finished), JoinError>) {
        let (index, outcome) = match ended {
            Ok((id, (index, outcome))) => {
                self.jobs_of_tasks.remove(&id);
                let outcome = outcome.unwrap_or_else(|| self.called_off(index));
                (index, outcome)
            }
            Err(error) => {
                let Some(index) = self.jobs_of_tasks.remove(&error.id()) else {
                    return;
                };
                let message = format!("a defect of mcp-assert itself: {error}");
                let disruption = Disruption::new(DisruptionKind::Place, Phase::Subject, message);
                (
                    index,
                    Box::new(job::not_observed(&self.plan.jobs[index], disruption)),
                )
            }
        };
        self.slots.leave(index);
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
        if stop == Stop::Interrupted {
            (self.emit)(Event::Interrupted);
        }
        self.slots.call_off();
        for index in self.queue.drain() {
            let outcome = skipped(&self.plan.jobs[index], stop.reason().to_owned());
            self.finish(index, Box::new(outcome));
        }
    }

    /// The outcome of a job that was called off before it had a slot.
    fn called_off(&self, index: JobIndex) -> Box<Outcome> {
        let reason = self.stopped.map_or("not run", Stop::reason);
        Box::new(skipped(&self.plan.jobs[index], reason.to_owned()))
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
