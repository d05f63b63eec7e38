//! Expectations about files. Whoever looks at files gets a fixture.

use globset::GlobBuilder;

use super::Lowering;
use crate::suite::{
    model::expectation::{FileTexts, PathPattern},
    problems,
    raw::{
        Field,
        value::{Table, TextTable, Texts},
    },
};

impl Lowering<'_> {
    /// Files and the texts they hold or do not hold.
    pub(super) fn file_texts(
        &mut self,
        key: &str,
        field: Field<Table<Texts>>,
    ) -> Option<Vec<FileTexts>> {
        self.uses_fixture = true;
        if field.value.0.is_empty() {
            self.problem(field.key, |origin| problems::empty_value(origin, key));
            return None;
        }
        let files = field.value.0.into_iter().map(|(path, texts)| FileTexts {
            path: path.text,
            texts: texts.strings(),
        });
        Some(files.collect())
    }

    /// Files and what they are.
    pub(super) fn whole_files(&mut self, field: Field<TextTable>) -> Option<Vec<FileTexts>> {
        self.uses_fixture = true;
        if field.value.0.is_empty() {
            self.problem(field.key, |origin| {
                problems::empty_value(origin, "file_equals")
            });
            return None;
        }
        let files = field.value.0.into_iter().map(|(path, text)| FileTexts {
            path: path.text,
            texts: vec![text.text],
        });
        Some(files.collect())
    }

    /// Paths.
    pub(super) fn paths(&mut self, key: &str, field: Field<Texts>) -> Option<Vec<String>> {
        self.uses_fixture = true;
        self.strings(key, field)
    }

    /// Path patterns, relative to the fixture.
    pub(super) fn globs(&mut self, texts: Texts) -> Vec<PathPattern> {
        self.uses_fixture = true;
        texts
            .0
            .into_iter()
            .filter_map(|text| {
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
