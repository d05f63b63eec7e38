//! Connections for tests of what is built on them: over streams in this process.

pub mod duplex;
