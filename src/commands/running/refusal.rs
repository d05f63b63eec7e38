//! Why a run was not made, in one diagnostic.

use crate::{
    commands::Context,
    words::{
        diagnostic::{Diagnostic, Severity},
        exit::ExitCode,
    },
};

/// A run that ends before any assertion, or whose reports cannot be written.
#[derive(Debug)]
pub(in crate::commands) struct Refusal {
    code: ExitCode,
    message: String,
    help: Vec<String>,
}

impl Refusal {
    pub(in crate::commands) fn new(code: ExitCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            help: Vec::new(),
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

    /// The code the process ends with.
    pub(in crate::commands) fn code(&self) -> ExitCode {
        self.code
    }

    /// What is wrong.
    pub(in crate::commands) fn message(&self) -> &str {
        &self.message
    }

    /// Says it on stderr and gives the exit code.
    pub(in crate::commands) fn say(self, context: &Context) -> ExitCode {
        let drawn = Diagnostic {
            code: match self.code {
                ExitCode::NothingSelected => "nothing-selected",
                ExitCode::CouldNotRun => "could-not-run",
                ExitCode::Invalid | ExitCode::Passed | ExitCode::Failed | ExitCode::Interrupted => {
                    "usage"
                }
            },
            severity: Severity::Error,
            message: self.message,
            origin: None,
            label: None,
            help: self.help,
        }
        .render(context.stderr_colour());
        context.say(&format!(
            "{drawn}
"
        ));
        self.code
    }
}
