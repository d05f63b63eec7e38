//! `mcp-assert validate`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::options::RulesArgs;

/// Options of `validate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert validate evals
  mcp-assert validate --suite evals --strict-env

Exit codes: 0 all suites are valid, 2 at least one is not, 4 there is no assertion.")]
pub(crate) struct ValidateArgs {
    /// A suite: a folder or a YAML file; may be given several times
    #[arg(long = "suite", value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub(crate) suites: Vec<PathBuf>,
    /// A suite, as with `--suite`; without any, `evals`
    #[arg(value_name = "SUITE", value_hint = ValueHint::AnyPath)]
    pub(crate) more_suites: Vec<PathBuf>,
    /// Whose rules apply.
    #[command(flatten)]
    pub(crate) rules: RulesArgs,
    /// Treat unset environment variables without a default as a problem
    #[arg(long)]
    pub(crate) strict_env: bool,
    /// Assume that the server is given on the command line
    #[arg(long, value_name = "COMMAND")]
    pub(crate) server: Option<String>,
}
