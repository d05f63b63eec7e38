//! The embedded fixture server: rmcp underneath, a fault layer on the wire, a journal beside it.
