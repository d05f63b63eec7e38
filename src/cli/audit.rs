//! `mcp-assert audit`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::server::ServerArgs;

/// Options of `audit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert audit -- npx -y my-server
  mcp-assert audit --server 'python server.py' --allow destructive --fixture fixtures
  mcp-assert audit --server https://example.com/mcp --json

Called are tools that are declared to only read, in a process or container of our own also those whose name says so, and
in a container without network all. The score is the share of tools that behave: an error that refuses made-up arguments
is right.

Exit codes: 0 the server was probed, 1 below --threshold, 2 usage, 3 the server could not be asked, 4 --threshold and
nothing was probed.")]
pub(crate) struct AuditArgs {
    /// What a call may do: tools that may do more are left out
    #[arg(long, value_name = "EFFECT")]
    pub(crate) allow: Option<Allow>,
    /// The same as `--allow destructive`
    #[arg(long, conflicts_with = "allow")]
    pub(crate) include_writes: bool,
    /// Only tools that match this glob; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) only: Vec<String>,
    /// No tool that matches this glob; may be given several times
    #[arg(long, value_name = "GLOB")]
    pub(crate) skip: Vec<String>,
    /// Give optional parameters a value too
    #[arg(long)]
    pub(crate) full: bool,
    /// The least score
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) threshold: Option<u8>,
    /// Print JSON, and nothing else on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Write an assertion for each tool to this folder; files that are there stay
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: Option<PathBuf>,
    /// Which server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

/// What a call may do, each with those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allow {
    /// Only read, as the tool declares.
    Read,
    /// Probably only read, by its name.
    Likely,
    /// Change something, but destroy nothing.
    Write,
    /// Anything.
    Destructive,
}
