//! `mcp-assert conform`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::server::ServerArgs;

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
    /// Print JSON, and nothing else on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a JUnit report
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// Write a Markdown report
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0, for code scanning
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) sarif: Option<PathBuf>,
    /// Which server; `--protocol all` judges each revision that it speaks.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
