//! Text, as every other crate needs it: cutting, cleaning and masking it, naming places in it, and rendering diagnostics.
//!
//! The first crate on the journey; it knows nothing of MCP, suites or servers.
//!
//! - Shown text: [`clean`] removes control characters, [`head`] and [`around`] shorten, [`nearest`] suggests a name.
//! - [`source`]: a file with its lines, and the [`Origin`](source::Origin) of a value in it.
//! - [`diagnostic`]: what is wrong in a user's file, as data, and its one rendering
//!   ([`Diagnostic::render`](diagnostic::Diagnostic::render)).
//! - [`redact`]: [`Secrets`](redact::Secrets) masks values in all forms in which others write them; [`credential`] finds
//!   credentials by their names.
//! - [`workflow`]: the commands that a workflow runner obeys, how to write them and how to keep others from doing so.
//! - [`environment`] and [`exit`]: the environment of the process as a plain value, and the exit codes.
//!
//! Pure: no I/O, no clock, no environment, no async. Clippy denies it; see `clippy.toml` at the root.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

pub mod address;
pub mod credential;
pub mod diagnostic;
pub mod digest;
pub mod environment;
pub mod exit;
mod plain;
pub mod redact;
pub mod source;
pub mod unseen;
pub mod web;
pub mod workflow;

pub use self::plain::{
    CUT, LINE_SHOWN, LINES_SHOWN, around, around_both, clean, clean_prose, count, head, innermost,
    is_clean_prose, name, nearest, time, veiled,
};
