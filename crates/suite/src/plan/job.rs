//! A job: one assertion, on one target, in one trial.

use std::{
    fmt::{self, Display},
    sync::Arc,
    time::Duration,
};

use super::target_key::TargetKey;
use crate::model::{Assertion, Body, Case, server::Server};
use mcp::{protocol::revision::Revision, script::client::ClientBehaviour};

/// One thing to do, in its place in the plan.
#[derive(Debug)]
pub struct Job {
    /// The assertion's identity.
    pub case: Arc<Case>,
    /// The target, when the run has several.
    pub target: Option<String>,
    /// The trial, from 1.
    pub trial: u32,
    /// What is to be done.
    pub work: Work,
}

/// What is to be done for a job.
#[derive(Debug)]
pub enum Work {
    /// Run it.
    Run(Planned),
    /// Nothing, for this reason.
    Skip(String),
    /// Nothing: its document cannot be used, for these reasons.
    Invalid(Vec<String>),
}

/// Whether a job gets a copy of the fixture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OwnFixture {
    /// Its assertion, its server or its client uses it.
    Copied,
    /// It does not.
    None,
}

impl OwnFixture {
    /// The fixture, where the job gets a copy of it.
    pub fn of<T>(self, fixture: Option<T>) -> Option<T> {
        match self {
            Self::Copied => fixture,
            Self::None => None,
        }
    }
}

/// An assertion that is to run, with everything decided.
#[derive(Debug, Clone)]
pub struct Planned {
    /// The assertion.
    pub assertion: Arc<Assertion>,
    /// How it runs; neighbours that run alike share it, because a plan may hold very many.
    pub terms: Arc<Terms>,
}

/// One of several revisions that an assertion runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnRevision {
    /// The suite or the command line names it.
    Named(Revision),
    /// It is left out where the server does not speak it.
    IfSpoken(Revision),
}

impl OnRevision {
    /// Which one.
    pub fn revision(self) -> Revision {
        match self {
            Self::Named(revision) | Self::IfSpoken(revision) => revision,
        }
    }
}

/// Why jobs run one at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lane {
    /// The suite gives them this name under `serial`.
    Serial(String),
    /// They talk to the server behind this url, which no job started.
    Url(String),
}

impl Display for Lane {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial(name) => write!(formatter, "serial {name}"),
            Self::Url(url) => write!(formatter, "url {url}"),
        }
    }
}

/// How an assertion runs.
#[derive(Debug, Clone)]
pub struct Terms {
    /// The server: the assertion's, the target's, or `--server`.
    pub server: Arc<Server>,
    /// How the client behaves: as the assertion says, and the target where it says nothing.
    pub client: Arc<ClientBehaviour>,
    /// The revision that it is repeated on, if it is on several.
    pub revision: Option<OnRevision>,
    /// Whether it gets a copy of the fixture.
    pub fixture: OwnFixture,
    /// Equal for jobs that talk to the same server in the same way; none without a server.
    pub target_key: Option<TargetKey>,
    /// Its server among those of the plan whose lists are kept.
    pub listed: Option<usize>,
    /// The deadline of an attempt.
    pub timeout: Duration,
    /// Attempts after a failure.
    pub retries: u32,
    /// Jobs of one lane run one at a time.
    pub lane: Option<Lane>,
}

/// An assertion that runs: planned, and with what it does and wants.
#[derive(Debug)]
pub struct RunJob {
    /// The decisions.
    pub planned: Planned,
    /// What it does and expects.
    pub body: Arc<Body>,
}
