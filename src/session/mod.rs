//! Frames to MCP: handshake by revision, correlation, client behaviour, pagination, cancel, subjects.
//! Never sees an expectation.

mod client;
mod correlation;
mod dialogue;
mod line;
mod progress;
mod record;
mod rendering;
