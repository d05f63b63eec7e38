//! One thin file per verb: options in, calls, exit code out. This file reads the process's arguments and
//! environment, once, and picks the verb.

mod action;
mod asking;
mod audit;
mod call;
mod ci;
mod completions;
mod conform;
mod coverage;
mod diff;
mod environment;
mod findings;
mod generate;
mod lint;
mod list;
mod lock;
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

use clap::FromArgMatches;

use self::running::Interrupts;
use crate::{
    cli::{self, Cli, Command, When, arguments, ci::Switch},
    deliver::{standard::Streams, stdout, workflow_log::WorkflowLog},
};
use host::container::engine::Asker;
use text::{
    diagnostic::Colour,
    environment::{Environment, Inheritance},
    exit::ExitCode,
};

/// Shared by all commands: environment, streams, log and signals.
#[derive(Clone)]
pub(crate) struct Context {
    /// The arguments as they were typed.
    words: Vec<String>,
    /// The environment at start.
    pub(crate) environment: Arc<Environment>,
    /// The value of `--color`.
    pub(crate) colour: When,
    /// Standard output and standard error.
    pub(crate) streams: Streams,
    /// The workflow log, if the process runs in a GitHub workflow.
    pub(crate) log: Option<WorkflowLog>,
    /// The signals that end a run.
    interrupts: Interrupts,
    /// Selects the help texts about container engines.
    asker: Asker,
}

impl Context {
    fn new(environment: Environment, colour: When) -> Self {
        let in_workflow = environment.variable("GITHUB_ACTIONS") == Some("true");
        let streams = Streams::default();
        let log = in_workflow.then(|| WorkflowLog::beside_stdout(&streams));
        Self {
            words: Vec::new(),
            environment: Arc::new(environment),
            colour,
            interrupts: Interrupts::new(log.clone(), &streams),
            asker: Asker::CommandLine,
            log,
            streams,
        }
    }

    fn stdout_colour(&self) -> Colour {
        self.colour(&std::io::stdout())
    }

    fn stderr_colour(&self) -> Colour {
        self.colour(&std::io::stderr())
    }

    /// Whether a stream gets colours: `--color`, else `NO_COLOR` and `FORCE_COLOR`, else a workflow's log and a terminal;
    /// `CLICOLOR_FORCE` and `TERM=dumb` apply to the last.
    fn colour(&self, stream: &impl anstream::stream::RawStream) -> Colour {
        let set = |name| self.environment.variable(name).filter(|it| !it.is_empty());
        let auto = || match (set("NO_COLOR"), set("FORCE_COLOR")) {
            (Some(_), _) | (None, Some("0" | "false")) => Colour::Off,
            (None, Some(_)) => Colour::On,
            (None, None) if self.log.is_some() => Colour::On,
            (None, None) => match anstream::AutoStream::choice(stream) {
                anstream::ColorChoice::Always | anstream::ColorChoice::AlwaysAnsi => Colour::On,
                anstream::ColorChoice::Auto | anstream::ColorChoice::Never => Colour::Off,
            },
        };
        match self.colour {
            When::Auto => auto(),
            When::Always => Colour::On,
            When::Never => Colour::Off,
        }
    }

    /// Whether a CI system runs this process. Its log is not treated as a terminal.
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

    /// A context whose child processes do not inherit the job's tokens.
    fn without_job(&self) -> Self {
        Self {
            environment: Arc::new(Environment {
                inheritance: Inheritance::NothingOfTheJob,
                ..Environment::clone(&self.environment)
            }),
            ..self.clone()
        }
    }

    /// Ends the workflow log and flushes the streams; until then a signal ends waiting for a stalled reader.
    fn close(&self) {
        if let Some(log) = &self.log {
            log.close();
        }
        self.streams.settle();
        self.interrupts.close();
    }

    /// Neutralises panic messages in the workflow log.
    fn catch_panics(&self) {
        if let Some(log) = self.log.clone() {
            panic::set_hook(Box::new(move |panic| log.panicked(&panic.to_string())));
        }
    }
}

/// Selects the role by program name and returns the exit code.
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
    let mut command = cli::command();
    let usual = arguments::normalise(words.iter().cloned(), &command);
    let parsed = command
        .try_get_matches_from_mut(std::iter::once(program).chain(usual))
        .and_then(|found| Cli::from_arg_matches(&found));
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
    // Frees the definitions of all commands before one of them runs.
    drop(command);
    context.colour = cli.color;
    let words = words.iter().map(|it| it.to_string_lossy().into_owned());
    context.words = words.collect();
    unless_panicked(|| dispatch(verb, context))
}

/// Runs a command; a panic becomes exit code 3.
fn unless_panicked(verb: impl FnOnce() -> u8) -> u8 {
    let ended = panic::catch_unwind(AssertUnwindSafe(verb));
    ended.unwrap_or_else(|_| ExitCode::CouldNotRun.number())
}

/// Runs the selected command and returns the exit code. Only `serve` returns codes other than ours.
fn dispatch(verb: Command, context: &Context) -> u8 {
    let carried_out = match verb {
        Command::Run(args) => run::run(&args, context),
        Command::Ci(args) => Ok(ci::ci(&args, &context.without_job())),
        Command::List(args) => list::list(&args, context),
        Command::Call(args) => call::call(&args, context),
        Command::Init(args) => generate::init(&args, context),
        Command::Generate(args) => generate::generate(&args, context),
        Command::Coverage(args) => coverage::coverage(&args, context),
        Command::Conform(args) => conform::conform(&args, context),
        Command::Audit(args) => audit::audit(&args, context),
        Command::Lint(args) => lint::lint(&args, context),
        Command::Diff(args) => diff::diff(&args, context),
        Command::Lock(args) => lock::lock(&args, context),
        Command::Reap(args) => reap::reap(&args, context),
        Command::Serve(args) => return serve::serve(*args),
        Command::Validate(args) => Ok(validate::validate(&args, context)),
        Command::Schema(args) => Ok(schema::schema(&args)),
        Command::Completions(args) => Ok(completions::completions(&args)),
        Command::Version => Ok(version::version()),
    };
    let code = carried_out.unwrap_or_else(|refusal| refusal.say(context));
    code.number()
}

/// Whether the arguments are for `ci` in a workflow step with outputs.
fn is_of_job(words: &[OsString], environment: &Environment) -> bool {
    let is = |at: usize, word: &str| words.get(at).is_some_and(|it| it == word);
    environment.set("GITHUB_OUTPUT").is_some() && is(0, "ci")
}

/// Prints a clap error. Requested help goes to stdout and is a success.
fn misused(error: &clap::Error, context: &Context) -> ExitCode {
    let said = error.render().to_string();
    let marked = [Switch::Auto; 2];
    let problems = [first_words(&said).to_owned()];
    ci::refused((&problems, &said), marked, &context.without_job())
}

/// The first paragraph of a clap error, without `error:`.
fn first_words(said: &str) -> &str {
    let problem = said.split("\n\n").next().unwrap_or_default();
    problem.strip_prefix("error: ").unwrap_or(problem)
}

/// Prints clap's message; help and version asked for are no error.
fn usage(error: &clap::Error, context: &Context) -> ExitCode {
    if !error.use_stderr() {
        return print_dressed(&error.render(), context);
    }
    if context.log.is_some() {
        context.say(&error.render().to_string());
    } else {
        // A closed stderr is ignored.
        let _ = error.print();
    }
    ExitCode::Invalid
}

/// Prints clap's text on stdout, coloured if stdout is.
fn print_dressed(text: &clap::builder::StyledStr, context: &Context) -> ExitCode {
    match context.stdout_colour() {
        Colour::On => print(text.ansi().to_string().as_bytes()),
        Colour::Off => print(text.to_string().as_bytes()),
    }
}

/// Prints the whole output of a command.
fn print(text: &[u8]) -> ExitCode {
    match stdout::print(text, &Streams::default()) {
        Ok(()) => ExitCode::Passed,
        Err(_) => ExitCode::CouldNotRun,
    }
}
