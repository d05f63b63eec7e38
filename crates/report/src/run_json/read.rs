//! Reads an untrusted `run.json`: refuses what this program would not have written, and checks the digest.

use serde::Deserialize;

use super::{END_MARK, FORMAT, LONGEST_FILE, VERSION, ending};
use crate::{FileFormat, RunReport, notes_at_most};
use text::{clean, head, is_clean_prose};

/// Characters shown of what is wrong.
const SHOWN: usize = 300;

/// Why a file cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is whole, perhaps, and something else.
    #[error("{0}")]
    Foreign(String),
    /// It was cut off or changed, or never written by this program.
    #[error("{0}")]
    Broken(String),
}

/// Only the member `format`.
#[derive(Debug, Deserialize)]
struct Probe {
    format: FileFormat,
}

/// Reads a `run.json`; what is wrong with it is said without the file's name.
pub fn parse(text: &str) -> Result<RunReport, Unreadable> {
    if text.len() > LONGEST_FILE {
        return broken(&format!("it is longer than {LONGEST_FILE} bytes"));
    }
    let format = match serde_json::from_str::<Probe>(text) {
        Ok(probe) => probe.format,
        Err(error) if error.is_data() => {
            return Err(Unreadable::Foreign(format!("it is not `{FORMAT}`")));
        }
        Err(error) => return broken(&format!("invalid JSON: {error}")),
    };
    if format.name != FORMAT {
        return Err(Unreadable::Foreign(format!("it is not `{FORMAT}`")));
    }
    if format.version != VERSION {
        let version = format.version;
        return Err(Unreadable::Foreign(format!(
            "its version is {version}, not {VERSION}"
        )));
    }
    let Some(before) = text.rfind(END_MARK) else {
        return broken("it has no end: it was cut off or changed");
    };
    if let Some(line) = text.lines().find(|line| !is_written_by_us(line)) {
        return broken(&format!("it holds text that was never cleaned: {line}"));
    }
    let mut report: RunReport = match serde_json::from_str(text) {
        Ok(report) => report,
        Err(error) => return broken(&format!("it is not as written: {error}")),
    };
    if text[before..] != ending(&text.as_bytes()[..before], report.end) {
        return broken("its digest is wrong: it was cut off or changed");
    }
    report.format = None;
    // A file from elsewhere may exceed the limits.
    notes_at_most(&mut report.notes);
    if let Some(judgement) = &mut report.judgement {
        judgement.bound();
    }
    Ok(report)
}

fn broken<T>(problem: &str) -> Result<T, Unreadable> {
    Err(Unreadable::Broken(head(&clean(problem), SHOWN)))
}

/// Whether all texts of a line were cleaned before they were written: no character that a reader's program would act
/// on, neither as it is nor as an escape. Line feeds and tabs are the only controls left, and have short escapes; the
/// one long escape is that of the sign that would begin a command in a workflow's log.
fn is_written_by_us(line: &str) -> bool {
    let mut escaped = false;
    for (at, byte) in line.bytes().enumerate() {
        let is_ours = match byte {
            b'"' | b'\\' | b'n' | b't' => true,
            b'u' => line.as_bytes()[at..].starts_with(b"u0023"),
            _ => false,
        };
        if escaped && !is_ours {
            return false;
        }
        escaped = !escaped && byte == b'\\';
    }
    is_clean_prose(line)
}
