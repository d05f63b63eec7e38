//! Bytes to frames and back; records every frame. Never interprets more than it must.
