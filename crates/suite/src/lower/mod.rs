//! Raw shapes to the model: patterns, paths, schemas and durations are compiled, names checked, exactly one
//! subject chosen. Raw structs are taken apart in full, so that a new key cannot be forgotten here.

mod answer;
mod asked;
pub mod assertion;
mod beside;
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
mod web;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

pub use self::compiled::Compiled;
pub(crate) use self::{step::ACTIONS, trajectory::KINDS};

use self::names::Coming;
use crate::{
    Dialect,
    model::{
        StepWanted,
        container::Container,
        expectation::{Expectation, SchemaFiles, Wanted, WantedState},
    },
    problems::{self, Problems},
    raw::{Field, Reading, value::Text},
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
}

/// Whether the document that is lowered will run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It will, as far as the suite is concerned.
    Runs,
    /// It is skipped: what the environment lacks for it is no matter.
    Skipped,
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
    /// Whether nobody gives a server where the suite names none.
    fn asks_the_suite(self) -> bool {
        match self {
            Self::Suite | Self::NoTarget => true,
            Self::Targets | Self::Elsewhere => false,
        }
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
        match self {
            Self::Settings => false,
            Self::Elsewhere | Self::Given => true,
        }
    }
}

/// Reads a file that a suite refers to, such as a JSON Schema; the path is as the suite has it.
pub type ReadFile<'a> = dyn Fn(&Path) -> Result<String, String> + 'a;

/// What lowering knows beside the raw shapes.
pub struct Surroundings<'a> {
    /// The caller's environment.
    pub environment: &'a Environment,
    /// What an unset variable means.
    pub unset: UnsetVariables,
    /// Where servers may come from.
    pub server_from: ServerFrom,
    /// Where images may come from.
    pub image_from: ImageFrom,
    /// Where servers are started that name no container.
    pub started_in: StartedIn,
    /// Where a fixture may come from; `Settings` where they name none.
    pub fixture_from: FixtureFrom,
    /// The settings' container.
    pub docker: Option<&'a Container>,
    /// The folder of the YAML file.
    pub directory: &'a Path,
    /// Reads files that the suite refers to.
    pub read_file: &'a ReadFile<'a>,
    /// The defaults of the settings file.
    pub defaults: Option<&'a Node>,
}

/// The lowering of one document.
pub struct Lowering<'a> {
    /// What is wrong so far, and whose rules apply.
    pub reading: Reading,
    /// What is known beside the document.
    around: &'a Surroundings<'a>,
    /// What is shared with other documents.
    compiled: &'a Compiled,
    /// The names that captures before this place define.
    captured: BTreeSet<String>,
    /// The names that captures of the document define, of which some come later.
    coming: BTreeMap<String, Coming>,
    /// Whether it will run.
    fate: Fate,
    /// Whether `{{port}}` has a value.
    port: bool,
    /// Where the value of `{{fixture}}` may come from at this place.
    fixture_from: FixtureFrom,
    /// Where the server of the document is started.
    runs_in: StartedIn,
    /// Whether the fixture is needed.
    uses_fixture: bool,
    /// What must hold for the steps of the subject.
    of_steps: Vec<StepWanted>,
    /// What every failure should mention.
    warnings: Vec<Diagnostic>,
    /// The texts that were filled in, where names have values already.
    filled: Vec<Vec<Part>>,
    /// The files that schemas with `{{…}}` refer to, of the expectation that is looked at.
    schema_files: SchemaFiles,
}

impl<'a> Lowering<'a> {
    /// Nothing lowered yet.
    pub fn new(reading: Reading, around: &'a Surroundings<'a>, compiled: &'a Compiled) -> Self {
        Self {
            reading,
            around,
            compiled,
            captured: BTreeSet::new(),
            coming: BTreeMap::new(),
            fate: Fate::Runs,
            port: false,
            fixture_from: around.fixture_from,
            runs_in: around.started_in,
            uses_fixture: false,
            of_steps: Vec::new(),
            warnings: Vec::new(),
            filled: Vec::new(),
            schema_files: SchemaFiles::new(),
        }
    }

    /// Whose rules apply.
    fn dialect(&self) -> Dialect {
        self.reading.dialect
    }

    /// What is wrong so far.
    fn problems(&mut self) -> &mut Problems {
        &mut self.reading.problems
    }

    /// Notes a problem at a place.
    fn problem(&mut self, at: At, make: impl FnOnce(text::source::Origin) -> Diagnostic) {
        let origin = self.reading.problems.origin(at);
        self.reading.problems.add(make(origin));
    }

    /// Notes a problem that only our rules have: the Go tool takes what is there.
    fn native_problem(&mut self, at: At, make: impl FnOnce(text::source::Origin) -> Diagnostic) {
        match self.dialect() {
            Dialect::Native => self.problem(at, make),
            Dialect::Compat => {}
        }
    }

    /// Notes a problem that the Go tool goes on with: under its rules it is a warning.
    fn problem_or_warning(
        &mut self,
        at: At,
        make: impl FnOnce(text::source::Origin) -> Diagnostic,
    ) {
        let dialect = self.dialect();
        self.problem(at, |origin| match dialect {
            Dialect::Native => make(origin),
            Dialect::Compat => Diagnostic {
                severity: Severity::Warning,
                ..make(origin)
            },
        });
    }

    /// Notes a problem of a text that is there whatever is filled into it.
    fn certain_problem(&mut self, at: At, make: impl FnOnce(text::source::Origin) -> Diagnostic) {
        let origin = self.reading.problems.origin(at);
        self.reading.problems.add_certain(make(origin));
    }

    /// The value of a key that must be there.
    fn required<T>(&mut self, field: Option<T>, key: &str, owner: &str, at: At) -> Option<T> {
        if field.is_none() && !self.reading.problems.is_refused(&[key], at) {
            self.problem(at, |origin| problems::missing_key(origin, key, owner));
        }
        field
    }

    /// The text of a key that must be there. The Go tool takes one that is missing for the empty text.
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

    /// Notes that a key is missing; under the rules of the Go tool, which goes on without it, as a warning.
    fn required_by_us(&mut self, key: &str, owner: &str, at: At) -> Option<()> {
        if self.reading.problems.is_refused(&[key], at) {
            return None;
        }
        self.problem_or_warning(at, |origin| problems::missing_key(origin, key, owner));
        (self.dialect() == Dialect::Compat).then_some(())
    }

    /// Notes a key that wants something where nothing looks at it. The Go tool passes over such keys.
    fn not_looked_at(&mut self, key: &str, at: At, reason: &str) {
        self.problem_or_warning(at, |origin| problems::not_looked_at(origin, key, reason));
    }

    /// Notes that none of several keys is there; one that was refused is.
    fn missing_one_of(&mut self, keys: &[&str], owner: &str, at: At) {
        if !self.reading.problems.is_refused(keys, at) {
            self.problem(at, |origin| problems::missing_one_of(origin, keys, owner));
        }
    }

    /// Notes a map that asks for nothing, unless what it asks for was refused.
    fn asks_nothing(&mut self, name: &str, key: At, value: At) {
        if !self.reading.problems.is_broken(value) {
            self.problem(key, |origin| problems::empty_value(origin, name));
        }
    }

    /// An expectation at its place.
    fn wanted(&self, key: &'static str, at: At, expectation: Expectation) -> Wanted {
        Wanted {
            key,
            origin: self.reading.problems.origin(at),
            state: WantedState::Ready(expectation),
        }
    }

    /// The texts of a key; an empty list does nothing, which is said.
    fn texts(&mut self, key: &str, field: Field<crate::raw::value::Texts>) -> Option<Vec<Text>> {
        if field.value.0.is_empty() {
            self.problem(field.key, |origin| problems::empty_value(origin, key));
            return None;
        }
        Some(field.value.0)
    }
}
