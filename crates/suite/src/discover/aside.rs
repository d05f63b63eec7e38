//! Folders of a suite that are not read because of their names, and whether somebody should be told.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use super::walk;
use crate::{
    Dialect,
    lower::assertion,
    problems::Problems,
    yaml::{self, Kind, Node, Source},
};
use text::source::SourceFile;

/// The most files of a folder that are looked at.
const MOST_FILES: usize = 20;

/// The largest of them, in bytes.
const LARGEST_FILE: u64 = 256 * 1024;

/// A folder that is not read.
#[derive(Debug)]
pub(super) struct Aside {
    /// Its path from the suite.
    pub(super) relative: String,
    /// The path it is read by.
    pub(super) path: PathBuf,
    /// What of its name speaks against it.
    pub(super) name: NameSays,
}

/// What the name of a folder says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameSays {
    /// A fixture.
    Fixture,
    /// Packages of others.
    Packages,
    /// Nothing that people look at.
    Hidden,
}

impl NameSays {
    /// What a name says; `None` for all others.
    pub(super) fn of(name: &str) -> Option<Self> {
        match name {
            "fixtures" | "fixture" => Some(Self::Fixture),
            "node_modules" => Some(Self::Packages),
            hidden if hidden.starts_with('.') => Some(Self::Hidden),
            _ => None,
        }
    }
}

impl Aside {
    /// Why it is not read, as a clause; `None` where nobody would expect it to be: a folder of tools is hidden in every
    /// second project.
    pub(super) fn told(&self) -> Option<&'static str> {
        match self.name {
            NameSays::Fixture => Some("its name says that it holds no assertions"),
            NameSays::Packages => holds_suites(&self.path)
                .then_some("it is for packages of others, and a suite lies in it"),
            NameSays::Hidden => {
                holds_suites(&self.path).then_some("it is hidden, and a suite lies in it")
            }
        }
    }
}

/// Whether a suite lies in a folder itself. What is below is not looked at: it may be a whole repository.
fn holds_suites(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|path| {
        let is_small = |found: fs::Metadata| found.is_file() && found.len() <= LARGEST_FILE;
        walk::is_yaml(path) && fs::metadata(path).is_ok_and(is_small)
    });
    let mut texts = files.take(MOST_FILES).map(fs::read_to_string);
    texts.any(|text| text.is_ok_and(|text| is_suite(&text)))
}

/// Whether a text can be nothing but a suite: other tools have files with `steps`, too.
fn is_suite(text: &str) -> bool {
    let file = Arc::new(SourceFile::new(String::new(), String::new()));
    let problems = Problems::new(file, None);
    let documents = yaml::parse(text, Source::Suite, problems, Dialect::Native);
    let mut roots = documents.filter_map(|document| document.root);
    roots.any(|root| {
        let subjects = assertion::subjects_of(&root);
        let mut keys = subjects.iter().map(|(key, _)| *key);
        has_server(&root) && !subjects.is_empty()
            || keys.any(|key| key.starts_with("assert") || key == "trajectory")
    })
}

/// Whether a file with the settings' name is an assertion after all.
pub(super) fn is_assertion(text: &str) -> bool {
    let file = Arc::new(SourceFile::new(String::new(), String::new()));
    let problems = Problems::new(file, None);
    yaml::parse(text, Source::Suite, problems, Dialect::Native)
        .filter_map(|document| document.root)
        .any(|root| !assertion::subjects_of(&root).is_empty())
}

fn has_server(root: &Node) -> bool {
    match &root.kind {
        Kind::Map(entries) => entries.iter().any(|entry| entry.key.text == "server"),
        Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => false,
    }
}
