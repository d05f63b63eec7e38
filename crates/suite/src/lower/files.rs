//! Expectations about files. They need the fixture.

use globset::GlobBuilder;

use super::{FixtureFrom, Lowering, StartedIn};
use crate::{
    model::expectation::{FileTexts, FilesWanted, PathPattern, Wanted},
    problems,
    raw::{Field, value::Texts},
    yaml::{At, Key},
};

impl Lowering<'_> {
    /// Files and texts of a key at a place.
    pub(super) fn files(
        &mut self,
        key: &str,
        files: Vec<(Key, Vec<String>)>,
        at: At,
    ) -> Option<Vec<FileTexts>> {
        self.uses_fixture = true;
        if files.is_empty() {
            self.problem(at, problems::empty_value(key));
            return None;
        }
        let files = files.into_iter().map(|(path, texts)| {
            self.check_file(key, &path.text, path.at);
            let path = path.text;
            FileTexts { path, texts }
        });
        Some(files.collect())
    }

    /// The expectation of paths.
    pub(super) fn paths(
        &mut self,
        key: &'static str,
        field: Option<Field<Texts>>,
        wanted: fn(Vec<String>) -> FilesWanted,
    ) -> Option<Wanted> {
        self.one(key, field, |it, field| {
            it.uses_fixture = true;
            for path in &field.value.0 {
                it.check_file(key, &path.text, path.at);
            }
            it.strings(key, field).map(wanted)
        })
    }

    /// Reports a pattern, and a file outside of the fixture: no such file appears, so that `file_not_exists` always
    /// holds.
    fn check_file(&mut self, key: &str, path: &str, at: At) {
        let is_absence = key == "file_not_exists";
        // A folder may be named `[id]`. If it is required to be there, that shows that the name is meant.
        let has_class = is_absence
            && path
                .split_once('[')
                .is_some_and(|(_, rest)| rest.contains(']'));
        if path.contains(['*', '?']) || has_class {
            self.problems().add_certain(at, problems::no_pattern(path));
        }
        // In a container all files are the server's.
        let is_of_copy =
            self.fixture_from == FixtureFrom::Given && self.runs_in == StartedIn::Processes;
        if is_absence && path.starts_with('/') && is_of_copy {
            let reason = "a file of the fixture is never there";
            self.native_problem(at, problems::outside_fixture(path, reason));
        }
    }

    /// Path patterns, relative to the fixture.
    pub(super) fn globs(&mut self, texts: Texts) -> Vec<PathPattern> {
        self.uses_fixture = true;
        let globs = texts.0.into_iter().filter_map(|text| {
            if text.text.starts_with('/') || text.text.starts_with("../") {
                let reason = "it matches nothing, because `only_changed` looks at the fixture only";
                self.problem(text.at, problems::outside_fixture(&text.text, reason));
            }
            let pattern = self.as_glob(&text.text, text.at);
            let relative = pattern.strip_prefix("./").unwrap_or(&pattern);
            match GlobBuilder::new(relative).literal_separator(true).build() {
                Ok(glob) => Some(PathPattern {
                    glob: glob.compile_matcher(),
                    written: text.text,
                }),
                Err(error) => {
                    let reason = error.kind().to_string();
                    self.problem(text.at, problems::bad_glob(&text.text, &reason));
                    None
                }
            }
        });
        globs.collect()
    }
}
