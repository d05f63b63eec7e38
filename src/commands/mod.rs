//! One thin file per verb: options in, calls, exit code out. This file reads the process's arguments and
//! environment, once, and picks the verb.

mod action;
mod completions;
mod environment;
mod run;
mod running;
mod schema;
mod serve;
mod validate;
mod version;

use std::{ffi::OsStr, io::Write, path::Path, sync::Arc};

use clap::{CommandFactory, FromArgMatches};

use crate::{
    cli::{Cli, Command, When, arguments},
    deliver::workflow_log::WorkflowLog,
    words::{diagnostic::Colour, environment::Environment, exit::ExitCode},
};

/// What every verb gets: the environment and how to dress output.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Facts about the place the program was started in.
    pub(crate) environment: Arc<Environment>,
    /// What `--color` says.
    pub(crate) colour: When,
}

impl Context {
    /// Whether stdout gets colours: `--color`, else a terminal that wants them (`NO_COLOR`, `CLICOLOR_FORCE` and
    /// `TERM=dumb` are heard).
    fn stdout_colour(&self) -> Colour {
        self.colour
            .colour(colour_of(anstream::AutoStream::choice(&std::io::stdout())))
    }

    /// Whether a CI system runs us: its log is no screen, even if it says it is one.
    fn is_in_ci(&self) -> bool {
        self.environment
            .variable("CI")
            .is_some_and(|value| !value.is_empty() && value != "false")
    }

    /// Whether our output goes into the log of a GitHub workflow, which obeys certain lines.
    fn is_in_workflow(&self) -> bool {
        self.environment.variable("GITHUB_ACTIONS") == Some("true")
    }

    /// Writes problems, notes and refusals to stderr.
    fn say(&self, text: &str) {
        let mut plain = std::io::stderr();
        // A closed stderr is nobody to tell.
        let _ = if self.is_in_workflow() {
            WorkflowLog::new(plain).write_all(text.as_bytes())
        } else {
            plain.write_all(text.as_bytes())
        };
    }

    /// The same for stderr.
    fn stderr_colour(&self) -> Colour {
        self.colour
            .colour(colour_of(anstream::AutoStream::choice(&std::io::stderr())))
    }
}

fn colour_of(choice: anstream::ColorChoice) -> Colour {
    match choice {
        anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => Colour::On,
        anstream::ColorChoice::Auto | anstream::ColorChoice::Never => Colour::Off,
    }
}

/// Reads the command line, runs the verb, and gives the code that the process exits with.
pub(crate) fn main() -> u8 {
    let mut command = Cli::command();
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    if Path::new(&program).file_name() == Some(OsStr::new(action::NAME)) {
        let context = Context {
            environment: Arc::new(environment::read()),
            colour: When::Auto,
        };
        return action::action(&words.collect::<Vec<_>>(), &context);
    }
    let typed = std::iter::once(program).chain(arguments::normalise(words, &command));
    let parsed = command
        .try_get_matches_from_mut(typed)
        .and_then(|found| Cli::from_arg_matches(&found));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage(&error).number(),
    };
    if cli.version {
        return version::version().number();
    }
    let Some(verb) = cli.command else {
        // The Go tool prints its usage on stdout and ends with 0.
        let _ = command.print_help();
        return ExitCode::Passed.number();
    };
    let context = Context {
        environment: Arc::new(environment::read()),
        colour: cli.color,
    };
    dispatch(verb, &context)
}

/// The code that the process exits with. `serve` alone chooses codes that are none of ours.
fn dispatch(verb: Command, context: &Context) -> u8 {
    match verb {
        Command::Run(args) => run::run(&args, context).number(),
        Command::Serve(args) => serve::serve(*args),
        Command::Validate(args) => validate::validate(&args, context).number(),
        Command::Schema(args) => schema::schema(&args).number(),
        Command::Completions(args) => completions::completions(&args).number(),
        Command::Version => version::version().number(),
    }
}

/// Prints clap's message; help and version asked for are no error.
fn usage(error: &clap::Error) -> ExitCode {
    // A closed stream is nobody to tell.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::Invalid
    } else {
        ExitCode::Passed
    }
}
