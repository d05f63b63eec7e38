//! Questions about a server without assertions.
