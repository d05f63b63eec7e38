//! YAML to meaning: raw shapes with spans, lowering, the model, templates, problems, discovery, settings.
//! Everything that can be wrong in the user's files is found here, before any server starts.

pub(crate) mod model;
pub(crate) mod template;
