//! The exit codes that users script against. The numbers stand here and nowhere else.

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitCode {
    /// 0: everything asked for passed. A closed stdout pipe ends this way too.
    Passed,
    /// 1: an assertion failed or could not be observed, or a regression was found.
    Failed,
    /// 2: the command line or a suite is invalid.
    Invalid,
    /// 3: the run could not be made at all, or a report that was asked for could not be written.
    CouldNotRun,
    /// 4: nothing was selected; an empty suite is never green.
    NothingSelected,
    /// 130: interrupted by Ctrl-C, SIGTERM, SIGQUIT or the end of the terminal.
    Interrupted,
}

impl ExitCode {
    /// The number the operating system is given.
    pub fn number(self) -> u8 {
        match self {
            Self::Passed => 0,
            Self::Failed => 1,
            Self::Invalid => 2,
            Self::CouldNotRun => 3,
            Self::NothingSelected => 4,
            Self::Interrupted => 130,
        }
    }
}
