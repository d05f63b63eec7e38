//! The text of the files that suites are read from: within a limit, and in UTF-8 or UTF-16, which YAML takes
//! both. Which files there are is `walk`'s.

use std::{fs, path::Path, sync::Arc};

use crate::problems;
use text::{
    diagnostic::Diagnostic,
    source::{Origin, Position, SourceFile, Span},
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
    if let Some(order) = utf16_order(&bytes) {
        return match utf16(&bytes, order) {
            Ok(text) => Ok(without_mark(text)),
            Err(before) => {
                let origin = unreadable_character(shown, before);
                Err(Box::new(problems::not_utf16(origin)))
            }
        };
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(without_mark(text)),
        Err(error) => {
            let offset = error.utf8_error().valid_up_to();
            let origin = readable(shown, error.as_bytes(), offset);
            Err(Box::new(problems::not_utf8(origin)))
        }
    }
}

/// Which of the two bytes of a character comes first in UTF-16.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The lower one.
    Little,
    /// The higher one.
    Big,
}

/// The order of a text in UTF-16: it begins with a byte-order mark, or with a character whose other byte is zero, as
/// every YAML and JSON does.
fn utf16_order(bytes: &[u8]) -> Option<Order> {
    match bytes {
        [0xff, 0xfe, ..] => Some(Order::Little),
        [0xfe, 0xff, ..] => Some(Order::Big),
        [0, other, ..] if *other != 0 => Some(Order::Big),
        [other, 0, ..] if *other != 0 => Some(Order::Little),
        _ => None,
    }
}

/// The text of bytes in UTF-16, or what comes before the first that are none.
fn utf16(bytes: &[u8], order: Order) -> Result<String, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let unit = |pair: &[u8; 2]| match order {
        Order::Little => u16::from_le_bytes(*pair),
        Order::Big => u16::from_be_bytes(*pair),
    };
    let mut text = String::with_capacity(bytes.len() / 2);
    for character in char::decode_utf16(pairs.iter().map(unit)) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => return Err(text),
        }
    }
    if rest.is_empty() { Ok(text) } else { Err(text) }
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
    place_in(
        shown,
        String::from_utf8_lossy(&bytes[..end]).into_owned(),
        offset,
    )
}

/// The place behind a text, where a character follows that cannot be read.
fn unreadable_character(shown: &str, before: String) -> Origin {
    let offset = before.len();
    let text = before + char::REPLACEMENT_CHARACTER.encode_utf8(&mut [0; 4]);
    place_in(shown, text, offset)
}

/// The place of the replacement character that stands at an offset of a text.
fn place_in(shown: &str, text: String, offset: usize) -> Origin {
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
