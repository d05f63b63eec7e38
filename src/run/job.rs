//! One job from its first attempt to its outcome: attempts until one is not red, closing beside the next job
//! where no further attempt depends on it, and the outcome that every report is made of.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, PoisonError, Weak},
    time::Duration,
};

use tokio::{
    sync::Mutex,
    task::JoinSet,
    time::{Instant, timeout},
};

use super::{
    AfterFailure, Narration, RunOptions, Servers, WireKept,
    ahead::{self, Slot, Turn},
    attempt::{self, Attempted},
    catalogs::Catalogs,
    judge::Judgement,
    judging::judged,
    live::{Live, StaysOpen},
    parked::Parked,
    reuse,
    scheduler::{Board, Message},
    shown,
};
use crate::{
    isolate::{pace::Until, process::Inherited},
    observation::disruption::{Disruption, DisruptionKind, Phase},
    outcome::{
        EarlierAttempt, Outcome, Status,
        event::{Event, JobIndex},
    },
    plan::job::{Job, Planned, RunJob, Work},
};

/// What the jobs of a run share.
pub(super) struct Shared {
    pub(super) options: RunOptions,
    /// The environment, as servers take it over.
    pub(super) inherited: Arc<Inherited>,
    pub(super) catalogs: Catalogs,
    pub(super) stays_open: StaysOpen,
    /// Servers that wait for the next assertion of their lane.
    pub(super) live: Mutex<HashMap<String, Parked>>,
    /// What stays on the machine because it could not be removed.
    left: std::sync::Mutex<Vec<String>>,
    /// Who is told what jobs do, and starts others.
    pub(super) board: Board,
    /// For the jobs that are started.
    own: Weak<Self>,
}

impl Shared {
    pub(super) fn new(options: RunOptions, board: Board) -> Arc<Self> {
        Arc::new_cyclic(|own| Self {
            inherited: Arc::new(Inherited::new(&options.environment)),
            options,
            catalogs: Catalogs::default(),
            stays_open: StaysOpen::default(),
            live: Mutex::default(),
            left: std::sync::Mutex::default(),
            board,
            own: Weak::clone(own),
        })
    }

    /// The lane of a job: jobs that must not overlap.
    pub(super) fn lane(&self, planned: &Planned) -> Option<String> {
        let shared = || self.shares(planned).map(|key| format!("server {key}"));
        planned.terms.lane.clone().or_else(shared)
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

    /// How long files may be worked on for an assertion that has time until then.
    pub(super) fn until(&self, planned: &Planned, deadline: Instant) -> Until {
        Until {
            deadline: deadline.into_std(),
            timeout: planned.terms.timeout,
            interrupt: self.options.interrupt.clone(),
        }
    }

    /// Notes what could not be removed.
    pub(super) fn leave(&self, what: String) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.push(what);
    }

    /// What could not be removed until now, in the order of words.
    pub(super) fn left(&self) -> Vec<String> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let mut left = std::mem::take(&mut *left);
        left.sort_unstable();
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
        match self.options.servers {
            // A lane of its own wins, so that no two lanes ever share a server.
            Servers::Reused => reuse::key(planned).map(|key| match &planned.terms.lane {
                Some(lane) => format!("{lane} {key}"),
                None => key.to_string(),
            }),
            Servers::Fresh => None,
        }
    }

    pub(super) fn tell(&self, message: Message) {
        // Who tells something has it from someone.
        if let Some(own) = self.own.upgrade() {
            self.board.tell(message, &own);
        }
    }
}

/// What a job tells while it runs.
#[derive(Clone, Copy)]
pub(super) struct Teller<'a> {
    /// `None` while something is done that is no job's.
    pub(super) job: Option<JobIndex>,
    pub(super) shared: &'a Shared,
}

impl Teller<'_> {
    /// The next phase begins.
    pub(super) fn phase(self, phase: Phase) {
        if let (Narration::Phases, Some(job)) = (self.shared.options.narration, self.job) {
            let reached = Event::PhaseReached { job, phase };
            self.shared.tell(Message::Progress(reached));
        }
    }

    /// The job needs its slot no longer.
    fn slot_free(self) {
        if let Some(job) = self.job {
            self.shared.tell(Message::SlotFree(job));
        }
    }

    /// Waits until the job may talk to its server; there is nothing left to do before.
    pub(super) async fn turn(self, slot: &mut Slot) -> Turn {
        if let (true, Some(job)) = (slot.is_awaited(), self.job) {
            self.shared.tell(Message::Ready(job));
        }
        slot.turn().await
    }
}

/// Runs a job to its outcome; `None` for one that was called off before it had a slot.
pub(super) async fn carry_out(
    index: JobIndex,
    job: &Job,
    shared: &Shared,
    mut slot: Slot,
) -> Option<Box<Outcome>> {
    let Work::Run(planned) = &job.work else {
        return Some(Box::new(blank(job, Status::Skip)));
    };
    let Some(body) = planned.assertion.body() else {
        let defect = "a defect of mcp-assert itself: the document cannot be read a second time";
        let disruption = Disruption::new(DisruptionKind::Place, Phase::Place, defect);
        return Some(Box::new(not_observed(job, disruption)));
    };
    let work = &Arc::new(RunJob {
        planned: planned.clone(),
        body,
    });
    let teller = Teller {
        job: Some(index),
        shared,
    };
    let mut earlier = Vec::new();
    loop {
        let attempt_number = u32::try_from(earlier.len())
            .unwrap_or(u32::MAX)
            .saturating_add(1);
        let last = attempt_number > work.planned.terms.retries;
        let attempted = attempt::attempt(work, shared, teller, &mut slot).await;
        // What went wrong ahead of its turn is told in its turn.
        match teller.turn(&mut slot).await {
            Turn::Ours => {}
            Turn::CalledOff => {
                Box::pin(attempted.call_off(shared)).await;
                return None;
            }
        }
        let is_to_ask = attempted.is_to_ask(work, shared);
        let mut closing = Box::pin(attempted.close(shared, work));
        let seen = match shared.options.after_failure {
            // A catalog is asked for in the slot of the first job that wants it.
            AfterFailure::GoOn if last && !is_to_ask => {
                let patience = ahead::before_the_next(&work.planned, shared.options.jobs);
                beside_the_next(closing.as_mut(), patience, teller).await
            }
            // Whoever got the slot now would talk before it is known whether this one is red.
            AfterFailure::GoOn | AfterFailure::Stop => closing.await,
        };
        let Some((seen, judgement)) = judged(work, seen, shared).await else {
            let interrupted = Disruption::new(
                DisruptionKind::Interrupted,
                Phase::Subject,
                "interrupted while what it answered was looked at",
            );
            return Some(Box::new(not_observed(job, interrupted)));
        };
        if !judgement.status.is_red() || last || shared.options.interrupt.is_cancelled() {
            let kept = shared.options.wire;
            let ending = Ending { earlier, kept };
            return Some(Box::new(outcome(job, work, seen, judgement, ending)));
        }
        earlier.push(earlier_attempt(job, work, seen, judgement));
        shared.tell(Message::Progress(Event::Retrying {
            job: index,
            attempt: attempt_number + 1,
        }));
    }
}

/// Closes while the next job has the slot already, but for the time that it is to wait for the end.
async fn beside_the_next(
    mut closing: Pin<&mut impl Future<Output = Box<Attempted>>>,
    patience: Option<Duration>,
    teller: Teller<'_>,
) -> Box<Attempted> {
    if let Some(patience) = patience
        && let Ok(seen) = timeout(patience, &mut closing).await
    {
        return seen;
    }
    teller.slot_free();
    closing.await
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
        timings: crate::observation::Timings::default(),
        findings: Vec::new(),
        notes: Vec::new(),
        call: None,
        server: None,
        revision: None,
        exit: None,
        container: None,
        stderr: crate::observation::process::StderrTail::default(),
        wire: Vec::new(),
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

/// What the outcome needs besides the last attempt.
struct Ending {
    earlier: Vec<EarlierAttempt>,
    kept: WireKept,
}

fn outcome(
    job: &Job,
    work: &RunJob,
    seen: Box<Attempted>,
    judgement: Judgement,
    ending: Ending,
) -> Outcome {
    let red = judgement.status.is_red();
    let failed = judgement.disruption.as_ref();
    let call = red
        .then(|| shown::call(work, &seen.observation, failed))
        .flatten();
    let observation = seen.observation;
    let keep_wire = red || ending.kept == WireKept::OfAll;
    Outcome {
        failures: judgement.failures,
        disruption: judgement.disruption,
        reached: observation.reached,
        earlier: ending.earlier,
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
            crate::observation::process::StderrTail::default()
        },
        wire: if keep_wire {
            observation.wire
        } else {
            Vec::new()
        },
        server_of: seen.shared_server.first().cloned(),
        shared_server: seen.shared_server.listed(""),
        ..blank(job, judgement.status)
    }
}

fn earlier_attempt(
    job: &Job,
    work: &RunJob,
    seen: Box<Attempted>,
    judgement: Judgement,
) -> EarlierAttempt {
    let stderr = seen.observation.stderr.clone();
    let duration = seen.observation.timings.total;
    let ending = Ending {
        earlier: Vec::new(),
        kept: WireKept::OfRed,
    };
    let outcome = outcome(job, work, seen, judgement, ending);
    EarlierAttempt {
        status: outcome.status,
        detail: outcome.detail(),
        failures: outcome.failures,
        duration,
        stderr,
        container: outcome.container,
    }
}
