//! Asks each target once per run what it lists. Cheapest is the session of an assertion that nothing later can disturb:
//! it is asked while it is being closed, beside the next job and after the assertion's time has been taken. Where what
//! comes later may be judged, or cannot be told from what we caused, a session of its own asks.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, timeout};

use super::{
    CatalogsWanted, Strictness,
    ahead::Slot,
    attempt::{self, Attempted},
    catalogs::{Claim, Fetched},
    job::{Shared, Teller},
    live::Live,
    place::about_files,
};
use crate::{
    observation::Observation,
    plan::{
        job::{Planned, RunJob, Terms},
        target_key::TargetKey,
    },
    script::subject::Subject,
    session::{Asked, Remainder, SecondLook, Surveyed},
    suite::model::Body,
};

/// How long a server may take to list what it has, at most.
const LISTING: Duration = Duration::from_secs(3);

/// How long a session of its own may take up to its subject, at most.
const GREETING: Duration = Duration::from_secs(15);

/// How long a server that is not asked itself may take to end unasked: the question would have shown that.
const LAST_MOMENT: Duration = Duration::from_millis(250);

/// How long a server whose end is judged is answered before it is told to end.
const LAST_ANSWERS: Duration = Duration::from_millis(100);

/// Asks in the session of an assertion that is over, if nobody has asked that target and the assertion cannot notice.
pub(super) async fn in_session_of(
    live: &mut Live,
    job: &RunJob,
    shared: &Shared,
    seen: &mut Observation,
) -> Asked {
    if !live.session.is_usable() || live.process.status().is_some() || would_show(job, shared, seen)
    {
        return Asked::Not;
    }
    let Some(key) = job.planned.terms.target_key else {
        return Asked::Not;
    };
    let Some(claim) = shared.catalogs.claim(key).await else {
        return Asked::Not;
    };
    // What it writes from now on may be about the question.
    seen.stderr = live.process.stderr();
    let Some(surveyed) = Box::pin(ask(live, &job.planned, shared)).await else {
        // The run was interrupted: nothing that follows is judged.
        return Asked::Unanswered;
    };
    if live.session.is_usable() {
        let late = "while the server was asked for what it lists, after the assertion";
        let remainder = claim.deliver(surveyed);
        remainder.heard_during(late).add_to(seen);
        return Asked::Answered;
    }
    if !live.session.is_closed() {
        claim.deliver(surveyed);
        return Asked::Unanswered;
    }
    // It ended. Of the question, or by itself in the same moment? One that is only asked knows.
    match Box::pin(elsewhere(&job.planned, shared)).await {
        Ok(other) if other.missing.is_none() => {
            claim.deliver(other);
            Asked::Not
        }
        Ok(_) | Err(_) => {
            claim.deliver(surveyed);
            Asked::Unanswered
        }
    }
}

/// Asks in a session of its own, if nobody has asked that target.
pub(super) async fn in_own_session(planned: &Planned, shared: &Shared) {
    let Some(key) = planned.terms.target_key else {
        return;
    };
    if shared.options.interrupt.is_cancelled() {
        return;
    }
    let Some(claim) = shared.catalogs.claim(key).await else {
        return;
    };
    match elsewhere(planned, shared).await {
        Ok(surveyed) => {
            claim.deliver(surveyed);
        }
        Err(why) => claim.settle(Fetched {
            catalog: None,
            missing: why.map(Arc::from),
        }),
    }
}

/// Where it is judged how the server ends, answers for a moment what it may still ask: many ask for the roots a few
/// milliseconds after the handshake, and cannot end before they are answered.
pub(super) async fn attend(live: &mut Live, job: &RunJob, shared: &Shared, seen: &Observation) {
    if seen.disruption.is_none() && job.body.wants_anywhere(&["exit"]) {
        tokio::select! {
            () = live.session.attend(LAST_ANSWERS) => {}
            () = shared.options.interrupt.cancelled() => {}
        }
    }
}

/// Where it counts whether the server ends by itself, leaves the session open for a moment: of one that is told to end in
/// that very moment nobody could say which it was. How a server took a call once is how it takes the next one like it,
/// so that not every assertion waits.
pub(super) async fn linger(live: &mut Live, job: &RunJob, shared: &Shared, seen: &Observation) {
    let Some(target) = job.planned.terms.target_key else {
        return;
    };
    let counts = seen.disruption.is_none()
        && (judges_findings(job, shared)
            || is_needed(job, shared, seen) && shared.catalogs.is_unclaimed(target).await);
    let tool = seen.answer.as_ref().and_then(|answer| answer.tool.clone());
    let call = (target, tool);
    if !counts || shared.after_calls.of(&call) == Some(After::StaysOpen) {
        return;
    }
    let ended = timeout(LAST_MOMENT, live.process.exited());
    tokio::select! {
        _ = live.session.meanwhile(ended) => {
            let ended = live.session.is_closed() || live.process.status().is_some();
            let after = if ended { After::Ends } else { After::StaysOpen };
            shared.after_calls.learn(call, after);
        }
        () = shared.options.interrupt.cancelled() => {}
    }
}

/// What a server does after a call, unasked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum After {
    /// It waits for the next one.
    StaysOpen,
    /// It ends.
    Ends,
}

/// What servers do after calls, by target and tool.
#[derive(Debug, Default)]
pub(super) struct AfterCalls(Mutex<HashMap<(TargetKey, Option<String>), After>>);

impl AfterCalls {
    fn of(&self, call: &(TargetKey, Option<String>)) -> Option<After> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(call).copied()
    }

    /// One that ended once may do so again.
    fn learn(&self, call: (TargetKey, Option<String>), after: After) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match after {
            After::Ends => {
                known.insert(call, after);
            }
            After::StaysOpen => {
                known.entry(call).or_insert(after);
            }
        }
    }
}

/// Whether the verdict depends on what the server lists, as far as that can be known before judging.
pub(super) fn is_needed(job: &RunJob, shared: &Shared, seen: &Observation) -> bool {
    let rules = shared.options.rules;
    let strict = [rules.protocol, rules.vacuity].contains(&Strictness::Red);
    let declared = strict || job.body.wants_anywhere(&["output_schema"]);
    declared && job.body.calls_tools() && seen.disruption.is_none()
}

/// Whether a question after the subject could show in the verdict, or is none of this session's.
fn would_show(job: &RunJob, shared: &Shared, seen: &Observation) -> bool {
    let body = &job.body;
    let listed = match (&body.subject, shared.options.catalogs) {
        (Subject::Initialize, CatalogsWanted::OfEveryTarget) => true,
        (subject, CatalogsWanted::ForVerdicts | CatalogsWanted::OfEveryTarget) => {
            subject.calls_tools()
        }
    };
    // Where there is an answer, what was told is counted up to it.
    let told = ["notifications", "server_requests"];
    !listed
        || seen.disruption.is_some()
        || judges_findings(job, shared)
        || body.asks_for_the_end()
        || matches!(
            body.subject,
            Subject::Notifications { .. } | Subject::Logging { .. }
        )
        || seen.answer.is_none() && body.wants_anywhere(&told)
}

/// Whether a list may be fetched once more in the session of an assertion. Findings of it are judged where they are red:
/// what else the server does of it must be told from what it does by itself.
pub(super) fn second_look(job: &RunJob, shared: &Shared) -> SecondLook {
    let body = &job.body;
    if body.asks_for_the_end() || body.wanted.iter().any(about_files) {
        SecondLook::Spared
    } else if judges_findings(job, shared) {
        SecondLook::After(LAST_MOMENT)
    } else {
        SecondLook::AtOnce
    }
}

/// Whether findings can make the assertion red.
pub(super) fn judges_findings(job: &RunJob, shared: &Shared) -> bool {
    shared.options.rules.protocol == Strictness::Red || job.body.wants_anywhere(&["findings"])
}

/// Asks, and gives up when the time is over; `None` when the run is.
async fn ask(live: &mut Live, planned: &Planned, shared: &Shared) -> Option<Surveyed> {
    let deadline = Instant::now() + planned.terms.timeout.min(LISTING);
    tokio::select! {
        surveyed = live.session.catalog(deadline) => Some(surveyed),
        () = shared.options.interrupt.cancelled() => None,
    }
}

/// A session that nothing is done in but asking; what became of it instead otherwise, `None` when the run is over.
type Elsewhere<'a> = Pin<Box<dyn Future<Output = Result<Surveyed, Option<String>>> + Send + 'a>>;

fn elsewhere<'a>(planned: &'a Planned, shared: &'a Shared) -> Elsewhere<'a> {
    Box::pin(async move {
        let job = asking(planned);
        let teller = Teller { job: None, shared };
        let mut attempted = attempt::attempt(&job, shared, teller, &mut Slot::Held(None)).await;
        let surveyed = match attempted.live_and_well() {
            Some(live) => ask(live, &job.planned, shared).await.ok_or(None),
            None => Err(instead(&attempted)),
        };
        Box::pin(attempted.close(shared, &job)).await;
        surveyed
    })
}

/// Why a session could not be asked.
fn instead(attempted: &Attempted) -> Option<String> {
    let disruption = attempted.observation.disruption.as_ref()?;
    Some(disruption.message.clone())
}

/// A job that does nothing but shake hands, with the server and in the place of another. It shares with nobody.
fn asking(planned: &Planned) -> RunJob {
    RunJob {
        planned: Planned {
            assertion: Arc::clone(&planned.assertion),
            terms: Arc::new(Terms {
                timeout: planned.terms.timeout.min(GREETING),
                retries: 0,
                lane: None,
                target_key: None,
                ..Terms::clone(&planned.terms)
            }),
        },
        body: Arc::new(Body {
            setup: Vec::new(),
            subject: Subject::Initialize,
            of_setup: Vec::new(),
            of_steps: Vec::new(),
            wanted: Vec::new(),
            warnings: Vec::new(),
            subject_origin: planned.assertion.case.origin.clone(),
        }),
    }
}

impl Claim {
    /// Tells everybody what a session was told; what it heard besides is handed out.
    fn deliver(self, surveyed: Surveyed) -> Remainder {
        let Surveyed {
            catalog,
            missing,
            remainder,
        } = surveyed;
        self.settle(Fetched {
            catalog: Some(Arc::new(catalog)),
            missing: missing.map(Arc::from),
        });
        remainder
    }
}
