//! What a suite means, after everything was checked: exactly one subject, compiled patterns, real durations.
//! Made by `suite::lower`; read by `plan`, `session` (subjects only) and `check` (expectations only).

pub(crate) mod container;
pub(crate) mod expectation;
pub(crate) mod server;
pub(crate) mod subject;

use std::{sync::Arc, time::Duration};

use self::{
    server::{ClientBehaviour, Server},
    subject::{Step, Subject},
};
use crate::{
    suite::model::expectation::Wanted,
    words::{diagnostic::Diagnostic, source::Origin},
};

/// All that was loaded: assertions in their order, and what was wrong.
#[derive(Debug, Default)]
pub(crate) struct Suite {
    /// The entries in the order of files and documents; a document that cannot be used stands in its place.
    pub(crate) entries: Vec<Entry>,
    /// Everything that is wrong, in the same order; warnings too.
    pub(crate) problems: Vec<Diagnostic>,
    /// Files and documents that were passed over, with the reason; for people.
    pub(crate) notes: Vec<String>,
}

/// One document of a suite.
#[derive(Debug)]
pub(crate) enum Entry {
    /// It can run.
    Assertion(Arc<Assertion>),
    /// It cannot be used; it becomes an `Error` outcome.
    Invalid {
        /// What is known of it; the name is the file's when the document has none.
        case: Arc<Case>,
        /// What is wrong with it, one line each.
        reasons: Vec<String>,
    },
}

/// What is known of an assertion before it runs; shared by its trials, targets and reports.
#[derive(Debug)]
pub(crate) struct Case {
    /// `<path from the suite>::<name>`, with `#2` … for repeats in one file.
    pub(crate) id: String,
    /// The name, for people.
    pub(crate) name: String,
    /// The document in its file.
    pub(crate) origin: Origin,
    /// The subject's key, e.g. `assert_tools`.
    pub(crate) subject: &'static str,
    /// Free labels.
    pub(crate) tags: Vec<String>,
}

/// One named case.
#[derive(Debug)]
pub(crate) struct Assertion {
    /// Identity, place and labels.
    pub(crate) case: Arc<Case>,
    /// How the server is reached; assertions that write the same share it.
    pub(crate) server: Arc<Server>,
    /// What the client can do for the server, and the revision it asks for.
    pub(crate) client: Arc<ClientBehaviour>,
    /// Calls before the subject.
    pub(crate) setup: Vec<Step>,
    /// What it does.
    pub(crate) subject: Subject,
    /// What must hold for the subject's answer, in the order of the suite.
    pub(crate) wanted: Vec<Wanted>,
    /// When and how often it runs, when the suite says anything about it.
    pub(crate) control: Option<Box<Control>>,
    /// Whether `{{fixture}}` or a file expectation occurs: without, it gets no copy.
    pub(crate) uses_fixture: bool,
    /// What every failure should mention, with the place, e.g. an unset variable in `env`.
    pub(crate) warnings: Vec<Diagnostic>,
    /// The place of the key whose missing is to be blamed when there is no expectation: the subject.
    pub(crate) subject_origin: Origin,
}

/// When and how often an assertion runs; what is absent is as the command line has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Control {
    /// Its own deadline; wins over the command line's.
    pub(crate) timeout: Option<Duration>,
    /// Why it is never run.
    pub(crate) skip: Option<String>,
    /// Environment variables without which it is skipped; empty counts as unset.
    pub(crate) skip_unless_env: Vec<String>,
    /// Group of assertions that run one at a time.
    pub(crate) serial: Option<String>,
    /// Attempts after a failure; wins over the command line's.
    pub(crate) retries: Option<u32>,
}

impl Control {
    /// The same as an assertion keeps it: most suites say nothing, and hold very many assertions.
    pub(crate) fn kept(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }
}
