//! The signals that this process ignores.

use std::fs;

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
