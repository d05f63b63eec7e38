//! YAML to meaning: trees with places, raw shapes, lowering, the model, templates, problems, discovery,
//! settings. Everything that can be wrong in the user's files is found here, before any server starts.

pub(crate) mod discover;
pub(crate) mod lower;
pub(crate) mod model;
pub(crate) mod problems;
pub(crate) mod raw;
mod reference;
pub(crate) mod schema;
pub(crate) mod settings;
#[cfg(test)]
mod tests;
pub(crate) mod written;
mod yaml;

pub(crate) use self::reference::reference;
pub(crate) use crate::script::Dialect;
