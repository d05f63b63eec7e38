//! YAML to meaning: trees with places, raw shapes, lowering, the model, templates, problems, discovery,
//! settings. Everything that can be wrong in the user's files is found here, before any server starts.

pub(crate) mod discover;
pub(crate) mod lower;
pub(crate) mod model;
pub(crate) mod problems;
pub(crate) mod raw;
mod reference;
pub(crate) mod rendered;
pub(crate) mod schema;
pub(crate) mod settings;
pub(crate) mod template;
#[cfg(test)]
mod tests;
pub(crate) mod written;
mod yaml;

pub(crate) use self::reference::reference;
use crate::observation::Proof;

/// Whose rules apply where the Go tool of the same name gives another verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Dialect {
    /// Ours.
    #[default]
    Native,
    /// The Go tool's: `--compat`.
    Compat,
}

impl Dialect {
    /// What proves that something is not there.
    pub(crate) fn proof(self) -> Proof {
        match self {
            Self::Native => Proof::Strict,
            Self::Compat => Proof::AsWritten,
        }
    }

    /// The one that a setting or a switch of the name `compat` asks for.
    pub(crate) fn of_compat(compat: bool) -> Self {
        if compat { Self::Compat } else { Self::Native }
    }
}
