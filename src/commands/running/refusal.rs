//! The error that ends a command, as one diagnostic.

use crate::commands::Context;
use text::{
    diagnostic::{Diagnostic, Severity},
    exit::ExitCode,
    nearest,
    source::Origin,
};

/// An error before the first assertion, or a report that cannot be written.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The exit code.
    pub(crate) code: ExitCode,
    /// The message.
    pub(crate) message: String,
    origin: Option<Origin>,
    help: Vec<String>,
    /// Other problems, printed first.
    beside: Vec<Diagnostic>,
}

impl Refusal {
    pub(crate) fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            origin: None,
            help: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// An invalid command line or suite.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Invalid, message)
    }

    /// Something that keeps the command from doing its work.
    pub(crate) fn could_not_run(message: impl Into<String>) -> Self {
        Self::new(ExitCode::CouldNotRun, message)
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds the nearest known name as help, else all known names.
    pub(crate) fn with_meant(self, word: &str, what: &str, known: &[&str]) -> Self {
        self.with_help(match nearest(word, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("{what}: {}", known.join(", ")),
        })
    }

    /// What to do about it.
    pub(crate) fn help(&self) -> &[String] {
        &self.help
    }

    /// Adds a place in a file.
    pub(crate) fn at(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    /// Adds problems to be printed first.
    pub(crate) fn beside(mut self, problems: Vec<Diagnostic>) -> Self {
        self.beside = problems;
        self
    }

    /// Prints the error and returns the exit code.
    pub(crate) fn say(mut self, context: &Context) -> ExitCode {
        let code = self.code;
        let mut problems = std::mem::take(&mut self.beside);
        problems.push(self.into_diagnostic());
        for problem in problems {
            let drawn = problem.render(context.stderr_colour());
            context.say(&format!("{drawn}\n"));
        }
        code
    }

    /// Converts the error into a diagnostic.
    pub(crate) fn into_diagnostic(self) -> Diagnostic {
        Diagnostic {
            code: match self.code {
                ExitCode::NothingSelected => "nothing-selected",
                ExitCode::CouldNotRun => "could-not-run",
                ExitCode::Invalid | ExitCode::Passed | ExitCode::Failed | ExitCode::Interrupted => {
                    "usage"
                }
            },
            severity: Severity::Error,
            message: self.message,
            origin: self.origin,
            label: None,
            help: self.help,
        }
    }
}
