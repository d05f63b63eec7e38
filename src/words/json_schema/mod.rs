//! JSON Schemas, compiled: nothing is fetched, patterns mean what ECMA-262 says, and no pattern may take for
//! ever. The schemas of suites and those that servers declare are compiled alike.

mod ecma;
mod effort;
mod files;
mod keywords;
mod layout;
mod patterns;
mod plain;
mod references;
mod size;

use std::sync::Arc;

use jsonschema::{
    ReferencingError, Retrieve, Uri, ValidationError, Validator, error::ValidationErrorKind,
};
use serde_json::Value;

use self::{ecma::Written, layout::Layout};
pub(crate) use self::{
    ecma::{DATA, NAMED_SCHEMAS},
    files::{Base, Unusable, compile_beside},
    keywords::misspelt,
    plain::{is_plain, is_plainly_satisfied},
    references::References,
    size::{MOST_DIGITS, is_calculable},
};

/// Reads a document that a schema refers to.
pub(crate) type ReadDocument<'a> = dyn Fn(&std::path::Path) -> Result<String, String> + 'a;

/// A compiled schema.
#[derive(Debug, Clone)]
pub(crate) struct Schema {
    validator: Validator,
    layout: Layout,
    written: Arc<Written>,
}

/// Why a schema is not compiled.
#[derive(Debug)]
pub(crate) enum NotCompiled {
    /// Too many schemas lie within each other, through references or without.
    TooDeep,
    /// Its patterns take too much memory together.
    PatternsTooLarge,
    /// It is none, or refers to a document that is not fetched.
    Invalid(Box<Invalid>),
}

/// What is wrong with a schema, in the words of its author.
#[derive(Debug)]
pub(crate) struct Invalid {
    /// What is wrong.
    pub(crate) message: String,
    /// The way to the place, as a JSON Pointer.
    place: String,
    /// The part that is wrong.
    about: Value,
    /// Whether that is a document elsewhere, which cannot be had: nobody knows what it would say.
    pub(crate) is_elsewhere: bool,
}

impl Invalid {
    fn new(error: &ValidationError<'_>, written: &Written) -> Self {
        Self {
            message: written.told_of_schema(error),
            place: error.instance_path().to_string(),
            about: written.restored(error.instance()),
            is_elsewhere: matches!(
                error.kind(),
                ValidationErrorKind::Referencing(
                    ReferencingError::Unretrievable { .. }
                        | ReferencingError::UnknownSpecification { .. }
                )
            ),
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

/// A schema that stands alone, in its own draft, or 2020-12 when it names none.
pub(crate) fn compile(schema: &Value) -> Result<Schema, NotCompiled> {
    if !is_calculable(schema) {
        return Err(NotCompiled::Invalid(Box::new(Invalid::of_numbers())));
    }
    if !patterns::are_bearable(schema) {
        return Err(NotCompiled::PatternsTooLarge);
    }
    let mut written = Written::default();
    let schema = written.translate(schema);
    let invalid =
        |error: ValidationError<'_>| NotCompiled::Invalid(Box::new(Invalid::new(&error, &written)));
    let layout =
        Layout::new(schema.clone(), None, Nothing).map_err(|error| invalid(error.into()))?;
    if !effort::is_compilable(&layout) {
        return Err(NotCompiled::TooDeep);
    }
    let validator = jsonschema::options()
        .offline()
        .with_pattern_options(patterns::options())
        .build(&schema)
        .map_err(invalid)?;
    Ok(Schema {
        validator,
        layout,
        written: Arc::new(written),
    })
}

impl Schema {
    /// What holds a document against it. Has no bound of its own: ask [`Self::is_bearable`] first.
    pub(crate) fn validator(&self) -> &Validator {
        &self.validator
    }

    /// What an error of the validator says, with patterns as the schema writes them.
    pub(crate) fn told(&self, error: &ValidationError<'_>) -> String {
        self.written.told(error)
    }

    /// Whether a document can be held against it in ordinary time and memory.
    pub(crate) fn is_bearable(&self, document: &Value) -> bool {
        effort::is_bearable(&self.layout, document)
    }
}

/// Has no documents.
struct Nothing;

impl Retrieve for Nothing {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Err("documents elsewhere are not fetched".into())
    }
}

/// Whether an error says that a pattern could not be decided, and nothing about the document.
pub(crate) fn is_undecided(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        ValidationErrorKind::BacktrackLimitExceeded { .. }
            | ValidationErrorKind::RegexEngineFailure { .. }
    )
}

#[cfg(test)]
mod tests;
