//! The text of the files that suites are read from: within a limit, and UTF-8. Which files there are is `walk`'s.

use std::{fs, path::Path};

use crate::{suite::problems, words::diagnostic::Diagnostic};

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
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        Box::new(problems::not_utf8(shown, offset))
    })
}

/// Reads a file that a suite refers to, relative to the suite's folder.
pub(super) fn read_beside(folder: &Path, path: &Path) -> Result<String, String> {
    read_text(&folder.join(path), &path.to_string_lossy()).map_err(|problem| problem.message)
}
