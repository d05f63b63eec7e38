//! Words of the Go tool of the same name that there are none of here.

use clap::{
    Error,
    builder::StyledStr,
    error::{ContextKind, ContextValue},
};

/// Commands of the Go tool that are not here, and the one option of its `run`.
const NOT_HERE: [&str; 11] = [
    "audit",
    "fuzz",
    "lint",
    "generate",
    "init",
    "coverage",
    "watch",
    "matrix",
    "intercept",
    "snapshot",
    "--fix",
];

/// The error; where it is about a word of the Go tool, it says so.
pub(super) fn with_meant(mut error: Error) -> Error {
    let kinds = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg];
    let found = kinds.into_iter().find_map(|kind| match error.get(kind) {
        Some(ContextValue::String(found)) => NOT_HERE.into_iter().find(|it| it == found),
        _ => None,
    });
    if let Some(found) = found {
        let text =
            format!("`{found}` of the Go tool is not here yet; docs/compat.md tells what is");
        let text = ContextValue::StyledStrs(vec![StyledStr::from(text)]);
        error.remove(ContextKind::SuggestedSubcommand);
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, text);
    }
    error
}
