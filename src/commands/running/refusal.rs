//! Why a run was not made, in one diagnostic.

use crate::commands::Context;
use text::{
    diagnostic::{Diagnostic, Severity},
    exit::ExitCode,
    source::Origin,
};

/// A run that ends before any assertion, or whose reports cannot be written.
#[derive(Debug)]
pub(in crate::commands) struct Refusal {
    code: ExitCode,
    message: String,
    origin: Option<Origin>,
    help: Vec<String>,
    /// What else is wrong, told before.
    beside: Vec<Diagnostic>,
}

impl Refusal {
    pub(in crate::commands) fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            origin: None,
            help: Vec::new(),
            beside: Vec::new(),
        }
    }

    /// The command line or the suite cannot be used.
    pub(in crate::commands) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ExitCode::Invalid, message)
    }

    pub(in crate::commands) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// The same about a place in a file.
    pub(in crate::commands) fn at(mut self, origin: Option<Origin>) -> Self {
        self.origin = origin;
        self
    }

    /// The same, said behind problems that would be told if the run were made.
    pub(in crate::commands) fn beside(mut self, problems: Vec<Diagnostic>) -> Self {
        self.beside = problems;
        self
    }

    /// The code the process ends with.
    pub(in crate::commands) fn code(&self) -> ExitCode {
        self.code
    }

    /// What is wrong.
    pub(in crate::commands) fn message(&self) -> &str {
        &self.message
    }

    /// Says it on stderr and gives the exit code.
    pub(in crate::commands) fn say(mut self, context: &Context) -> ExitCode {
        let code = self.code;
        let mut problems = std::mem::take(&mut self.beside);
        problems.push(self.into_diagnostic());
        for problem in problems {
            let drawn = problem.render(context.stderr_colour());
            context.say(&format!("{drawn}\n"));
        }
        code
    }

    /// What is wrong, as one problem.
    pub(in crate::commands) fn into_diagnostic(self) -> Diagnostic {
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
