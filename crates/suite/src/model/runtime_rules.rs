//! How the rules of the Go tool differ at run time. Recorded when an assertion is loaded, so that no code
//! that runs it depends on the dialect.

use std::sync::Arc;

use crate::Dialect;
use mcp::{
    observation::Proof,
    script::template::{Bindings, UnknownNames},
};
use text::environment::Environment;

/// The rules by which an assertion runs.
#[derive(Debug, Clone, Copy)]
pub struct RuntimeRules {
    /// How captured values are rendered as text.
    dialect: Dialect,
    /// How an unknown `{{name}}` is treated.
    pub unknown: UnknownNames,
    /// What counts as proof of absence.
    pub proof: Proof,
    /// Where the program of a server is looked for.
    pub lookup: Lookup,
    /// What file expectations look at.
    pub files: FilesOf,
}

/// Where a program is looked for that is named without a path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lookup {
    /// On the `PATH` that the server gets, as clients built on Node and Python do, and where it is not there on the
    /// caller's.
    #[default]
    ServerFirst,
    /// On the caller's alone, as the Go tool does.
    CallerOnly,
}

/// The base of relative paths in expectations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesOf {
    /// The fixture's, compared with what the fixture had.
    Fixture,
    /// The caller's, although there may be a fixture; compared with what the setup left, as the Go tool does.
    Caller,
}

impl RuntimeRules {
    /// The rules of a dialect.
    pub(crate) fn of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Native => Self {
                dialect,
                unknown: UnknownNames::Refuse,
                proof: Proof::Strict,
                lookup: Lookup::ServerFirst,
                files: FilesOf::Fixture,
            },
            Dialect::Compat => Self {
                dialect,
                unknown: UnknownNames::Keep,
                proof: Proof::AsWritten,
                lookup: Lookup::CallerOnly,
                files: FilesOf::Caller,
            },
        }
    }

    /// The values of names when nothing was captured yet.
    pub fn bindings(&self, environment: &Arc<Environment>) -> Bindings {
        Bindings {
            environment: Arc::clone(environment),
            dialect: self.dialect,
            unknown: self.unknown,
            ..Bindings::default()
        }
    }
}
