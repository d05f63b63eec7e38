//! Server-sent events, as a stream of bytes brings them (WHATWG HTML § 9.2): any split of the bytes gives the same events.

use std::{mem, time::Duration};

/// An event of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Event {
    /// What a stream that broke off is resumed by; the last one that was given holds on.
    pub(super) id: Option<String>,
    /// The kind; none is `message`.
    pub(super) kind: Option<String>,
    /// The lines of data, joined.
    pub(super) data: Vec<u8>,
    /// How long the server wants to be left alone before the stream is opened again.
    pub(super) retry: Option<Duration>,
}

/// What a reader found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Read {
    /// An event is complete.
    Event(Event),
    /// An event is longer than what is read. The rest of it is skipped.
    TooLong {
        /// Bytes of it so far.
        length: usize,
        /// Its beginning.
        head: Vec<u8>,
    },
}

/// As much of an event that is too long is shown.
const HEAD_BYTES: usize = 4 * 1024;

/// What was read before the present line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// Nothing: a byte-order mark may come.
    Nothing,
    /// A line that ended with a carriage return, to which a line feed may belong.
    Return,
    /// Another line.
    Line,
}

/// Reads one stream.
#[derive(Debug)]
pub(super) struct Reader {
    /// The line that has begun.
    line: Vec<u8>,
    /// The event that has begun.
    event: Event,
    /// Whether it has a line of data, be it an empty one.
    has_data: bool,
    before: Before,
    /// Whether the rest of the event is skipped.
    skips: bool,
    /// The most bytes of an event.
    longest: usize,
}

impl Reader {
    /// Reads events of at most so many bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self {
            line: Vec::new(),
            event: Event::default(),
            has_data: false,
            before: Before::Nothing,
            skips: false,
            longest,
        }
    }

    /// Takes what came next; what it completes is put into `out`, in order.
    pub(super) fn push(&mut self, bytes: &[u8], out: &mut Vec<Read>) {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.before == Before::Return {
                self.before = Before::Line;
                if rest[0] == b'\n' {
                    rest = &rest[1..];
                    continue;
                }
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                return self.extend(rest, out);
            };
            self.extend(&rest[..end], out);
            self.end_line(out);
            if rest[end] == b'\r' {
                self.before = Before::Return;
            }
            rest = &rest[end + 1..];
        }
    }

    /// Adds to the line that has begun.
    fn extend(&mut self, bytes: &[u8], out: &mut Vec<Read>) {
        let length = self.event.data.len() + self.line.len() + bytes.len();
        if !self.skips && length > self.longest {
            let mut head = mem::take(&mut self.event.data);
            head.append(&mut self.line);
            head.extend_from_slice(&bytes[..bytes.len().min(HEAD_BYTES)]);
            head.truncate(HEAD_BYTES);
            out.push(Read::TooLong { length, head });
            self.skips = true;
        }
        if self.skips {
            // Only whether the line is empty matters now.
            self.line.truncate(1);
            self.line.extend_from_slice(&bytes[..bytes.len().min(1)]);
        } else {
            self.line.extend_from_slice(bytes);
        }
    }

    fn end_line(&mut self, out: &mut Vec<Read>) {
        let line = mem::take(&mut self.line);
        let mut line = line.as_slice();
        if mem::replace(&mut self.before, Before::Line) == Before::Nothing {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event(out);
        } else if !self.skips {
            self.field(line);
        }
    }

    fn end_event(&mut self, out: &mut Vec<Read>) {
        let event = mem::take(&mut self.event);
        self.event.id.clone_from(&event.id);
        let skipped = mem::take(&mut self.skips);
        let has_data = mem::take(&mut self.has_data);
        // An event without data sets the id and the time to reconnect, and nothing else.
        if !skipped && (has_data || event.retry.is_some()) {
            out.push(Read::Event(event));
        }
    }

    fn field(&mut self, line: &[u8]) {
        let (name, value) = match memchr::memchr(b':', line) {
            Some(at) => {
                let value = &line[at + 1..];
                (&line[..at], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &line[line.len()..]),
        };
        let text = || String::from_utf8_lossy(value).into_owned();
        match name {
            b"data" => {
                if self.has_data {
                    self.event.data.push(b'\n');
                }
                self.event.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"event" => self.event.kind = Some(text()),
            b"id" if !value.contains(&0) => self.event.id = Some(text()),
            b"retry" => {
                let is_number = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
                let number = is_number.then(|| text().parse().ok()).flatten();
                self.event.retry = number.map(Duration::from_millis).or(self.event.retry);
            }
            // A comment, or a field of a later version.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::{Event, Read, Reader};

    fn read(chunks: &[&[u8]]) -> Vec<Read> {
        let mut reader = Reader::new(64);
        let mut out = Vec::new();
        for chunk in chunks {
            reader.push(chunk, &mut out);
        }
        out
    }

    fn event(id: Option<&str>, kind: Option<&str>, data: &str) -> Read {
        Read::Event(Event {
            id: id.map(str::to_owned),
            kind: kind.map(str::to_owned),
            data: data.as_bytes().to_vec(),
            retry: None,
        })
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let case = |stream: &str, wanted: &[Read]| {
            assert_eq!(read(&[stream.as_bytes()]), wanted, "{stream:?}");
        };
        case("data: a\n\n", &[event(None, None, "a")]);
        case(
            "\u{feff}data:a\r\ndata:  b\r\n\r\n",
            &[event(None, None, "a\n b")],
        );
        case("data: a\rdata\r\r", &[event(None, None, "a\n")]);
        case(": ping\n\ndata: a\n", &[]);
        case(
            "id: 1\nevent: message\ndata: {}\n\ndata: b\n\n",
            &[
                event(Some("1"), Some("message"), "{}"),
                event(Some("1"), None, "b"),
            ],
        );
        // What a server begins a stream with, so that it can be resumed.
        case("id: 7\ndata:\n\n", &[event(Some("7"), None, "")]);
        case("id: a\0b\ndata: x\n\n", &[event(None, None, "x")]);
        let retry = Read::Event(Event {
            retry: Some(Duration::from_millis(500)),
            ..Event::default()
        });
        case("retry: 500\n\nretry: -1\n\n", &[retry]);
    }

    #[test]
    fn an_event_that_is_too_long_is_told_and_skipped() {
        let long = [
            b"data: ",
            vec![b'x'; 100].as_slice(),
            b"\ndata: y\n\ndata: z\n\n",
        ]
        .concat();
        let found = read(&[&long]);
        assert!(
            matches!(found[0], Read::TooLong { length: 106, .. }),
            "{found:?}"
        );
        assert_eq!(found[1..], [event(None, None, "z")]);
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            stream in proptest::collection::vec(prop_oneof![
                Just("data: x"), Just("data"), Just("id: 1"), Just("event: e"), Just("retry: 5"), Just(":"),
                Just("\n"), Just("\r"), Just("\r\n"), Just("\u{feff}"), Just("y"), Just("data: 0123456789012345678901234567890123456789"),
            ], 0..24),
            cuts in proptest::collection::vec(0_usize..200, 0..6),
        ) {
            let stream = stream.concat().into_bytes();
            let whole = read(&[&stream]);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(stream.len())).collect();
            cuts.sort_unstable();
            cuts.push(stream.len());
            let mut from = 0;
            let chunks: Vec<&[u8]> = cuts.iter().map(|to| {
                let chunk = &stream[from..*to];
                from = *to;
                chunk
            }).collect();
            let heads = |found: Vec<Read>| -> Vec<Option<Event>> {
                found.into_iter().map(|one| match one {
                    Read::Event(event) => Some(event),
                    Read::TooLong { .. } => None,
                }).collect()
            };
            prop_assert_eq!(heads(read(&chunks)), heads(whole));
        }

        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = read(&[&bytes]);
        }
    }
}
