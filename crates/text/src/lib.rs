//! What every room may use: text, JSON in texts, redaction, source positions, diagnostics, exit codes, environment, and the words
//! of a workflow's runner.

pub mod address;
pub mod credential;
pub mod diagnostic;
pub mod digest;
pub mod environment;
pub mod exit;
mod plain;
pub mod redact;
pub mod source;
pub mod web;
pub mod workflow;

pub use self::plain::{
    CUT, Excerpt, LINE_SHOWN, LINES_SHOWN, around, around_both, clean, clean_prose, count, excerpt,
    head, is_clean_prose, name, nearest, nearest_file, note_behind, time, veiled,
};
