//! The text of the files that suites are read from: within a limit, and UTF-8. Which files there are is `walk`'s.

use std::{fs, path::Path, sync::Arc};

use crate::{
    suite::problems,
    words::{
        diagnostic::Diagnostic,
        source::{Origin, Position, SourceFile, Span},
    },
};

/// The byte-order mark.
const MARK: char = '\u{feff}';

/// The longest file that is read as a suite, in bytes.
const LONGEST_BYTES: u64 = 16 * 1024 * 1024;

/// The text of a file that may be a suite.
pub(super) fn read_text(path: &Path, shown: &str) -> Result<String, Box<Diagnostic>> {
    let unreadable = |reason: &str| Box::new(problems::unreadable(shown, reason));
    let metadata = fs::metadata(path).map_err(|error| unreadable(&error.to_string()))?;
    if !metadata.is_file() {
        return Err(unreadable("it is no regular file"));
    }
    if metadata.len() > LONGEST_BYTES {
        return Err(Box::new(problems::file_too_large(shown, "16 MiB")));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(&error.to_string()))?;
    match String::from_utf8(bytes) {
        Ok(text) if is_utf16(text.as_bytes()) => {
            let end = text.find('\n').unwrap_or(text.len());
            let mut origin = readable(shown, &text.as_bytes()[..end], 0);
            origin.span.end = 1;
            Err(Box::new(problems::utf16(origin)))
        }
        Ok(text) => Ok(without_mark(text)),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let origin = readable(shown, error.as_bytes(), offset);
            Err(Box::new(problems::not_utf8(origin)))
        }
    }
}

/// Whether one of the first two bytes is zero: so begins a text in UTF-16 without a byte-order mark, whose bytes may
/// all be UTF-8 as well.
fn is_utf16(bytes: &[u8]) -> bool {
    matches!(bytes, [0, other, ..] | [other, 0, ..] if *other != 0)
}

/// The text without the byte-order mark that some editors put before it: it is no character of the first line.
fn without_mark(mut text: String) -> String {
    if text.starts_with(MARK) {
        text.drain(..MARK.len_utf8());
    }
    text
}

/// The place of the first byte that is no UTF-8, in the text as far as it can be read.
fn readable(shown: &str, bytes: &[u8], offset: usize) -> Origin {
    let end = memchr::memchr(b'\n', &bytes[offset..]).map_or(bytes.len(), |end| offset + end);
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mark = if text.starts_with(MARK) {
        MARK.len_utf8()
    } else {
        0
    };
    let start = offset - mark;
    Origin {
        file: Arc::new(SourceFile::new(shown.to_owned(), without_mark(text))),
        span: Span {
            start,
            end: start + char::REPLACEMENT_CHARACTER.len_utf8(),
        },
    }
}

/// Reads a file that a suite refers to, relative to the suite's folder.
pub(super) fn read_beside(folder: &Path, path: &Path) -> Result<String, String> {
    read_text(&folder.join(path), &path.to_string_lossy()).map_err(|problem| {
        let place = problem.origin.as_ref().map(Origin::position);
        match place {
            Some(Position { line, column }) => {
                format!("{}, line {line}, column {column}", problem.message)
            }
            None => problem.message,
        }
    })
}
