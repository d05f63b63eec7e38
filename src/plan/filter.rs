//! Which assertions are selected: patterns over ids and names, and tags.

use globset::{Glob, GlobMatcher};

use crate::suite::model::Case;

/// The selection of a run. Empty lists select everything.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    patterns: Vec<Pattern>,
    tags: Vec<String>,
    not_tags: Vec<String>,
}

/// A pattern as typed: with `*`, `?`, `[` or `{` a glob, else a text to be contained.
#[derive(Debug)]
enum Pattern {
    Contains(String),
    Glob(GlobMatcher),
}

/// A glob that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`--filter {pattern}` is no valid glob: {reason}")]
pub(crate) struct BadPattern {
    /// The pattern as typed.
    pub(crate) pattern: String,
    /// What is wrong with it.
    pub(crate) reason: String,
}

impl Filter {
    /// Makes a filter: any pattern may match, all of `tags` need one match, none of `not_tags` may.
    pub(crate) fn new(
        patterns: &[String],
        tags: &[String],
        not_tags: &[String],
    ) -> Result<Self, BadPattern> {
        let patterns = patterns
            .iter()
            .map(|pattern| Pattern::new(pattern))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            patterns,
            tags: tags.to_vec(),
            not_tags: not_tags.to_vec(),
        })
    }

    /// Whether the assertion is selected.
    pub(crate) fn selects(&self, case: &Case) -> bool {
        let named =
            self.patterns.is_empty() || self.patterns.iter().any(|pattern| pattern.matches(case));
        let tagged = self.tags.is_empty() || self.tags.iter().any(|tag| case.tags.contains(tag));
        let refused = self.not_tags.iter().any(|tag| case.tags.contains(tag));
        named && tagged && !refused
    }
}

impl Pattern {
    fn new(text: &str) -> Result<Self, BadPattern> {
        if !text.contains(['*', '?', '[', '{']) {
            return Ok(Self::Contains(text.to_owned()));
        }
        let glob = Glob::new(text).map_err(|error| BadPattern {
            pattern: text.to_owned(),
            reason: error.kind().to_string(),
        })?;
        Ok(Self::Glob(glob.compile_matcher()))
    }

    fn matches(&self, case: &Case) -> bool {
        match self {
            Self::Contains(text) => case.id.contains(text.as_str()),
            Self::Glob(glob) => glob.is_match(&case.id) || glob.is_match(&case.name),
        }
    }
}
