//! The child that a fault leaves behind: it holds our stdout open and does nothing else.

use std::time::Duration;

/// With these arguments the executable is such a child.
pub const ARGUMENTS: [&str; 2] = ["serve", "--hold-stdout"];

/// After this a child that nobody ended exits by itself, so that a forgotten one does not leak.
const LIFETIME: Duration = Duration::from_mins(10);

/// Runs in the child.
pub fn hold_stdout() {
    std::thread::sleep(LIFETIME);
}
