//! `mcp-assert version` and `--version`.

use std::io::Write;

use crate::{protocol::revision::Revision, words::exit::ExitCode};

/// Prints version, commit (when the build knew it) and newest MCP revision.
pub(super) fn version() -> ExitCode {
    let commit = option_env!("MCP_ASSERT_COMMIT")
        .map(|commit| format!("{commit}, "))
        .unwrap_or_default();
    let newest = Revision::ALL[Revision::ALL.len() - 1];
    let line = format!(
        "mcp-assert {} ({commit}MCP {newest})\n",
        env!("CARGO_PKG_VERSION")
    );
    match std::io::stdout().write_all(line.as_bytes()) {
        Ok(()) => ExitCode::Passed,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::Passed,
        Err(_) => ExitCode::CouldNotRun,
    }
}
