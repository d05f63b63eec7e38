//! Expectations about the server's process.

use super::Beside;
use mcp::script::pattern::Pattern;

/// An expectation about the server's process.
#[derive(Debug, Clone)]
pub enum ProcessWanted {
    /// `stderr`: what the server wrote there.
    Stderr(Box<StderrWanted>),
    /// `exit`: how the server ended after the session was closed.
    Exit(ExitWanted),
}

impl ProcessWanted {
    /// What it looks at.
    pub fn beside(&self) -> Beside {
        match self {
            Self::Stderr(_) => Beside::Stderr,
            Self::Exit(_) => Beside::Exit,
        }
    }
}

/// `stderr`.
#[derive(Debug, Clone, Default)]
pub struct StderrWanted {
    /// It holds each of these.
    pub contains: Vec<String>,
    /// It holds none of these.
    pub not_contains: Vec<String>,
    /// Each of these patterns is found in it.
    pub matches: Vec<Pattern>,
}

impl StderrWanted {
    /// Whether nothing has to come.
    pub fn wants_none(&self) -> bool {
        let Self {
            contains,
            not_contains: _,
            matches,
        } = self;
        contains.is_empty() && matches.is_empty()
    }
}

/// `exit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitWanted {
    /// With this code.
    Code(i32),
    /// Cleanly (code 0 on the end of stdin, nothing left behind), or not.
    Clean(bool),
}
