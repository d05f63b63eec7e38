//! What was typed: the clap types, one file per command, and nothing else.

pub(crate) mod arguments;
pub(crate) mod ci;
pub(crate) mod completions;
pub(crate) mod inputs;
pub(crate) mod options;
pub(crate) mod reap;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
#[cfg(test)]
mod tests;
pub(crate) mod validate;

use clap::{Parser, Subcommand, ValueEnum};

use text::diagnostic::Colour;

/// Tells whether an MCP server works, from assertions in YAML.
#[derive(Debug, Parser)]
#[command(
    name = "mcp-assert",
    disable_version_flag = true,
    args_override_self = true,
    propagate_version = false
)]
#[command(after_help = "\
Examples:
  mcp-assert run --suite evals
  mcp-assert run --suite evals --server 'npx -y my-server' --junit report.xml
  mcp-assert run evals --filter 'login*' --trace

Exit codes: 0 passed, 1 failed, 2 usage or suite invalid, 3 could not run, 4 nothing selected, 130 interrupted.")]
pub(crate) struct Cli {
    /// Print the version, the commit and the newest MCP revision
    #[arg(short = 'V', long)]
    pub(crate) version: bool,
    /// Use colours: on a terminal, always, or never, which is without live progress too
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run suites and report
    Run(Box<run::RunArgs>),
    /// Run suites as a CI job: threshold, baseline, and every report the surroundings can take
    Ci(Box<ci::CiArgs>),
    /// Remove what killed runs left: containers, processes, temporary folders
    Reap(reap::ReapArgs),
    /// Serve a well-behaved MCP server on stdio or HTTP that misbehaves on demand
    Serve(Box<serve::ServeArgs>),
    /// Check suites without running them
    Validate(validate::ValidateArgs),
    /// Print the JSON Schema of the suite format
    Schema(schema::SchemaArgs),
    /// Print the completions of a shell
    Completions(completions::CompletionsArgs),
    /// Print the version, the commit and the newest MCP revision
    Version,
}

/// When colours are used. Live progress moves the cursor, so that only a terminal has it, whatever is said here; without
/// colours by `NO_COLOR` it stays, which is about colours alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    Auto,
    /// Even elsewhere.
    Always,
    /// Not even there.
    Never,
}

impl When {
    /// The decision for a stream, given what `auto` would choose for it.
    pub(crate) fn colour(self, auto: Colour) -> Colour {
        match self {
            Self::Auto => auto,
            Self::Always => Colour::On,
            Self::Never => Colour::Off,
        }
    }
}
