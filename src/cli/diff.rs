//! `mcp-assert diff`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::server::HowArgs;

/// Options of `diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
A side is a command line in quotes, a url, `docker:IMAGE` with or without a command behind it, a catalog of
`--save-catalog`, a result of `tools/list`, a run.json, or a lock file.

Levels: breaking (calls that worked fail, or results hold something new), risky (a model reads something else, or it is
not proven that nothing breaks), safe (everything else). Breaking changes of schemas show a value that one side takes and
the other refuses.

Examples:
  mcp-assert diff 'npx -y my-server@1' 'npx -y my-server@2'
  mcp-assert diff mcp-surface.lock.yaml 'node dist/server.js' --fail-on breaking
  mcp-assert diff run-main.json run.json --markdown changes.md

Exit codes: 0 compared, 1 there are changes of the level of `--fail-on`, 2 usage, 3 a side could not be read.")]
pub(crate) struct DiffArgs {
    /// What was offered before
    #[arg(value_name = "OLD")]
    pub(crate) old: String,
    /// What is offered now
    #[arg(value_name = "NEW")]
    pub(crate) new: String,
    /// The level from which changes are a failure
    #[arg(long, value_name = "LEVEL", default_value = "none")]
    pub(crate) fail_on: FailOn,
    /// Print JSON, and nothing else on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the changes as a Markdown page
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) markdown: Option<PathBuf>,
    /// Write the changes as a JUnit report, a test case for each entry
    #[arg(long, value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub(crate) junit: Option<PathBuf>,
    /// The target to take of a run.json that has several
    #[arg(long, value_name = "NAME")]
    pub(crate) target: Option<String>,
    /// How servers are asked.
    #[command(flatten)]
    pub(crate) how: HowArgs,
}

/// Changes that are a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Breaking ones.
    Breaking,
    /// Breaking and risky ones.
    Risky,
    /// All.
    Any,
    /// None.
    None,
}
