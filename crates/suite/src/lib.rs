//! YAML to meaning: trees with places, raw shapes, lowering, the model, templates, problems, discovery,
//! settings. Everything that can be wrong in the user's files is found here, before any server starts.

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
pub mod problems;
pub mod raw;
mod reference;
pub mod schema;
pub mod settings;
#[cfg(test)]
mod tests;
pub mod written;
mod yaml;

pub use self::reference::reference;
pub use mcp::script::Dialect;
