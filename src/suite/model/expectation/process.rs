//! What is wanted of the server's process.

use crate::script::pattern::Pattern;

/// What must be so of the server's process.
#[derive(Debug, Clone)]
pub(crate) enum ProcessWanted {
    /// `stderr`: what the server wrote there.
    Stderr(Box<StderrWanted>),
    /// `exit`: how the server ended after the session was closed.
    Exit(ExitWanted),
}

impl ProcessWanted {
    /// Whether nothing is asked for, whatever the server does.
    pub(crate) fn asks_nothing(&self) -> bool {
        match self {
            Self::Stderr(wanted) => wanted.wants_none() && wanted.not_contains.is_empty(),
            Self::Exit(_) => false,
        }
    }
}

/// `stderr`.
#[derive(Debug, Clone, Default)]
pub(crate) struct StderrWanted {
    /// It holds each of these.
    pub(crate) contains: Vec<String>,
    /// It holds none of these.
    pub(crate) not_contains: Vec<String>,
    /// Each of these patterns is found in it.
    pub(crate) matches: Vec<Pattern>,
}

impl StderrWanted {
    /// Whether nothing has to come.
    pub(crate) fn wants_none(&self) -> bool {
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
pub(crate) enum ExitWanted {
    /// With this code.
    Code(i32),
    /// Cleanly (code 0 on the end of stdin, nothing left behind), or not.
    Clean(bool),
}
