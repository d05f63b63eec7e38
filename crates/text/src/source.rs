//! Where a text came from: a file the user wrote, a span in it, and the line and column people count.
//! Reading the file is done by whoever owns the I/O (`suite::discover`).

use std::sync::{Arc, OnceLock};

use super::name;

/// Line ends are counted ahead for each block of so many bytes.
const BLOCK: usize = 4_096;

/// A text file as the user knows it.
#[derive(Debug)]
pub struct SourceFile {
    /// The path as it is shown, relative to the caller where possible.
    pub path: Box<str>,
    /// The whole text.
    pub text: Box<str>,
    /// The line ends before each block but the first, counted when a place in a long text is first asked for.
    lines: OnceLock<Box<[usize]>>,
}

/// Bytes of a [`SourceFile`], `start` included, `end` not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A place as an editor shows it, both counted from 1; columns are characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// A span together with the file it lies in.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The file.
    pub file: Arc<SourceFile>,
    /// The bytes meant.
    pub span: Span,
}

impl SourceFile {
    /// A file with this text.
    pub fn new(path: String, text: String) -> Self {
        Self {
            path: path.into_boxed_str(),
            text: text.into_boxed_str(),
            lines: OnceLock::new(),
        }
    }

    /// The place of a byte offset; an offset past the end or inside a character is moved back to the nearest one.
    pub fn position(&self, offset: usize) -> Position {
        let at = self.text.floor_char_boundary(offset);
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: self.line_ends_before(at) + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// The line ends before a byte. A report asks once for each assertion, and one file may hold thousands.
    fn line_ends_before(&self, at: usize) -> usize {
        let text = self.text.as_bytes();
        let counted = match at / BLOCK {
            0 => 0,
            block => {
                let lines = self.lines.get_or_init(|| {
                    let blocks = text.chunks(BLOCK).scan(0, |sum, block| {
                        *sum += line_ends(block);
                        Some(*sum)
                    });
                    blocks.collect()
                });
                lines[block - 1]
            }
        };
        counted + line_ends(&text[at / BLOCK * BLOCK..at])
    }
}

fn line_ends(bytes: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', bytes).count()
}

impl Origin {
    /// The place of the first byte.
    pub fn position(&self) -> Position {
        self.file.position(self.span.start)
    }

    /// The lines that the span lies in, the number of the first one, and the span in them. What is drawn of a long
    /// text costs as much as these lines do.
    pub fn lines(&self) -> (&str, usize, Span) {
        let text = &*self.file.text;
        let start = text.floor_char_boundary(self.span.start);
        let end = text.ceil_char_boundary(self.span.end).max(start);
        // The place after the last line is drawn at that line.
        let inside = match text.strip_suffix('\n') {
            Some(rest) => start.min(rest.len()),
            None => start,
        };
        let first = text[..inside].rfind('\n').map_or(0, |newline| newline + 1);
        let rest = text[end..].find('\n');
        let last = rest.map_or(text.len(), |newline| end + newline);
        let whole = &text[first..last];
        // On Windows a line ends in two characters, neither of which belongs to it.
        let lines = match rest {
            Some(_) => whole.strip_suffix('\r').unwrap_or(whole),
            None => whole,
        };
        let span = Span {
            start: (start - first).min(lines.len()),
            end: (end - first).min(lines.len()),
        };
        (lines, self.file.position(first).line, span)
    }

    /// `file:line`, as terminals and editors link it.
    pub fn location(&self) -> String {
        format!("{}:{}", name(&self.file.path), self.position().line)
    }
}

#[cfg(test)]
mod tests {
    use super::{Position, SourceFile};

    #[test]
    fn positions_count_lines_and_characters_from_one() {
        let file = SourceFile::new("a.yaml".into(), "näme: x\nb: y\n".into());
        let case = |offset, line, column| {
            assert_eq!(
                file.position(offset),
                Position { line, column },
                "offset {offset}"
            );
        };
        case(0, 1, 1);
        case(3, 1, 3);
        case(2, 1, 2);
        case(9, 2, 1);
        case(12, 2, 4);
        case(9_999, 3, 1);
    }

    #[test]
    fn places_in_long_texts_are_those_of_a_plain_count() {
        let lines: Vec<String> = (0..3_000).map(|line| "x".repeat(line % 11)).collect();
        let text = lines.join("ä\n");
        let file = SourceFile::new("a.yaml".into(), text.clone());
        assert!(text.len() > 4 * super::BLOCK);
        let ends = (1..=4).map(|block| block * super::BLOCK);
        for at in ends.flat_map(|at| at - 12..at + 12).chain([0, text.len()]) {
            let wanted = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n');
            assert_eq!(file.line_ends_before(at), wanted.count(), "byte {at}");
        }
    }
}
