//! What a session is told to do, without YAML: subjects, steps, captures, the client's behaviour, and the texts of
//! these with their `{{…}}`. Made by `suite::lower` or by whoever drives a session; performed by `session`.

pub(crate) mod client;
pub(crate) mod data_in_path;
mod filter_patterns;
pub(crate) mod path;
pub(crate) mod pattern;
pub(crate) mod rendered;
pub(crate) mod subject;
pub(crate) mod template;

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
