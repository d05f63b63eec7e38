//! Raw shapes to the model: patterns, paths, schemas and durations are compiled, names checked, exactly one
//! subject chosen. Raw structs are taken apart in full, so that a new key cannot be forgotten here.

mod answer;
mod asked;
pub(crate) mod assertion;
mod client;
mod compiled;
mod completion;
mod control;
mod docker;
pub mod duration;
mod env;
mod env_file;
mod expectation;
mod files;
mod filled;
mod http;
mod matcher;
mod names;
mod notices;
mod path;
mod pattern;
mod resources;
mod schema;
mod sent;
mod server;
mod step;
mod subject;
mod trajectory;
mod waiting;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

pub(crate) use self::compiled::Compiled;
pub(crate) use self::{step::ACTIONS, trajectory::KINDS};

use crate::{
    Dialect,
    model::{
        StepWanted,
        container::Container,
        expectation::{Expectation, SchemaFiles, Wanted, WantedState},
    },
    problems::{self, Problems},
    raw::{
        Field, Reading,
        value::{Text, Texts},
    },
    written::Places,
    yaml::{At, Node},
};
use mcp::script::template::Part;
use text::{
    diagnostic::{Diagnostic, Severity},
    environment::Environment,
};

/// What an unset environment variable without default means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnsetVariables {
    /// An empty text, and a warning.
    #[default]
    Warn,
    /// A problem.
    Refuse,
    /// Nothing yet: the suite is only divided, and runs where they may be set.
    Later,
}

/// Where the server may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServerFrom {
    /// The suite alone: one that names none has a problem.
    #[default]
    Suite,
    /// A target of the settings may give one, when it is run; a suite whose settings have none has to say.
    Targets,
    /// The suite alone, whose settings have targets of which none is run: one that runs without a server has a problem.
    NoTarget,
    /// The command line gives one.
    Elsewhere,
}

impl ServerFrom {
    /// Whether the suite is required to name a server.
    fn asks_the_suite(self) -> bool {
        matches!(self, Self::Suite | Self::NoTarget)
    }
}

/// Where the image of a container may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageFrom {
    /// The suite and its settings: a container without one is a problem.
    #[default]
    Suite,
    /// The command line gives one.
    Elsewhere,
}

/// Where servers are started that name no container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StartedIn {
    /// Processes, or whatever the command line may still say.
    #[default]
    Processes,
    /// Containers, because the command line wants them.
    Containers,
}

/// Where the fixture may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FixtureFrom {
    /// The settings: where they name none, `{{fixture}}` has no value.
    #[default]
    Settings,
    /// The command line may still give one.
    Elsewhere,
    /// There is one: the settings name it, or the command line.
    Given,
}

impl FixtureFrom {
    /// Whether `{{fixture}}` may have a value.
    fn may_be_there(self) -> bool {
        matches!(self, Self::Elsewhere | Self::Given)
    }
}

/// Reads a file that a suite refers to, such as a JSON Schema; the path is as the suite has it.
pub(crate) type ReadFile<'a> = dyn Fn(&Path) -> Result<String, String> + 'a;

/// The environment of lowering.
pub(crate) struct Surroundings<'a> {
    /// The caller's environment.
    pub(crate) environment: &'a Environment,
    /// What an unset variable means.
    pub(crate) unset: UnsetVariables,
    /// Where servers may come from.
    pub(crate) server_from: ServerFrom,
    /// Where images may come from.
    pub(crate) image_from: ImageFrom,
    /// Where servers are started that name no container.
    pub(crate) started_in: StartedIn,
    /// Where a fixture may come from; `Settings` where they name none.
    pub(crate) fixture_from: FixtureFrom,
    /// The settings' container.
    pub(crate) docker: Option<&'a Container>,
    /// Where the paths of servers and fixtures start: the folder of the YAML file, or what stands for it.
    pub(crate) directory: &'a Path,
    /// Reads files that the suite refers to.
    pub(crate) read_file: &'a ReadFile<'a>,
    /// The defaults of the settings file.
    pub(crate) defaults: Option<&'a Node>,
}

/// The lowering of one document.
pub(crate) struct Lowering<'a> {
    /// The problems so far, and whose rules apply.
    pub(crate) reading: Reading,
    around: &'a Surroundings<'a>,
    compiled: &'a Compiled,
    /// The names that captures before this place define.
    captured: BTreeSet<String>,
    /// The names that captures of the document define anywhere.
    captures: BTreeMap<String, At>,
    /// Whether the assertion is skipped: variables that it needs may be unset.
    is_skipped: bool,
    /// Whether `{{port}}` has a value.
    port: bool,
    /// Where the value of `{{fixture}}` may come from at this place.
    fixture_from: FixtureFrom,
    /// Where the server of the document is started.
    runs_in: StartedIn,
    /// Whether the fixture is needed.
    uses_fixture: bool,
    /// The expectations of the subject's steps.
    of_steps: Vec<StepWanted>,
    /// The warnings that every failure repeats.
    warnings: Vec<Diagnostic>,
    /// Where the parts of the document stand.
    places: Places,
    /// The texts that were filled in, when names have values already.
    filled: Vec<Vec<Part>>,
    /// The files that schemas with `{{…}}` refer to.
    schema_files: SchemaFiles,
}

impl<'a> Lowering<'a> {
    /// The beginning of a document.
    pub(crate) fn new(
        reading: Reading,
        around: &'a Surroundings<'a>,
        compiled: &'a Compiled,
    ) -> Self {
        Self {
            reading,
            around,
            compiled,
            captured: BTreeSet::new(),
            captures: BTreeMap::new(),
            is_skipped: false,
            port: false,
            fixture_from: around.fixture_from,
            runs_in: around.started_in,
            uses_fixture: false,
            of_steps: Vec::new(),
            warnings: Vec::new(),
            places: Places::default(),
            filled: Vec::new(),
            schema_files: SchemaFiles::new(),
        }
    }

    /// Whose rules apply.
    fn dialect(&self) -> Dialect {
        self.reading.dialect
    }

    /// Whether the rules of the Go tool apply.
    fn is_compat(&self) -> bool {
        self.dialect() == Dialect::Compat
    }

    /// The problems so far.
    fn problems(&mut self) -> &mut Problems {
        &mut self.reading.problems
    }

    /// Adds a problem at a place.
    pub(crate) fn problem(&mut self, at: At, problem: Diagnostic) {
        self.reading.problems.add(at, problem);
    }

    /// Adds a problem that the rules of the Go tool do not have.
    fn native_problem(&mut self, at: At, problem: Diagnostic) {
        if !self.is_compat() {
            self.problem(at, problem);
        }
    }

    /// Adds a problem that is a warning under the rules of the Go tool.
    fn problem_or_warning(&mut self, at: At, mut problem: Diagnostic) {
        if self.is_compat() {
            problem.severity = Severity::Warning;
        }
        self.problem(at, problem);
    }

    /// The value of a required key.
    fn required<T>(&mut self, field: Option<T>, key: &str, owner: &str, at: At) -> Option<T> {
        if field.is_none() && !self.reading.problems.is_refused(&[key], at) {
            self.problem(at, problems::missing_key(key, owner));
        }
        field
    }

    /// The text of a required key. The Go tool takes a missing one for the empty text.
    fn required_text(
        &mut self,
        field: Option<Field<Text>>,
        key: &str,
        owner: &str,
        at: At,
    ) -> Option<Text> {
        if let Some(field) = field {
            return Some(field.value);
        }
        self.required_by_us(key, owner, at)?;
        let text = String::new();
        Some(Text { text, at })
    }

    /// Reports a missing key; under the rules of the Go tool, which goes on without it, as a warning.
    fn required_by_us(&mut self, key: &str, owner: &str, at: At) -> Option<()> {
        if self.reading.problems.is_refused(&[key], at) {
            return None;
        }
        self.problem_or_warning(at, problems::missing_key(key, owner));
        self.is_compat().then_some(())
    }

    /// Reports that none of several keys is there, unless one was refused.
    fn missing_one_of(&mut self, keys: &[&str], owner: &str, at: At) {
        if !self.reading.problems.is_refused(keys, at) {
            self.problem(at, problems::missing_one_of(keys, owner));
        }
    }

    /// Reports keys that have no effect.
    fn no_effect<const N: usize>(&mut self, keys: [(&str, Option<At>); N], reason: &str) {
        for (key, at) in keys {
            if let Some(at) = at {
                self.problem(at, problems::no_effect(key, reason));
            }
        }
    }

    /// Reports a map without expectations, unless they were refused.
    fn asks_nothing(&mut self, name: &str, key: At, value: At) {
        if !self.reading.problems.is_broken(value) {
            self.problem(key, problems::empty_value(name));
        }
    }

    /// An expectation at its place.
    fn wanted(&self, key: &'static str, at: At, expectation: impl Into<Expectation>) -> Wanted {
        Wanted {
            key,
            origin: self.reading.problems.origin(at),
            state: WantedState::Ready(expectation.into()),
        }
    }

    /// The texts of a key; an empty list is reported.
    fn texts(&mut self, key: &str, field: Field<Texts>) -> Option<Vec<Text>> {
        if field.value.0.is_empty() {
            self.problem(field.key, problems::empty_value(key));
            return None;
        }
        Some(field.value.0)
    }
}
