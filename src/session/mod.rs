//! Frames to MCP: handshake by revision, correlation, client behaviour, pagination, cancel, subjects.
//! Never sees an expectation.
