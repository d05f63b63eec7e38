//! How messages go on the stream: line ends, framing, writes. A whole stream has one, and a message
//! can have its own.

/// The way a message is written.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a deviation that a fault asks for by itself"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// Whether a byte-order mark stands before the next message.
    pub mark: bool,
    /// The end of a line.
    pub end: &'static str,
    /// Whether a header names the length, as the Language Server Protocol has it, and no line ends.
    pub content_length: bool,
    /// Whether each byte is written by itself.
    pub bytewise: bool,
    /// Whether empty lines stand between messages.
    pub blank_lines: bool,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            mark: false,
            end: "\n",
            content_length: false,
            bytewise: false,
            blank_lines: false,
        }
    }
}
