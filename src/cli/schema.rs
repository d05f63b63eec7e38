//! `mcp-assert schema`.

use clap::Args;

/// Options of `schema`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  mcp-assert schema > mcp-assert.schema.json

Editors use it by the first line of a suite:
  # yaml-language-server: $schema=./mcp-assert.schema.json")]
pub(crate) struct SchemaArgs {
    /// Print the reference of the format as Markdown instead
    #[arg(long)]
    pub(crate) markdown: bool,
}
