//! YAML to meaning, and meaning to jobs.
//!
//! Everything that can be wrong in the user's files is found here, before any server starts, and told all at once.
//! Behind `text` and the data of `mcp`; before `check`, which reads the expectations, and `host`, which starts the servers
//! that a suite describes. Nothing here runs, judges or prints.
//!
//! The way of a file:
//!
//! 1. [`discover::load`] finds and reads files. It is the only part that touches the file system.
//! 2. A YAML parser gives a tree in which each node knows its place.
//! 3. [`raw`] is the shape of the files: the same definition reads them, writes the [`reference`](reference()) and the
//!    JSON Schema ([`schema::json_schema`]).
//! 4. [`lower`] compiles it into the [`model`]: regular expressions are compiled, durations are durations, there is exactly
//!    one subject. What it refuses becomes a diagnostic, made by a function of [`problems`].
//! 5. [`settings`] are those of `mcp-assert.yaml` at the suite's root.
//! 6. [`plan::plan`] decides which jobs there are: filters, skips, trials, targets, shards. Nothing is decided later.
//!
//! Pure but for `discover`, and deterministic: the same files give the same plan.

#![cfg_attr(not(test), deny(clippy::disallowed_methods, clippy::disallowed_types))]

#[allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "finds and reads the files"
)]
pub mod discover;
pub mod lower;
pub mod model;
pub mod plan;
mod problems;
mod raw;
mod reference;
pub mod schema;
pub mod settings;
#[cfg(test)]
mod tests;
mod unique;
pub mod written;
mod yaml;

pub use self::{reference::reference, yaml::value as value_of_yaml};
pub use mcp::script::Dialect;
