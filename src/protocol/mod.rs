//! JSON-RPC and MCP as data: frames, ids, revisions, methods, shapes. No I/O.
