//! MCP, spoken: messages, transports, sessions, and what was observed.

pub mod json;
pub mod observation;
pub mod protocol;
pub mod script;
pub mod session;
pub mod transport;
