//! What every room may use: text, JSON in texts, redaction, source positions, diagnostics, exit codes, environment, and the words
//! of a workflow's runner.

pub(crate) mod address;
pub(crate) mod credential;
pub(crate) mod diagnostic;
pub(crate) mod digest;
pub(crate) mod environment;
pub(crate) mod exit;
pub(crate) mod json_path;
pub(crate) mod json_schema;
pub(crate) mod json_text;
pub(crate) mod number;
pub(crate) mod redact;
pub(crate) mod source;
pub(crate) mod text;
pub(crate) mod unicode_form;
pub(crate) mod web;
pub(crate) mod workflow;
