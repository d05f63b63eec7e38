//! The documents of one folder, and what they are lowered with. Which files there are is `discover`'s; what a document
//! means is `suite::lower`'s.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{
    LoadOptions,
    text::read_beside,
    wrong::{self, is_error},
};
use crate::{
    Dialect,
    lower::{
        Compiled, ServerFrom, Surroundings,
        assertion::{self, Found, Parts},
    },
    model::Case,
    problems::Problems,
    raw::Reading,
    settings::Settings,
    yaml::{self, Document, Kind, Node, Source},
};
use text::{
    diagnostic::Diagnostic,
    source::{Origin, SourceFile, Span},
};

/// A folder of a suite.
pub(super) struct Folder<'a> {
    /// Where it is.
    pub(super) path: PathBuf,
    /// What the suite's settings say.
    pub(super) settings: Arc<Settings>,
    /// Whose rules apply.
    pub(super) dialect: Dialect,
    /// How the suite is loaded.
    pub(super) options: &'a LoadOptions<'a>,
    /// What is shared with all other documents.
    pub(super) compiled: &'a Compiled,
}

/// One document.
pub(super) struct Lowered {
    /// What it is, without an id.
    pub(super) case: Case,
    /// Its name in the file; its beginning where it has none.
    pub(super) named: Origin,
    /// What it means.
    pub(super) meaning: Meaning,
    /// What is wrong with it.
    pub(super) problems: Vec<Diagnostic>,
}

/// What a document means.
pub(super) enum Meaning {
    /// It holds no assertion.
    Nothing,
    /// An assertion.
    Assertion(Box<Parts>),
    /// It cannot be used.
    Unusable,
}

impl Folder<'_> {
    /// Lowers the documents of a file of this name.
    pub(super) fn documents(&self, file: &Arc<SourceFile>, name: &str) -> Vec<Lowered> {
        let problems = Problems::new(Arc::clone(file), self.settings.file.clone());
        let parsed = yaml::parse(&file.text, Source::Suite, problems.empty(), self.dialect);
        let reading = || Reading::new(problems.empty(), self.dialect);
        parsed
            .map(|document| self.document(document, name, reading()))
            .collect()
    }

    /// Lowers one document of a file of this name.
    fn document(&self, document: Document, file: &str, mut reading: Reading) -> Lowered {
        let Document {
            root,
            name,
            at,
            problems: broken,
        } = document;
        let is_broken = root.is_none() || broken.iter().any(is_error);
        let defaults = self.settings.defaults.as_ref();
        let tags = root.as_ref().map(|root| tags_of(root, defaults));
        let name = name
            .filter(|name| !name.trim().is_empty())
            .unwrap_or_else(|| file.to_owned());
        let subject = root
            .as_ref()
            .and_then(|root| assertion::subjects_of(root).first().copied())
            .map_or("", |(subject, _)| subject);
        let case = Case {
            id: String::new(),
            name,
            origin: reading.problems.origin(at),
            subject,
            tags: tags.unwrap_or_default(),
        };
        let named = root.as_ref().and_then(|root| root.entry("name"));
        let named = match named {
            Some(entry) => reading.problems.origin(entry.key.at.until(entry.value.at)),
            None => Origin {
                span: Span {
                    end: case.origin.span.start,
                    ..case.origin.span
                },
                ..case.origin.clone()
            },
        };
        reading.problems.add_all(broken);
        let (found, mut reading) = match root {
            Some(root) => self.lower(root, reading),
            None => (Found::Unusable, reading),
        };
        let problems = wrong::beside(&self.settings, reading.problems.take());
        let unusable = is_broken || problems.iter().any(is_error);
        let meaning = match found {
            Found::Nothing if !unusable => Meaning::Nothing,
            Found::Assertion(parts) if !unusable => Meaning::Assertion(parts),
            Found::Nothing | Found::Assertion(_) | Found::Unusable => Meaning::Unusable,
        };
        Lowered {
            case,
            named,
            meaning,
            problems,
        }
    }

    fn lower(&self, root: Node, reading: Reading) -> (Found, Reading) {
        let options = self.options;
        let around = Surroundings {
            environment: options.environment,
            unset: options.unset_variables,
            server_from: self.server_from(),
            image_from: options.image_from,
            started_in: options.started_in,
            fixture_from: options.fixture_from,
            docker: self.settings.docker.as_ref(),
            directory: &self.path,
            read_file: &|path: &Path| read_beside(&self.path, path),
            defaults: self.settings.defaults.as_ref(),
        };
        assertion::lower(root, reading, &around, self.compiled)
    }

    /// Where servers may come from, as far as the settings decide it.
    fn server_from(&self) -> ServerFrom {
        match self.options.server_from {
            ServerFrom::Suite | ServerFrom::Targets if self.settings.targets.is_empty() => {
                ServerFrom::Suite
            }
            ServerFrom::Suite | ServerFrom::NoTarget => ServerFrom::NoTarget,
            ServerFrom::Targets | ServerFrom::Elsewhere => ServerFrom::Elsewhere,
        }
    }
}

/// The tags of a document: its own, else the settings'. They are read as far as they can be, since a document that
/// cannot be used is selected by them too.
fn tags_of(root: &Node, defaults: Option<&Node>) -> Vec<String> {
    let text = |node: &Node| match &node.kind {
        Kind::Text(text, _) | Kind::Flag(_, text) | Kind::Number(_, text) => Some(text.clone()),
        Kind::Null | Kind::List(_) | Kind::Map(_) => None,
    };
    let inherited = || defaults.and_then(|defaults| defaults.get("tags"));
    match root.get("tags").or_else(inherited) {
        None => Vec::new(),
        Some(node) => match &node.kind {
            Kind::List(items) => items.iter().filter_map(text).collect(),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::Map(_) => {
                text(node).into_iter().collect()
            }
        },
    }
}
