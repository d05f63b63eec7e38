//! The clap types, one file per command.

pub(crate) mod arguments;
pub(crate) mod audit;
pub(crate) mod call;
pub(crate) mod ci;
pub(crate) mod completions;
pub(crate) mod conform;
pub(crate) mod coverage;
pub(crate) mod diff;
pub(crate) mod findings;
pub(crate) mod generate;
pub(crate) mod inputs;
pub(crate) mod lint;
pub(crate) mod list;
pub(crate) mod lock;
pub(crate) mod options;
pub(crate) mod reap;
pub(crate) mod run;
pub(crate) mod schema;
pub(crate) mod serve;
pub(crate) mod server;
#[cfg(test)]
mod tests;
pub(crate) mod validate;

use clap::{CommandFactory, Parser, Subcommand, ValueEnum};

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
    /// When to use colours; `never` also disables live progress
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: When,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

/// The clap command. Negative numbers are parsed as values, so that errors name the option.
pub(crate) fn command() -> clap::Command {
    fn with_numbers(command: clap::Command) -> clap::Command {
        let takes_one = |it: &clap::Arg| it.get_action().takes_values() && !it.is_positional();
        command
            .mut_args(|it| {
                let takes_one = takes_one(&it);
                it.allow_negative_numbers(takes_one)
            })
            .mut_subcommands(with_numbers)
    }
    with_numbers(Cli::command())
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run suites and report
    Run(Box<run::RunArgs>),
    /// Run suites as a CI job: threshold, baseline, and every report the surroundings can take
    Ci(Box<ci::CiArgs>),
    /// Show what a server offers: its tools, prompts and resources
    List(Box<list::ListArgs>),
    /// Call a tool of a server once, and print the answer
    Call(Box<call::CallArgs>),
    /// Write a suite from what a server offers: settings, assertions, and a workflow
    Init(Box<generate::InitArgs>),
    /// Write an assertion for each tool of a server
    Generate(Box<generate::GenerateArgs>),
    /// Probe what a server offers: which tools answer, crash, hang
    Audit(Box<audit::AuditArgs>),
    /// Check whether a server keeps to the specification
    Conform(Box<conform::ConformArgs>),
    /// Show which tools, parameters and errors a suite tests
    Coverage(Box<coverage::CoverageArgs>),
    /// Find what is wrong with what a server offers: for models, for clients, for the user's safety
    Lint(Box<lint::LintArgs>),
    /// Compare what two servers offer, or what one offered before
    Diff(Box<diff::DiffArgs>),
    /// Write what a server offers to a file for reviews, or compare it with that file
    Lock(Box<lock::LockArgs>),
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

/// When to use colours. Live progress needs a terminal in any case; `NO_COLOR` does not disable it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum When {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
