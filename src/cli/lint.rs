//! `mcp-assert lint`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{audit::Allow, findings::FindingsArgs, server::CatalogArgs};

/// Options of `lint`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch")]
#[command(after_help = "\
Examples:
  mcp-assert lint -- npx -y my-server
  mcp-assert lint --catalog tools.json --hosts claude-code,openai-api
  mcp-assert lint --server 'python server.py' --strict --sarif lint.sarif

Exit codes: 0 within the limits, 1 an error or more than a limit allows, 2 usage, 3 the server could not be asked.")]
pub(crate) struct LintArgs {
    /// Which rules run
    #[arg(long, value_name = "SET", default_value = "recommended")]
    pub(crate) profile: Profile,
    /// Treat warnings as errors
    #[arg(long)]
    pub(crate) strict: bool,
    /// Codes of rules to leave out, with commas between them
    #[arg(long, value_name = "CODES", value_delimiter = ',')]
    pub(crate) skip_rules: Vec<String>,
    /// Clients and model APIs to ask about, with commas between them, or `all`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// End with 1 if there are more warnings
    #[arg(long, value_name = "N")]
    pub(crate) max_warnings: Option<usize>,
    /// End with 1 if there are more findings; 0: no limit
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threshold: usize,
    /// Call the tools that only read, and judge their answers
    #[arg(long, conflicts_with = "catalog")]
    pub(crate) call_tools: bool,
    /// Call tools that declare `readOnlyHint` or `idempotentHint` three times and compare the answers
    #[arg(long, conflicts_with = "catalog")]
    pub(crate) detect_nondeterminism: bool,
    /// The largest answer to a call, in KiB
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) max_response_kb: usize,
    /// The most that a call may do
    #[arg(long, value_name = "EFFECT", default_value = "read")]
    pub(crate) allow: Allow,
    /// Findings of this file are shown and do not count
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) baseline: Option<PathBuf>,
    /// Write the findings to this file, as a baseline
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) save_baseline: Option<PathBuf>,
    /// Where findings go.
    #[command(flatten)]
    pub(crate) findings: FindingsArgs,
    /// Print all rules, and ask no server
    #[arg(long)]
    pub(crate) rules: bool,
    /// Which server.
    #[command(flatten)]
    pub(crate) from: CatalogArgs,
}

/// Sets of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// All rules but those that only inform.
    Recommended,
    /// All rules.
    All,
    /// The rules of the Go tool.
    Go,
}
