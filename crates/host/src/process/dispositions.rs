//! Which signals a server starts with as the system made them. What a signal does is handed on to a child only where it is
//! ignored: the one that we ignore for ourselves is given back, those that our caller ignores stay as they are, but for
//! those that we listen for and so ignore no longer.

use std::{fs, sync::OnceLock};

use nix::sys::signal::{SigSet, Signal};

/// The highest number of a signal that has a name.
const LAST_NAMED: u32 = 31;

/// The signals whose default is to be restored in a child. For each that is not told, the C library asks what it does and
/// sets it: sixty system calls at each start, so that all are told that are not ignored when the first child starts.
pub(super) fn restored() -> SigSet {
    static RESTORED: OnceLock<SigSet> = OnceLock::new();
    *RESTORED.get_or_init(|| all_but(ignored()))
}

/// All but these; the one that we ignore ourselves is always among them. It alone where what is ignored is
/// not known, or is nothing that can be named.
fn all_but(ignored: Option<Ignored>) -> SigSet {
    let Some(ignored) = ignored.filter(|ignored| ignored.0 >> LAST_NAMED == 0) else {
        return SigSet::from(Signal::SIGPIPE);
    };
    let mut restored = SigSet::all();
    for signal in Signal::iterator() {
        if ignored.has(signal as i32) {
            restored.remove(signal);
        }
    }
    restored.add(Signal::SIGPIPE);
    restored
}

/// Signals that a process ignores, the first in the lowest bit.
#[derive(Debug, Clone, Copy)]
pub struct Ignored(u64);

impl Ignored {
    /// Whether the signal of this number is among them.
    pub fn has(self, signal: i32) -> bool {
        self.0 & (1 << (signal - 1)) != 0
    }
}

/// The signals that this process ignores at this moment, where the system tells (`SigIgn` of `/proc/PID/status`, proc(5)).
pub fn ignored() -> Option<Ignored> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok().map(Ignored)
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{SigSet, Signal};

    use super::{Ignored, all_but};

    #[test]
    fn what_our_caller_ignores_is_left_alone_and_what_we_ignore_is_given_back() {
        let pipe_and_hup = 1 << 12 | 1;
        let restored = all_but(Some(Ignored(pipe_and_hup)));
        let holds = |signal| restored.contains(signal);
        assert!(!holds(Signal::SIGHUP));
        assert!(holds(Signal::SIGPIPE) && holds(Signal::SIGINT) && holds(Signal::SIGSYS));
        assert_eq!(all_but(Some(Ignored(1 << 12))), SigSet::all());
    }

    #[test]
    fn nothing_is_restored_that_may_be_ignored_without_our_knowing() {
        let least = SigSet::from(Signal::SIGPIPE);
        assert_eq!(all_but(None), least);
        let real_time = 1 << 33;
        assert_eq!(all_but(Some(Ignored(real_time))), least);
    }
}
