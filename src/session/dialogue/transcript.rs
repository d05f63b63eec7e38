//! Every frame of a raw exchange, where the frames themselves are what is observed.

use crate::protocol::{frame::LONGEST_BYTES, message::Response};

/// The frames of a raw exchange, bounded in bytes.
#[derive(Debug, Default)]
pub(in crate::session) struct Transcript {
    /// The frames as text.
    pub(in crate::session) frames: Vec<String>,
    /// Answers that carry no id: a server's way to answer what it cannot read.
    pub(in crate::session) nameless: Vec<Response>,
    /// How many of those what was sent asks for.
    pub(in crate::session) due: usize,
    bytes: usize,
}

impl Transcript {
    /// Whether the next answer without an id is as it has to be.
    pub(super) fn expects_nameless(&self) -> bool {
        self.nameless.len() < self.due
    }

    pub(super) fn add(&mut self, frame: &[u8]) {
        self.bytes = self.bytes.saturating_add(frame.len());
        if self.bytes <= LONGEST_BYTES {
            self.frames
                .push(String::from_utf8_lossy(frame).into_owned());
        }
    }
}
