//! How messages go on the stream: line ends, framing, writes. A whole stream has one, and a message
//! can have its own.

/// The way a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Style {
    /// What stands before the next message.
    pub mark: Mark,
    /// What ends it.
    pub end: LineEnd,
    /// How its length is known.
    pub framing: Framing,
    /// In how many pieces it is written.
    pub writes: Writes,
    /// What stands between messages.
    pub spacing: Spacing,
}

/// What stands before a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mark {
    /// Nothing.
    #[default]
    None,
    /// A byte-order mark.
    ByteOrder,
}

/// What ends a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum LineEnd {
    /// LF.
    #[default]
    Lf,
    /// CR LF.
    CrLf,
    /// Nothing at all.
    None,
}

/// How the length of a message is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Framing {
    /// It ends with its line.
    #[default]
    Lines,
    /// A header names it, as the Language Server Protocol has it.
    ContentLength,
}

/// In how many pieces a message is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Writes {
    /// At once.
    #[default]
    Whole,
    /// Byte by byte.
    Bytewise,
}

/// What stands between messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Spacing {
    /// Nothing.
    #[default]
    Dense,
    /// Empty lines.
    BlankLines,
}
