//! JSON Schemas, compiled: nothing is fetched, patterns mean what ECMA-262 says, and no pattern may take for
//! ever. The schemas of suites and those that servers declare are compiled alike.

mod ecma;
mod effort;
mod files;
mod references;

use jsonschema::{
    FancyRegex, PatternOptions, ValidationError, Validator, error::ValidationErrorKind,
};
use serde_json::Value;

pub(crate) use self::{
    effort::{is_bearable, is_compilable},
    files::{Base, compile_beside},
    references::References,
};

/// The most memory one pattern of a schema may take, in bytes.
const LARGEST_PATTERN: usize = 4 * 1024 * 1024;

/// How often a pattern with look-around or a back reference may try another way before it is given up; a
/// few milliseconds.
const MOST_TRIES: usize = 100_000;

/// Reads a document that a schema refers to.
pub(crate) type ReadDocument<'a> = dyn Fn(&std::path::Path) -> Result<String, String> + 'a;

/// The validator of a schema that stands alone: its own draft, 2020-12 when it names none.
pub(crate) fn compile(schema: &Value) -> Result<Validator, ValidationError<'static>> {
    jsonschema::options()
        .offline()
        .with_pattern_options(patterns())
        .build(&ecma::translated(schema))
}

/// Whether an error says that a pattern could not be decided, and nothing about the document.
pub(crate) fn is_undecided(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

fn patterns() -> PatternOptions<FancyRegex> {
    PatternOptions::fancy_regex()
        .size_limit(LARGEST_PATTERN)
        .backtrack_limit(MOST_TRIES)
}

#[cfg(test)]
mod tests;
