//! Runs the jobs of a plan: so many at once, lanes one at a time, containers started ahead and closing beside the next
//! job, outcomes in plan order. Every job gets an outcome, whatever becomes of its task. Whoever frees a slot starts the
//! next job itself, on its own thread: nobody else must be woken for that.

use std::{
    any::Any,
    collections::HashMap,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread::{self, ThreadId},
    time::Duration,
};

use futures_util::FutureExt;
use tokio::{
    runtime::Handle,
    sync::Notify,
    task::AbortHandle,
    time::{MissedTickBehavior, interval},
};

use super::{
    AfterFailure, CatalogsWanted, RunEnd, RunOptions,
    ahead::{self, Slot},
    desks::{Desk, Desks},
    job::{self, Shared},
    ordered::Ordered,
    queue::Queue,
    slots::{Promoted, Room, Seen, Slots},
    surface,
};
use crate::{
    isolate::sweep,
    observation::{
        catalog::SurfaceSeen,
        disruption::{Disruption, DisruptionKind, Phase},
    },
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
pub(crate) async fn run(plan: Plan, options: RunOptions, mut emit: impl FnMut(Event)) -> RunEnd {
    let (slots, total) = (Slots::new(options.jobs), plan.jobs.len());
    emit(Event::RunStarted {
        total,
        jobs: slots.jobs(),
    });
    let plan = Arc::new(plan);
    let beside = options.beside.clone();
    let scheduler = Scheduler {
        plan: Arc::clone(&plan),
        queue: Queue::default(),
        ordered: Ordered::default(),
        tasks: HashMap::new(),
        desks: Desks::new(Handle::current(), beside),
        slots,
        stopped: None,
        listener: thread::current().id(),
        heard: Vec::new(),
        is_over: false,
    };
    let board = Board {
        scheduler: Mutex::new(scheduler),
        news: Notify::new(),
    };
    let shared = Shared::new(options, board);
    listen(&shared, &mut emit).await;
    shared.close().await;
    tell_catalogs(&plan, &shared, &mut emit).await;
    let stopped = shared.board.lock().stopped;
    for what in left_behind(&shared, stopped).await {
        emit(Event::LeftBehind { what });
    }
    emit(Event::RunFinished);
    match stopped {
        Some(Stop::Interrupted) => RunEnd::Interrupted,
        Some(Stop::FailFast) | None => RunEnd::Completed,
    }
}

/// Starts what fits and gives on what is heard of the jobs until all are over. A panic of whoever schedules goes on here.
async fn listen(shared: &Arc<Shared>, emit: &mut impl FnMut(Event)) {
    let _all_end = AllEnd(shared);
    let board = &shared.board;
    board.change(|scheduler| scheduler.begin_run(shared));
    let interrupt = &shared.options.interrupt;
    let mut is_interrupted = false;
    let mut looks = interval(LATEST);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let (heard, is_over) = board.heard();
        for heard in heard {
            match heard {
                Heard::Event(event) => emit(event),
                Heard::Panic(panic) => panic::resume_unwind(panic),
            }
        }
        if is_over {
            return;
        }
        tokio::select! {
            () = board.news.notified() => {}
            _ = looks.tick() => {}
            () = interrupt.cancelled(), if !is_interrupted => {
                is_interrupted = true;
                board.change(|scheduler| scheduler.start_what_fits(shared));
            }
        }
    }
}

/// What servers offer, where a comparison asks for it, and for whom that is not known.
async fn tell_catalogs(plan: &Arc<Plan>, shared: &Arc<Shared>, emit: &mut impl FnMut(Event)) {
    if shared.options.catalogs == CatalogsWanted::OfEveryTarget {
        let known = surface::collect(plan, shared).await;
        for (target, catalog) in known {
            emit(Event::CatalogKnown(SurfaceSeen {
                target: target.server.name.clone(),
                place: target.place,
                capabilities: Vec::new(),
                catalog,
                used_by: target.server.users(),
            }));
        }
    }
    for (target, why) in surface::missing(plan, shared).await {
        emit(Event::CatalogMissing { target, why });
    }
}

/// Ends all tasks and starts nothing more when whoever listens is gone.
struct AllEnd<'a>(&'a Shared);

impl Drop for AllEnd<'_> {
    fn drop(&mut self) {
        let mut scheduler = self.0.board.lock();
        scheduler.queue.drain();
        for task in scheduler.tasks.values() {
            task.handle.abort();
        }
    }
}

/// What servers left behind. Whoever interrupts a run does not wait until that is looked for.
async fn left_behind(shared: &Shared, stopped: Option<Stop>) -> Vec<String> {
    let left = shared.left();
    if stopped == Some(Stop::Interrupted) {
        return left;
    }
    // What could not be removed may be by now: those who wrote there have ended.
    let rest = sweep::after_run().await;
    let hidden = (rest.processes > 0).then(|| hidden(rest.processes));
    rest.left.into_iter().chain(hidden).collect()
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

/// How long somebody who watches may not hear what happened.
const LATEST: Duration = Duration::from_millis(50);

/// How much may happen until another thread is woken for it.
const ENOUGH: usize = 16;

/// What whoever listens to a run is told.
#[derive(Debug)]
enum Heard {
    Event(Event),
    /// The scheduling itself has broken off.
    Panic(Box<dyn Any + Send>),
}

/// What became of a job's task: an outcome, or none where it was called off; or the panic in which it ended.
type Ended = Result<Option<Box<Outcome>>, Box<dyn Any + Send>>;

/// The scheduler of a run, for all of its threads.
#[derive(Debug)]
pub(super) struct Board {
    scheduler: Mutex<Scheduler>,
    /// Something was heard that whoever listens should know now.
    news: Notify,
}

impl Board {
    /// What a job tells while it runs.
    pub(super) fn tell(&self, message: Message, shared: &Arc<Shared>) {
        self.change(|scheduler| {
            scheduler.hear(message);
            scheduler.start_what_fits(shared);
        });
    }

    /// Does something, and wakes whoever listens if that is worth it.
    fn change(&self, how: impl FnOnce(&mut Scheduler)) {
        let mut scheduler = self.lock();
        how(&mut scheduler);
        let is_news = scheduler.is_news();
        drop(scheduler);
        if is_news {
            self.news.notify_one();
        }
    }

    /// What was heard since the last time, and whether that is all.
    fn heard(&self) -> (Vec<Heard>, bool) {
        let mut scheduler = self.lock();
        (std::mem::take(&mut scheduler.heard), scheduler.is_over)
    }

    fn lock(&self) -> MutexGuard<'_, Scheduler> {
        self.scheduler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A job's task is over.
    fn ended(&self, index: JobIndex, ended: Ended, shared: &Arc<Shared>) {
        let told = panic::catch_unwind(AssertUnwindSafe(|| {
            self.change(|scheduler| {
                scheduler.task_ended(index, ended, shared);
                scheduler.start_what_fits(shared);
            });
        }));
        if let Err(panic) = told {
            self.lock().heard.push(Heard::Panic(panic));
            self.news.notify_one();
        }
    }
}

/// A job that was begun and is not over.
#[derive(Debug)]
struct Task {
    handle: AbortHandle,
    /// Where it holds a slot, or waits for one.
    desk: Option<Desk>,
}

#[derive(Debug)]
struct Scheduler {
    plan: Arc<Plan>,
    queue: Queue,
    ordered: Ordered,
    tasks: HashMap<JobIndex, Task>,
    desks: Desks,
    slots: Slots,
    stopped: Option<Stop>,
    /// The thread of whoever listens.
    listener: ThreadId,
    /// What is to be told, in its order.
    heard: Vec<Heard>,
    /// Nothing more will be heard.
    is_over: bool,
}

impl Scheduler {
    fn emit(&mut self, event: Event) {
        self.heard.push(Heard::Event(event));
    }

    /// Whether there is something to tell now. To wake another thread takes it longer than most of what it is told, so
    /// that some is gathered for it.
    fn is_news(&self) -> bool {
        let enough = if thread::current().id() == self.listener {
            1
        } else {
            ENOUGH
        };
        self.is_over || self.heard.len() >= enough
    }

    /// Puts every job that runs into the queue, and starts the first; the others have their outcome at once.
    fn begin_run(&mut self, shared: &Arc<Shared>) {
        let plan = Arc::clone(&self.plan);
        for (index, job) in plan.jobs.iter().enumerate() {
            match &job.work {
                Work::Run(work) => self.queue.add(index, shared.lane(work).as_deref()),
                Work::Skip(reason) => self.finish(index, Box::new(skipped(job, reason.clone()))),
                Work::Invalid(reasons) => {
                    let disruption =
                        Disruption::new(DisruptionKind::Invalid, Phase::Place, reasons.join("; "));
                    self.finish(index, Box::new(job::not_observed(job, disruption)));
                }
            }
        }
        self.start_what_fits(shared);
    }

    /// Starts what there is room for; where nothing runs then, all is over.
    fn start_what_fits(&mut self, shared: &Arc<Shared>) {
        if self.stopped != Some(Stop::Interrupted) && shared.options.interrupt.is_cancelled() {
            self.stop(Stop::Interrupted);
        }
        while let Some(Promoted { job, phase }) = self.slots.promote() {
            self.tell_started(job);
            if let Some(phase) = phase {
                self.emit(Event::PhaseReached { job, phase });
            }
        }
        while let Some((index, slot)) = self.next_that_fits(shared) {
            self.queue.next();
            self.begin(index, slot, shared);
        }
        self.is_over = self.tasks.is_empty();
    }

    /// The next job, if there is room for it.
    fn next_that_fits(&mut self, shared: &Shared) -> Option<(JobIndex, Slot)> {
        // Servers that will not close must not pile up beside the running ones.
        let most_tasks = self.slots.jobs() * 3 + 4;
        if self.tasks.len() - self.slots.waiting() >= most_tasks {
            return None;
        }
        let index = self.queue.first()?;
        match self.slots.room() {
            Room::Slot => {
                self.slots.hold(index);
                self.tell_started(index);
                Some((index, Slot::Held))
            }
            Room::Ahead if self.can_start_ahead(index, shared) => {
                Some((index, Slot::Awaited(self.slots.wait(index))))
            }
            Room::Ahead | Room::None => None,
        }
    }

    fn can_start_ahead(&self, index: JobIndex, shared: &Shared) -> bool {
        match &self.plan.jobs[index].work {
            Work::Run(work) => ahead::can_start(work, shared),
            Work::Skip(_) | Work::Invalid(_) => false,
        }
    }

    fn tell_started(&mut self, index: JobIndex) {
        self.emit(Event::JobStarted {
            job: index,
            case: Arc::clone(&self.plan.jobs[index].case),
        });
    }

    fn begin(&mut self, index: JobIndex, slot: Slot, shared: &Arc<Shared>) {
        let (plan, shared) = (Arc::clone(&self.plan), Arc::clone(shared));
        let (desk, thread) = self.desks.take();
        let task = thread.spawn(async move {
            let job = &plan.jobs[index];
            let carrying = Box::pin(job::carry_out(index, job, &shared, slot));
            let ended = AssertUnwindSafe(carrying).catch_unwind().await;
            shared.board.ended(index, ended, &shared);
        });
        let task = Task {
            handle: task.abort_handle(),
            desk: Some(desk),
        };
        self.tasks.insert(index, task);
    }

    fn hear(&mut self, message: Message) {
        match message {
            Message::Progress(event) => {
                if let Event::PhaseReached { job, phase } = event
                    && self.slots.reached(job, phase) == Seen::NotYet
                {
                    return;
                }
                self.emit(event);
            }
            Message::SlotFree(index) => self.leave(index),
            Message::Ready(index) => self.slots.ready(index),
            // Whoever tells this looks again what can be started.
            Message::ImageThere => {}
        }
    }

    /// A job needs its slot no longer, or is over.
    fn leave(&mut self, index: JobIndex) {
        self.slots.leave(index);
        if let Some(desk) = self.tasks.get_mut(&index).and_then(|task| task.desk.take()) {
            self.desks.give_back(desk);
        }
    }

    fn task_ended(&mut self, index: JobIndex, ended: Ended, shared: &Arc<Shared>) {
        let outcome = match ended {
            Ok(outcome) => outcome.unwrap_or_else(|| self.called_off(index)),
            Err(panic) => {
                let message = format!("a defect of mcp-assert itself: {}", said(panic.as_ref()));
                let disruption = Disruption::new(DisruptionKind::Place, Phase::Subject, message);
                Box::new(job::not_observed(&self.plan.jobs[index], disruption))
            }
        };
        self.leave(index);
        self.tasks.remove(&index);
        if let Work::Run(work) = &self.plan.jobs[index].work
            && let Some(lane) = shared.lane(work)
        {
            self.queue.release(&lane);
        }
        let red = outcome.status.is_red();
        self.finish(index, outcome);
        if red && self.stopped.is_none() && shared.options.after_failure == AfterFailure::Stop {
            self.stop(Stop::FailFast);
        }
    }

    /// Starts nothing more; what has not begun is skipped and says why.
    fn stop(&mut self, stop: Stop) {
        self.stopped = Some(stop);
        if stop == Stop::Interrupted {
            self.emit(Event::Interrupted);
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
            self.emit(Event::JobFinished { job, outcome });
        }
    }
}

/// What a panic said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("a panic without words")
}

fn skipped(job: &Job, reason: String) -> Outcome {
    let mut outcome = job::blank(job, Status::Skip);
    outcome.skip_reason = Some(reason);
    outcome
}
