//! `mcp-assert conform`.

use clap::Args;

use super::{findings::FindingsArgs, server::ServerArgs};

/// Options of `conform`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert conform -- npx -y my-server
  mcp-assert conform --server https://example.com/mcp --protocol all --junit conform.xml

What the server does not declare, and a revision that it does not speak, is not judged. What could not be judged never
counts as passed.

Exit codes: 0 nothing is violated, 1 a MUST is violated, 2 usage, 3 the server could not be asked.")]
pub(crate) struct ConformArgs {
    /// Fail on violated SHOULDs too
    #[arg(long)]
    pub(crate) strict: bool,
    /// Where findings go.
    #[command(flatten)]
    pub(crate) findings: FindingsArgs,
    /// Which server; `--protocol all` judges each revision that it speaks.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
