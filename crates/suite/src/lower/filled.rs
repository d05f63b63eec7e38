//! Texts of expectations that were filled in. The author's text has meaning as a matcher, a pattern or a key; what a
//! server sent is data and stands for itself. The parts of a text tell the two apart.

use super::Lowering;
use crate::{
    problems,
    yaml::{At, Source},
};
use mcp::script::{quoting, template::Part};

impl Lowering<'_> {
    /// The parts of a text: the author's, and data.
    fn parts_of(&self, text: &str, at: At) -> Vec<Part> {
        match at.source {
            Source::Suite | Source::Settings => vec![Part::Written(text.to_owned())],
            Source::Data => vec![Part::Data(text.to_owned())],
            Source::Filled(number) => self.filled.get(number).cloned().unwrap_or_default(),
        }
    }

    /// A text as a pattern in which data stands for itself; under the Go tool's rules it is part of the pattern.
    pub(super) fn as_pattern(&self, text: &str, at: At) -> String {
        if self.is_compat() {
            return text.to_owned();
        }
        quoting::pattern(&self.parts_of(text, at))
    }

    /// A text as a path into JSON in which data stands for itself; under the Go tool's rules it is part of the path.
    pub(super) fn as_path(&mut self, text: String, at: At) -> Option<String> {
        if at.is_written() || self.is_compat() {
            return Some(text);
        }
        let path = quoting::path(&self.parts_of(&text, at));
        path.map_err(|reason| self.problem(at, problems::bad_path(&text, &reason)))
            .ok()
    }

    /// A text as a path pattern in which data stands for itself.
    pub(super) fn as_glob(&self, text: &str, at: At) -> String {
        let parts = self.parts_of(text, at).into_iter().map(|part| match part {
            Part::Written(text) => text,
            Part::Data(text) => globset::escape(&text),
        });
        parts.collect()
    }

    /// Whether the first and the last character at a place are the author's.
    pub(super) fn has_written_ends(&self, text: &str, at: At) -> bool {
        let parts = self.parts_of(text, at);
        let written = |part: Option<&Part>| matches!(part, Some(Part::Written(_)));
        written(parts.first()) && written(parts.last())
    }
}
