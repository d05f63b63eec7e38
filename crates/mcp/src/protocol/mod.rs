//! JSON-RPC and MCP as data: frames, ids, revisions, methods, shapes. No I/O.

pub mod frame;
pub mod header_params;
pub mod members;
pub mod message;
pub mod meta;
pub mod method;
pub mod result;
pub mod revision;
pub mod shape;
