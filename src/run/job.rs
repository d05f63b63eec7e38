//! One job from its first attempt to its outcome: attempts until one is not red, the end of the last one's server beside
//! the next job, and the outcome that every report is made of.

use std::{
    collections::HashMap,
    panic,
    pin::Pin,
    sync::{Arc, PoisonError},
    time::Duration,
};

use tokio::{
    sync::{Mutex, OwnedMutexGuard, mpsc::UnboundedSender},
    task::{self, JoinSet},
    time::sleep,
};

use super::{
    RunOptions,
    ahead::{self, Slot, Slots},
    attempt::{self, Attempted},
    catalogs::Catalogs,
    habits::Habits,
    judge::{Judgement, judge},
    live::{Live, StaysOpen},
    reuse::{self, Parked},
    revisions, shown,
};
use check::outcome::{
    EarlierAttempt, Outcome, Status,
    event::{Event, JobIndex},
};
use host::host::Host;
use mcp::observation::{
    Observation, Timings,
    disruption::{Disruption, DisruptionKind, Phase},
    process::StderrTail,
};
use suite::plan::{
    Plan,
    job::{Job, Lane, Planned, RunJob, Work},
};

/// What plans share that run at the same time.
#[derive(Clone)]
pub(super) struct Common {
    /// How many jobs do what at once.
    pub(super) slots: Arc<Slots>,
    /// The lanes that jobs of different plans must not enter together, where there are several plans.
    pub(super) lanes: Option<Arc<Lanes>>,
}

/// Lanes by name.
type Lanes = std::sync::Mutex<HashMap<String, Arc<Mutex<()>>>>;

impl Common {
    /// Of one plan.
    pub(super) fn of(options: &RunOptions) -> Self {
        let slots = Slots::new(options.jobs, options.interrupt.child_token());
        Self {
            slots: Arc::new(slots),
            lanes: None,
        }
    }

    /// Waits until no job of another plan is in the job's lane; the lane is left when the guard is dropped. Only for a job
    /// that has its slot: one that waits for a slot in the lane would keep out the one that has it.
    async fn alone(&self, planned: &Planned) -> Option<OwnedMutexGuard<()>> {
        let (lanes, lane) = (self.lanes.as_ref()?, planned.terms.lane.as_ref()?);
        let lane = {
            let mut lanes = lanes.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(lanes.entry(lane.to_string()).or_default())
        };
        Some(lane.lock_owned().await)
    }
}

/// What the jobs of a run share.
pub(super) struct Shared {
    pub(super) plan: Plan,
    pub(super) options: RunOptions,
    /// What it shares with another plan.
    pub(super) common: Common,
    /// What its servers are started with.
    pub(super) host: Host,
    pub(super) catalogs: Catalogs,
    pub(super) stays_open: StaysOpen,
    pub(super) habits: Arc<Habits>,
    /// Servers that wait for the next assertion of their lane.
    live: Mutex<HashMap<String, Parked>>,
    /// What stays on the machine because it could not be removed.
    left: std::sync::Mutex<Vec<String>>,
    /// What jobs tell while they run.
    events: UnboundedSender<Event>,
    /// Jobs whose lanes are free before they are over.
    lanes: UnboundedSender<JobIndex>,
}

impl Shared {
    pub(super) fn new(
        plan: Plan,
        options: RunOptions,
        common: Common,
        (events, lanes): (UnboundedSender<Event>, UnboundedSender<JobIndex>),
    ) -> Self {
        Self {
            plan,
            common,
            host: Host {
                environment: Arc::clone(&options.environment),
                fixture: options.fixture.clone(),
                containers: options.containers.clone(),
                interrupt: options.interrupt.clone(),
                http: std::sync::Mutex::default(),
            },
            options,
            catalogs: Catalogs::default(),
            stays_open: StaysOpen::default(),
            habits: Arc::default(),
            live: Mutex::default(),
            left: std::sync::Mutex::default(),
            events,
            lanes,
        }
    }

    /// The lane of a job: jobs that must not overlap.
    pub(super) fn lane(&self, planned: &Planned) -> Option<String> {
        let shared = || self.shares(planned).map(|key| format!("server {key}"));
        planned
            .terms
            .lane
            .as_ref()
            .map(Lane::to_string)
            .or_else(shared)
    }

    /// Lets the next job of the lane begin, where only the end of the session is left: another session at the same url
    /// does not meet it.
    fn free_lane(&self, index: JobIndex, planned: &Planned) {
        let is_free = match &planned.terms.lane {
            Some(Lane::Url(_)) => self.shares(planned).is_none(),
            Some(Lane::Serial(_)) | None => false,
        };
        if is_free {
            // The receiver is there until every job has ended.
            let _ = self.lanes.send(index);
        }
    }

    /// Ends every server that still waits.
    pub(super) async fn close(self: &Arc<Self>) {
        let waiting = std::mem::take(&mut *self.live.lock().await);
        let mut closing = JoinSet::new();
        for parked in waiting.into_values() {
            let shared = Arc::clone(self);
            closing.spawn(async move {
                if let Some(live) = parked.take().await {
                    live.close(&shared).await;
                }
            });
        }
        while closing.join_next().await.is_some() {}
    }

    /// Notes what could not be removed, if anything.
    pub(super) fn leave(&self, what: Option<String>) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.extend(what);
    }

    /// What could not be removed until now, in the order of words.
    pub(super) fn left(&self) -> Vec<String> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = std::mem::take(&mut *left);
        left.sort_unstable();
        left.dedup();
        left
    }

    /// A server of the job's lane that waits for its next assertion.
    pub(super) async fn take_live(&self, job: &RunJob) -> Option<Live> {
        let key = self.shares(&job.planned)?;
        let parked = self.live.lock().await.remove(&key);
        parked?.take().await
    }

    /// Keeps a server for the next assertion of its lane.
    pub(super) async fn keep_live(&self, key: String, live: Live) {
        self.live.lock().await.insert(key, Parked::new(live));
    }

    /// The key of the server a job shares in this run.
    pub(super) fn shares(&self, planned: &Planned) -> Option<String> {
        let key = reuse::key(planned).filter(|_| self.options.reuse_server)?;
        // A lane of its own wins, so that no two lanes ever share a server.
        Some(match &planned.terms.lane {
            Some(lane) => format!("{lane} {key}"),
            None => key.to_string(),
        })
    }

    /// That a job has its slot.
    pub(super) fn started(&self, job: JobIndex) -> Event {
        Event::JobStarted {
            job,
            case: Arc::clone(&self.plan.jobs[job].case),
        }
    }

    /// Sends an event to the caller of the run.
    pub(super) fn tell(&self, event: Event) {
        // The receiver is there until every job has ended.
        let _ = self.events.send(event);
    }
}

/// What a job tells while it runs.
#[derive(Clone, Copy)]
pub(super) struct Reporter<'a> {
    /// `None` while something is done for no job.
    pub(super) job: Option<JobIndex>,
    pub(super) shared: &'a Shared,
}

impl Reporter<'_> {
    /// The next phase begins.
    pub(super) fn phase(self, phase: Phase) {
        self.report(|job| Event::PhaseReached { job, phase });
    }

    /// Waits until the job may talk to its server, which counts as its start; `false` when the run has stopped.
    pub(super) async fn turn(self, slot: &mut Slot) -> bool {
        let was_awaited = slot.is_awaited();
        let turn = slot.turn().await;
        if was_awaited && turn {
            self.report(|job| self.shared.started(job));
        }
        turn
    }

    fn report(self, event: impl FnOnce(JobIndex) -> Event) {
        if let Some(job) = self.job.filter(|_| self.shared.options.tells_phases) {
            self.shared.tell(event(job));
        }
    }
}

/// Runs a job to its outcome; `None` for one that was called off before it had a slot.
pub(super) async fn carry_out(
    index: JobIndex,
    shared: &Shared,
    slot: &mut Slot,
) -> Option<Box<Outcome>> {
    let job = &shared.plan.jobs[index];
    let Work::Run(planned) = &job.work else {
        return Some(Box::new(blank(job, Status::Skip)));
    };
    let reporter = Reporter {
        job: Some(index),
        shared,
    };
    if !ahead::can_start(planned, shared) && !reporter.turn(slot).await {
        return None;
    }
    let _alone = shared.common.alone(planned).await;
    let work = &Arc::new(RunJob {
        planned: planned.clone(),
        body: Arc::clone(&planned.assertion.body),
    });
    let (mut number, mut earlier) = (1, Vec::new());
    loop {
        let last = number > work.planned.terms.retries;
        let attempted = attempt::attempt(work, shared, reporter, slot).await;
        // A failure ahead of the job's turn counts in its turn.
        if !reporter.turn(slot).await {
            Box::pin(attempted.call_off(shared)).await;
            return None;
        }
        let is_to_ask = attempted.is_to_ask(work, shared);
        // A server that ends may take a processor for a while: the next ones wait for that, and not beside it.
        let room = shared.common.slots.room_to_close().await;
        let closing = Box::pin(async {
            let closed = attempted.close(shared, work).await;
            drop(room);
            closed
        });
        // The slot is kept where this attempt may not be the last, where a red one stops the run, and by the first job that
        // wants a catalog.
        let seen = if last && !is_to_ask && !shared.options.fail_fast {
            shared.free_lane(index, &work.planned);
            let patience = ahead::before_the_next(&work.planned, shared.options.jobs);
            let seen = beside_the_next(closing, patience, slot).await;
            slot.give_back();
            seen
        } else {
            closing.await
        };
        let (seen, judgement) = match judged(work, seen, shared).await {
            Ok(judged) => judged,
            Err(disruption) => return Some(Box::new(not_observed(job, disruption))),
        };
        let mut outcome = outcome(job, work, seen, judgement, &shared.options);
        if !outcome.status.is_red() || last || shared.options.interrupt.is_cancelled() {
            outcome.earlier = earlier;
            return Some(Box::new(outcome));
        }
        earlier.push(earlier_attempt(outcome));
        number += 1;
        shared.tell(Event::Retrying {
            job: index,
            attempt: number,
        });
    }
}

/// Waits for an attempt to be closed; gives the slot back after a while.
async fn beside_the_next(
    mut closing: Pin<Box<impl Future<Output = Box<Attempted>>>>,
    patience: Option<Duration>,
    slot: &mut Slot,
) -> Box<Attempted> {
    tokio::select! {
        biased;
        seen = &mut closing => return seen,
        () = sleep(patience.unwrap_or_default()) => {}
    }
    slot.give_back();
    closing.await
}

/// How long a verdict that is being made is waited for when the run is interrupted.
const LAST_VERDICTS: Duration = Duration::from_secs(2);

/// How long a verdict may take to be made. A path or a schema of the suite can take for ever with an answer.
const LONGEST: Duration = Duration::from_secs(30);

/// Makes the verdict on a thread of its own, so that the answers of other servers are read meanwhile.
async fn judged(
    work: &Arc<RunJob>,
    seen: Box<Attempted>,
    shared: &Shared,
) -> Result<(Box<Attempted>, Judgement), Disruption> {
    let rules = shared.options.rules;
    if is_little(&seen.observation) {
        let judgement = judge(work, &seen.bindings, &seen.observation, rules);
        return Ok((seen, judgement));
    }
    let work = Arc::clone(work);
    let judging = task::spawn_blocking(move || {
        let judgement = judge(&work, &seen.bindings, &seen.observation, rules);
        (seen, judgement)
    });
    let interrupted = async {
        shared.options.interrupt.cancelled().await;
        sleep(LAST_VERDICTS).await;
    };
    tokio::select! {
        biased;
        judged = judging => judged.or_else(|broken| match broken.try_into_panic() {
            // The panic of a job is reported by its task.
            Ok(panic) => panic::resume_unwind(panic),
            Err(_) => Err(unjudged(DisruptionKind::Interrupted, "interrupted")),
        }),
        () = interrupted => Err(unjudged(DisruptionKind::Interrupted, "interrupted")),
        () = sleep(LONGEST) => Err(unjudged(DisruptionKind::Timeout, "30 s passed")),
    }
}

/// The most received bytes that are judged on the spot. Judging them takes microseconds.
const LITTLE_BYTES: usize = 8 * 1024;

/// Whether the observation is too small to keep a worker thread busy. A tenth of an assertion's processor time goes into
/// the change of threads that this saves.
fn is_little(seen: &Observation) -> bool {
    let received: usize = seen.wire.iter().map(|frame| frame.length).sum();
    received <= LITTLE_BYTES && seen.trace.is_none() && seen.files.paths.is_empty()
}

fn unjudged(kind: DisruptionKind, what: &str) -> Disruption {
    let message = format!("{what} while the expectations were checked");
    Disruption::new(kind, Phase::Subject, message)
}

/// An outcome of which nothing but the status is known.
pub(super) fn blank(job: &Job, status: Status) -> Outcome {
    Outcome {
        case: Arc::clone(&job.case),
        target: job.target.clone(),
        trial: job.trial,
        status,
        skip_reason: None,
        failures: Vec::new(),
        disruption: None,
        reached: Phase::Place,
        earlier: Vec::new(),
        duration: Duration::ZERO,
        timings: Timings::default(),
        findings: Vec::new(),
        notes: Vec::new(),
        call: None,
        server: None,
        revision: None,
        exit: None,
        container: None,
        stderr: StderrTail::default(),
        wire: Vec::new(),
        answer: None,
        shared_server: None,
        server_of: None,
    }
}

/// An outcome of a job whose server was not observed, for this reason.
pub(super) fn not_observed(job: &Job, disruption: Disruption) -> Outcome {
    let mut outcome = blank(job, Status::Error);
    outcome.disruption = Some(disruption);
    outcome
}

fn outcome(
    job: &Job,
    work: &RunJob,
    seen: Box<Attempted>,
    judgement: Judgement,
    options: &RunOptions,
) -> Outcome {
    let red = judgement.status.is_red();
    let failed = judgement.disruption.as_ref();
    let call = red
        .then(|| shown::call(work, &seen.observation, failed))
        .flatten();
    let observation = seen.observation;
    let answer = revisions::answered(work, &observation);
    let keep_wire = red || options.keeps_all_frames;
    Outcome {
        failures: judgement.failures,
        disruption: judgement.disruption,
        reached: observation.reached,
        duration: observation.timings.total,
        timings: observation.timings,
        findings: judgement.findings,
        notes: work
            .body
            .warnings
            .iter()
            .map(|warning| warning.message.clone())
            .chain(seen.notes)
            .collect(),
        call,
        answer,
        server: observation
            .session
            .as_ref()
            .and_then(|facts| facts.server())
            .or(seen.command_line),
        revision: observation
            .session
            .as_ref()
            .map(|session| session.revision.name().to_owned()),
        exit: observation.exit,
        container: observation.container,
        stderr: if red {
            observation.stderr
        } else {
            StderrTail::default()
        },
        wire: if keep_wire {
            observation.wire
        } else {
            Vec::new()
        },
        server_of: seen.shared_server.first.clone(),
        shared_server: seen.shared_server.listed(""),
        ..blank(job, judgement.status)
    }
}

fn earlier_attempt(outcome: Outcome) -> EarlierAttempt {
    EarlierAttempt {
        status: outcome.status,
        detail: outcome.detail(),
        failures: outcome.failures,
        duration: outcome.duration,
        stderr: outcome.stderr,
        container: outcome.container,
    }
}
