//! The meaning of a suite after all checks: exactly one subject, compiled patterns, real durations.
//! Made by `suite::lower`; read by `plan`, `session` (subjects only) and `check` (expectations only).

pub mod container;
pub mod counted;
pub mod expectation;
mod fixture;
pub mod misspelt;
pub mod revisions;
pub mod runtime_rules;
pub mod server;
mod value_rule;

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use self::{revisions::Revisions, runtime_rules::RuntimeRules, server::Server};
use crate::{
    model::expectation::{Beside, Wanted},
    written::{Part, Places},
};
use mcp::{
    observation::StepPart,
    script::{
        client::ClientBehaviour,
        subject::{Needs, Step, StepAction, Subject},
    },
};
use text::{
    diagnostic::Diagnostic,
    environment::Environment,
    source::{Origin, Span},
};

/// All that was loaded: assertions in their order, and what was wrong.
#[derive(Debug, Default)]
pub struct Suite {
    /// The entries in the order of files and documents; a document that cannot be used stands in its place.
    pub entries: Vec<Entry>,
    /// Everything that is wrong, in the same order; warnings too.
    pub problems: Vec<Diagnostic>,
    /// Files and documents that were passed over, with the reason; for people.
    pub notes: Vec<String>,
    /// The variables that `{{env.NAME}}` names anywhere, also in the settings: their values are secret.
    pub variables: BTreeSet<String>,
}

/// One document of a suite, or a file that cannot be read.
#[derive(Debug)]
pub enum Entry {
    /// It can run.
    Assertion(Arc<Assertion>),
    /// It cannot be used, or its whole file; it becomes an `Error` outcome.
    Invalid {
        /// Its identity; the name is the file's when the document has none.
        case: Arc<Case>,
        /// What is wrong with it, one line each.
        reasons: Vec<String>,
    },
}

impl Entry {
    /// Its identity.
    pub fn case(&self) -> &Case {
        match self {
            Self::Assertion(assertion) => &assertion.case,
            Self::Invalid { case, .. } => case,
        }
    }
}

/// The identity of an assertion; shared by its trials, targets and reports.
#[derive(Debug, Clone)]
pub struct Case {
    /// `<path from the suite>::<name>`, with `#2` … for repeats in one file; harmless, as it is shown.
    pub id: String,
    /// The name, for people.
    pub name: String,
    /// The document in its file.
    pub origin: Origin,
    /// The subject's key, e.g. `assert_tools`.
    pub subject: &'static str,
    /// Free labels.
    pub tags: Vec<String>,
}

/// A name with the target behind it, if there are several: as lists, reports and baselines show it.
pub fn on_target(name: &str, target: Option<&str>) -> String {
    match target {
        Some(target) => format!("{name} [{target}]"),
        None => name.to_owned(),
    }
}

/// One named case.
#[derive(Debug)]
pub struct Assertion {
    /// Identity, place and labels.
    pub case: Arc<Case>,
    /// How the server is reached; assertions that write the same share it.
    pub server: Arc<Server>,
    /// What the client can do for the server, and the revision it asks for.
    pub client: Arc<ClientBehaviour>,
    /// The revisions that it is repeated on, where the suite asks for several.
    pub revisions: Option<Revisions>,
    /// When and how often it runs, when the suite says anything about it.
    pub control: Option<Box<Control>>,
    /// Whether `{{fixture}}` or a file expectation occurs in what is written of it.
    pub uses_fixture: bool,
    /// What it needs of its server.
    pub needs: Needs,
    /// The rules that it runs by.
    pub rules: RuntimeRules,
    /// What it does and expects.
    pub body: Arc<Body>,
}

/// What an assertion does and expects.
#[derive(Debug)]
pub struct Body {
    /// Calls before the subject.
    pub setup: Vec<Step>,
    /// What it does.
    pub subject: Subject,
    /// Expectations about each step of the setup.
    pub of_setup: Vec<StepWanted>,
    /// Expectations about each step of the subject.
    pub of_steps: Vec<StepWanted>,
    /// Expectations about the subject's answer, in the order of the suite.
    pub wanted: Vec<Wanted>,
    /// Warnings that every failure repeats, such as an unset variable in `env`.
    pub warnings: Vec<Diagnostic>,
    /// The place of the subject, for failures without an expectation.
    pub subject_origin: Origin,
    /// The places of its parts.
    pub places: Places,
}

/// Expectations about the answer of a step.
#[derive(Debug)]
pub struct StepWanted {
    /// The expectations, in the order of the suite.
    pub wanted: Vec<Wanted>,
    /// The step's place in the suite.
    pub origin: Origin,
}

impl Body {
    /// Whether something of how the server ends is wanted: how it exits, or what it says until then.
    pub fn asks_for_the_end(&self) -> bool {
        self.looks_at(Beside::Exit) || self.looks_at(Beside::Stderr)
    }

    /// Whether an answer of a tool's is looked at: the subject's, or that of a step before it.
    pub fn calls_tools(&self) -> bool {
        let mut setup = self.setup.iter();
        self.subject.calls_tools() || setup.any(|step| matches!(step.action, StepAction::Tool(_)))
    }

    /// Whether an expectation of the subject or of a step looks at this.
    pub fn looks_at(&self, what: Beside) -> bool {
        self.all_wanted().any(|wanted| wanted.looks_at(what))
    }
}

/// What requires a server of its own: late output of another assertion could be mistaken for it.
const ALONE: [Beside; 4] = [
    Beside::Messages,
    Beside::Findings,
    Beside::Stderr,
    Beside::Exit,
];

impl Body {
    /// The place of a part of what stands at a place; those of the settings file are not kept.
    pub fn place_of(&self, origin: &Origin, part: &[Part]) -> Option<Span> {
        let is_here = Arc::ptr_eq(&origin.file, &self.subject_origin.file);
        is_here.then(|| self.places.find(origin, part)).flatten()
    }

    /// All expectations: those of steps, then those of the subject.
    pub fn all_wanted(&self) -> impl Iterator<Item = &Wanted> {
        let steps = self.of_setup.iter().chain(&self.of_steps);
        steps.flat_map(|step| &step.wanted).chain(&self.wanted)
    }

    /// Expectations about the steps of a part.
    pub fn wanted_of(&self, part: StepPart) -> &[StepWanted] {
        match part {
            StepPart::Setup => &self.of_setup,
            StepPart::Subject => &self.of_steps,
        }
    }

    /// The steps of a part.
    pub fn steps(&self, part: StepPart) -> &[Step] {
        match part {
            StepPart::Setup => &self.setup,
            StepPart::Subject => self.subject.steps(),
        }
    }

    /// What it needs of its server.
    pub(super) fn needs(&self) -> Needs {
        let mut steps = self.setup.iter().chain(self.subject.steps());
        match self.subject.needs() {
            Needs::Session if ALONE.iter().any(|what| self.looks_at(*what)) => Needs::Fresh,
            // The next assertion would get the notifications that this one asked for.
            Needs::Session if steps.any(|step| step.action.asks_to_be_told()) => Needs::Fresh,
            needs @ (Needs::Nothing | Needs::Fresh | Needs::Session) => needs,
        }
    }
}

/// When and how often an assertion runs; what is absent is as the command line has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Control {
    /// Its own deadline; wins over the command line's.
    pub timeout: Option<Duration>,
    /// Why it is never run.
    pub skip: Option<String>,
    /// Environment variables without which it is skipped; empty counts as unset.
    pub skip_unless_env: Vec<String>,
    /// Group of assertions that run one at a time.
    pub serial: Option<String>,
    /// Attempts after a failure; wins over the command line's.
    pub retries: Option<u32>,
}

impl Control {
    /// `None` for the default, which most assertions have.
    pub fn kept(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    /// Why it is skipped: by `skip`, or because a variable is not set.
    pub fn skip_reason(&self, environment: &Environment) -> Option<String> {
        if let Some(reason) = &self.skip {
            return Some(reason.clone());
        }
        let missing: Vec<&str> = self
            .skip_unless_env
            .iter()
            .map(String::as_str)
            .filter(|name| environment.variable(name).unwrap_or_default().is_empty())
            .collect();
        match missing[..] {
            [] => None,
            [name] => Some(format!("skipped: env var {name} not set")),
            _ => Some(format!("skipped: env vars {} not set", missing.join(", "))),
        }
    }
}
