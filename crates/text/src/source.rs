//! Where a text came from: a file the user wrote, a span in it, and the line and column people count.
//! `suite::discover` reads the files.

use std::sync::{Arc, OnceLock};

use super::name;

/// A text file as the user knows it.
#[derive(Debug)]
pub struct SourceFile {
    /// The path as it is shown, relative to the caller where possible.
    pub path: Box<str>,
    /// The whole text.
    pub text: Box<str>,
    /// Where each line begins, found when a place is first asked for.
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
        let lines = self.lines.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(ends.map(|end| end + 1)).collect()
        });
        let line = lines.partition_point(|start| *start <= at);
        Position {
            line,
            column: self.text[lines[line - 1]..at].chars().count() + 1,
        }
    }
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
        let ends = (1..=4).map(|block| block * 4_096);
        for at in ends.flat_map(|at| at - 12..at + 12).chain([0, text.len()]) {
            let wanted = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n');
            let at = text.floor_char_boundary(at);
            assert_eq!(file.position(at).line, wanted.count() + 1, "byte {at}");
        }
    }
}
