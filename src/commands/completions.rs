//! `mcp-assert completions SHELL`.

use clap::CommandFactory;

use crate::{
    cli::{Cli, completions::CompletionsArgs},
    words::exit::ExitCode,
};

/// Prints the completions of a shell on stdout.
pub(super) fn completions(args: &CompletionsArgs) -> ExitCode {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "mcp-assert", &mut text);
    match std::io::Write::write_all(&mut std::io::stdout(), &text) {
        Ok(()) => ExitCode::Passed,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => ExitCode::Passed,
        Err(_) => ExitCode::CouldNotRun,
    }
}
