//! One attempt at one assertion: a place, a server, a session, the subject; and afterwards the end of the server,
//! which needs no slot of the run.

use std::{
    sync::OnceLock,
    time::{Duration, Instant as StdInstant},
};

use tokio::time::Instant;

use super::{
    ahead::Slot,
    catalogs, explain, image,
    job::{Reporter, Shared},
    live::{Live, Parted, ending_findings, explain_crash, stay_open},
    lookout::{Watch, sought_before},
    reuse::Users,
    trajectory,
};
use host::{
    contained,
    container::image::ReadyImage,
    host::{Pace, Peer, Server, Start},
    launch::spelled,
    pace::Until,
    place::Place,
    process::Patience,
    remote::free_port,
};
use mcp::{
    observation::{
        Observation,
        disruption::{Disruption, DisruptionKind, Phase},
        finding::{FindingCode, note},
    },
    script::{subject::Subject, template::Bindings},
    session::{Script, Session},
    transport::clock::JobClock,
};
use suite::{
    model::expectation::Beside,
    plan::job::{Planned, RunJob},
};

/// What an attempt brought, and what of it is still to be ended.
pub(super) struct Attempted {
    pub(super) observation: Observation,
    pub(super) bindings: Bindings,
    pub(super) command_line: Option<String>,
    pub(super) shared_server: Users,
    /// What the outcome should mention.
    pub(super) notes: Vec<String>,
    pub(super) live: Option<Live>,
    place: Option<Place>,
    /// How the server that was to be shared had ended.
    pub(super) died: Option<String>,
    /// How long a turn at the engine and a slot were waited for.
    pub(super) waited: Duration,
    /// Whether the server's certificate is not checked.
    trusts_anyone: bool,
}

/// Makes an attempt; without a slot, as far as it can be made before the server is talked to. Everything that goes
/// wrong is in its observation.
pub(super) async fn attempt(
    job: &RunJob,
    shared: &Shared,
    reporter: Reporter<'_>,
    slot: &mut Slot,
) -> Box<Attempted> {
    let begun = StdInstant::now();
    let mut attempted = Attempted::new(&job.planned, shared);
    if let Subject::Trajectory(source) = &job.body.subject {
        trajectory::observe(source, job, shared, &mut attempted);
        return attempted.since(begun, job);
    }
    let image = match image::of(&job.planned, shared, reporter).await {
        Ok(image) => image,
        Err(disruption) => {
            attempted.observation.disruption = Some(disruption);
            return attempted.since(begun, job);
        }
    };
    if shared.shares(&job.planned).is_some() && job.body.calls_tools() {
        // A server that is shared stays, and another one beside it could be in its way.
        catalogs::of(&job.planned, shared).await;
    }
    // The time for an image and a catalog does not count as the assertion's.
    let started = Started::now(&job.planned, reporter, image.as_deref());
    let begun = started.begun;
    if let Err(disruption) = Box::pin(attempted.observe(job, shared, started, slot)).await {
        let reached = disruption.phase.max(attempted.observation.reached);
        attempted.observation.reached = reached;
        attempted.observation.disruption = Some(disruption);
    }
    attempted.since(begun, job)
}

/// Starts the server of a plan's job in a fresh place, with a session that has not begun, for a question that is no
/// assertion's.
pub(super) async fn open(
    planned: &Planned,
    shared: &Shared,
) -> Result<(Live, Bindings), Disruption> {
    let reporter = Reporter { job: None, shared };
    let image = image::of(planned, shared, reporter).await?;
    let started = Started::now(planned, reporter, image.as_deref());
    let mut opened = Attempted::new(planned, shared);
    let place = opened.place(planned, shared, started).await?;
    opened.bindings.fixture = place.fixture_path();
    let mut slot = Slot::Held(None);
    let live = opened.launch((place, planned), shared, started, &mut slot);
    let live = Box::pin(live).await;
    if let Some(place) = opened.place.take() {
        shared.leave(place.close().await);
    }
    Ok((live?, opened.bindings))
}

impl Attempted {
    /// Nothing was tried yet.
    fn new(planned: &Planned, shared: &Shared) -> Box<Self> {
        Box::new(Self {
            observation: Observation::default(),
            bindings: planned
                .assertion
                .rules
                .bindings(&shared.options.environment),
            command_line: None,
            shared_server: Users::default(),
            notes: Vec::new(),
            live: None,
            place: None,
            died: None,
            waited: Duration::ZERO,
            trusts_anyone: false,
        })
    }

    /// Notes how long it took, without waiting and unasked requests, and what it proves.
    fn since(mut self: Box<Self>, begun: StdInstant, job: &RunJob) -> Box<Self> {
        let others = self.waited + self.observation.timings.aside;
        self.observation.timings.total = begun.elapsed().saturating_sub(others);
        if self.trusts_anyone {
            let message = "the certificate of the server is not checked: `tls: {insecure: true}`";
            let findings = &mut self.observation.findings;
            note(findings, FindingCode::CertificateUnchecked, message, None);
        }
        self.observation.proof = job.planned.assertion.rules.proof;
        self
    }

    /// The place, the server, the session and the subject, in this order.
    async fn observe(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<(), Disruption> {
        started.reporter.phase(Phase::Place);
        if Box::pin(self.observe_shared(job, shared, started)).await? {
            return Ok(());
        }
        let live = Box::pin(self.server(job, shared, started, slot)).await?;
        Box::pin(self.perform(live, job, shared, started)).await?;
        if let Some(message) = self.died.take() {
            let findings = &mut self.observation.findings;
            note(findings, FindingCode::ExitedEarly, message, None);
        }
        Ok(())
    }

    /// A fresh server that may be talked to. Waiting for a slot does not count as time of the assertion.
    async fn server(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<Live, Disruption> {
        let mut live = self.start(job, shared, started, slot).await?;
        if slot.is_awaited() {
            let begun = StdInstant::now();
            let turn = started.reporter.turn(slot).await;
            self.waited += begun.elapsed();
            if !turn {
                self.live = Some(live);
                return Err(contained::not_wanted());
            }
            if live.process.status().is_some() {
                // It may have ended because it was kept waiting.
                Box::pin(live.close(shared)).await;
                self.waited = started.begun.elapsed();
                live = self.start(job, shared, started, slot).await?;
            }
        }
        live.session.set_clock(started.clock.without(self.waited));
        Ok(live)
    }

    /// How long files may be worked on; waiting for others does not count.
    pub(super) fn until(&self, planned: &Planned, shared: &Shared, started: Started<'_>) -> Until {
        Until {
            deadline: (started.deadline + self.waited).into_std(),
            timeout: planned.terms.timeout,
            interrupt: shared.options.interrupt.clone(),
        }
    }

    /// A fresh place, made in the time that is there for it.
    async fn place(
        &mut self,
        planned: &Planned,
        shared: &Shared,
        started: Started<'_>,
    ) -> Result<Place, Disruption> {
        let begun = StdInstant::now();
        let terms = &planned.terms;
        let fixture = terms.fixture.of(shared.options.fixture.as_ref());
        let until = self.until(planned, shared, started);
        let what = (&terms.server.target, started.image);
        let made = Place::new(what, fixture, &self.bindings, &until).await;
        self.observation.timings.place = begun.elapsed();
        made
    }

    /// A fresh place and a fresh server in it.
    async fn start(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<Live, Disruption> {
        let begun = StdInstant::now();
        let mut place = self.place(&job.planned, shared, started).await?;
        self.bindings.fixture = place.fixture_path();
        let sought = sought_before(job, &self.bindings);
        let until = self.until(&job.planned, shared, started);
        let looked = place.look_before(&sought, &until).await;
        self.observation.timings.place = begun.elapsed();
        if let Err(disruption) = looked {
            self.place = Some(place);
            return Err(disruption);
        }
        started.reporter.phase(Phase::Start);
        self.observation.reached = Phase::Start;
        let placed = (place, &job.planned);
        self.launch(placed, shared, started, slot).await
    }

    /// A fresh server in its place.
    async fn launch(
        &mut self,
        (mut place, planned): (Place, &Planned),
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<Live, Disruption> {
        let terms = &planned.terms;
        let target = &terms.server.target;
        let (begun, waited) = (StdInstant::now(), self.waited);
        let start = Start {
            target,
            bindings: &self.bindings,
            place: &place,
            image: started.image,
            lookup: planned.assertion.rules.lookup,
            clock: started.clock,
            timeout: terms.timeout,
            assertion: &planned.assertion.case.id,
        };
        let launched = match spelled(target, &self.bindings, free_port) {
            Ok(spelled) => {
                self.command_line = Some(spelled.shown_of(&terms.server, started.image));
                self.trusts_anyone = spelled.trusts_anyone();
                let waited = &mut self.waited;
                let starting = shared
                    .host
                    .start(spelled, &start, waited, slot.called_off());
                Box::pin(starting).await
            }
            Err(disruption) => Err(disruption),
        };
        let instance = shared.habits.started(terms.target_key);
        let Server { connection, peer } = match launched {
            Ok(server) => server,
            Err(disruption) => {
                self.place = Some(place);
                return Err(disruption);
            }
        };
        let session = Session::open(connection, &terms.client, Some(peer.end_watch()));
        let waited = self.waited.saturating_sub(waited);
        // A server that is there already is not started.
        self.observation.timings.start = match &peer {
            Peer::Process(_) | Peer::Container(_) | Peer::Launched(_) => {
                begun.elapsed().saturating_sub(waited)
            }
            Peer::Remote => Duration::ZERO,
        };
        place.took_place(&peer);
        Ok(Live {
            session,
            process: peer,
            place,
            used_by: Users::default(),
            instance,
        })
    }

    /// The session and the subject on a server.
    pub(super) async fn perform(
        &mut self,
        mut live: Live,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
    ) -> Result<(), Disruption> {
        started.reporter.phase(Phase::Handshake);
        let timings = self.observation.timings;
        let until = self.until(&job.planned, shared, started);
        let watch = Watch {
            place: &live.place,
            server: &live.process,
            job,
            until,
            prepared: OnceLock::new(),
        };
        let deadline = started.deadline + self.waited;
        let performed = {
            let hooks = watch.hooks();
            let script = Script {
                setup: &job.body.setup,
                subject: &job.body.subject,
                hooks: &hooks,
            };
            tokio::select! {
                seen = live.session.perform(script, &mut self.bindings, deadline) => Some(seen),
                () = shared.options.interrupt.cancelled() => None,
            }
        };
        let is_performed = performed.is_some();
        self.observation = performed.unwrap_or_else(interrupted);
        self.observation.timings.place = timings.place;
        self.observation.timings.start = timings.start;
        explain::timeout(&mut self.observation, job, &live.process);
        if !is_performed {
            // Nothing is looked at any more: every moment is for ending.
            self.live = Some(live);
            return Ok(());
        }
        let look = watch.after_subject(&self.observation, &self.bindings);
        let looked = live.session.meanwhile(look).await;
        self.shared_server.clone_from(&live.used_by);
        live.used_by.add(&job.planned.assertion.case.id);
        self.live = Some(live);
        self.observation.files = looked?;
        Ok(())
    }

    /// Ends what is still there, or hands the server to the next assertion of its lane, and completes the
    /// observation with what only the end can show.
    pub(super) async fn close(mut self: Box<Self>, shared: &Shared, job: &RunJob) -> Box<Self> {
        if let Some(mut live) = self.live.take() {
            self.observation.stderr = live.process.stderr();
            let key = shared.shares(&job.planned);
            if let Some(key) = key.filter(|_| live.session.is_usable()) {
                self.observation.container = live.container();
                shared.keep_live(key, live).await;
            } else {
                stay_open(&mut live, job, shared, &self.observation).await;
                let begun = StdInstant::now();
                // Where the end is judged, it gets all the time that there is.
                let patience = if job.body.looks_at(Beside::Exit) {
                    Patience::after(&self.observation)
                } else {
                    live.instance.patience(&self.observation)
                };
                let ending = live.end(shared, &mut self.observation, patience);
                let parted = Box::pin(ending).await;
                self.complete(parted, job);
                self.observation.timings.close = begun.elapsed();
            }
        }
        if let Some(place) = self.place.take() {
            shared.leave(place.close().await);
        }
        if catalogs::is_wanted(job, &shared.options, &self.observation) {
            self.observation.catalog = catalogs::of(&job.planned, shared).await;
        }
        self
    }

    /// Whether the catalog of the target is asked for when the server has ended, by this attempt.
    pub(super) fn is_to_ask(&self, job: &RunJob, shared: &Shared) -> bool {
        catalogs::is_wanted(job, &shared.options, &self.observation)
            && !shared.catalogs.has(&job.planned)
    }

    /// Ends what is still there of an attempt that is not needed any more.
    pub(super) async fn call_off(self: Box<Self>, shared: &Shared) {
        if let Some(live) = self.live {
            live.abandon(shared).await;
        }
        if let Some(place) = self.place {
            shared.leave(place.close().await);
        }
    }

    fn complete(&mut self, mut parted: Parted, job: &RunJob) {
        let ended = &mut parted.ended;
        self.notes.extend(ended.note.take());
        self.observation.stderr = std::mem::take(&mut ended.stderr);
        self.observation.container = ended.container.take();
        self.observation.exit = ended.exit;
        let ended = &parted.ended;
        explain::port(&mut self.observation);
        explain::line_ends(&mut self.observation);
        if let Some(disruption) = &mut self.observation.disruption {
            let said = self.observation.stderr.text();
            let walls = explain::walls(&job.planned.terms.server.target, &said);
            disruption.help = disruption.help.take().or(walls.map(str::to_owned));
        }
        explain::slowness(&mut self.observation, self.command_line.as_deref());
        let Some(exit) = ended.exit else {
            return;
        };
        explain_crash(&exit, &parted, &mut self.observation);
        match ended.pace {
            Pace::Usual => ending_findings(&exit, &parted, &mut self.observation),
            // Given its time, it might have ended otherwise, and said more.
            Pace::Hurried if exit.was_forced() && job.body.asks_for_the_end() => {
                let interrupted = interrupted().disruption;
                self.observation.disruption = self.observation.disruption.take().or(interrupted);
            }
            Pace::Hurried => {}
        }
    }
}

/// What a start needs besides the job.
#[derive(Clone, Copy)]
pub(super) struct Started<'a> {
    pub(super) begun: StdInstant,
    pub(super) clock: JobClock,
    reporter: Reporter<'a>,
    pub(super) deadline: Instant,
    /// The image of its container, when it has one.
    image: Option<&'a ReadyImage>,
}

impl<'a> Started<'a> {
    fn now(planned: &Planned, reporter: Reporter<'a>, image: Option<&'a ReadyImage>) -> Self {
        Self {
            begun: StdInstant::now(),
            clock: JobClock::start(),
            reporter,
            deadline: Instant::now() + planned.terms.timeout,
            image,
        }
    }
}

fn interrupted() -> Observation {
    Observation {
        reached: Phase::Subject,
        disruption: Some(Disruption::new(
            DisruptionKind::Interrupted,
            Phase::Subject,
            "interrupted",
        )),
        ..Observation::default()
    }
}
