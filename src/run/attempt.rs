//! One attempt at one assertion: a place, a server, a session, the subject; and afterwards the end of the server,
//! which needs no slot of the run.

use std::{
    sync::Arc,
    time::{Duration, Instant as StdInstant},
};

use tokio::time::Instant;

use super::{
    ahead::{Slot, Turn},
    catalogs,
    contained::{self, Contained},
    image,
    job::{Shared, Teller},
    launch::{command_line, not_started, process_spec},
    live::{Ended, Live, Pace, ending_findings, stay_open},
    lookout::Watch,
    overdue,
    place::Place,
    reuse::{self, Users},
    trajectory,
};
use host::{container::image::ReadyImage, process::Process, running::Running};
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
    model::server::Target,
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
    live: Option<Live>,
    place: Option<Place>,
    /// How the server that was to be shared had ended.
    died: Option<String>,
    /// How long a turn at the engine and a slot were waited for.
    waited: Duration,
}

/// Makes an attempt; without a slot, as far as it can be made before the server is talked to. Everything that goes
/// wrong is in its observation.
pub(super) async fn attempt(
    job: &RunJob,
    shared: &Shared,
    teller: Teller<'_>,
    slot: &mut Slot,
) -> Box<Attempted> {
    let begun = StdInstant::now();
    let mut attempted = Attempted::new(shared);
    if let Subject::Trajectory(source) = &job.body.subject {
        trajectory::observe(source, job, shared, &mut attempted);
        return attempted.since(begun);
    }
    let image = match image::of(&job.planned, shared, teller).await {
        Ok(image) => image,
        Err(disruption) => {
            attempted.observation.disruption = Some(disruption);
            return attempted.since(begun);
        }
    };
    if shared.shares(&job.planned).is_some() && job.body.calls_tools() {
        // A server that is shared stays, and another one beside it could be in its way.
        catalogs::of(&job.planned, shared).await;
    }
    // What an image takes, and a catalog, is no time of the assertion's.
    let begun = StdInstant::now();
    let started = Started {
        begun,
        clock: JobClock::start(),
        teller,
        deadline: Instant::now() + job.planned.terms.timeout,
        image: image.as_deref(),
    };
    if let Err(disruption) = Box::pin(attempted.observe(job, shared, started, slot)).await {
        let reached = disruption.phase.max(attempted.observation.reached);
        attempted.observation.reached = reached;
        attempted.observation.disruption = Some(disruption);
    }
    attempted.since(begun)
}

/// Starts the server of a plan's job in a fresh place, with a session that has not begun, for a question that is no
/// assertion's.
pub(super) async fn open(
    planned: &Planned,
    shared: &Shared,
) -> Result<(Live, Bindings), Disruption> {
    let teller = Teller { job: None, shared };
    let image = image::of(planned, shared, teller).await?;
    let started = Started {
        begun: StdInstant::now(),
        clock: JobClock::start(),
        teller,
        deadline: Instant::now() + planned.terms.timeout,
        image: image.as_deref(),
    };
    let mut opened = Attempted::new(shared);
    let until = shared.until(planned, started.deadline);
    let fixture = shared.options.fixture.as_ref();
    let place = Place::new(planned, fixture, &opened.bindings, started.image, &until).await?;
    opened.bindings.fixture = place.fixture_path();
    let mut slot = Slot::Held(None);
    let live = opened.launch(place, planned, shared, started, &mut slot);
    let live = Box::pin(live).await;
    if let Some(place) = opened.place.take() {
        place.close(shared).await;
    }
    Ok((live?, opened.bindings))
}

impl Attempted {
    /// Nothing was tried yet.
    fn new(shared: &Shared) -> Box<Self> {
        Box::new(Self {
            observation: Observation::default(),
            bindings: Bindings {
                environment: Arc::clone(&shared.options.environment),
                unknown: shared.options.unknown_names(),
                dialect: shared.options.rules.dialect,
                ..Bindings::default()
            },
            command_line: None,
            shared_server: Users::default(),
            notes: Vec::new(),
            live: None,
            place: None,
            died: None,
            waited: Duration::ZERO,
        })
    }

    /// Notes how long it took, and what it proves; waiting for others, and what nobody asked for, is not counted.
    fn since(mut self: Box<Self>, begun: StdInstant) -> Box<Self> {
        let others = self.waited + self.observation.timings.aside;
        self.observation.timings.total = begun.elapsed().saturating_sub(others);
        self.observation.proof = self.bindings.dialect.proof();
        self
    }

    /// The place, the server, the session and the subject, in this order. A shared server that turns out to have
    /// ended before anything was sent to it is replaced: that is no verdict on this assertion. What it may have
    /// received is never sent a second time: the server may have ended of it, and may have acted on it.
    async fn observe(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<(), Disruption> {
        started.teller.phase(Phase::Place);
        if let Some(live) = Box::pin(self.waiting_server(job, shared, started)).await? {
            Box::pin(self.perform(live, job, shared, started)).await?;
            let Some(disruption) = self.observation.disruption.as_mut() else {
                return Ok(());
            };
            let crashed = disruption.kind == DisruptionKind::Crash;
            let unspoken = |live: &mut Live| crashed && !live.session.was_spoken_to();
            let Some(dead) = self.live.take_if(unspoken) else {
                reuse::tell(disruption, &self.shared_server);
                return Ok(());
            };
            Box::pin(self.end_shared(dead, shared, started)).await;
        }
        let live = Box::pin(self.server(job, shared, started, slot)).await?;
        Box::pin(self.perform(live, job, shared, started)).await?;
        if let Some(message) = self.died.take() {
            let findings = &mut self.observation.findings;
            note(findings, FindingCode::ExitedEarly, message, None);
        }
        Ok(())
    }

    /// The server that waits for its next assertion, if it can take this one.
    async fn waiting_server(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
    ) -> Result<Option<Live>, Disruption> {
        let Some(mut live) = shared.take_live(job).await else {
            return Ok(None);
        };
        let until = shared.until(&job.planned, started.deadline + self.waited);
        let look = live.place.is_untouched(&live.process, &until);
        let untouched = live.session.meanwhile(look).await;
        // Whether it can be shared is our question, and takes no time of the assertion's.
        self.waited = started.begun.elapsed();
        live.session.set_clock(started.clock.without(self.waited));
        live.session.catch_up().await;
        if !untouched || live.session.is_closed() || live.process.status().is_some() {
            Box::pin(self.end_shared(live, shared, started)).await;
            return Ok(None);
        }
        self.bindings.fixture = live.place.fixture_path();
        let dialect = shared.options.rules.dialect;
        let until = shared.until(&job.planned, started.deadline + self.waited);
        let place = &mut live.place;
        let looked = place.look_before(job, &self.bindings, dialect, &until);
        if let Err(disruption) = live.session.meanwhile(looked).await {
            self.live = Some(live);
            return Err(disruption);
        }
        // Whoever gives up here finds no time left for the subject either.
        let look = until.wait(live.place.look_again(&live.process));
        live.session.meanwhile(look).await;
        Ok(Some(live))
    }

    /// Ends a shared server that cannot be used any more, and forgets what it said and the time it took. That it ended
    /// by itself is remembered: it must not be hidden by the fresh one.
    async fn end_shared(&mut self, mut live: Live, shared: &Shared, started: Started<'_>) {
        let with = live.used_by.first().cloned().unwrap_or_default();
        let status = live.status().await;
        self.died = status.map(|status| {
            format!(
                "the server shared with `{with}` ended while the session was open: {status}; \
                 a fresh one was started"
            )
        });
        live.close(shared).await;
        self.bindings.captured.clear();
        self.shared_server = Users::default();
        self.observation = Observation::default();
        self.waited = started.begun.elapsed();
    }

    /// The session and the subject on a server.
    async fn perform(
        &mut self,
        mut live: Live,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
    ) -> Result<(), Disruption> {
        started.teller.phase(Phase::Handshake);
        let timings = self.observation.timings;
        let until = shared.until(&job.planned, started.deadline + self.waited);
        let watch = Watch::new(&live.place, &live.process, job, (shared, until));
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
        overdue::tell(&mut self.observation, job, &live.process);
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

    /// A fresh server that may be talked to. Waiting for that is no time of the assertion's.
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
            let turn = started.teller.turn(slot).await;
            self.waited += begun.elapsed();
            if turn == Turn::CalledOff {
                self.live = Some(live);
                return Err(contained::not_wanted());
            }
            if live.process.status().is_some() {
                // It may have ended because nobody talked to it, which was our doing.
                Box::pin(live.close(shared)).await;
                self.waited = started.begun.elapsed();
                live = self.start(job, shared, started, slot).await?;
            }
        }
        live.session.set_clock(started.clock.without(self.waited));
        Ok(live)
    }

    /// A fresh place, made in the time that is there for it.
    async fn place(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
    ) -> Result<Place, Disruption> {
        let begun = StdInstant::now();
        let options = &shared.options;
        let fixture = options.fixture.as_ref();
        let until = shared.until(&job.planned, started.deadline + self.waited);
        let made = Place::new(&job.planned, fixture, &self.bindings, started.image, &until).await;
        self.observation.timings.place = begun.elapsed();
        let mut place = made?;
        self.bindings.fixture = place.fixture_path();
        let looked = place.look_before(job, &self.bindings, options.rules.dialect, &until);
        let looked = looked.await;
        self.observation.timings.place = begun.elapsed();
        match looked {
            Ok(()) => Ok(place),
            Err(disruption) => {
                self.place = Some(place);
                Err(disruption)
            }
        }
    }

    /// A fresh place and a fresh server in it.
    async fn start(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<Live, Disruption> {
        let place = self.place(job, shared, started).await?;
        started.teller.phase(Phase::Start);
        self.observation.reached = Phase::Start;
        self.launch(place, &job.planned, shared, started, slot)
            .await
    }

    /// A fresh server in its place.
    async fn launch(
        &mut self,
        mut place: Place,
        planned: &Planned,
        shared: &Shared,
        started: Started<'_>,
        slot: &mut Slot,
    ) -> Result<Live, Disruption> {
        let terms = &planned.terms;
        let (begun, waited) = (StdInstant::now(), self.waited);
        let command = match command_line(&terms.server.target, &self.bindings) {
            Ok(command) => command,
            Err(disruption) => {
                self.place = Some(place);
                return Err(disruption);
            }
        };
        self.command_line = Some(command.shown_of(&terms.server, started.image));
        let launched = if let (Target::Container { container, program }, Some(image)) =
            (&terms.server.target, started.image)
        {
            let inside = Contained {
                container,
                program,
                image,
                place: &place,
                clock: started.clock,
                waited: &mut self.waited,
                slot,
            };
            Box::pin(inside.start(planned, shared, &self.bindings)).await
        } else {
            let spec = process_spec(command, shared);
            let launched = Process::start(&spec, started.clock).await;
            launched
                .map(|(process, connection)| (Running::Process(process), connection))
                .map_err(|failure| not_started(&failure))
        };
        match launched {
            Ok((process, connection)) => {
                let session = Session::open(connection, &terms.client, Some(process.end_watch()));
                let waited = self.waited.saturating_sub(waited);
                self.observation.timings.start = begun.elapsed().saturating_sub(waited);
                place.took_place(&process);
                Ok(Live {
                    session,
                    process,
                    place,
                    used_by: Users::default(),
                })
            }
            Err(disruption) => {
                self.place = Some(place);
                Err(disruption)
            }
        }
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
                let ended = Box::pin(live.end(shared, &mut self.observation)).await;
                self.complete(ended, job);
                self.observation.timings.close = begun.elapsed();
            }
        }
        if let Some(place) = self.place.take() {
            place.close(shared).await;
        }
        if catalogs::is_wanted(job, &self.observation) {
            self.observation.catalog = catalogs::of(&job.planned, shared).await;
        }
        self
    }

    /// Whether the catalog of the target is asked for when the server has ended, by this attempt.
    pub(super) fn is_to_ask(&self, job: &RunJob, shared: &Shared) -> bool {
        catalogs::is_wanted(job, &self.observation) && !shared.catalogs.has(&job.planned)
    }

    /// Ends what is still there of an attempt that nobody wants any more.
    pub(super) async fn call_off(self: Box<Self>, shared: &Shared) {
        if let Some(live) = self.live {
            live.abandon(shared).await;
        }
        if let Some(place) = self.place {
            place.close(shared).await;
        }
    }

    fn complete(&mut self, ended: Ended, job: &RunJob) {
        self.notes.extend(ended.notes);
        self.observation.stderr = ended.stderr;
        self.observation.container = ended.container;
        self.observation.exit = Some(ended.exit);
        overdue::explain(&mut self.observation);
        match ended.pace {
            Pace::Usual => ending_findings(&ended.exit, ended.waits, &mut self.observation),
            // Given its time, it might have ended otherwise, and said more.
            Pace::Hurried if ended.exit.was_forced() && job.body.asks_for_the_end() => {
                let interrupted = interrupted().disruption;
                self.observation.disruption = self.observation.disruption.take().or(interrupted);
            }
            Pace::Hurried => {}
        }
    }
}

/// What a start needs besides the job.
#[derive(Clone, Copy)]
struct Started<'a> {
    begun: StdInstant,
    clock: JobClock,
    teller: Teller<'a>,
    deadline: Instant,
    /// The image of its container, when it has one.
    image: Option<&'a ReadyImage>,
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
