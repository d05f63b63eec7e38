//! Which log messages a server may send. A level that was asked for holds from its answer on: before, the server may
//! not have read the request, and one that was refused never holds.

use crate::protocol::method::LogLevel;

/// The levels asked for, and the one that holds.
#[derive(Debug, Default)]
pub(in crate::session) struct LogLevels {
    /// The level of the last `logging/setLevel` that succeeded.
    holds: Option<LogLevel>,
    /// The lowest of those that are not answered yet.
    asked: Option<LogLevel>,
    /// The level that each request names from now on, as the suite has it.
    wanted: Option<String>,
}

impl LogLevels {
    /// A level is asked for. One that does not exist may mean any.
    pub(in crate::session) fn ask(&mut self, level: Option<LogLevel>) {
        let level = level.unwrap_or(LogLevel::Debug);
        self.asked = Some(self.asked.map_or(level, |before| before.min(level)));
    }

    /// The answer to one of the requests came, and so many others are still open.
    pub(super) fn answered(&mut self, succeeded: bool, others: usize) {
        if succeeded {
            self.holds = self.asked.or(self.holds);
        }
        if others == 0 {
            self.asked = None;
        }
    }

    /// Each request asks for messages of this level from now on.
    pub(in crate::session) fn want(&mut self, level: String) {
        self.wanted = Some(level);
    }

    /// The level that a request asks for.
    pub(super) fn wanted(&self) -> Option<&str> {
        self.wanted.as_deref()
    }

    /// The lowest level that requests ask for. One that does not exist may mean any.
    pub(super) fn lowest_wanted(&self) -> Option<LogLevel> {
        let level = self.wanted()?;
        Some(LogLevel::from_name(level).unwrap_or(LogLevel::Debug))
    }

    /// The lowest level that the server may send; nothing where no level holds.
    pub(super) fn lowest(&self) -> Option<LogLevel> {
        let holds = self.holds?;
        Some(self.asked.map_or(holds, |asked| asked.min(holds)))
    }
}

#[cfg(test)]
mod tests {
    use super::{LogLevel, LogLevels};

    #[test]
    fn a_level_holds_once_its_request_succeeded() {
        let (error, debug) = (Some(LogLevel::Error), Some(LogLevel::Debug));
        let mut levels = LogLevels::default();
        levels.ask(error);
        assert_eq!(levels.lowest(), None);
        levels.answered(true, 0);
        assert_eq!(levels.lowest(), error);
        levels.ask(debug);
        assert_eq!(levels.lowest(), debug, "it may be set already");
        levels.answered(false, 0);
        assert_eq!(levels.lowest(), error, "it was refused");
        levels.ask(None);
        levels.answered(true, 0);
        assert_eq!(levels.lowest(), debug, "it does not exist");
    }

    #[test]
    fn of_levels_asked_for_at_once_the_lowest_counts() {
        let (error, debug) = (Some(LogLevel::Error), Some(LogLevel::Debug));
        for [first, second] in [[error, debug], [debug, error]] {
            let mut levels = LogLevels::default();
            levels.ask(first);
            levels.ask(second);
            levels.answered(true, 1);
            assert_eq!(levels.lowest(), debug);
            levels.answered(false, 0);
            assert_eq!(levels.lowest(), debug);
        }
    }
}
