//! `mcp-assert lock`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{diff::FailOn, server::ServerArgs};

/// `--target`, which takes several here.
const TARGET: &str = "A target of the nearest `mcp-assert.yaml` upwards, or `all`; default: all, if no server is given";

/// Options of `lock`.
#[derive(Debug, Args)]
#[command(mut_arg("target", |it| it.help(TARGET)), after_help = "\
The file holds what the server offers, sorted, one parameter a line, and no command line. It is meant to be committed and
reviewed. Without an option it is written if there is none, and compared otherwise.

Examples:
  mcp-assert lock --server 'node dist/server.js'
  mcp-assert lock --check -- node dist/server.js
  mcp-assert lock --target all
  mcp-assert lock --check --fail-on breaking --server https://example.com/mcp api.lock.yaml

Exit codes: 0 written, or nothing differs, 1 the server differs from the file, 2 usage, 3 the server or the file could not
be read.")]
pub(crate) struct LockArgs {
    /// The file; default: `mcp-surface.lock.yaml`, beside the settings file if its targets are locked
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// Print what differs, and write nothing
    #[arg(long, conflicts_with = "update")]
    pub(crate) check: bool,
    /// Write the file anew
    #[arg(long)]
    pub(crate) update: bool,
    /// The level from which changes are a failure
    #[arg(long, value_name = "LEVEL", default_value = "any")]
    pub(crate) fail_on: FailOn,
    /// Which server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
