//! The commands that we ourselves give to the runner of a workflow. Nothing else of what we write is one.

use std::fmt::{self, Display};

/// A line that the runner obeys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Command {
    /// From here on it obeys nothing but the end with the same token.
    StopCommands(String),
    /// It obeys again.
    ResumeCommands(String),
}

impl Display for Command {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StopCommands(token) => write!(out, "::stop-commands::{}", Data(token)),
            Self::ResumeCommands(token) => write!(out, "::{}::", Data(token)),
        }
    }
}

/// What stands behind a command, with its line ends escaped.
struct Data<'a>(&'a str);

impl Display for Data<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '%' => out.write_str("%25")?,
                '\r' => out.write_str("%0D")?,
                '\n' => out.write_str("%0A")?,
                other => write!(out, "{other}")?,
            }
        }
        Ok(())
    }
}
