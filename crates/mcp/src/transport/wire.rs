//! The record of every frame of a job, in both directions, bounded in frames and bytes: the beginning and the
//! end are kept, the middle is counted.

use std::{
    collections::VecDeque,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::protocol::frame::Frame;

/// Frames kept of the beginning, and again of the end.
pub const KEPT_FRAMES: usize = 256;

/// Bytes kept of the beginning, and again of the end.
const KEPT_BYTES: usize = 8 * 1024 * 1024;

/// The record, shared by the link that fills it and whoever reads it when the link's owner was cancelled.
#[derive(Debug, Clone, Default)]
pub struct WireLog {
    recording: Arc<Mutex<Recording>>,
}

/// What was recorded.
#[derive(Debug, Default)]
pub struct Recording {
    first: Vec<Frame>,
    first_bytes: usize,
    last: VecDeque<Frame>,
    last_bytes: usize,
    left_out: u64,
}

impl WireLog {
    /// An empty record.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a frame.
    pub fn record(&self, frame: Frame) {
        self.lock().push(frame);
    }

    /// Hands out what was recorded and starts anew.
    pub fn take(&self) -> Recording {
        mem::take(&mut *self.lock())
    }

    /// The last frame that was recorded, as text.
    #[cfg(any(test, feature = "testing"))]
    pub fn last_text(&self) -> Option<String> {
        let recording = self.lock();
        let last = recording.last.back().or(recording.first.last());
        last.map(Frame::text)
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recording {
    /// Frames of the middle that were not kept; they stood after the first [`KEPT_FRAMES`] at most.
    #[cfg(test)]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The frames that were kept, in order.
    pub fn into_frames(self) -> Vec<Frame> {
        let mut frames = self.first;
        frames.extend(self.last);
        frames
    }

    fn push(&mut self, frame: Frame) {
        let bytes = frame.bytes.len();
        let beginning = self.last.is_empty() && self.left_out == 0;
        if beginning && self.first.len() < KEPT_FRAMES && self.first_bytes + bytes <= KEPT_BYTES {
            self.first_bytes += bytes;
            self.first.push(frame);
            return;
        }
        self.last_bytes += bytes;
        self.last.push_back(frame);
        while self.last.len() > KEPT_FRAMES || self.last_bytes > KEPT_BYTES {
            let Some(oldest) = self.last.pop_front() else {
                break;
            };
            self.last_bytes -= oldest.bytes.len();
            self.left_out += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_FRAMES, WireLog};
    use crate::protocol::frame::{Direction, Frame};

    fn frame(bytes: &[u8]) -> Frame {
        Frame::new(Direction::Received, 0, bytes)
    }

    #[test]
    fn a_short_exchange_is_kept_whole_and_in_order() {
        let log = WireLog::new();
        for text in ["a", "b", "c"] {
            log.record(frame(text.as_bytes()));
        }
        assert_eq!(log.last_text().as_deref(), Some("c"));
        let recording = log.take();
        assert_eq!(recording.left_out(), 0);
        let texts: Vec<_> = recording.into_frames().iter().map(Frame::text).collect();
        assert_eq!(texts, ["a", "b", "c"]);
        assert!(log.take().into_frames().is_empty(), "taking starts anew");
    }

    #[test]
    fn a_flood_keeps_both_ends_and_counts_the_middle() {
        let log = WireLog::new();
        for number in 0..10_000 {
            log.record(frame(number.to_string().as_bytes()));
        }
        let recording = log.take();
        assert_eq!(recording.left_out(), 10_000 - 2 * KEPT_FRAMES as u64);
        let frames = recording.into_frames();
        assert_eq!(frames.len(), 2 * KEPT_FRAMES);
        assert_eq!(
            frames[KEPT_FRAMES - 1].text(),
            (KEPT_FRAMES - 1).to_string()
        );
        assert_eq!(
            frames[KEPT_FRAMES].text(),
            (10_000 - KEPT_FRAMES).to_string()
        );
        assert_eq!(frames[2 * KEPT_FRAMES - 1].text(), "9999");
    }

    #[test]
    fn long_frames_are_bounded_in_bytes() {
        let log = WireLog::new();
        let content = vec![b'x'; 1024 * 1024];
        for _ in 0..400 {
            log.record(frame(&content));
        }
        let recording = log.take();
        let left_out = recording.left_out();
        let frames = recording.into_frames();
        let kept: usize = frames.iter().map(|frame| frame.bytes.len()).sum();
        assert!(kept <= 16 * 1024 * 1024, "{kept} bytes kept");
        assert_eq!(frames.len() as u64 + left_out, 400);
    }
}
