//! The runner's side of the log, for the tests of everything that is written there.

pub(crate) mod runner;
