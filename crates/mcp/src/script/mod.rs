//! What a session is told to do, without YAML: subjects, steps, captures, the client's behaviour, and the texts of
//! these with their `{{…}}`. Made by `suite::lower` or by whoever drives a session; performed by `session`.

pub mod client;
mod filter_patterns;
pub mod path;
pub mod pattern;
pub mod quoting;
pub mod rendered;
pub mod subject;
pub mod template;

/// Whose rules apply where the Go tool of the same name gives another verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// Ours.
    #[default]
    Native,
    /// The Go tool's: `--compat`.
    Compat,
}

impl Dialect {
    /// The one that a setting or a switch of the name `compat` asks for.
    pub fn of_compat(compat: bool) -> Self {
        if compat { Self::Compat } else { Self::Native }
    }
}
