//! `mcp-assert generate` and `mcp-assert init`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{audit::Allow, server::CatalogArgs, server::ServerArgs};

/// Options of `generate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert generate --output evals -- npx -y my-server
  mcp-assert generate --output evals --probe --server 'python server.py'

Exit codes: 0 written, 2 usage, 3 the server could not be asked or a file not written.")]
pub(crate) struct GenerateArgs {
    /// The folder for the files
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) overwrite: bool,
    /// Do not skip assertions of tools that may change something
    #[arg(long)]
    pub(crate) include_writes: bool,
    /// Call tools twice, and expect what both answers have in common
    #[arg(long)]
    pub(crate) probe: bool,
    /// With --probe: what a call may do
    #[arg(long, value_name = "EFFECT", requires = "probe")]
    pub(crate) allow: Option<Allow>,
    /// Which server.
    #[command(flatten)]
    pub(crate) from: CatalogArgs,
}

/// Options of `init`, which writes settings of its own.
#[derive(Debug, Args)]
#[command(mut_arg("target", |it| it.hide(true)), after_help = "\
Examples:
  mcp-assert init -- npx -y my-server
  mcp-assert init evals --ci --server 'python server.py'
  mcp-assert init

Only tools that are declared to only read are called, each twice. Assertions of the others are written and skipped.
Without a server it writes one assertion to start from.

Exit codes: 0 written, 2 usage or the folder has a suite already, 3 the server could not be asked.")]
pub(crate) struct InitArgs {
    /// The folder of the suite
    #[arg(value_name = "DIR", default_value = "evals", value_hint = ValueHint::DirPath)]
    pub(crate) folder: PathBuf,
    /// Write a GitHub workflow too
    #[arg(long)]
    pub(crate) ci: bool,
    /// Which server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
