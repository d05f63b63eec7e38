//! `mcp-assert version` and `--version`.

use mcp::protocol::revision::Revision;
use text::exit::ExitCode;

/// Prints version, commit (if known at build time) and newest MCP revision.
pub(super) fn version() -> ExitCode {
    let commit = option_env!("MCP_ASSERT_COMMIT")
        .map(|commit| format!("{commit}, "))
        .unwrap_or_default();
    let newest = Revision::ALL[Revision::ALL.len() - 1];
    let line = format!(
        "mcp-assert {} ({commit}MCP {newest})\n",
        env!("CARGO_PKG_VERSION")
    );
    super::print(line.as_bytes())
}
