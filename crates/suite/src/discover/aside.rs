//! Folders of a suite that are not read because of their names, and files that are no settings.

use std::{path::PathBuf, sync::Arc};

use crate::{
    Dialect,
    lower::assertion,
    problems::Problems,
    yaml::{self, Source},
};
use text::source::SourceFile;

/// A folder that is passed over because its name says that it is a fixture.
#[derive(Debug)]
pub(super) struct Aside {
    /// Its path from the suite.
    pub(super) relative: String,
    /// The path it is read by.
    pub(super) path: PathBuf,
}

/// Whether a folder of this name is a fixture.
pub(super) fn is_fixture(name: &str) -> bool {
    matches!(name, "fixtures" | "fixture")
}

/// Whether a folder of this name holds nothing that people look at: it is hidden, or has packages of others.
pub(super) fn is_of_tools(name: &str) -> bool {
    name == "node_modules" || name.starts_with('.')
}

/// Whether a file with the settings' name is an assertion after all.
pub(super) fn is_assertion(text: &str) -> bool {
    let file = Arc::new(SourceFile::new(String::new(), String::new()));
    let problems = Problems::new(file, None);
    yaml::parse(text, Source::Suite, problems, Dialect::Native)
        .filter_map(|document| document.root)
        .any(|root| !assertion::subjects_of(&root).is_empty())
}
