//! Bytes to frames and back; records every frame. Never interprets more than it must: what a frame means is
//! the session's affair, and starting the process behind a pipe is `isolate`'s.

pub(crate) mod attach;
pub(crate) mod clock;
#[cfg(test)]
pub(crate) mod duplex;
mod lines;
pub(crate) mod link;
pub(crate) mod wire;
