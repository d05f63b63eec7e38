//! MCP sessions over a connection: handshake or none by revision, correlation, client behaviour, pagination, cancel, subjects.
//!
//! [`Session::open`], [`Session::perform`] per assertion or [`Session::catalog`], then [`Session::close`]. Returns
//! observations and knows no expectations. `host` starts and ends the server; `transport` moves the bytes.

mod call;
mod capability;
mod capture;
mod catalog;
mod client;
mod correlation;
mod dialogue;
mod disrupt;
mod exchange;
mod handshake;
mod hooks;
mod http;
mod inspect;
mod late;
mod line;
mod lint;
mod list;
mod mirror;
mod perform;
mod progress;
mod raw;
mod record;
mod renewal;
mod reply;
mod rounds;
mod second_opinion;
mod steps;
mod subscription;
mod tasks;
#[cfg(test)]
mod tests;
pub mod trajectory;
mod wait;

use std::{collections::HashMap, mem, sync::Arc};

use tokio::time::Instant;

pub use self::{
    catalog::Listed,
    exchange::Exited,
    hooks::{Awaited, Hooks, Look, OnEnd, Whose},
};
use self::{client::Client, dialogue::Dialogue, exchange::Exchange, perform::LevelSet};
use crate::{
    observation::{
        NotificationSeen, Observation, ServerRequestSeen, SessionFacts,
        answer::Answer,
        disruption::{Disruption, DisruptionKind},
        finding::{self, Finding, FindingCode},
    },
    protocol::{frame::Frame, message::Id, revision::Revision},
    script::{
        client::{ClientBehaviour, RevisionWanted},
        subject::{Step, Subject},
        template::Bindings,
    },
    transport::{Connection, Unsent, clock::JobClock},
};

/// What an assertion does with a session.
#[derive(Clone, Copy)]
pub struct Script<'a, 'h> {
    /// The calls before the subject.
    pub setup: &'a [Step],
    /// The subject.
    pub subject: &'a Subject,
    /// How to look at what a step left behind, and what to wait for after an answer.
    pub hooks: &'a Hooks<'h>,
}

/// A connection to a server that assertions are performed on, one after another.
pub struct Session {
    exchange: Exchange,
    /// What the server told about itself; `None` before that.
    facts: Option<Arc<SessionFacts>>,
    /// The answer to the handshake, for the subject that is about it.
    handshake: Option<Answer>,
    /// The level that a subject set before its setup.
    level: Option<LevelSet>,
    /// The streams of notifications that were asked for, by the resource they are about.
    streams: HashMap<String, Id>,
    /// What the assertion that is being performed saw so far.
    seen: Observation,
    lists: list::Lists,
    /// The first request after the handshake.
    first: Option<Id>,
    /// Whether it is known what headers repeat of arguments, or nothing is to be known.
    knows_mirrored: bool,
    usable: bool,
    /// When the present assertion has to be over.
    deadline: Instant,
    /// What `{{…}}` stands for in it.
    bindings: Bindings,
    /// How many bytes had been sent when the present assertion began.
    sent_before: u64,
}

/// What came after an observation was handed out, while the server was being closed.
#[derive(Debug, Default)]
pub struct Remainder {
    notifications: Vec<NotificationSeen>,
    server_requests: Vec<ServerRequestSeen>,
    findings: Vec<Finding>,
    wire: Vec<Frame>,
    /// Requests of the server that came after its input was closed: nobody could answer them.
    unanswered: usize,
    /// What to know of an answer that came after the deadline.
    late: Option<String>,
    /// The beginning of a line that came after the server's input was closed, and has no end.
    cut_off: Option<String>,
}

impl Session {
    /// A session on a connection. The handshake is made by the first [`Self::perform`] whose subject needs one, because
    /// raw subjects may be about its absence, and because what it shows (frames, findings, times, a refusal) belongs to
    /// that observation. `exited` tells how the process behind the connection ended, where there is one. Boxed, since it
    /// is large and passed on often.
    pub fn open(
        connection: Connection,
        behaviour: &ClientBehaviour,
        exited: Option<Exited>,
    ) -> Box<Self> {
        let asked = match behaviour.revision {
            RevisionWanted::Auto => Revision::NEWEST_HANDSHAKE,
            RevisionWanted::Exactly(revision) => revision,
        };
        let dialogue = Dialogue::new(Client::new(behaviour), asked);
        Box::new(Self {
            exchange: Exchange::new(connection, dialogue, exited),
            facts: None,
            handshake: None,
            level: None,
            streams: HashMap::new(),
            seen: Observation::default(),
            lists: list::Lists::default(),
            first: None,
            knows_mirrored: false,
            usable: true,
            deadline: Instant::now(),
            bindings: Bindings::default(),
            sent_before: 0,
        })
    }

    /// Performs one assertion: the handshake where it was not made, the setup, the subject. The observation
    /// lacks what only the place knows: files, stderr, the end of the process.
    pub async fn perform(
        &mut self,
        script: Script<'_, '_>,
        bindings: &mut Bindings,
        deadline: Instant,
    ) -> Observation {
        self.exchange.begin();
        self.exchange.dialogue.client.begin();
        self.level = None;
        self.deadline = deadline;
        self.bindings = bindings.clone();
        self.exchange.dialogue.client.bind(bindings);
        self.sent_before = self.exchange.connection.sent_bytes();
        if let Err(disruption) = self.play(script).await {
            self.usable = matches!(
                disruption.kind,
                DisruptionKind::Step | DisruptionKind::ProtocolError
            ) && self.facts.is_some();
            self.seen.disruption = Some(*disruption);
        }
        *bindings = mem::take(&mut self.bindings);
        // A second answer often comes right behind the first.
        self.exchange.take_arrived().await;
        self.exchange.dialogue.transcript = None;
        self.exchange.dialogue.broken = None;
        self.exchange.dialogue.suspect = None;
        self.exchange.dialogue.doubts.clear();
        self.hand_out()
    }

    /// Takes what came while nobody listened: the end of the stream shows only then.
    pub async fn catch_up(&mut self) {
        self.exchange.take_arrived().await;
    }

    /// Whether the server may have received anything of the last assertion: it may have acted on it.
    pub fn was_spoken_to(&mut self) -> bool {
        self.exchange.connection.sent_bytes() > self.sent_before
    }

    /// What the server told about itself; `None` before the handshake.
    pub fn facts(&self) -> Option<&Arc<SessionFacts>> {
        self.facts.as_ref()
    }

    /// What was found since the last observation was handed out.
    pub fn take_findings(&mut self) -> Vec<Finding> {
        mem::take(&mut self.record().findings)
    }

    /// Whether the server closed its output, or ended.
    pub fn is_closed(&self) -> bool {
        self.exchange.closed
    }

    /// Whether another assertion can be performed on this session: not behind a line that the server has not read.
    pub fn is_usable(&self) -> bool {
        self.usable && !self.exchange.closed && self.exchange.connection.unsent() == Unsent::Nothing
    }

    /// The next assertion counts its time from here.
    pub fn set_clock(&mut self, clock: JobClock) {
        self.exchange.connection.set_clock(clock);
    }

    /// Does something else, and answers until it is done.
    pub async fn meanwhile<T>(&mut self, work: impl Future<Output = T>) -> T {
        self.exchange.meanwhile(work).await
    }

    /// Closes the server's input and takes what it still says, until its stream ends or the time is over.
    pub async fn close(mut self: Box<Self>, deadline: Instant) -> Remainder {
        let unanswered = self.exchange.finish(deadline).await;
        let cut_off = self.exchange.dialogue.cut_off.take();
        let record = mem::take(&mut self.exchange.dialogue.record);
        Remainder {
            notifications: record.notifications,
            server_requests: record.server_requests,
            findings: record.findings,
            wire: self.exchange.connection.log().take().into_frames(),
            unanswered,
            late: self.late(),
            cut_off: cut_off.as_deref().map(record::shown),
        }
    }

    /// What to know of an answer that came after the deadline.
    fn late(&self) -> Option<String> {
        let overdue = self.exchange.dialogue.overdue.as_ref()?;
        overdue.help(self.exchange.closed_at_us)
    }

    /// What this assertion saw.
    fn record(&mut self) -> &mut record::Record {
        &mut self.exchange.dialogue.record
    }

    fn hand_out(&mut self) -> Observation {
        let record = mem::take(&mut self.exchange.dialogue.record);
        let mut seen = mem::take(&mut self.seen);
        tell_late(self.late(), &mut seen);
        seen.session.clone_from(&self.facts);
        seen.notifications = record.notifications;
        seen.server_requests = record.server_requests;
        seen.findings = record.findings;
        seen.wire = self.exchange.connection.log().take().into_frames();
        // Later assertions have notifications of their own.
        if let Some(handshake) = &mut self.handshake {
            handshake.notifications = 0..0;
            handshake.server_requests = 0..0;
        }
        seen
    }
}

impl Remainder {
    /// Whether the server may wait for an answer that it cannot get any more, which is not its fault.
    pub fn leaves_unanswered(&self) -> bool {
        self.unanswered > 0
    }

    /// The same of a server that ended without being made to: a line that has no end is its own doing.
    pub fn of_free_end(mut self) -> Self {
        if let Some(frame) = self.cut_off.take() {
            let message = "the stream ended in the middle of a line, after stdin was closed";
            let code = FindingCode::NoFinalNewline;
            finding::note(&mut self.findings, code, message, Some(frame));
        }
        self
    }

    /// Adds what came late to the observation it belongs to.
    pub fn add_to(self, seen: &mut Observation) {
        seen.notifications.extend(self.notifications);
        seen.server_requests.extend(self.server_requests);
        seen.wire.extend(self.wire);
        tell_late(self.late, seen);
        for finding in self.findings {
            let known = seen
                .findings
                .iter_mut()
                .find(|known| known.code == finding.code && known.message == finding.message);
            match known {
                Some(known) => known.times += finding.times,
                None => seen.findings.push(finding),
            }
        }
    }
}

/// Adds to a timeout that the answer came after all, unless its likely cause is known.
fn tell_late(late: Option<String>, seen: &mut Observation) {
    if let Some(disruption) = &mut seen.disruption
        && disruption.kind == DisruptionKind::Timeout
        && disruption.help.is_none()
    {
        disruption.help = late;
    }
}

/// Why a part of an assertion could not be observed. Boxed: it is rare and large.
type Observed<T> = Result<T, Box<Disruption>>;
