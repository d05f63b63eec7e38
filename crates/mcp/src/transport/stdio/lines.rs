//! Splits a stream of bytes into lines, whatever the pieces they come in. Pure: knows neither pipe nor clock.

use std::mem;

use memchr::memchr;

use crate::protocol::frame::{KEPT_BYTES, LineEnd};

/// Room for reading that a fresh or idle buffer has.
const USUAL_ROOM: usize = 4 * 1024;

/// An idle buffer larger than this goes back to [`USUAL_ROOM`].
const IDLE_ROOM: usize = 1024 * 1024;

/// As much as is read ahead while nothing is taken, in bytes.
const PLENTY: usize = 8 * 1024 * 1024;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A line without its end.
    Line(Vec<u8>, LineEnd),
    /// A line over the limit; what follows up to its newline is skipped.
    TooLong {
        /// Bytes of it seen so far.
        length: usize,
        /// Its beginning.
        head: Vec<u8>,
    },
}

/// Bytes that were read and not yet handed out.
#[derive(Debug)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// First byte not handed out.
    start: usize,
    /// Up to here no newline was found.
    scanned: usize,
    /// The byte after the last one read.
    end: usize,
    /// The longest line that is handed out.
    limit: usize,
    /// Whether the rest of a line over the limit is being skipped.
    skipping: bool,
}

impl Lines {
    /// An empty buffer for lines of at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            buffer: vec![0; USUAL_ROOM],
            start: 0,
            scanned: 0,
            end: 0,
            limit,
            skipping: false,
        }
    }

    /// Room for the next read; empty when as much is waiting as may be held.
    pub(super) fn room(&mut self) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.scanned = 0;
            self.end = 0;
            if self.buffer.len() > IDLE_ROOM {
                self.buffer = vec![0; USUAL_ROOM];
            }
        }
        if self.end == self.buffer.len() {
            self.make_room();
        }
        &mut self.buffer[self.end..]
    }

    /// Whether so much is waiting that no more is read before some of it is taken. A line may be longer than that.
    pub(super) fn has_plenty(&mut self) -> bool {
        let waiting = &self.buffer[self.start..self.end];
        let many = waiting.len() > PLENTY && memchr(b'\n', waiting).is_some();
        many || self.room().is_empty()
    }

    /// Takes note that `count` bytes were read into the room.
    pub(super) fn filled(&mut self, count: usize) {
        self.end = (self.end + count).min(self.buffer.len());
    }

    /// What was read of a line whose newline has not come; nothing while complete lines wait.
    pub(super) fn unfinished(&self) -> &[u8] {
        let waiting = &self.buffer[self.start..self.end];
        if self.skipping || memchr(b'\n', waiting).is_some() {
            return &[];
        }
        waiting
    }

    /// The next complete line, if there is one.
    pub(super) fn next(&mut self) -> Option<Piece> {
        loop {
            match memchr(b'\n', &self.buffer[self.scanned..self.end]) {
                Some(offset) => {
                    let line = self.start..self.scanned + offset;
                    self.start = line.end + 1;
                    self.scanned = self.start;
                    if mem::take(&mut self.skipping) {
                        continue;
                    }
                    let bytes = &self.buffer[line];
                    let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
                    return Some(self.piece(bytes, LineEnd::Newline));
                }
                None if self.skipping => {
                    self.start = self.end;
                    self.scanned = self.end;
                    return None;
                }
                // One byte more may be the CR of a line that is just short enough.
                None if self.end - self.start > self.limit + 1 => {
                    let piece = self.piece(&self.buffer[self.start..self.end], LineEnd::Missing);
                    self.skipping = true;
                    self.start = self.end;
                    self.scanned = self.end;
                    return Some(piece);
                }
                None => {
                    self.scanned = self.end;
                    return None;
                }
            }
        }
    }

    /// The unfinished line at the end of the stream, if there is one; to be asked when `next` has no more.
    pub(super) fn rest(&mut self) -> Option<Piece> {
        if self.start == self.end || mem::take(&mut self.skipping) {
            return None;
        }
        let piece = self.piece(&self.buffer[self.start..self.end], LineEnd::Missing);
        self.start = self.end;
        self.scanned = self.end;
        Some(piece)
    }

    fn piece(&self, bytes: &[u8], end: LineEnd) -> Piece {
        if bytes.len() > self.limit {
            let head = bytes[..bytes.len().min(KEPT_BYTES)].to_vec();
            return Piece::TooLong {
                length: bytes.len(),
                head,
            };
        }
        Piece::Line(bytes.to_vec(), end)
    }

    /// Moves what is waiting to the front, or grows up to the limit.
    fn make_room(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.scanned -= self.start;
            self.start = 0;
            return;
        }
        let most = self.limit.saturating_add(USUAL_ROOM);
        let wanted = (self.buffer.len() * 2).min(most);
        if wanted > self.buffer.len() {
            self.buffer.resize(wanted, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Lines, PLENTY, Piece, USUAL_ROOM};
    use crate::protocol::frame::LineEnd;

    /// Feeds the stream in pieces of the given sizes (the last one repeats) and collects what comes out.
    fn split(stream: &[u8], sizes: &[usize], limit: usize) -> Vec<Piece> {
        let mut lines = Lines::new(limit);
        let mut out = Vec::new();
        let mut sizes = sizes.iter().copied();
        let mut size = 1;
        let mut rest = stream;
        while !rest.is_empty() {
            size = sizes.next().unwrap_or(size).max(1);
            let room = lines.room();
            let count = size.min(room.len()).min(rest.len());
            assert!(count > 0, "there is always room after `next` said none");
            room[..count].copy_from_slice(&rest[..count]);
            lines.filled(count);
            rest = &rest[count..];
            out.extend(std::iter::from_fn(|| lines.next()));
        }
        out.extend(lines.rest());
        out
    }

    /// The lines by the shortest way to say it; `None` stands for a line over the limit.
    fn naive(stream: &[u8], limit: usize) -> Vec<Option<(Vec<u8>, LineEnd)>> {
        let mut parts: Vec<_> = stream.split(|byte| *byte == b'\n').collect();
        let rest = parts.pop().filter(|rest| !rest.is_empty());
        let complete = parts.into_iter().map(|line| {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            (line, LineEnd::Newline)
        });
        complete
            .chain(rest.map(|line| (line, LineEnd::Missing)))
            .map(|(line, end)| (line.len() <= limit).then(|| (line.to_vec(), end)))
            .collect()
    }

    fn line(text: &str) -> Piece {
        Piece::Line(text.as_bytes().to_vec(), LineEnd::Newline)
    }

    /// The same pieces with the length of a line over the limit left out: it tells how much was seen.
    fn comparable(pieces: Vec<Piece>) -> Vec<Option<(Vec<u8>, LineEnd)>> {
        let pieces = pieces.into_iter();
        pieces
            .map(|piece| match piece {
                Piece::Line(bytes, end) => Some((bytes, end)),
                Piece::TooLong { .. } => None,
            })
            .collect()
    }

    #[test]
    fn lines_end_at_newlines_and_lose_their_carriage_return() {
        let case = |stream: &str, wanted: &[Piece]| {
            assert_eq!(split(stream.as_bytes(), &[4096], 99), wanted, "{stream:?}");
        };
        let missing = |text: &str| Piece::Line(text.as_bytes().to_vec(), LineEnd::Missing);
        case("", &[]);
        case("a\nb\n", &[line("a"), line("b")]);
        case("a\r\n\r\n\n", &[line("a"), line(""), line("")]);
        case("a\r\r\nb\rc\n", &[line("a\r"), line("b\rc")]);
        case("a\nb", &[line("a"), missing("b")]);
        case("a\n\r", &[line("a"), missing("\r")]);
    }

    #[test]
    fn a_line_over_the_limit_is_said_once_and_skipped() {
        let stream = format!("{}\nnext\n{}", "x".repeat(50), "y".repeat(12));
        let pieces = split(stream.as_bytes(), &[7], 10);
        let Piece::TooLong { length, head } = &pieces[0] else {
            panic!("{pieces:?}");
        };
        assert!((12..=50).contains(length), "{length}");
        assert!(head.iter().all(|byte| *byte == b'x') && head.len() == *length);
        assert_eq!(pieces[1], line("next"));
        assert!(matches!(&pieces[2], Piece::TooLong { .. }));
        assert_eq!(pieces.len(), 3);
        let exact = format!("{}\r\n", "x".repeat(10));
        assert_eq!(
            split(exact.as_bytes(), &[1], 10),
            [line(&"x".repeat(10))],
            "the line end does not count"
        );
    }

    #[test]
    fn memory_is_bounded_by_the_limit_and_goes_back_to_usual() {
        let limit = 4 * 1024 * 1024;
        let mut lines = Lines::new(limit);
        let mut said = 0;
        for _ in 0..1000 {
            let room = lines.room();
            room.fill(b'x');
            let count = room.len();
            lines.filled(count);
            said += usize::from(lines.next().is_some());
            assert!(lines.buffer.len() <= limit + USUAL_ROOM);
        }
        assert_eq!(said, 1, "one line, one report");
        assert!(!lines.room().is_empty());
        assert_eq!(lines.buffer.len(), USUAL_ROOM);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_lines(
            stream in proptest::collection::vec(
                prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'a'), any::<u8>()], 0..200),
            sizes in proptest::collection::vec(1..40_usize, 0..20),
            limit in prop_oneof![1..40_usize, Just(1000)],
        ) {
            let pieces = comparable(split(&stream, &sizes, limit));
            prop_assert_eq!(pieces, naive(&stream, limit));
        }
    }

    #[test]
    fn no_more_is_read_ahead_than_plenty_unless_it_is_one_line() {
        let fill = |lines: &mut Lines, byte: u8| {
            let room = lines.room();
            room.fill(byte);
            let count = room.len();
            lines.filled(count);
        };
        let mut lines = Lines::new(4 * PLENTY);
        while lines.end < 2 * PLENTY {
            assert!(!lines.has_plenty());
            fill(&mut lines, b'x');
        }
        fill(&mut lines, b'\n');
        assert!(lines.has_plenty());
        assert!(matches!(lines.next(), Some(Piece::Line(_, _))));
    }
}
