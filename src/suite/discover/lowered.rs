//! What one file holds, read and lowered by itself, on whatever thread. What it is beside the files before it, its ids
//! for one, is `discover`'s; what a document means is `suite::lower`'s.

use std::{path::Path, sync::Arc};

use super::{
    SETTINGS,
    aside::is_assertion,
    folder::{Folder, Sources},
    shown, shown_below,
    text::read_text,
    walk::FoundFile,
    wrong::{self, is_error},
};
use crate::{
    suite::{
        lower::assertion::{self, Found, Outline},
        model::{Case, Lower, MOST_WHOLE},
        problems::Problems,
        raw::Reading,
        yaml::{self, Document, Kind, Node, Source},
    },
    words::{diagnostic::Diagnostic, environment::Environment, source::SourceFile},
};

/// The folders of a suite. Files come folder by folder.
pub(super) struct Folders {
    first: Place,
    /// Those after it, each with the number of its first file.
    rest: Vec<(usize, Place)>,
}

/// A folder, and how a document of it that is alone in its file is lowered again.
struct Place {
    folder: Arc<Folder>,
    again: Arc<Lower>,
}

/// How the files of a suite are read.
pub(super) struct Reader<'a> {
    /// The path that was given.
    pub(super) path: &'a Path,
    /// Whether it is a folder.
    pub(super) is_folder: bool,
    /// The caller's environment.
    pub(super) environment: &'a Environment,
    /// What the files are lowered with.
    pub(super) folders: &'a Folders,
    /// So many assertions there are already.
    pub(super) known: usize,
}

/// What came of a file.
pub(super) enum FileLowered {
    /// Nothing: it could not be read.
    Unreadable {
        /// The file as it is shown.
        shown: String,
        /// Why.
        problem: Box<Diagnostic>,
    },
    /// It holds settings.
    Settings(Arc<SourceFile>),
    /// Its documents.
    Documents(Arc<SourceFile>, Vec<Lowered>),
}

/// One document.
pub(super) struct Lowered {
    /// What it is, without an id.
    pub(super) case: Case,
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
    Assertion(Box<Outline>),
    /// It cannot be used.
    Unusable,
}

impl Folders {
    /// The folder of the first file.
    pub(super) fn new(first: Folder) -> Self {
        Self {
            first: Place::new(first),
            rest: Vec::new(),
        }
    }

    /// Whether the last one has this path.
    pub(super) fn ends_with(&self, path: &Path) -> bool {
        let last = self.rest.last().map_or(&self.first, |(_, last)| last);
        last.folder.path == path
    }

    /// Adds the folder of the file of this number and of those after it.
    pub(super) fn add(&mut self, number: usize, folder: Folder) {
        self.rest.push((number, Place::new(folder)));
    }

    /// The folder of a file.
    fn of(&self, number: usize) -> &Place {
        let until = self.rest.partition_point(|(first, _)| *first <= number);
        let last = self.rest[..until].last();
        last.map_or(&self.first, |(_, place)| place)
    }
}

impl Place {
    fn new(folder: Folder) -> Self {
        let folder = Arc::new(folder);
        let again = Arc::clone(&folder);
        Self {
            folder,
            again: Arc::new(move |case: &Case| again.body(case)),
        }
    }
}

impl Reader<'_> {
    /// Reads the file of this number and lowers its documents.
    pub(super) fn lower(&self, number: usize, found: &FoundFile) -> FileLowered {
        let shown = if self.is_folder {
            shown_below(self.path, &found.relative, self.environment)
        } else {
            shown(self.path, self.environment)
        };
        let text = match read_text(&found.path, &shown) {
            Ok(text) => text,
            Err(problem) => return FileLowered::Unreadable { shown, problem },
        };
        let file = Arc::new(SourceFile::new(shown, text));
        if SETTINGS.contains(&found.name()) && !is_assertion(&file.text) {
            return FileLowered::Settings(file);
        }
        let many = self.known + number >= MOST_WHOLE;
        let Place { folder, again } = self.folders.of(number);
        let documents = folder.documents(&file, found.name(), many.then_some(again));
        FileLowered::Documents(file, documents)
    }
}

impl Folder {
    /// Lowers the documents of a file. What can be lowered again is not kept, where it is told how.
    fn documents(
        &self,
        file: &Arc<SourceFile>,
        name: &str,
        again: Option<&Arc<Lower>>,
    ) -> Vec<Lowered> {
        let problems = Problems::new(Arc::clone(file), self.settings.file.clone());
        let parsed = yaml::parse(&file.text, Source::Suite, problems.empty(), self.dialect);
        let mut parsed = parsed.peekable();
        let mut lowered = Vec::new();
        while let Some(document) = parsed.next() {
            let alone = lowered.is_empty() && parsed.peek().is_none();
            let reading = Reading::new(problems.empty(), self.dialect);
            lowered.push(self.document(document, name, reading, again.filter(|_| alone)));
        }
        lowered
    }

    /// Lowers one document of a file of this name.
    fn document(
        &self,
        document: Document,
        file: &str,
        mut reading: Reading,
        again: Option<&Arc<Lower>>,
    ) -> Lowered {
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
        reading.problems.add_all(broken);
        let (found, mut reading, sources) = match root {
            Some(root) => self.lower(root, reading),
            None => (Found::Unusable, reading, Sources::OwnText),
        };
        let problems = wrong::beside(&self.settings, reading.problems.take());
        let unusable = is_broken || problems.iter().any(is_error);
        let meaning = match found {
            Found::Nothing if !unusable => Meaning::Nothing,
            Found::Assertion(parts) if !unusable => {
                let again = match sources {
                    Sources::OwnText => again.cloned(),
                    Sources::OtherFiles => None,
                };
                Meaning::Assertion(Box::new(parts.outline(again)))
            }
            Found::Nothing | Found::Assertion(_) | Found::Unusable => Meaning::Unusable,
        };
        Lowered {
            case,
            meaning,
            problems,
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
