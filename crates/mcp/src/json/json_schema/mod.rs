//! JSON Schemas, compiled: nothing is fetched, and a pattern gives up after a bounded number of tries. Schemas of
//! suites and schemas that servers declare are compiled alike. What a schema says about an answer is `check`'s.

mod files;
mod keywords;
mod references;
mod size;

use jsonschema::{
    FancyRegex, PatternOptions, ReferencingError, ValidationError, ValidationOptions, Validator,
    error::ValidationErrorKind,
};
use serde_json::Value;

pub use self::{
    files::{Base, Unusable, compile_beside},
    keywords::{DATA, NAMED_SCHEMAS, misspelt},
    references::References,
    size::{MOST_DIGITS, is_calculable},
};

/// The most memory one compiled pattern may take, in bytes.
const LARGEST_PATTERN: usize = 6 * 1024 * 1024;

/// How often a pattern with look-around or a back reference may try another way: a few milliseconds.
const MOST_TRIES: usize = 100_000;

/// Reads a document that a schema refers to.
pub type ReadDocument<'a> = dyn Fn(&std::path::Path) -> Result<String, String> + 'a;

/// A compiled schema.
#[derive(Debug, Clone)]
pub struct Schema(Validator);

/// Why a schema is not compiled.
#[derive(Debug)]
pub enum NotCompiled {
    /// It has more references than [`size::MOST_REFERENCES`].
    TooLarge,
    /// It is not a valid schema, or refers to a document that is not fetched.
    Invalid(Box<Invalid>),
}

/// Why a schema is invalid.
#[derive(Debug)]
pub struct Invalid {
    /// What is wrong.
    pub message: String,
    /// The place, as a JSON Pointer.
    place: String,
    /// The part that is wrong.
    about: Value,
    /// Whether it refers to a document elsewhere, which is not fetched.
    pub is_elsewhere: bool,
}

impl Invalid {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the errors are the library's, and all others are told in its words"
    )]
    fn new(error: &ValidationError<'_>) -> Self {
        let (message, is_elsewhere) = match error.kind() {
            ValidationErrorKind::Referencing(reference) => (
                of_reference(reference),
                matches!(
                    reference,
                    ReferencingError::Unretrievable { .. }
                        | ReferencingError::UnknownSpecification { .. }
                ),
            ),
            _ => (error.to_string(), false),
        };
        Self {
            message,
            place: error.instance_path().to_string(),
            about: error.instance().as_ref().clone(),
            is_elsewhere,
        }
    }

    fn of_numbers() -> Self {
        Self {
            message: "it holds a number of absurd size".to_owned(),
            place: String::new(),
            about: Value::Null,
            is_elsewhere: false,
        }
    }
}

/// Why a reference is invalid.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the errors are the library's, and all others are told in its words"
)]
fn of_reference(error: &ReferencingError) -> String {
    match error {
        ReferencingError::PointerToNowhere { pointer } => {
            format!("nothing stands at `#{pointer}`, which it refers to")
        }
        ReferencingError::NoSuchAnchor { anchor } => {
            format!("it refers to `#{anchor}`, and no part of it has that name")
        }
        other => other.to_string(),
    }
}

/// Compiles a schema that stands alone, in its own draft, or 2020-12 when it names none.
pub fn compile(schema: &Value) -> Result<Schema, NotCompiled> {
    build(schema, jsonschema::options().offline())
}

fn build(schema: &Value, options: ValidationOptions<'_>) -> Result<Schema, NotCompiled> {
    if !is_calculable(schema) {
        return Err(NotCompiled::Invalid(Box::new(Invalid::of_numbers())));
    }
    if !size::is_followed(schema) {
        return Err(NotCompiled::TooLarge);
    }
    options
        .with_pattern_options(patterns())
        .build(schema)
        .map(Schema)
        .map_err(|error| NotCompiled::Invalid(Box::new(Invalid::new(&error))))
}

/// How patterns are compiled.
fn patterns() -> PatternOptions<FancyRegex> {
    PatternOptions::fancy_regex()
        .size_limit(LARGEST_PATTERN)
        .backtrack_limit(MOST_TRIES)
}

impl Schema {
    /// Validates a document. It has no bound on its time: the caller has a deadline.
    pub fn validator(&self) -> &Validator {
        &self.0
    }
}

/// Whether an error says that a pattern could not be decided, and nothing about the document.
pub fn is_undecided(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

#[cfg(test)]
mod tests;
