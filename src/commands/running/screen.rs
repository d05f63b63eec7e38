//! The output of a run: results on stdout, progress, problems and notes on stderr. With `--json`, stdout holds only the
//! array.

use std::io::{self, IsTerminal, Write};

use crate::{
    cli::When,
    commands::Context,
    deliver::{stdout::Stdout, token},
    terminal::{
        live::{Live, LiveOptions, Progress, Results},
        theme::Theme,
    },
};
use text::{clean, diagnostic::Diagnostic, workflow::command::Command};

/// Both streams with their theme.
pub(crate) struct Screen {
    /// The context of the command.
    pub(crate) context: Context,
    /// Standard output.
    pub(crate) stdout: Stdout,
    live: LiveOptions,
}

impl Screen {
    /// Creates the screen of a run.
    pub(crate) fn new(context: &Context, trials: u32, results: Results) -> Self {
        let plain_terminal = context.environment.variable("TERM") == Some("dumb");
        let bars = io::stderr().is_terminal()
            && !plain_terminal
            && !context.is_in_ci()
            && context.colour != When::Never;
        Self {
            stdout: match &context.log {
                Some(log) if results == Results::Lines => {
                    log.begin();
                    Stdout::over(log.clone(), &context.streams)
                }
                Some(_) | None => Stdout::new(&context.streams),
            },
            context: context.clone(),
            live: LiveOptions {
                results,
                progress: if bars { Progress::Bars } else { Progress::None },
                streams: context.streams.clone(),
                theme: Theme::new(context.stdout_colour()),
                trials,
                log: context.log.clone(),
            },
        }
    }

    /// Sends a workflow command to the runner, if there is one.
    pub(crate) fn command(&self, command: &Command) {
        if let Some(log) = &self.context.log {
            log.command(command);
        }
    }

    /// Writes arbitrary text of servers while the runner executes no workflow commands.
    pub(crate) fn unheeded(
        &mut self,
        write: impl FnOnce(&mut Stdout) -> io::Result<()>,
    ) -> io::Result<()> {
        self.stdout.flush()?;
        match (self.context.log.clone(), token::random()) {
            (Some(log), Some(token)) if self.is_for_people() => log.unheeded(token, || {
                write(&mut self.stdout).and_then(|()| self.stdout.flush())
            }),
            (_, _) => write(&mut self.stdout).and_then(|()| self.stdout.flush()),
        }
    }

    pub(crate) fn theme(&self) -> Theme {
        self.live.theme
    }

    /// Whether there are bars.
    pub(crate) fn has_bars(&self) -> bool {
        self.live.progress == Progress::Bars
    }

    /// Whether the output is a workflow's log.
    pub(crate) fn is_in_workflow(&self) -> bool {
        self.context.log.is_some()
    }

    /// Creates the live view.
    pub(crate) fn live(&self) -> Live {
        Live::new(self.live.clone())
    }

    /// Whether stdout shows the report for people.
    pub(crate) fn is_for_people(&self) -> bool {
        self.live.results == Results::Lines
    }

    /// Prints a problem with its place.
    pub(crate) fn problem(&self, problem: &Diagnostic) {
        self.context.say(&format!(
            "{}\n\n",
            problem.render(self.context.stderr_colour())
        ));
    }

    /// Prints a note.
    pub(crate) fn note(&self, note: &str) {
        self.context.say(&format!("note: {}\n", clean(note)));
    }
}
