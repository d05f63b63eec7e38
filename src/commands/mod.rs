//! One thin file per verb: options in, calls, exit code out. This file reads the process's arguments and
//! environment, once, and picks the verb.

mod action;
mod ci;
mod completions;
mod environment;
mod misspelt;
mod post;
mod reap;
mod run;
mod running;
mod runtime;
mod schema;
mod serve;
#[cfg(test)]
mod tests;
mod validate;
mod version;

use std::{
    ffi::{OsStr, OsString},
    panic::{self, AssertUnwindSafe},
    path::Path,
    sync::Arc,
};

use clap::{CommandFactory, FromArgMatches};

use self::running::Interrupts;
use crate::{
    cli::{Cli, Command, When, arguments},
    deliver::{standard::Streams, stdout, workflow_log::WorkflowLog},
};
use host::container::engine::Asker;
use text::{
    diagnostic::Colour,
    environment::{Environment, Inheritance},
    exit::ExitCode,
};

/// What every verb gets: the environment and how to dress output.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Facts about the place the program was started in.
    pub(crate) environment: Arc<Environment>,
    /// What `--color` says.
    pub(crate) colour: When,
    /// Standard output and standard error.
    pub(crate) streams: Streams,
    /// The log of the GitHub workflow we run in, which obeys certain lines.
    pub(crate) log: Option<WorkflowLog>,
    /// The signals that end a run.
    interrupts: Interrupts,
    /// Who is told what to do about an engine.
    asker: Asker,
}

impl Context {
    fn new(environment: Environment, colour: When) -> Self {
        let in_workflow = environment.variable("GITHUB_ACTIONS") == Some("true");
        let streams = Streams::default();
        let log = in_workflow.then(|| WorkflowLog::beside_stdout(&streams));
        Self {
            environment: Arc::new(environment),
            colour,
            interrupts: Interrupts::new(log.clone(), &streams),
            asker: Asker::CommandLine,
            log,
            streams,
        }
    }

    /// Whether stdout gets colours: `--color`, else a terminal that wants them (`NO_COLOR`, `CLICOLOR_FORCE` and
    /// `TERM=dumb` are heard).
    fn stdout_colour(&self) -> Colour {
        self.colour.colour(self.usual_colour(&std::io::stdout()))
    }

    /// What a stream gets where `--color` says nothing.
    fn usual_colour<S: anstream::stream::RawStream>(&self, stream: &S) -> Colour {
        let variable = |name| self.environment.variable(name);
        // anstream takes every value for a yes, and by the convention `0` forces nothing.
        if variable("CLICOLOR_FORCE") == Some("0") {
            let can = variable("TERM").is_some_and(|term| term != "dumb");
            if !stream.is_terminal() || !can || variable("CLICOLOR") == Some("0") {
                return Colour::Off;
            }
        }
        colour_of(anstream::AutoStream::choice(stream))
    }

    /// Whether a CI system runs us: its log is no screen, even if it says it is one.
    fn is_in_ci(&self) -> bool {
        self.environment
            .variable("CI")
            .is_some_and(|value| !value.is_empty() && value != "false")
    }

    /// Writes problems, notes and refusals to stderr, or to the log of the workflow.
    fn say(&self, text: &str) {
        match &self.log {
            Some(log) => log.say(text),
            None => self.streams.say(text.as_bytes()),
        }
    }

    /// The same, for processes that must not be able to act as our job.
    fn without_job(&self) -> Self {
        Self {
            environment: Arc::new(Environment {
                inheritance: Inheritance::NothingOfTheJob,
                ..Environment::clone(&self.environment)
            }),
            ..self.clone()
        }
    }

    /// Ends the log of the workflow, and hears no signal any more.
    fn close(&self) {
        self.interrupts.close();
        if let Some(log) = &self.log {
            log.close();
        }
        self.streams.settle();
    }

    /// Lets the words of a panic reach the log as harmless as all others.
    fn catch_panics(&self) {
        if let Some(log) = self.log.clone() {
            panic::set_hook(Box::new(move |panic| log.panicked(&panic.to_string())));
        }
    }

    /// The same for stderr.
    fn stderr_colour(&self) -> Colour {
        self.colour.colour(self.usual_colour(&std::io::stderr()))
    }
}

fn colour_of(choice: anstream::ColorChoice) -> Colour {
    match choice {
        anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => Colour::On,
        anstream::ColorChoice::Auto | anstream::ColorChoice::Never => Colour::Off,
    }
}

/// Picks the role by the program's name, and gives the code that the process exits with.
pub(crate) fn main() -> u8 {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let words: Vec<OsString> = words.collect();
    let mut context = Context::new(environment::read(), When::Auto);
    context.catch_panics();
    let name = Path::new(&program).file_name().and_then(OsStr::to_str);
    let code = match name {
        Some(action::NAME) => unless_panicked(|| action::action(&words, &context)),
        Some(post::NAME) => post::post(&context),
        Some(_) | None => typed(program, &words, &mut context),
    };
    context.close();
    code
}

/// Reads the command line and runs the verb.
fn typed(program: OsString, words: &[OsString], context: &mut Context) -> u8 {
    let mut command = Cli::command();
    if context.environment.variable("CLICOLOR_FORCE") == Some("0")
        && context.stdout_colour() == Colour::Off
    {
        command = command.color(clap::ColorChoice::Never);
    }
    let usual = arguments::normalise(words.iter().cloned(), &command);
    let parsed = command
        .try_get_matches_from_mut(std::iter::once(program).chain(usual))
        .and_then(|found| Cli::from_arg_matches(&found))
        .map_err(|error| misspelt::with_meant(error, &command, words));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() && is_of_job(words, &context.environment) => {
            return misused(&error, context).number();
        }
        Err(error) => return usage(&error, context).number(),
    };
    if cli.version {
        return version::version().number();
    }
    let Some(verb) = cli.command else {
        // The Go tool prints its usage on stdout and ends with 0.
        return print_dressed(&command.render_help(), context).number();
    };
    // All verbs with all their options: nobody asks for them while one of them is at work.
    drop(command);
    context.colour = cli.color;
    unless_panicked(|| dispatch(verb, context))
}

/// The code of a verb. One that broke off in a panic, which has told of itself, could not do what it was asked for.
fn unless_panicked(verb: impl FnOnce() -> u8) -> u8 {
    let ended = panic::catch_unwind(AssertUnwindSafe(verb));
    ended.unwrap_or_else(|_| ExitCode::CouldNotRun.number())
}

/// The code that the process exits with. `serve` alone chooses codes that are none of ours.
fn dispatch(verb: Command, context: &Context) -> u8 {
    match verb {
        Command::Run(args) => run::run(&args, context).number(),
        Command::Ci(args) => ci::ci(&args, &context.without_job()).number(),
        Command::Reap(args) => reap::reap(&args, context).number(),
        Command::Serve(args) => serve::serve(*args),
        Command::Validate(args) => validate::validate(&args, context).number(),
        Command::Schema(args) => schema::schema(&args).number(),
        Command::Completions(args) => completions::completions(&args).number(),
        Command::Version => version::version().number(),
    }
}

/// Whether the words are for `ci` in a step whose outputs later ones read.
fn is_of_job(words: &[OsString], environment: &Environment) -> bool {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|it| it == word);
    let reader = environment.variable("GITHUB_OUTPUT").unwrap_or_default();
    !reader.is_empty() && is(0, "ci")
}

/// Tells clap's message, and later steps of the job that there is no result.
fn misused(error: &clap::Error, context: &Context) -> ExitCode {
    let said = error.render().to_string();
    let problem = said.split("\n\n").next().unwrap_or_default();
    let problem = problem.strip_prefix("error: ").unwrap_or(problem);
    ci::refused((problem, &said), ci::Marked::ALL, &context.without_job())
}

/// Prints clap's message; help and version asked for are no error.
fn usage(error: &clap::Error, context: &Context) -> ExitCode {
    if !error.use_stderr() {
        return print_dressed(&error.render(), context);
    }
    if context.log.is_some() {
        context.say(&error.render().to_string());
    } else {
        // A closed stream is nobody to tell.
        let _ = error.print();
    }
    ExitCode::Invalid
}

/// Prints a text of clap's on stdout, with its colours where stdout has some.
fn print_dressed(text: &clap::builder::StyledStr, context: &Context) -> ExitCode {
    match context.stdout_colour() {
        Colour::On => print(text.ansi().to_string().as_bytes()),
        Colour::Off => print(text.to_string().as_bytes()),
    }
}

/// Prints all that a verb says, or says that it could not.
fn print(text: &[u8]) -> ExitCode {
    match stdout::print(text, &Streams::default()) {
        Ok(()) => ExitCode::Passed,
        Err(_) => ExitCode::CouldNotRun,
    }
}
