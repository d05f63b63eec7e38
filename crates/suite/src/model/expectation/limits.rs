//! Bounds on an answer.

use std::time::Duration;

/// Bounds on the answer.
#[derive(Debug, Clone)]
pub enum LimitWanted {
    /// `max_duration`: the answer came within this time.
    MaxDuration(Duration),
    /// `max_bytes`: the answer is at most so long.
    MaxBytes(u64),
}
