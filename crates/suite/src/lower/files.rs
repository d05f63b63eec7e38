//! Expectations about files. Whoever looks at files gets a fixture.

use globset::GlobBuilder;

use super::{FixtureFrom, Lowering, StartedIn};
use crate::{
    Dialect,
    model::expectation::{FileTexts, PathPattern},
    problems,
    raw::{
        Field,
        value::{Table, Text, TextTable, Texts},
    },
    yaml::{At, Key},
};

impl Lowering<'_> {
    /// Files and the texts they hold or do not hold.
    pub(super) fn file_texts(
        &mut self,
        key: &str,
        field: Field<Table<Texts>>,
    ) -> Option<Vec<FileTexts>> {
        let files = field.value.0.into_iter();
        let files = files.map(|(path, texts)| (path, texts.strings())).collect();
        self.files(key, files, field.key)
    }

    /// Files and what they are.
    pub(super) fn whole_files(&mut self, field: Field<TextTable>) -> Option<Vec<FileTexts>> {
        let files = field.value.0.into_iter();
        let files = files.map(|(path, text)| (path, vec![text.text])).collect();
        self.files("file_equals", files, field.key)
    }

    /// Files and texts of a key at a place.
    fn files(
        &mut self,
        key: &str,
        files: Vec<(Key, Vec<String>)>,
        at: At,
    ) -> Option<Vec<FileTexts>> {
        self.uses_fixture = true;
        if files.is_empty() {
            self.problem(at, |origin| problems::empty_value(origin, key));
            return None;
        }
        let mut found = Vec::with_capacity(files.len());
        for (path, texts) in files {
            self.check_file(key, &path.text, path.at);
            let path = path.text;
            found.push(FileTexts { path, texts });
        }
        Some(found)
    }

    /// Paths.
    pub(super) fn paths(&mut self, key: &str, field: Field<Texts>) -> Option<Vec<String>> {
        self.uses_fixture = true;
        for path in &field.value.0 {
            self.check_file(key, &path.text, path.at);
        }
        self.strings(key, field)
    }

    /// Tells a path that is not what it looks like: a pattern, or a file of the fixture. What is named so is never
    /// there, which `file_not_exists` takes for granted.
    fn check_file(&mut self, key: &str, path: &str, at: At) {
        let is_absence = key == "file_not_exists";
        // Folders are named in brackets too, as `[id]`, and one that must be there shows that it is meant.
        let has_class = is_absence
            && path
                .split_once('[')
                .is_some_and(|(_, rest)| rest.contains(']'));
        if path.contains(['*', '?']) || has_class {
            self.certain_problem(at, |origin| problems::no_pattern(origin, path));
        }
        // In a container the rest of its files is the server's as well.
        let is_of_copy =
            self.fixture_from == FixtureFrom::Given && self.runs_in == StartedIn::Processes;
        if is_absence && path.starts_with('/') && is_of_copy && self.dialect() == Dialect::Native {
            self.certain_problem(at, |origin| {
                let what = "nothing that happens in the fixture puts a file there";
                problems::outside_fixture(origin, path, what)
            });
        }
    }

    /// Tells a pattern of which nothing in the fixture can be one.
    fn check_pattern(&mut self, text: &Text) {
        if text.text.starts_with('/') || text.text.starts_with("../") {
            self.certain_problem(text.at, |origin| {
                let what = "it matches nothing, for `only_changed` looks at the fixture alone";
                problems::outside_fixture(origin, &text.text, what)
            });
        }
    }

    /// Path patterns, relative to the fixture.
    pub(super) fn globs(&mut self, texts: Texts) -> Vec<PathPattern> {
        self.uses_fixture = true;
        texts
            .0
            .into_iter()
            .filter_map(|text| {
                self.check_pattern(&text);
                let pattern = self.as_glob(&text.text, text.at);
                let relative = pattern.strip_prefix("./").unwrap_or(&pattern);
                let glob = GlobBuilder::new(relative).literal_separator(true).build();
                match glob {
                    Ok(glob) => Some(PathPattern {
                        glob: glob.compile_matcher(),
                        written: text.text,
                    }),
                    Err(error) => {
                        let reason = error.kind().to_string();
                        self.problem(text.at, |origin| {
                            problems::bad_glob(origin, &text.text, &reason)
                        });
                        None
                    }
                }
            })
            .collect()
    }
}
