//! A started server with the session on it, and the end of both. What is done with it is `attempt`'s.

use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep, timeout};

use super::{habits::Instance, job::Shared, reuse::Users, scheduler::processes};
use host::{
    contained,
    host::{Ended, Pace, Peer},
    place::Place,
    process::{Parting, Patience},
};
use mcp::{
    observation::{
        Observation,
        container::ContainerSeen,
        disruption::DisruptionKind,
        finding::{FindingCode, note},
        process::{Ending, Exit, ExitStatus},
    },
    session::{Remainder, Session},
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

/// A server with the session on it.
pub(super) struct Live {
    pub(super) session: Box<Session>,
    pub(super) process: Peer,
    pub(super) place: Place,
    /// Assertions that used it before.
    pub(super) used_by: Users,
    /// What it is to the other servers of its target.
    pub(super) instance: Instance,
}

/// How a server ended, with what only its session knows.
pub(super) struct Parted {
    pub(super) ended: Ended,
    /// Whether it may have waited for an answer when its stdin was closed: then living on is not its fault.
    pub(super) waits: bool,
    /// Whether another server of its target ran at the same time.
    pub(super) had_company: bool,
}

impl Live {
    /// The container it runs in.
    pub(super) fn container(&self) -> Option<Box<ContainerSeen>> {
        let seen = self.process.container()?.seen.clone();
        Some(self.used_by.told(seen))
    }

    /// How the process ended, if it did unasked and that is known. A stream that ended is most often the end of the
    /// process, seen a moment early.
    pub(super) async fn status(&mut self) -> Option<ExitStatus> {
        if self.session.is_closed() {
            let _ = timeout(STREAM_TO_END, self.process.end_watch()).await;
        }
        let status = self.process.status();
        status.filter(|status| status.unknown().is_none())
    }

    /// Closes the session and ends the process, at the same time, because a server may still write while it ends.
    pub(super) async fn end(
        mut self,
        shared: &Shared,
        seen: &mut Observation,
        patience: Patience,
    ) -> Parted {
        self.status().await;
        self.process.ask();
        let deadline = Instant::now() + patience.altogether();
        let interrupt = &shared.options.interrupt;
        let closing = async {
            tokio::select! {
                remainder = Box::pin(self.session.close(deadline)) => Some(remainder),
                () = async {
                    interrupt.cancelled().await;
                    sleep(Patience::HURRIED.closed).await;
                } => None,
            }
        };
        let (remainder, mut ended) = if self.process.outlives_its_sessions() {
            let remainder = closing.await;
            (
                remainder,
                Box::pin(self.process.end(patience, interrupt)).await,
            )
        } else {
            let ending = self.process.end(patience, interrupt);
            tokio::join!(closing, Box::pin(ending))
        };
        let waits = remainder.as_ref().is_some_and(Remainder::leaves_unanswered);
        if let Some(remainder) = remainder {
            let remainder = match ended.exit.map(|exit| exit.ending) {
                Some(Ending::ByItself | Ending::StdinClosed | Ending::Asked) => {
                    remainder.of_free_end()
                }
                // A server that is made to end may be in the middle of a line.
                Some(Ending::Terminated | Ending::Killed) | None => remainder,
            };
            remainder.add_to(seen);
        }
        if let Peer::Process(process) = &self.process {
            shared.leave(process.left().map(str::to_owned));
        }
        if ended.pace == Pace::Usual && seen.disruption.is_none() && !waits {
            self.instance.learn(&ended);
        }
        shared.leave(self.place.close().await);
        if let (Some(container), Some(exit)) = (self.process.container(), ended.exit) {
            contained::explain(container, exit.status, seen);
        }
        ended.container = ended
            .container
            .map(|container| self.used_by.told(*container));
        Parted {
            ended,
            waits,
            had_company: self.instance.has_company(),
        }
    }

    /// Ends an unused server, without waiting for it to end by itself.
    pub(super) async fn abandon(self, shared: &Shared) {
        let Self {
            session,
            mut process,
            place,
            used_by: _,
            instance: _instance,
        } = self;
        drop(session);
        Box::pin(process.end_now()).await;
        shared.leave(place.close().await);
    }

    /// Ends a server that is not needed any more.
    pub(super) async fn close(self, shared: &Shared) {
        let patience = self.instance.patience(&Observation::default());
        self.end(shared, &mut Observation::default(), patience)
            .await;
    }
}

/// Calls after which a server was seen to stay open. It takes the next one like it in the same way, so that not every
/// assertion waits.
#[derive(Debug, Default)]
pub(super) struct StaysOpen(Mutex<HashSet<Call>>);

/// A call of a tool; `None` for anything else.
type Call = (Option<TargetKey>, Option<String>);

/// Leaves a session open for a moment, and answers, where the server's end or its findings are judged: whether a server
/// that is asked to end in the moment in which it ends by itself did so unasked would be unknown.
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
    let judged = shared.options.rules.strict_protocol || job.body.looks_at(Beside::Findings);
    let watched = judged && !known().contains(&call);
    let time = match (watched, job.body.looks_at(Beside::Exit)) {
        (true, _) => LAST_MOMENT,
        (false, true) => LAST_ANSWERS,
        (false, false) => return,
    };
    let ended = timeout(time, live.process.end_watch());
    tokio::select! {
        _ = live.session.meanwhile(ended) => {}
        () = shared.options.interrupt.cancelled() => return,
    }
    if watched && !live.session.is_closed() && live.process.status().is_none() {
        known().insert(call);
    }
}

/// How long an end after stdin was closed is nothing to speak of.
const USUAL_END: Duration = Duration::from_secs(2);

/// How long a server may take to end after its stdin was closed.
const SLOW_END: Duration = Duration::from_secs(5);

/// What the way a server ended says about it.
pub(super) fn ending_findings(exit: &Exit, parted: &Parted, seen: &mut Observation) {
    let findings = &mut seen.findings;
    if exit.status.unknown().is_some() {
        // What broke off is the connection to the container, not what the server said.
        findings.retain(|finding| finding.code != FindingCode::NoFinalNewline);
        return;
    }
    let Parting { took, spun } = parted.ended.parting;
    let lived = if spun {
        "the server spins after its stdin was closed: it takes a processor and writes nothing"
    } else {
        "the server lived on after its stdin was closed"
    };
    match exit.ending {
        Ending::StdinClosed if took > USUAL_END => {
            let code = if took > SLOW_END {
                FindingCode::IgnoresStdinEnd
            } else {
                FindingCode::SlowEnd
            };
            let took = text::time(took);
            let message = format!("the server took {took} to end after its stdin was closed");
            note(findings, code, message, None);
        }
        Ending::StdinClosed | Ending::Asked => {}
        Ending::ByItself => {
            if seen.disruption.is_none() {
                let message = early_end(exit, parted);
                note(findings, FindingCode::ExitedEarly, message, None);
            }
        }
        Ending::Terminated if parted.waits && !spun => {}
        Ending::Terminated => {
            // One that ends with a code of its own may have been about to.
            let how = if matches!(exit.status, ExitStatus::Code(_)) {
                "it ended after SIGTERM"
            } else {
                "SIGTERM ended it"
            };
            let disruption = seen.disruption.as_ref();
            let busy = if !spun && disruption.is_some_and(|it| it.kind == DisruptionKind::Timeout) {
                ", perhaps at work on what it had not answered"
            } else {
                ""
            };
            let message = format!("{lived}{busy}; {how}");
            note(findings, FindingCode::IgnoresStdinEnd, message, None);
        }
        Ending::Killed => {
            let message = format!("{lived} and after SIGTERM; SIGKILL ended it");
            note(findings, FindingCode::IgnoresTermination, message, None);
        }
    }
    if exit.orphans > 0 {
        let message = format!(
            "{} outlived the server and had to be ended",
            processes(exit.orphans)
        );
        note(findings, FindingCode::Orphans, message, None);
    }
}

/// How a server ended while its session was open.
fn early_end(exit: &Exit, parted: &Parted) -> String {
    let by_others = if exit.was_killed_by_others() {
        ", sent by another process, or by the system"
    } else {
        ""
    };
    let company = if !by_others.is_empty() && parted.had_company {
        format!("; {COMPANY}")
    } else {
        String::new()
    };
    format!(
        "the server ended while the session was open: {}{by_others}{company}",
        exit.status
    )
}

/// What may have killed a server beside which another one of its target ran.
const COMPANY: &str = "another instance of this command was running, and may have killed it: try `serial` or `--jobs 1`";

/// Says of a crash that another server of the target may have been its cause.
pub(super) fn explain_crash(exit: &Exit, parted: &Parted, seen: &mut Observation) {
    if let Some(disruption) = &mut seen.disruption
        && disruption.kind == DisruptionKind::Crash
        && exit.was_killed_by_others()
        && parted.had_company
    {
        disruption.help = Some(COMPANY.to_owned());
    }
}
