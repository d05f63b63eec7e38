//! JSON-RPC and MCP as data: frames, ids, revisions, methods, shapes. No I/O.

pub mod frame;
pub mod members;
pub mod message;
pub mod method;
pub mod revision;
pub mod shape;
