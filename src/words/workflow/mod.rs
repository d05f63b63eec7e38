//! The log of a GitHub workflow as data: text that its runner shows and never obeys, and the commands that are
//! ours. Where it is written is decided in `deliver::workflow_log`.

pub(crate) mod command;
pub(crate) mod neutral;

#[cfg(test)]
pub(crate) mod tests;
