//! Connections for tests of what is built on them: over streams in this process, and over channels.

pub mod duplex;
pub mod queue;
