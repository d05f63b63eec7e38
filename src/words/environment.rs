//! Facts about the place the program was started in, as plain values. The edge reads them once
//! (`commands`), everything else gets this value.

use std::{collections::BTreeMap, path::PathBuf};

/// The environment as it was at start.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// Environment variables; names and values that are not Unicode are left out.
    pub(crate) variables: BTreeMap<String, String>,
    /// The caller's directory.
    pub(crate) directory: PathBuf,
    /// The path of the running executable, for `builtin` servers.
    pub(crate) executable: PathBuf,
    /// Cores this process may use, at least 1.
    pub(crate) cores: usize,
}

impl Environment {
    /// The value of a variable, if it is set.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }
}
