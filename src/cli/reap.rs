//! `mcp-assert reap`.

use clap::Args;

/// Options of `reap`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert reap
  mcp-assert reap --run 4f1c0d2b9a8e7766
  mcp-assert reap --all --docker-host tcp://build:2375

Every run removes what killed runs left before it begins; this does it alone.

It tells what it removed, on this machine and at the container engine, where there is one.

Exit codes: 0 nothing is left, 3 an engine that is there or was named did not answer, or something could not be
removed.")]
pub(crate) struct ReapArgs {
    /// Remove everything of this run, running or not: the value of its containers' label `io.mcp-assert.run`
    #[arg(long, value_name = "RUN", conflicts_with = "all")]
    pub(crate) run: Option<String>,
    /// Remove everything of all runs, including running ones
    #[arg(long)]
    pub(crate) all: bool,
    /// The container engine's address; default: `DOCKER_HOST`, Docker's context, the usual sockets
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) docker_host: Option<String>,
}
