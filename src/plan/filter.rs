//! Which assertions are selected: patterns over ids and names, and tags.

use globset::{Glob, GlobMatcher};

use crate::{suite::model::Case, words::text::clean};

/// The selection of a run. Empty lists select everything.
#[derive(Debug, Default)]
pub(crate) struct Filter {
    patterns: Vec<Pattern>,
    tags: Vec<String>,
    not_tags: Vec<String>,
}

/// A pattern: with `*`, `?`, `[` or `{` a glob, else a text to be contained. As typed, and as ids show what was typed.
#[derive(Debug)]
enum Pattern {
    Contains {
        typed: String,
        shown: String,
    },
    Glob {
        typed: GlobMatcher,
        shown: GlobMatcher,
    },
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
            return Ok(Self::Contains {
                typed: text.to_owned(),
                shown: as_shown(text),
            });
        }
        let glob = |pattern: &str| {
            let glob = Glob::new(pattern).map_err(|error| BadPattern {
                pattern: text.to_owned(),
                reason: error.kind().to_string(),
            })?;
            Ok(glob.compile_matcher())
        };
        Ok(Self::Glob {
            typed: glob(text)?,
            shown: glob(&glob_as_shown(text))?,
        })
    }

    fn matches(&self, case: &Case) -> bool {
        match self {
            Self::Contains { typed, shown } => {
                let found = |text: &String| case.id.contains(text.as_str());
                found(typed) || found(shown) || case.name.contains(typed.as_str())
            }
            Self::Glob { typed, shown } => {
                typed.is_match(&case.id) || shown.is_match(&case.id) || typed.is_match(&case.name)
            }
        }
    }
}

/// A part of a name as ids have it, for one that was copied from the suite.
fn as_shown(text: &str) -> String {
    clean(text).replace('\n', " ⏎ ").replace('\t', " ")
}

/// The same of a glob, in which what a sign is shown as means itself.
fn glob_as_shown(pattern: &str) -> String {
    let mut glob = String::with_capacity(pattern.len());
    for sign in pattern.chars() {
        let (typed, shown) = (sign.to_string(), as_shown(&sign.to_string()));
        if shown == typed {
            glob.push(sign);
        } else {
            for sign in shown.chars() {
                glob.extend(['[', sign, ']']);
            }
        }
    }
    glob
}
