//! Brackets that reach over several lines of a text: what begins a line within them is a part of something larger,
//! whether that can be read or not.

use std::ops::Range;

/// The outermost brackets that reach over lines, from where they open to where they close, in order.
///
/// Texts are prose, logs and broken JSON, so that not all brackets have a partner. One that is never closed reaches
/// to the end if it is the last of its line, as in JSON that is laid out and cut off; else it is taken for prose.
pub(super) fn over_lines(text: &str) -> Vec<Range<usize>> {
    let mut brackets = Brackets::default();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        brackets.read(line.as_bytes(), start);
        start += line.len();
    }
    brackets.finish(text.len())
}

/// A bracket that is not closed yet.
struct Open {
    kind: Kind,
    at: usize,
    /// Where its line ends.
    line_end: usize,
    /// Whether nothing follows on its line.
    is_last: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Curly,
    Square,
}

#[derive(Default)]
struct Brackets {
    open: Vec<Open>,
    /// How many of each kind are open, so that a closing one without a partner costs nothing.
    curly: usize,
    square: usize,
    closed: Vec<Range<usize>>,
}

impl Brackets {
    /// Reads a line that begins at this byte of the text. No string goes over the end of a line.
    fn read(&mut self, line: &[u8], start: usize) {
        let mut before = b',';
        let mut at = 0;
        while let Some(&byte) = line.get(at) {
            let open = |kind| Open {
                kind,
                at: start + at,
                line_end: start + line.len(),
                is_last: line[at + 1..].iter().all(u8::is_ascii_whitespace),
            };
            match byte {
                b'{' => self.push(open(Kind::Curly)),
                b'[' => self.push(open(Kind::Square)),
                b'}' => self.close(Kind::Curly, start + at),
                b']' => self.close(Kind::Square, start + at),
                // An escaped character, or a colour of a terminal: `ESC [31m`.
                b'\\' | 0x1b => at += 1,
                b'"' => at = end_of_string(line, at).unwrap_or(at),
                // Elsewhere it is an apostrophe.
                b'\'' if matches!(before, b'{' | b'[' | b',' | b':') => {
                    at = end_of_string(line, at).unwrap_or(at);
                }
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                before = byte;
            }
            at += 1;
        }
    }

    fn push(&mut self, open: Open) {
        *self.number(open.kind) += 1;
        self.open.push(open);
    }

    fn number(&mut self, kind: Kind) -> &mut usize {
        match kind {
            Kind::Curly => &mut self.curly,
            Kind::Square => &mut self.square,
        }
    }

    /// Closes the last bracket of this kind, and what was opened after it and never closed.
    fn close(&mut self, kind: Kind, end: usize) {
        if *self.number(kind) == 0 {
            return;
        }
        while let Some(open) = self.open.pop() {
            *self.number(open.kind) -= 1;
            if open.kind == kind {
                if end >= open.line_end {
                    self.keep(open.at..end);
                }
                return;
            }
        }
    }

    /// Adds brackets, in place of those within them.
    fn keep(&mut self, range: Range<usize>) {
        while self
            .closed
            .pop_if(|inner| inner.start > range.start)
            .is_some()
        {}
        self.closed.push(range);
    }

    fn finish(mut self, length: usize) -> Vec<Range<usize>> {
        let unclosed = self
            .open
            .iter()
            .find(|open| open.is_last)
            .map(|open| open.at);
        if let Some(at) = unclosed {
            self.keep(at..length);
        }
        self.closed
    }
}

/// Where the string ends that this quote begins; `None` when the line ends before.
fn end_of_string(line: &[u8], quote: usize) -> Option<usize> {
    let mut rest = line.iter().enumerate().skip(quote + 1);
    while let Some((at, byte)) = rest.next() {
        if *byte == line[quote] {
            return Some(at);
        }
        if *byte == b'\\' {
            rest.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::over_lines;

    #[test]
    fn brackets_over_lines_are_found() {
        let case = |text: &str, wanted: &[&str]| {
            let found = over_lines(text);
            let found: Vec<&str> = found.into_iter().map(|range| &text[range]).collect();
            assert_eq!(found, wanted, "{text}");
        };
        case("a [b] {c}\n{\"d\": [1]}", &[]);
        case("a {\n[\n1\n]\n}\n[\n2\n]", &["{\n[\n1\n]\n", "[\n2\n"]);
        case(
            "{\n\"}\": '}',\n\"\\\"}\": 1\n}",
            &["{\n\"}\": '}',\n\"\\\"}\": 1\n"],
        );
        case("it's [5\" long]\n\"\n[\n1\n]", &["[\n1\n"]);
        case("[0, 1)\n{\n}", &["{\n"]);
        case("{\n[1\n}\n[\n]", &["{\n[1\n", "[\n"]);
        case("1]\n2}\n[\n3\n]", &["[\n3\n"]);
        case("\x1b[31mred\n{\n}\n\x1b]0;title", &["{\n"]);
        case("[draft\n{\"a\": 1}", &[]);
        case("so: [ \n{\"a\": 1}", &["[ \n{\"a\": 1}"]);
    }

    #[test]
    fn a_hostile_text_is_read_in_a_moment() {
        let hostile = ["[", "]", "\"", "'", "\"\\\"", "{]", "[\n", "{\n]", ",'\\"];
        for part in hostile {
            over_lines(&part.repeat(500_000));
        }
    }
}
