//! Options of commands that write findings.

use std::path::PathBuf;

use clap::{Args, ValueHint};

/// Where findings go beside the terminal.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct FindingsArgs {
    /// Print JSON, and nothing else on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write JUnit XML
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// Write Markdown, as for a step summary
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    /// Write SARIF, as for code scanning
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) sarif: Option<PathBuf>,
}
