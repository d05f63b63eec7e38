//! Every frame of a raw exchange, where the frames themselves are what is observed.

use crate::protocol::{
    frame::LONGEST_BYTES,
    message::{Id, Response},
};

/// The frames of a raw exchange, bounded in bytes.
#[derive(Debug, Default)]
pub(in crate::session) struct Transcript {
    /// The frames as text.
    pub(in crate::session) frames: Vec<String>,
    /// The ids of the requests that were sent.
    pub(in crate::session) asked: Vec<Id>,
    /// The answers, in the order in which they came. A second one to a request, and one that fits no request, are
    /// among them: an error is seen whatever its id is.
    pub(in crate::session) answers: Vec<Response>,
    /// How many of those carry no id: a server's way to answer what it cannot read.
    pub(in crate::session) nameless: usize,
    /// How many of those are errors with an id that nobody asked with: some servers answer like this what they cannot
    /// read.
    pub(in crate::session) misnamed: usize,
    /// How many answers without an id what was sent asks for.
    pub(in crate::session) due: usize,
    /// The requests that no answer can come to any more, and why.
    pub(in crate::session) lost: Vec<(Id, String)>,
    bytes: usize,
}

impl Transcript {
    /// Whether the next answer without an id is as it has to be.
    pub(super) fn expects_nameless(&self) -> bool {
        self.nameless < self.due
    }

    /// Whether a request with this id, whatever its JSON type, was sent.
    pub(super) fn has_asked(&self, id: &Id) -> bool {
        self.asked.iter().any(|asked| asked.same_but_for_type(id))
    }

    /// An answer that fits no request.
    pub(super) fn stray(&mut self, response: &Response) {
        match (&response.id, &response.error) {
            (None, _) => self.nameless += 1,
            (Some(_), Some(_)) => self.misnamed += 1,
            (Some(_), None) => {}
        }
        self.answers.push(response.clone());
    }

    pub(super) fn add(&mut self, frame: &[u8]) {
        self.bytes = self.bytes.saturating_add(frame.len());
        if self.bytes <= LONGEST_BYTES {
            self.frames
                .push(String::from_utf8_lossy(frame).into_owned());
        }
    }
}
