//! The documents of one folder and what they are lowered with: when they are loaded, and once more when one of them
//! is to run. Which files and documents there are is `discover`'s.

use std::{cell::Cell, path::PathBuf, sync::Arc};

use super::{LoadOptions, text::read_beside};
use crate::{
    suite::{
        Dialect,
        lower::{
            Compiled, FixtureFrom, ImageFrom, ServerFrom, StartedIn, Surroundings, UnsetVariables,
            assertion::{self, Found},
        },
        model::{Body, Case},
        problems::Problems,
        raw::Reading,
        settings::Settings,
        yaml::{self, Node, Source},
    },
    words::environment::Environment,
};

/// A folder of a suite.
pub(super) struct Folder {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What the suite's settings say.
    pub(super) settings: Arc<Settings>,
    /// Whose rules apply.
    pub(super) dialect: Dialect,
    environment: Arc<Environment>,
    unset: UnsetVariables,
    server_from: ServerFrom,
    image_from: ImageFrom,
    started_in: StartedIn,
    fixture_from: FixtureFrom,
    compiled: Arc<Compiled>,
}

/// Whether a document says all that it means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sources {
    /// It does.
    OwnText,
    /// Other files were read for it, which may change.
    OtherFiles,
}

impl Folder {
    /// A folder; what is compiled for one is there for all.
    pub(super) fn new(
        path: PathBuf,
        (settings, dialect): (Arc<Settings>, Dialect),
        options: &LoadOptions<'_>,
        compiled: Arc<Compiled>,
    ) -> Self {
        Self {
            path,
            server_from: match options.server_from {
                ServerFrom::Suite | ServerFrom::Targets if settings.targets.is_empty() => {
                    ServerFrom::Suite
                }
                ServerFrom::Suite | ServerFrom::NoTarget => ServerFrom::NoTarget,
                ServerFrom::Targets | ServerFrom::Elsewhere => ServerFrom::Elsewhere,
            },
            settings,
            dialect,
            environment: Arc::clone(options.environment),
            unset: options.unset_variables,
            image_from: options.image_from,
            started_in: options.started_in,
            fixture_from: options.fixture_from,
            compiled,
        }
    }

    /// Lowers a document.
    pub(super) fn lower(&self, root: Node, reading: Reading) -> (Found, Reading, Sources) {
        let sources = Cell::new(Sources::OwnText);
        let around = Surroundings {
            environment: &self.environment,
            unset: self.unset,
            server_from: self.server_from,
            image_from: self.image_from,
            started_in: self.started_in,
            fixture_from: self.fixture_from,
            docker: self.settings.docker.as_ref(),
            directory: &self.path,
            read_file: &|path| {
                sources.set(Sources::OtherFiles);
                read_beside(&self.path, path)
            },
            defaults: self.settings.defaults.as_ref(),
        };
        let (found, reading) = assertion::lower(root, reading, &around, &self.compiled);
        (found, reading, sources.get())
    }

    /// What the only document of a case's file does and wants.
    pub(super) fn body(&self, case: &Case) -> Option<Body> {
        let file = &case.origin.file;
        let problems = Problems::new(Arc::clone(file), self.settings.file.clone());
        let mut documents = yaml::parse(&file.text, Source::Suite, problems.empty(), self.dialect);
        let reading = Reading::new(problems, self.dialect);
        let (found, _, _) = self.lower(documents.next()?.root?, reading);
        match found {
            Found::Assertion(parts) => Some(parts.body),
            Found::Nothing | Found::Unusable => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, sync::Arc};

    use super::Folder;
    use crate::{
        suite::{
            Dialect,
            discover::{Contents, LoadOptions, walk::Walk},
            lower::{
                FixtureFrom, ImageFrom, ServerFrom, StartedIn, UnsetVariables, assertion::Found,
            },
            model::Case,
            problems::Problems,
            raw::Reading,
            settings::Settings,
            yaml::{self, Source},
        },
        words::{
            environment::Environment,
            source::{Origin, SourceFile, Span},
        },
    };

    /// A folder whose documents may name no server.
    fn folder(path: &Path) -> Folder {
        let environment = Arc::new(Environment::default());
        let options = LoadOptions {
            dialect: None,
            unset_variables: UnsetVariables::Warn,
            server_from: ServerFrom::Elsewhere,
            image_from: ImageFrom::Elsewhere,
            started_in: StartedIn::Processes,
            fixture_from: FixtureFrom::Elsewhere,
            contents: Contents::Unasked,
            environment: &environment,
        };
        let rules = (Arc::new(Settings::default()), Dialect::Native);
        Folder::new(path.to_path_buf(), rules, &options, Arc::default())
    }

    #[test]
    fn a_document_means_the_same_the_second_time() {
        let evals = Path::new(env!("CARGO_MANIFEST_DIR")).join("evals");
        let mut walk = Walk::new(Dialect::Native);
        walk.folder(&evals);
        let files = walk.take_files();
        let texts = files.iter().flat_map(|file| {
            let text = fs::read_to_string(evals.join(&file.relative)).unwrap();
            text.split("\n---\n").map(str::to_owned).collect::<Vec<_>>()
        });
        let compared = texts.filter(|text| means_the_same(text)).count();
        assert!(compared > 60, "only {compared} documents were compared");
    }

    /// Compares both meanings of a text; `false` when it is no assertion.
    fn means_the_same(text: &str) -> bool {
        let folder = folder(Path::new("evals"));
        let file = Arc::new(SourceFile::new("a.yaml".to_owned(), text.to_owned()));
        let problems = Problems::new(Arc::clone(&file), None);
        let mut documents =
            yaml::parse(&file.text, Source::Suite, problems.empty(), folder.dialect);
        let Some(root) = documents.next().and_then(|document| document.root) else {
            return false;
        };
        let reading = Reading::new(problems, Dialect::Native);
        let (Found::Assertion(first), _, _) = folder.lower(root, reading) else {
            return false;
        };
        let case = Case {
            id: String::new(),
            name: String::new(),
            origin: Origin {
                file: Arc::clone(&file),
                span: Span::default(),
            },
            subject: "",
            tags: Vec::new(),
        };
        let second = folder.body(&case).unwrap();
        assert_eq!(format!("{:?}", first.body), format!("{second:?}"));
        true
    }
}
