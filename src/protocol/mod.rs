//! JSON-RPC and MCP as data: frames, ids, revisions, methods, shapes. No I/O.

pub(crate) mod frame;
pub(crate) mod members;
pub(crate) mod message;
pub(crate) mod method;
pub(crate) mod revision;
pub(crate) mod shape;
