//! A job: one assertion, on one target, in one trial.

use std::{sync::Arc, time::Duration};

use super::target_key::TargetKey;
use crate::{
    script::client::ClientBehaviour,
    suite::model::{Assertion, Body, Case, server::Server},
};

/// One thing to do, in its place in the plan.
#[derive(Debug)]
pub(crate) struct Job {
    /// The assertion's identity.
    pub(crate) case: Arc<Case>,
    /// The target, when the run has several.
    pub(crate) target: Option<String>,
    /// The trial, from 1.
    pub(crate) trial: u32,
    /// What is to be done.
    pub(crate) work: Work,
}

/// What is to be done for a job.
#[derive(Debug)]
pub(crate) enum Work {
    /// Run it.
    Run(Planned),
    /// Nothing, for this reason.
    Skip(String),
    /// Nothing: its document cannot be used, for these reasons.
    Invalid(Vec<String>),
}

/// Whether a job gets a copy of the fixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum OwnFixture {
    /// Its assertion, its server or its client speaks of it.
    Copied,
    /// Nothing of it does.
    None,
}

impl OwnFixture {
    /// The fixture, where the job gets a copy of it.
    pub(crate) fn of<T>(self, fixture: Option<T>) -> Option<T> {
        match self {
            Self::Copied => fixture,
            Self::None => None,
        }
    }
}

/// An assertion that is to run, with everything decided.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// The assertion.
    pub(crate) assertion: Arc<Assertion>,
    /// How it runs; neighbours that run alike share it, because a plan may hold very many.
    pub(crate) terms: Arc<Terms>,
}

/// How an assertion runs.
#[derive(Debug, Clone)]
pub(crate) struct Terms {
    /// The server: the assertion's, the target's, or `--server`.
    pub(crate) server: Arc<Server>,
    /// How the client behaves: as the assertion says, and the target where it says nothing.
    pub(crate) client: Arc<ClientBehaviour>,
    /// Whether it gets a copy of the fixture.
    pub(crate) fixture: OwnFixture,
    /// Equal for jobs that talk to the same server in the same way; none where that is never known.
    pub(crate) target_key: Option<TargetKey>,
    /// Its server among those of the plan whose lists are kept.
    pub(crate) listed: Option<usize>,
    /// The deadline of an attempt.
    pub(crate) timeout: Duration,
    /// Attempts after a failure.
    pub(crate) retries: u32,
    /// Jobs of one lane run one at a time.
    pub(crate) lane: Option<String>,
}

impl Terms {
    /// Whether they are the same ones: servers and clients that are written alike are shared before.
    pub(super) fn are(&self, other: &Self) -> bool {
        let Self {
            server,
            client,
            fixture,
            target_key,
            listed,
            timeout,
            retries,
            lane,
        } = self;
        Arc::ptr_eq(server, &other.server)
            && Arc::ptr_eq(client, &other.client)
            && *fixture == other.fixture
            && *target_key == other.target_key
            && *listed == other.listed
            && *timeout == other.timeout
            && *retries == other.retries
            && *lane == other.lane
    }
}

/// An assertion that runs: planned, and with what it does and wants.
#[derive(Debug)]
pub(crate) struct RunJob {
    /// What was decided.
    pub(crate) planned: Planned,
    /// What it does and wants.
    pub(crate) body: Arc<Body>,
}
