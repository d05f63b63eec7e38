//! The one reading of environment variables, current directory, executable and cores.

use std::path::PathBuf;

use crate::words::environment::{Environment, Inheritance};

/// Reads the process's surroundings. What cannot be read is empty; whoever needs it says so.
pub(super) fn read() -> Environment {
    Environment {
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        unreadable: std::env::vars_os()
            .filter(|(_, value)| value.to_str().is_none())
            .filter_map(|(name, _)| name.into_string().ok())
            .collect(),
        directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        executable: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("mcp-assert")),
        inheritance: Inheritance::Everything,
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
    }
}
