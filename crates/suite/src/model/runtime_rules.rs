//! What differs at run time between our rules and the Go tool's. Recorded when an assertion is loaded, so that nobody
//! who runs it asks by whose rules it was written.

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
    /// Whose rules say what a captured value is as text.
    dialect: Dialect,
    /// What becomes of a `{{name}}` that nothing defines.
    pub unknown: UnknownNames,
    /// What proves that something is not there.
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

/// Whose files a relative path in an expectation names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilesOf {
    /// The fixture's, compared with what the fixture had.
    Fixture,
    /// The caller's, although there may be a fixture; compared with what the setup left, as the Go tool does.
    Caller,
}

impl RuntimeRules {
    /// Those of a dialect.
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
