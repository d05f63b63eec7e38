//! `mcp-assert call`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::server::ServerArgs;

/// Options of `call`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert call --server 'npx -y my-server' echo message=hello
  mcp-assert call search --args '{\"query\": \"a\", \"limit\": 3}' -- python server.py
  mcp-assert call --server 'npx -y my-server' echo message=hello --save evals/echo.yaml

Exit codes: 0 a result, 1 a tool error or a JSON-RPC error, 2 usage, 3 there was no answer.")]
pub(crate) struct CallArgs {
    /// The tool
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Its arguments, read by the types of the tool's schema
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) values: Vec<String>,
    /// Its arguments as a JSON object
    #[arg(long, value_name = "JSON", conflicts_with = "values")]
    pub(crate) args: Option<String>,
    /// Print the result, or the JSON-RPC error, as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the call as an assertion to a new file; a tool that declares `readOnlyHint` is called twice, to keep what
    /// stays the same
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) save: Option<PathBuf>,
    /// Which server.
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}
