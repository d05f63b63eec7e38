//! Servers shared by assertions (`--reuse-server`): same target, same client, and nothing that only a fresh process can
//! show.

use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    attempt::{Attempted, Started},
    job::Shared,
    live::Live,
    lookout::sought_before,
};
use mcp::{
    observation::{
        Observation,
        container::ContainerSeen,
        disruption::{Disruption, DisruptionKind},
    },
    script::subject::Needs,
    transport::clock::JobClock,
};
use suite::plan::{
    job::{Planned, RunJob},
    target_key::TargetKey,
};

/// The key of the server a job may share; `None` when it needs one of its own.
pub(super) fn key(planned: &Planned) -> Option<TargetKey> {
    match planned.assertion.needs {
        Needs::Session => planned.terms.target_key,
        Needs::Nothing | Needs::Fresh => None,
    }
}

/// A server that waits for its next assertion. What it asks meanwhile is answered, because a server that pings its client
/// would otherwise end the session. Dropping it ends the server.
pub(super) struct Parked {
    /// Gives the server back when it is wanted.
    attended: JoinHandle<Live>,
    wanted: CancellationToken,
}

impl Parked {
    /// Looks after a server until it is taken back.
    pub(super) fn new(mut live: Live) -> Self {
        let wanted = CancellationToken::new();
        let taken = wanted.clone();
        live.session.set_clock(JobClock::before_the_next());
        let attended = tokio::spawn(async move {
            live.session.meanwhile(taken.cancelled()).await;
            live
        });
        Self { attended, wanted }
    }

    /// The server; `None` if the task that looked after it panicked, which has ended the server.
    pub(super) async fn take(mut self) -> Option<Live> {
        self.wanted.cancel();
        (&mut self.attended).await.ok()
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.attended.abort();
    }
}

impl Attempted {
    /// Observes an assertion on the server that waits for the next one of its lane; whether it was, or needs a fresh one. One that turns out to have ended
    /// before anything was sent to it is no verdict on this assertion. What it may have received is never sent a second
    /// time: the server may have ended of it, and may have acted on it.
    pub(super) async fn observe_shared(
        &mut self,
        job: &RunJob,
        shared: &Shared,
        started: Started<'_>,
    ) -> Result<bool, Disruption> {
        let Some(live) = Box::pin(self.waiting_server(job, shared, started)).await? else {
            return Ok(false);
        };
        Box::pin(self.perform(live, job, shared, started)).await?;
        let Some(disruption) = self.observation.disruption.as_mut() else {
            return Ok(true);
        };
        let crashed = disruption.kind == DisruptionKind::Crash;
        let unspoken = |live: &mut Live| crashed && !live.session.was_spoken_to();
        let Some(dead) = self.live.take_if(unspoken) else {
            tell(disruption, &self.shared_server);
            return Ok(true);
        };
        Box::pin(self.end_shared(dead, shared, started)).await;
        Ok(false)
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
        let until = self.until(&job.planned, shared, started);
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
        let sought = sought_before(job, &self.bindings);
        let until = self.until(&job.planned, shared, started);
        let looked = live.place.look_before(&sought, &until);
        if let Err(disruption) = live.session.meanwhile(looked).await {
            self.live = Some(live);
            return Err(disruption);
        }
        // When the time is over here, none is left for the subject either.
        let look = until.wait(live.place.look_again(&live.process));
        live.session.meanwhile(look).await;
        Ok(Some(live))
    }

    /// Ends a shared server that cannot be used any more, and forgets what it said and the time it took. That it ended
    /// by itself is remembered: it must not be hidden by the fresh one.
    async fn end_shared(&mut self, mut live: Live, shared: &Shared, started: Started<'_>) {
        let with = live.used_by.first.clone().unwrap_or_default();
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
}

/// Says who had used a server before, where that may be why it could not be observed.
fn tell(disruption: &mut Disruption, used_by: &Users) {
    let may_be_of_another = matches!(
        disruption.kind,
        DisruptionKind::Crash
            | DisruptionKind::Timeout
            | DisruptionKind::Violation
            | DisruptionKind::Transport
            | DisruptionKind::ProtocolError
            | DisruptionKind::Step
    );
    if may_be_of_another && let Some(listed) = used_by.listed("`") {
        let said = "; the server was shared (--reuse-server): before, it was used by ";
        disruption.message += said;
        disruption.message += &listed;
    }
}

/// The assertions that used a shared server.
#[derive(Debug, Clone, Default)]
pub(super) struct Users {
    /// The id of the assertion that it was started for.
    pub(super) first: Option<String>,
    /// How many there were after the first.
    more: usize,
}

impl Users {
    /// Adds an assertion.
    pub(super) fn add(&mut self, id: &str) {
        match self.first {
            None => self.first = Some(id.to_owned()),
            Some(_) => self.more += 1,
        }
    }

    /// Its container as the next assertion reports it. Only the first reports how long it took to make it.
    pub(super) fn told(&self, seen: ContainerSeen) -> Box<ContainerSeen> {
        Box::new(match self.more {
            0 => seen,
            1.. => seen.found_there(),
        })
    }

    /// The first assertion, between two of `quote`, and how many more there were; `None` without any.
    pub(super) fn listed(&self, quote: &str) -> Option<String> {
        let first = self.first.as_ref()?;
        Some(match self.more {
            0 => format!("{quote}{first}{quote}"),
            more => format!("{quote}{first}{quote} and {more} more"),
        })
    }
}
