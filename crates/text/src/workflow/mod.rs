//! The log of a GitHub workflow as data: text that its runner shows and never obeys, and the commands that are
//! ours. Where it is written is decided in `deliver::workflow_log`.

pub mod command;
pub mod neutral;

#[cfg(any(test, feature = "testing"))]
#[path = "tests/runner.rs"]
pub mod runner;
