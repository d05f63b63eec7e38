//! Reads environment variables, current directory, executable and core count, once.

use std::path::{Path, PathBuf};

use text::environment::{Environment, Inheritance};

/// Linux's link to the running program; it works even if the file was replaced or removed.
const RUNNING: &str = "/proc/self/exe";

/// Reads the process's surroundings. What cannot be read stays empty; its users report that.
pub(super) fn read() -> Environment {
    let mut environment = Environment {
        directory: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        executable: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("mcp-assert")),
        inheritance: Inheritance::Everything,
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        ..Environment::default()
    };
    environment.program = if Path::new(RUNNING).exists() {
        PathBuf::from(RUNNING)
    } else {
        environment.executable.clone()
    };
    for (name, value) in std::env::vars_os() {
        if let (Some(name), Some(value)) = (name.to_str(), value.to_str()) {
            environment
                .variables
                .insert(name.to_owned(), value.to_owned());
        } else {
            environment.unreadable.insert(name, value);
        }
    }
    environment
}
