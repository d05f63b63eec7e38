//! One unit of traffic as it was on the wire, before anybody interpreted it.

/// Bytes kept of each end of a long frame.
pub const KEPT_BYTES: usize = 64 * 1024;

/// The longest frame that is read; a longer one is a finding, not memory.
pub const LONGEST_BYTES: usize = 64 * 1024 * 1024;

/// The most JSON values that a frame may hold; as with its length, more is a finding. A value of a few bytes takes
/// hundreds as long as it is looked at.
pub const MOST_VALUES: usize = 1_000_000;

/// Who sent a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// We did.
    Sent,
    /// The server did.
    Received,
}

/// How the line that carried a frame ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineEnd {
    /// LF, or CR LF (the CR is not part of the frame).
    Newline,
    /// The stream ended before a newline.
    Missing,
    /// The line had begun when we closed the connection, and the stream ended before a newline.
    CutOff,
}

/// The facts about a frame besides its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrameMeta {
    /// It was a line.
    Line(LineEnd),
    /// It was the body of a response, or an event of one.
    Http {
        /// The status of the response.
        status: u16,
    },
    /// It is the status line of a response with its headers, and no message.
    HttpHead,
}

/// One frame as recorded: for stdio a line without its end.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Who sent it.
    pub direction: Direction,
    /// Microseconds since the job began.
    pub at_us: u64,
    /// The bytes; of a long frame the first and last [`KEPT_BYTES`].
    pub bytes: Vec<u8>,
    /// The frame's true length in bytes.
    pub length: usize,
    /// What the transport says of it.
    pub meta: FrameMeta,
}

impl FrameMeta {
    /// Whether the frame came to its end.
    pub fn is_whole(self) -> bool {
        match self {
            Self::Line(end) => end == LineEnd::Newline,
            Self::Http { .. } | Self::HttpHead => true,
        }
    }
}

impl Frame {
    /// Makes the record of a line, keeping only both ends of a long one.
    pub fn new(direction: Direction, at_us: u64, bytes: &[u8]) -> Self {
        let kept = if bytes.len() <= 2 * KEPT_BYTES {
            bytes.to_vec()
        } else {
            [&bytes[..KEPT_BYTES], &bytes[bytes.len() - KEPT_BYTES..]].concat()
        };
        Self {
            direction,
            at_us,
            bytes: kept,
            length: bytes.len(),
            meta: FrameMeta::Line(LineEnd::Newline),
        }
    }

    /// The same with what the transport says of it.
    pub fn with_meta(self, meta: FrameMeta) -> Self {
        Self { meta, ..self }
    }

    /// The frame as text; bytes that are not UTF-8 become U+FFFD, a cut is said by `…` right behind and
    /// before what was cut.
    pub fn text(&self) -> String {
        match self.meta {
            FrameMeta::Line(_) | FrameMeta::HttpHead => self.body(),
            FrameMeta::Http { status } => format!("HTTP {status}: {}", self.body()),
        }
    }

    fn body(&self) -> String {
        if self.length == self.bytes.len() {
            return String::from_utf8_lossy(&self.bytes).into_owned();
        }
        let (first, last) = self.bytes.split_at(KEPT_BYTES.min(self.bytes.len()));
        format!(
            "{}… ({} bytes left out) …{}",
            String::from_utf8_lossy(first),
            self.length - self.bytes.len(),
            String::from_utf8_lossy(last)
        )
    }
}
