//! The end of what a server wrote to stderr: bounded, whatever it writes, and counted.

use mcp::observation::process::{StderrEnd, StderrTail};

/// Bytes kept.
pub(super) const KEPT_BYTES: usize = 64 * 1024;

/// The last bytes, and up to as many again before them.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    total: u64,
    end: StderrEnd,
}

impl Tail {
    /// Adds what was read.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let kept = &bytes[bytes.len().saturating_sub(2 * KEPT_BYTES)..];
        self.bytes.extend_from_slice(kept);
        if self.bytes.len() > 2 * KEPT_BYTES {
            let surplus = self.bytes.len() - KEPT_BYTES;
            self.bytes.drain(..surplus);
        }
    }

    /// Takes note that what the server wrote later could not be heard.
    pub(super) fn cut_off(&mut self) {
        self.end = StderrEnd::CutOff;
    }

    /// What is kept.
    pub(super) fn kept(&self) -> StderrTail {
        let start = self.bytes.len().saturating_sub(KEPT_BYTES);
        StderrTail {
            bytes: self.bytes[start..].to_vec(),
            total_bytes: self.total,
            end: self.end,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEPT_BYTES, Tail};

    #[test]
    fn a_flood_is_counted_and_its_end_is_kept() {
        let mut tail = Tail::default();
        for number in 0..5_u8 {
            tail.push(&vec![number; 3 * KEPT_BYTES / 2]);
        }
        tail.push(b"end");
        let kept = tail.kept();
        assert_eq!(kept.bytes.len(), KEPT_BYTES);
        assert!(kept.bytes.ends_with(b"\x04end"));
        assert_eq!(kept.total_bytes, (5 * 3 * KEPT_BYTES / 2 + 3) as u64);
        assert!(tail.bytes.len() <= 2 * KEPT_BYTES + 3);
    }
}
