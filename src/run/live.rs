//! A started server with the session on it, and its end: closed while the next job runs, in a hurry when the run is
//! interrupted. What is done with it is `attempt`'s.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};

use super::{Strictness, job::Shared, reuse::Users};
use host::{contained, host::Peer, place::Place, process::Patience};
use mcp::{
    observation::{
        Observation,
        container::ContainerSeen,
        disruption::DisruptionKind,
        finding::{FindingCode, note},
        process::{Ending, Exit, ExitStatus, StderrTail},
    },
    session::Session,
};
use suite::{
    model::expectation::Beside,
    plan::{job::RunJob, target_key::TargetKey},
};

/// How long a process may live on after its stream ended, to count as ended by itself.
const STREAM_TO_END: Duration = Duration::from_millis(500);

/// How long a server may take to end after its last answer, to count as ended by itself where that is judged.
const LAST_MOMENT: Duration = Duration::from_millis(250);

/// How long a server whose end is judged is answered before it is asked to end: many ask for the roots a few milliseconds
/// after the handshake, and cannot end before they are answered.
const LAST_ANSWERS: Duration = Duration::from_millis(100);

/// How long servers may take to end once the run was interrupted: all of it is over within 5 s.
const HURRY: Patience = Patience {
    closed: Duration::from_millis(500),
    at_work: Duration::ZERO,
    terminated: Duration::from_secs(1),
};

/// A server with the session on it.
pub(super) struct Live {
    pub(super) session: Box<Session>,
    pub(super) process: Peer,
    pub(super) place: Place,
    /// Assertions that used it before.
    pub(super) used_by: Users,
}

/// How much time a server was given to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// All that it should need.
    Usual,
    /// Less: the run was interrupted, and the way it ended says nothing about it.
    Hurried,
}

/// Whether a server that was to end may have waited for an answer to what it asked after its stdin was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waits {
    /// It may: that it lived on is not its fault.
    ForAnAnswer,
    /// For nothing.
    ForNothing,
}

/// How a server ended.
pub(super) struct Ended {
    pub(super) exit: Exit,
    pub(super) pace: Pace,
    /// Whether it may have waited for an answer that nobody could give any more.
    pub(super) waits: Waits,
    pub(super) stderr: StderrTail,
    pub(super) note: Option<String>,
    pub(super) container: Option<Box<ContainerSeen>>,
}

impl Live {
    /// The container it runs in. What it took to make it is told once, by the assertion that it was made for.
    pub(super) fn container(&self) -> Option<Box<ContainerSeen>> {
        container_of(&self.process, &self.used_by)
    }

    /// How the process ended, if it did unasked and that is known. A stream that ended is most often the end of the
    /// process, seen a moment early.
    pub(super) async fn status(&mut self) -> Option<ExitStatus> {
        if self.session.is_closed() {
            let _ = timeout(STREAM_TO_END, self.process.exited()).await;
        }
        let status = self.process.status();
        status.filter(|status| status.unknown().is_none())
    }

    /// Closes the session and ends the process, at the same time, because a server may still write while it ends.
    pub(super) async fn end(mut self, shared: &Shared, seen: &mut Observation) -> Ended {
        if seen.disruption.is_none() {
            self.status().await;
        }
        self.process.ask();
        let patience = patience_after(seen);
        let deadline = Instant::now() + patience.altogether();
        let closing = async {
            tokio::select! {
                remainder = Box::pin(self.session.close(deadline)) => Some(remainder),
                () = hurried(shared) => None,
            }
        };
        let ending = end_of(&mut self.process, patience, shared);
        let (remainder, (exit, pace)) = tokio::join!(closing, ending);
        let waits = match &remainder {
            Some(remainder) if remainder.leaves_unanswered() => Waits::ForAnAnswer,
            Some(_) | None => Waits::ForNothing,
        };
        if let Some(remainder) = remainder {
            let remainder = match exit.ending {
                Ending::ByItself | Ending::StdinClosed => remainder.of_free_end(),
                // Who is made to end may be in the middle of a line.
                Ending::Terminated | Ending::Killed => remainder,
            };
            remainder.add_to(seen);
        }
        shared.leave(self.place.close().await);
        if let Some(container) = self.process.container() {
            contained::explain(container, exit.status, seen);
        }
        Ended {
            exit,
            pace,
            waits,
            stderr: self.process.stderr(),
            container: container_of(&self.process, &self.used_by),
            note: self.process.notes(&exit),
        }
    }

    /// Ends a server that nobody has talked to, without waiting for it to end by itself.
    pub(super) async fn abandon(self, shared: &Shared) {
        let Self {
            session,
            mut process,
            place,
            used_by: _,
        } = self;
        drop(session);
        Box::pin(process.end_now(HURRY)).await;
        shared.leave(place.close().await);
    }

    /// Ends a server that nobody waits for any more.
    pub(super) async fn close(self, shared: &Shared) {
        self.end(shared, &mut Observation::default()).await;
    }
}

/// Calls after which a server was seen to stay open. It takes the next one like it in the same way, so that not every
/// assertion waits.
#[derive(Debug, Default)]
pub(super) struct StaysOpen(Mutex<HashSet<Call>>);

/// A call of a tool; `None` for what is no call.
type Call = (Option<TargetKey>, Option<String>);

/// Leaves a session open for a moment, and answers, where the server's end or its findings are judged: whether a server
/// that is asked to end in the moment in which it ends by itself did so unasked, nobody could tell.
pub(super) async fn stay_open(live: &mut Live, job: &RunJob, shared: &Shared, seen: &Observation) {
    if seen.disruption.is_some() {
        return;
    }
    let tool = seen.answer.as_ref().and_then(|answer| answer.tool.clone());
    let call = (job.planned.terms.target_key, tool);
    let known = || {
        let calls = shared.stays_open.0.lock();
        calls.unwrap_or_else(PoisonError::into_inner)
    };
    let judged =
        shared.options.rules.protocol == Strictness::Red || job.body.looks_at(Beside::Findings);
    let watched = judged && !known().contains(&call);
    let time = match (watched, job.body.looks_at(Beside::Exit)) {
        (true, _) => LAST_MOMENT,
        (false, true) => LAST_ANSWERS,
        (false, false) => return,
    };
    let ended = timeout(time, live.process.exited());
    tokio::select! {
        _ = live.session.meanwhile(ended) => {}
        () = shared.options.interrupt.cancelled() => return,
    }
    if watched && !live.session.is_closed() && live.process.status().is_none() {
        known().insert(call);
    }
}

fn container_of(process: &Peer, used_by: &Users) -> Option<Box<ContainerSeen>> {
    let seen = process.container()?.seen().clone();
    Some(Box::new(match used_by.count() {
        0 | 1 => seen,
        2.. => seen.found_there(),
    }))
}

/// How long a server may take to end. One that hung, flooded or broke the protocol may be at work without end: how it
/// ends decides nothing any more, and it takes processors from the others.
fn patience_after(seen: &Observation) -> Patience {
    let usual = Patience::default();
    match seen.disruption.as_ref().map(|disruption| disruption.kind) {
        Some(DisruptionKind::Timeout | DisruptionKind::Violation | DisruptionKind::Transport) => {
            Patience {
                at_work: Duration::ZERO,
                ..usual
            }
        }
        Some(
            DisruptionKind::Invalid
            | DisruptionKind::Place
            | DisruptionKind::Start
            | DisruptionKind::Crash
            | DisruptionKind::ProtocolError
            | DisruptionKind::Step
            | DisruptionKind::Unsupported
            | DisruptionKind::Interrupted,
        )
        | None => usual,
    }
}

/// Ends a process, in a hurry from the moment the run is interrupted.
async fn end_of(process: &mut Peer, patience: Patience, shared: &Shared) -> (Exit, Pace) {
    if !shared.options.interrupt.is_cancelled() {
        tokio::select! {
            exit = Box::pin(process.end(patience)) => return (exit, Pace::Usual),
            () = shared.options.interrupt.cancelled() => {}
        }
    }
    (Box::pin(process.end_now(HURRY)).await, Pace::Hurried)
}

/// Waits until a server may say no more because the run was interrupted.
async fn hurried(shared: &Shared) {
    shared.options.interrupt.cancelled().await;
    sleep(HURRY.closed).await;
}

/// What the way a server ended says about it.
pub(super) fn ending_findings(exit: &Exit, waits: Waits, seen: &mut Observation) {
    let findings = &mut seen.findings;
    if exit.status.unknown().is_some() {
        // What broke off is the connection to the container, not what the server said.
        findings.retain(|finding| finding.code != FindingCode::NoFinalNewline);
        return;
    }
    match exit.ending {
        Ending::StdinClosed => {}
        Ending::ByItself => {
            if seen.disruption.is_none() {
                let message = format!(
                    "the server ended while the session was open: {}",
                    exit.status
                );
                note(findings, FindingCode::ExitedEarly, message, None);
            }
        }
        Ending::Terminated if waits == Waits::ForAnAnswer => {}
        Ending::Terminated => {
            // One that ends with a code of its own may have been about to.
            let how = match exit.status {
                ExitStatus::Code(_) => "it ended after SIGTERM",
                ExitStatus::Signal(_)
                | ExitStatus::LikeSignal(_)
                | ExitStatus::OutOfMemory
                | ExitStatus::Removed
                | ExitStatus::Unknown => "SIGTERM ended it",
            };
            let busy = match &seen.disruption {
                Some(disruption) if disruption.kind == DisruptionKind::Timeout => {
                    ", perhaps at work on what it had not answered"
                }
                Some(_) | None => "",
            };
            let message = format!("the server lived on after its stdin was closed{busy}; {how}");
            note(findings, FindingCode::IgnoresStdinEnd, message, None);
        }
        Ending::Killed => {
            let message = "the server lived on after its stdin was closed and after SIGTERM; SIGKILL ended it";
            note(findings, FindingCode::IgnoresTermination, message, None);
        }
    }
    if exit.orphans > 0 {
        let message = format!(
            "{} outlived the server and had to be ended",
            text::count(exit.orphans, "process").replace("processs", "processes")
        );
        note(findings, FindingCode::Orphans, message, None);
    }
}
