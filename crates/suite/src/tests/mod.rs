//! Suites as people write them: what loads, and the exact text shown for what does not.

mod filled_in;
mod fixtures;
mod follow_ups;
mod go_suites;
mod loading;
mod meaning;
mod places;
mod problem_texts;
mod schema;
mod skipping;
mod suggestions;
mod unseen;
mod wrong_types;

use std::{fs, path::PathBuf, sync::Arc};

use super::{
    Dialect,
    discover::{LoadOptions, Loaded, load},
    lower::{FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables},
    model::{Assertion, Entry},
    problems::Problems,
};
use text::{diagnostic::Colour, environment::Environment, source::SourceFile};

/// A suite in a temporary folder.
pub(super) struct Sample {
    folder: tempfile::TempDir,
    dialect: Dialect,
    unset: UnsetVariables,
    fixture_from: FixtureFrom,
    started_in: StartedIn,
    environment: Arc<Environment>,
}

impl Sample {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let environment = Environment {
            directory: folder.path().to_path_buf(),
            ..Environment::default()
        };
        Self {
            folder,
            dialect: Dialect::Native,
            unset: UnsetVariables::Warn,
            fixture_from: FixtureFrom::Elsewhere,
            started_in: StartedIn::Processes,
            environment: Arc::new(environment),
        }
    }

    fn one(text: &str) -> Self {
        Self::new(&[("a.yaml", text)])
    }

    fn compat(mut self) -> Self {
        self.dialect = Dialect::Compat;
        self
    }

    /// An unset variable is a problem.
    fn strict_env(mut self) -> Self {
        self.unset = UnsetVariables::Refuse;
        self
    }

    /// No fixture is given on the command line.
    fn without_fixture(mut self) -> Self {
        self.fixture_from = FixtureFrom::Settings;
        self
    }

    /// A fixture is given on the command line.
    fn with_fixture(mut self) -> Self {
        self.fixture_from = FixtureFrom::Given;
        self
    }

    /// The command line wants containers.
    fn in_containers(mut self) -> Self {
        self.started_in = StartedIn::Containers;
        self
    }

    /// In an environment with this variable.
    fn with_variable(mut self, name: &str, value: &str) -> Self {
        let environment = Arc::make_mut(&mut self.environment);
        environment.variables.insert(name.into(), value.into());
        self
    }

    fn load(&self) -> Loaded {
        self.load_all(&["."])
    }

    fn load_all(&self, paths: &[&str]) -> Loaded {
        let options = LoadOptions {
            dialect: Some(self.dialect),
            unset_variables: self.unset,
            server_from: ServerFrom::Targets,
            image_from: ImageFrom::Suite,
            started_in: self.started_in,
            fixture_from: self.fixture_from,
            servers_in: None,
            environment: &self.environment,
        };
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        load(&paths, &options).unwrap()
    }

    /// All that is wrong, drawn.
    fn shown(&self) -> String {
        let loaded = self.load();
        let drawn: Vec<String> = loaded
            .suite
            .problems
            .iter()
            .map(|problem| problem.render(Colour::Off))
            .collect();
        drawn.join("\n\n")
    }

    fn assertions(&self) -> Vec<Arc<Assertion>> {
        let loaded = self.load();
        loaded
            .suite
            .entries
            .iter()
            .map(|entry| match entry {
                Entry::Assertion(assertion) => Arc::clone(assertion),
                Entry::Invalid { reasons, .. } => panic!("{reasons:?}"),
            })
            .collect()
    }

    /// Adds a file that is no text.
    fn bytes(self, path: &str, bytes: &[u8]) -> Self {
        fs::write(self.folder.path().join(path), bytes).unwrap();
        self
    }

    /// Adds a symbolic link.
    fn link(self, path: &str, target: &str) -> Self {
        std::os::unix::fs::symlink(target, self.folder.path().join(path)).unwrap();
        self
    }

    /// The code of the problem for which a path is refused as a whole.
    fn refused(&self, path: &str) -> &'static str {
        let options = LoadOptions {
            dialect: Some(self.dialect),
            unset_variables: self.unset,
            server_from: ServerFrom::Targets,
            image_from: ImageFrom::Suite,
            started_in: self.started_in,
            fixture_from: self.fixture_from,
            servers_in: None,
            environment: &self.environment,
        };
        load(&[PathBuf::from(path)], &options)
            .unwrap_err()
            .problem
            .code
    }

    /// A collector of problems for a text.
    fn problems(text: &str) -> Problems {
        let file = SourceFile::new("a.yaml".into(), text.into());
        Problems::new(Arc::new(file), None)
    }
}
