//! `mcp-assert list`.

use clap::{Args, ValueEnum};

use super::server::CatalogArgs;

/// Options of `list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-assert list -- npx -y my-server
  mcp-assert list --server 'python server.py' tools
  mcp-assert list --server https://example.com/mcp tools search --json

Exit codes: 0 listed, 2 usage, 3 the server could not be asked, or not to the end of its lists.")]
pub(crate) struct ListArgs {
    /// One list; default: all
    #[arg(value_name = "LIST")]
    pub(crate) list: Option<List>,
    /// One entry, whole: a tool or prompt by name, a resource by its URI
    #[arg(value_name = "NAME", requires = "list")]
    pub(crate) name: Option<String>,
    /// Print JSON, and nothing else on stdout
    #[arg(long)]
    pub(crate) json: bool,
    /// Which server.
    #[command(flatten)]
    pub(crate) from: CatalogArgs,
}

/// The lists of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum List {
    /// Its tools.
    Tools,
    /// Its resources.
    Resources,
    /// Its prompts.
    Prompts,
    /// Its resource templates.
    Templates,
}
