//! The text of the files that suites are read from: of limited size, in UTF-8 or UTF-16, as YAML allows.

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
        return Err(unreadable("it is not a regular file"));
    }
    if metadata.len() > LONGEST_BYTES {
        return Err(Box::new(problems::file_too_large(shown, "16 MiB")));
    }
    let bytes = fs::read(path).map_err(|error| unreadable(&error.to_string()))?;
    let text = match bytes[..] {
        [0xff, 0xfe, ..] => utf16(&bytes, u16::from_le_bytes),
        [0xfe, 0xff, ..] => utf16(&bytes, u16::from_be_bytes),
        _ => String::from_utf8(bytes).map_err(|error| {
            let before = error.utf8_error().valid_up_to();
            String::from_utf8_lossy(&error.as_bytes()[..before]).into_owned()
        }),
    };
    match text {
        Ok(text) => Ok(text.strip_prefix(MARK).map_or(text.clone(), str::to_owned)),
        Err(before) => Err(Box::new(problems::not_utf8(behind(shown, &before)))),
    }
}

/// The text of bytes in UTF-16, or what comes before the first invalid ones.
fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, String> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len() / 2);
    for character in char::decode_utf16(pairs.iter().map(|pair| unit(*pair))) {
        match character {
            Ok(character) => text.push(character),
            Err(_) => return Err(text),
        }
    }
    if rest.is_empty() { Ok(text) } else { Err(text) }
}

/// The place behind a text, where a character follows that cannot be read.
fn behind(shown: &str, before: &str) -> Origin {
    let mut text = before.strip_prefix(MARK).unwrap_or(before).to_owned();
    let start = text.len();
    text.push(char::REPLACEMENT_CHARACTER);
    let end = text.len();
    Origin {
        file: Arc::new(SourceFile::new(shown.to_owned(), text)),
        span: Span { start, end },
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
