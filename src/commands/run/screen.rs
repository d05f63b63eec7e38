//! What `run` shows while it works: result lines on stdout, progress, problems and notes on stderr. With `--json`
//! stdout is kept for the array.

use std::io::{IsTerminal, Write};

use crate::{
    cli::run::RunArgs,
    commands::Context,
    deliver::stdout::Stdout,
    terminal::{
        live::{Live, LiveOptions, Progress, Results},
        theme::Theme,
    },
    words::{
        diagnostic::{Colour, Diagnostic},
        text::clean,
    },
};

/// The two streams and their dress.
#[derive(Debug)]
pub(super) struct Screen {
    stdout: Stdout,
    stderr_colour: Colour,
    live: LiveOptions,
}

impl Screen {
    pub(super) fn new(context: &Context, args: &RunArgs) -> Self {
        let takes_stdout =
            args.json || args.list || args.reports.iter().any(|report| report.ends_with("=-"));
        let plain_terminal = context.environment.variable("TERM") == Some("dumb");
        let bars = std::io::stderr().is_terminal() && !plain_terminal && !context.is_in_ci();
        Self {
            stdout: Stdout::new(),
            stderr_colour: context.stderr_colour(),
            live: LiveOptions {
                results: if takes_stdout {
                    Results::Silent
                } else {
                    Results::Lines
                },
                progress: if bars { Progress::Bars } else { Progress::None },
                theme: Theme::new(context.stdout_colour()),
                trials: args.trials,
            },
        }
    }

    pub(super) fn stdout(&mut self) -> &mut Stdout {
        &mut self.stdout
    }

    pub(super) fn theme(&self) -> Theme {
        self.live.theme
    }

    /// Whether a person watches the bars.
    pub(super) fn has_bars(&self) -> bool {
        self.live.progress == Progress::Bars
    }

    /// The view of the run.
    pub(super) fn live(&self) -> Live {
        Live::new(self.live)
    }

    /// Whether the human report goes to stdout.
    pub(super) fn is_for_people(&self) -> bool {
        self.live.results == Results::Lines
    }

    /// A problem of the suite, drawn with its place.
    pub(super) fn problem(&self, problem: &Diagnostic) {
        Self::say(&format!("{}\n\n", problem.render(self.stderr_colour)));
    }

    /// Something that was passed over.
    pub(super) fn note(&self, note: &str) {
        Self::say(&format!("note: {}\n", clean(note)));
    }

    fn say(text: &str) {
        // A closed stderr is nobody to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}
