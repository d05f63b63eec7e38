//! `{{name}}` in the suite's texts: `{{fixture}}`, `{{env.NAME}}`, `{{port}}` and captured values. A text is
//! parsed when the suite is loaded and rendered once when the value is needed; what is inserted is never
//! expanded again.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

use crate::words::environment::Environment;

/// A text that may hold `{{name}}` markers, as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    /// The text as the suite has it.
    pub(crate) text: String,
}

/// A JSON value whose string leaves may hold markers, as written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ValueTemplate {
    /// The value as the suite has it.
    pub(crate) value: Value,
}

/// The values that names stand for in one job.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bindings {
    /// The path of the fixture's copy as the server sees it.
    pub(crate) fixture: Option<String>,
    /// The environment `{{env.NAME}}` is read from.
    pub(crate) environment: Arc<Environment>,
    /// What setup steps captured so far.
    pub(crate) captured: BTreeMap<String, Value>,
    /// Whether names that nothing defines stay as they are (the Go tool's way) or are an error.
    pub(crate) unknown: UnknownNames,
}

/// What happens to a `{{name}}` that nothing defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum UnknownNames {
    /// It is an error naming the known ones.
    #[default]
    Refuse,
    /// It stays as it is.
    Keep,
}

/// A marker names something that has no value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{{{{{name}}}}}` has no value here")]
pub(crate) struct UnknownName {
    /// The name between the braces.
    pub(crate) name: String,
}
