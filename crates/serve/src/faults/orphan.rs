//! The child that a fault leaves behind: it holds our stdout open and does nothing else.

use std::time::Duration;

/// With these arguments the executable is such a child.
pub const ARGUMENTS: [&str; 2] = ["serve", "--hold-stdout"];

/// After this a child that nobody ended goes by itself, so that a forgotten one is no leak.
const LIFETIME: Duration = Duration::from_mins(10);

/// What the child does.
pub fn hold_stdout() {
    std::thread::sleep(LIFETIME);
}
