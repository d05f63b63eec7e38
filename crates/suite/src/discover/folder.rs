//! The documents of one folder, and what they are lowered with.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{LoadOptions, is_error, text::read_beside};
use crate::{
    Dialect,
    lower::{
        Compiled, ServerFrom, Surroundings,
        assertion::{self, Found, subjects_of},
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
    /// Where the paths of its servers start.
    pub(super) servers: PathBuf,
    /// What the suite's settings say.
    pub(super) settings: Arc<Settings>,
    /// Whose rules apply.
    pub(super) dialect: Dialect,
    /// How the suite is loaded.
    pub(super) options: &'a LoadOptions<'a>,
    /// What all documents share.
    pub(super) compiled: &'a Compiled,
}

/// One document.
pub(super) struct Lowered {
    /// Its case, without an id.
    pub(super) case: Case,
    /// Its name in the file; its beginning when it has none.
    pub(super) named: Origin,
    /// What it means.
    pub(super) found: Found,
    /// What is wrong with it.
    pub(super) problems: Vec<Diagnostic>,
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
        let name = name.filter(|name| !name.trim().is_empty());
        let defaults = self.settings.defaults.as_ref();
        let tags = root.as_ref().map(|root| tags_of(root, defaults));
        let subjects = root.as_ref().map(subjects_of).unwrap_or_default();
        let case = Case {
            id: String::new(),
            name: name.unwrap_or_else(|| file.to_owned()),
            origin: reading.problems.origin(at),
            subject: subjects.first().map_or("", |(subject, _)| subject),
            tags: tags.unwrap_or_default(),
        };
        let named = root.as_ref().and_then(|root| root.entry("name"));
        let named = named.map(|entry| reading.problems.origin(entry.key.at.until(entry.value.at)));
        let named = named.unwrap_or_else(|| {
            let Origin { file, span } = case.origin.clone();
            let (start, end) = (span.start, span.start);
            let span = Span { start, end };
            Origin { file, span }
        });
        let mut unusable = root.is_none() || broken.iter().any(is_error);
        reading.problems.add_all(broken);
        let (found, mut reading) = match root {
            Some(root) => self.lower(root, &case, reading),
            None => (Found::Unusable, reading),
        };
        let problems = reading.problems.take();
        unusable |= problems.iter().any(is_error);
        Lowered {
            case,
            named,
            found: if unusable { Found::Unusable } else { found },
            problems,
        }
    }

    fn lower(&self, root: Node, case: &Case, reading: Reading) -> (Found, Reading) {
        let options = self.options;
        let around = Surroundings {
            environment: options.environment,
            unset: options.unset_variables,
            server_from: self.server_from(),
            image_from: options.image_from,
            started_in: options.started_in,
            fixture_from: options.fixture_from,
            docker: self.settings.docker.as_ref(),
            directory: &self.servers,
            read_file: &|path: &Path| read_beside(&self.path, path),
            defaults: self.settings.defaults.as_ref(),
        };
        assertion::lower(root, case, reading, &around, self.compiled)
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

/// The tags of a document: its own, else the settings'. A document that cannot be used is selected by them too.
fn tags_of(root: &Node, defaults: Option<&Node>) -> Vec<String> {
    let inherited = || defaults.and_then(|defaults| defaults.get("tags"));
    let Some(tags) = root.get("tags").or_else(inherited) else {
        return Vec::new();
    };
    let single = std::slice::from_ref(tags);
    let tags = if let Kind::List(items) = &tags.kind {
        items
    } else {
        single
    };
    let texts = tags.iter().filter_map(Node::written);
    texts.map(str::to_owned).collect()
}
