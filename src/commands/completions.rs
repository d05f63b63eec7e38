//! `mcp-assert completions SHELL`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Cli, completions::CompletionsArgs};
use text::exit::ExitCode;

/// Prints the completions of a shell on stdout.
pub(super) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcp-assert", &mut text);
    let text = mended(args.shell, text);
    super::print(&text)
}

/// Works around `clap_complete` 4.6.11, which mangles the hyphen of our name in bash completions, so that no subcommand
/// is found.
fn mended(shell: Shell, text: Vec<u8>) -> Vec<u8> {
    if shell != Shell::Bash {
        return text;
    }
    match String::from_utf8(text) {
        Ok(text) => text
            .replace("mcp__subcmd__assert", "mcp__assert")
            .into_bytes(),
        Err(error) => error.into_bytes(),
    }
}
