//! What `not` says of files that are not there: that they do not hold a text, or are not as before, proves nothing of
//! them. The path may be misspelt, or the file gone.

use crate::{
    ask::Ask,
    files::{Paths, Texts, paths, texts},
    outcome::verdict::{Mismatch, Verdict},
};
use mcp::observation::{
    Observation,
    files::{FileSeen, FileState},
};
use suite::model::expectation::FileTexts;

/// The mismatch where only files are missing that should hold these texts, or not.
pub(super) fn without(
    ask: &Ask,
    (how, files): (Texts, &[FileTexts]),
    seen: &Observation,
) -> Option<Mismatch> {
    let mut missing = None;
    for file in files {
        match texts(how, std::slice::from_ref(file), seen) {
            Verdict::Held | Verdict::Unknowable(_) => {}
            Verdict::Missed(_) => {
                let summary = without_text(file, seen)?;
                missing.get_or_insert((file.path.as_str(), summary));
            }
        }
    }
    let (path, summary) = missing?;
    Some(at(path, ask.miss(summary)))
}

/// What is there instead of a file with a text; `None` where there is one, or where no text is spoken of.
fn without_text(file: &FileTexts, seen: &Observation) -> Option<&'static str> {
    if file.texts.is_empty() {
        return None;
    }
    match seen.files.paths.get(&file.path)?.after {
        FileState::Absent => Some("there is no such file"),
        FileState::Directory => Some("it is a directory"),
        FileState::Content(_)
        | FileState::Digest { .. }
        | FileState::TooLong { .. }
        | FileState::Unreadable(_)
        | FileState::Unknown(_) => None,
    }
}

/// The mismatch where paths are not as before only because nothing was there.
pub(super) fn unchanged(ask: &Ask, list: &[String], seen: &Observation) -> Option<Mismatch> {
    let mut missing = None;
    for path in list {
        match paths(Paths::Unchanged, std::slice::from_ref(path), seen) {
            Verdict::Held | Verdict::Unknowable(_) => {}
            Verdict::Missed(_) if seen.files.paths.get(path).is_some_and(never_there) => {
                missing.get_or_insert(path);
            }
            Verdict::Missed(_) => return None,
        }
    }
    let path = missing?;
    Some(at(path, ask.miss("nothing was there, before or after")))
}

/// That a file came or went is a change, and is spoken of.
fn never_there(file: &FileSeen) -> bool {
    matches!(
        (&file.before, &file.after),
        (FileState::Absent, FileState::Absent)
    )
}

fn at(path: &str, mismatch: Mismatch) -> Mismatch {
    Mismatch {
        path: Some(path.to_owned()),
        ..mismatch
    }
}
