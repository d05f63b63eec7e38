//! Suites as people write them: what loads, and the exact text shown for what does not.

use std::{fs, path::PathBuf, sync::Arc};

use super::{
    Dialect,
    discover::{LoadOptions, Loaded, load},
    lower::{ServerFrom, UnsetVariables},
    model::{Assertion, Entry},
};
use crate::words::{diagnostic::Colour, environment::Environment};

/// A suite in a temporary folder.
struct Sample {
    folder: tempfile::TempDir,
    dialect: Dialect,
    environment: Environment,
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
            environment,
        }
    }

    fn one(text: &str) -> Self {
        Self::new(&[("a.yaml", text)])
    }

    fn compat(mut self) -> Self {
        self.dialect = Dialect::Compat;
        self
    }

    fn load(&self) -> Loaded {
        let options = LoadOptions {
            dialect: self.dialect,
            unset_variables: UnsetVariables::Warn,
            server_from: ServerFrom::Suite,
            environment: &self.environment,
        };
        load(&[PathBuf::from(".")], &options).unwrap()
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
}

#[test]
fn a_small_suite_loads() {
    let sample = Sample::one(
        "name: echo works\nserver: {command: srv, args: ['{{fixture}}', 5]}\nassert:\n  tool: echo\n  args: {message: hi}\n  expect:\n    not_error: true\n    contains: hi\n",
    );
    assert_eq!(sample.shown(), "");
    let assertions = sample.assertions();
    assert_eq!(assertions.len(), 1);
    assert_eq!(assertions[0].case.id, "a.yaml::echo works");
    assert_eq!(assertions[0].wanted.len(), 2);
    assert!(assertions[0].uses_fixture);
}
