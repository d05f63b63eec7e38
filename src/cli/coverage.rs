//! `mcp-assert coverage`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{options::RulesArgs, server::CatalogArgs};

/// Options of `coverage`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert coverage --suite evals -- npx -y my-server
  mcp-assert coverage --suite evals --target staging
  mcp-assert coverage --suite evals --catalog catalog.json --threshold tools=100,parameters=80

Counted are assertions that can fail and are not skipped.

Exit codes: 0 shown, 1 below --threshold, 2 usage or an invalid suite, 3 the server could not be asked, 4 --threshold and
there is nothing to cover.")]
pub(crate) struct CoverageArgs {
    /// A suite: a folder or a YAML file; may be given several times; default: evals
    #[arg(long = "suite", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) suites: Vec<PathBuf>,
    /// Count only assertions that passed in this run.json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) from: Option<PathBuf>,
    /// The least percentage of tools, or of several kinds: `tools=100,parameters=80`
    #[arg(long, value_name = "PERCENT")]
    pub(crate) threshold: Option<String>,
    /// Print JSON, and nothing else on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the JSON to this file too
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) coverage_json: Option<PathBuf>,
    /// Whose rules apply.
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Which server.
    #[command(flatten)]
    pub(crate) catalog: CatalogArgs,
}
