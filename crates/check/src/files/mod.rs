//! `file_contains`, `file_not_contains`, `file_equals`, `file_exists`, `file_not_exists`, `file_unchanged`,
//! `only_changed`: files as they were before and after. Reading them is done by `host`.

mod only_changed;
mod unchanged;

use sha2::{Digest, Sha256};

use self::only_changed::{ask_only_changed, only_changed};
use crate::{
    ask::{self, Ask},
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    text::{near, whole_or_around},
    traits::Traits,
};
use mcp::observation::{
    Observation, Proof,
    files::{Alteration, FileSeen, FileState, PathKind, Unseen},
};
use suite::{
    model::expectation::{FileTexts, FilesWanted},
    written::Part,
};
use text::count;

/// Maximum length of a content that the sentence quotes, in bytes.
const TOLD: usize = 80;

pub(super) fn check(wanted: &FilesWanted, seen: &Observation) -> Verdict {
    match wanted {
        FilesWanted::Contain(files) => texts(Texts::Contained, files, seen),
        FilesWanted::NotContain(files) => texts(Texts::NotContained, files, seen),
        FilesWanted::Equal(files) => texts(Texts::Equal, files, seen),
        FilesWanted::Exist(named) => paths(Paths::There, named, seen),
        FilesWanted::NotExist(named) => paths(Paths::Absent, named, seen),
        FilesWanted::Unchanged(named) => paths(Paths::Unchanged, named, seen),
        FilesWanted::OnlyChanged(patterns) => only_changed(patterns, seen),
    }
}

pub(super) fn ask(wanted: &FilesWanted) -> Ask {
    match wanted {
        FilesWanted::Contain(files) => ask_texts(Texts::Contained, files),
        FilesWanted::NotContain(files) => ask_texts(Texts::NotContained, files),
        FilesWanted::Equal(files) => ask_texts(Texts::Equal, files),
        FilesWanted::Exist(named) => ask_paths(Paths::There, named),
        FilesWanted::NotExist(named) => ask_paths(Paths::Absent, named),
        FilesWanted::Unchanged(named) => ask_paths(Paths::Unchanged, named),
        FilesWanted::OnlyChanged(patterns) => ask_only_changed(patterns),
    }
}

pub(super) fn traits(wanted: &FilesWanted) -> Traits {
    match wanted {
        FilesWanted::Contain(_)
        | FilesWanted::NotContain(_)
        | FilesWanted::Equal(_)
        | FilesWanted::Exist(_)
        | FilesWanted::NotExist(_)
        | FilesWanted::Unchanged(_)
        | FilesWanted::OnlyChanged(_) => Traits::PLAIN,
    }
}

/// The verdict of `not` where a file is not there: that it does not hold a text, or is not as before, proves nothing then.
pub(super) fn unspoken(ask: &Ask, wanted: &FilesWanted, seen: &Observation) -> Option<Verdict> {
    match seen.proof {
        Proof::AsWritten => return None,
        Proof::Strict => {}
    }
    let file = |path: &String| seen.files.paths.get(path);
    let missing = match wanted {
        FilesWanted::Contain(files)
        | FilesWanted::NotContain(files)
        | FilesWanted::Equal(files) => {
            let with_texts = files.iter().filter(|it| !it.texts.is_empty());
            let mut paths = with_texts.map(|it| &it.path);
            paths.find(|path| {
                file(path)
                    .is_some_and(|it| matches!(it.after, FileState::Absent | FileState::Directory))
            })
        }
        FilesWanted::Unchanged(paths) => paths.iter().find(|path| {
            file(path)
                .is_some_and(|it| it.before == FileState::Absent && it.after == FileState::Absent)
        }),
        FilesWanted::Exist(_) | FilesWanted::NotExist(_) | FilesWanted::OnlyChanged(_) => None,
    };
    missing.map(|path| {
        Verdict::Missed(vec![Mismatch {
            path: Some(path.clone()),
            ..ask.miss("there is no such file")
        }])
    })
}

/// What is wanted of the texts of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Texts {
    /// `file_contains`
    Contained,
    /// `file_not_contains`
    NotContained,
    /// `file_equals`
    Equal,
}

impl Texts {
    fn key(self) -> &'static str {
        match self {
            Self::Contained => "file_contains",
            Self::NotContained => "file_not_contains",
            Self::Equal => "file_equals",
        }
    }

    /// What the texts want of the file.
    fn clause<S: AsRef<str>>(self, texts: &[S]) -> String {
        if texts.is_empty() {
            return "the file to be there".to_owned();
        }
        match self {
            Self::Contained => format!("the file to contain {}", phrase::list(texts, "and")),
            Self::NotContained => format!(
                "the file to be there and not to contain {}",
                phrase::list(texts, "or")
            ),
            Self::Equal => format!("the file to be exactly {}", phrase::list(texts, "and")),
        }
    }
}

/// `file_contains`, `file_not_contains`, `file_equals`
fn ask_texts(how: Texts, files: &[FileTexts]) -> Ask {
    let clauses: Vec<String> = files
        .iter()
        .map(|file| {
            format!(
                "{} ({})",
                how.clause(&file.texts),
                phrase::quoted(&file.path)
            )
        })
        .collect();
    Ask::new(how.key(), phrase::joined(&clauses, "and"))
}

/// `file_contains`, `file_not_contains`, `file_equals`: files and what they hold.
fn texts(how: Texts, files: &[FileTexts], seen: &Observation) -> Verdict {
    ask::all(files.iter().enumerate().map(|(entry, file)| {
        if file.texts.is_empty() {
            return one_text(how, &file.path, None, seen).within(Part::Entry(entry));
        }
        let texts = file.texts.iter().map(String::as_str).enumerate();
        let one =
            |(item, text)| one_text(how, &file.path, Some(text), seen).within(Part::Item(item));
        ask::all(texts.map(one)).within(Part::Entry(entry))
    }))
}

/// One text against one file; without a text the file must be there.
fn one_text(how: Texts, path: &str, text: Option<&str>, seen: &Observation) -> Verdict {
    let ask = Ask::new(how.key(), how.clause(text.as_slice()));
    let state = match look(path, seen) {
        Ok(file) => &file.after,
        Err(unknowable) => return unknowable,
    };
    let missed = |mismatch: Mismatch| {
        Verdict::Missed(vec![Mismatch {
            path: Some(path.to_owned()),
            ..mismatch
        }])
    };
    match state {
        FileState::Absent => missed(ask.miss("there is no such file")),
        FileState::Directory => missed(ask.miss("it is a directory")),
        FileState::Unreadable(reason) => {
            Verdict::Unknowable(format!("`{path}` cannot be read: {reason}"))
        }
        FileState::Unknown(reason) => untold(path, reason),
        FileState::Digest { .. } | FileState::TooLong { .. } if text.is_none() => Verdict::Held,
        FileState::Digest { sha256, length }
            if how == Texts::Equal
                && text.is_some_and(|text| is_digest_of(text, sha256, *length)) =>
        {
            Verdict::Held
        }
        FileState::Digest { length, .. } | FileState::TooLong { length } => match how {
            Texts::Equal => missed(ask.miss(format!("it has other content ({length} bytes)"))),
            Texts::Contained | Texts::NotContained => Verdict::Unknowable(format!(
                "`{path}` is too long to be searched ({length} bytes)"
            )),
        },
        FileState::Content(bytes) => match text.and_then(|text| unlike(how, &ask, text, bytes)) {
            Some(mismatch) => missed(mismatch),
            None => Verdict::Held,
        },
    }
}

/// What is not as wanted about the content of a file.
fn unlike(how: Texts, ask: &Ask, text: &str, bytes: &[u8]) -> Option<Mismatch> {
    let found = find(bytes, text.as_bytes());
    let holds = match how {
        Texts::Contained => found.is_some(),
        Texts::NotContained => found.is_none(),
        Texts::Equal => bytes == text.as_bytes(),
    };
    if holds {
        return None;
    }
    let content = String::from_utf8_lossy(bytes);
    Some(match how {
        Texts::NotContained => Mismatch {
            actual: shown(&content, found.unwrap_or(0)),
            ..ask.miss("it is there")
        },
        Texts::Contained => not_contained(ask, text, &content, bytes.len()),
        Texts::Equal => unequal(ask, text, &content, bytes.len()),
    })
}

/// A content for display; nothing when it is empty.
fn shown(content: &str, at: usize) -> Option<String> {
    (!content.is_empty()).then(|| phrase::cut(content, at))
}

fn not_contained(ask: &Ask, text: &str, content: &str, length: usize) -> Mismatch {
    // U+FFFD replaces invalid bytes, so a match with it proves nothing.
    let near = near::in_text(text, content).filter(|_| !content.contains('\u{fffd}'));
    Mismatch {
        actual: shown(content, near.as_ref().map_or(0, |near| near.at)),
        hint: near.map(|near| near.hint),
        ..ask.miss(match length {
            0 => "the file is empty".to_owned(),
            length => format!("it is not in the file ({})", count(length, "byte")),
        })
    }
}

fn unequal(ask: &Ask, text: &str, content: &str, length: usize) -> Mismatch {
    let (expected, actual) = whole_or_around(text, content);
    Mismatch {
        expected: Some(expected),
        actual: (!content.is_empty()).then_some(actual),
        hint: near::same_but(text, content),
        ..ask.miss(match length {
            0 => "the file is empty".to_owned(),
            length if length <= TOLD => format!("it is {}", phrase::quoted(content)),
            length => format!("it has other content ({})", count(length, "byte")),
        })
    }
}

/// Where bytes occur in others, in linear time.
pub(super) fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}

fn is_digest_of(text: &str, sha256: &[u8; 32], length: u64) -> bool {
    text.len() as u64 == length && Sha256::digest(text.as_bytes()).as_slice() == sha256
}

/// The states of a path, or why they are not known.
fn look<'a>(path: &str, seen: &'a Observation) -> Result<&'a FileSeen, Verdict> {
    seen.files
        .paths
        .get(path)
        .ok_or_else(|| Verdict::Unknowable(format!("`{path}` was not looked at")))
}

/// Nothing is known of the path.
fn untold(path: &str, reason: &str) -> Verdict {
    Verdict::Unknowable(format!("it cannot be told what is at `{path}`: {reason}"))
}

/// Nothing is known of a part of the fixture.
fn unlooked(path: &str, unseen: &Unseen) -> Verdict {
    let reason = &unseen.reason;
    Verdict::Unknowable(match unseen.kind {
        PathKind::Directory => format!("it cannot be told what is in `{path}`: {reason}"),
        PathKind::File | PathKind::Link | PathKind::Special => {
            format!("it cannot be told whether `{path}` changed: {reason}")
        }
    })
}

/// `file_exists`, `file_not_exists`, `file_unchanged`: what is wanted of the paths themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Paths {
    /// `file_exists`
    There,
    /// `file_not_exists`
    Absent,
    /// `file_unchanged`
    Unchanged,
}

/// `file_exists`, `file_not_exists`, `file_unchanged`
fn ask_paths<S: AsRef<str>>(how: Paths, paths: &[S]) -> Ask {
    let paths = phrase::list(paths, "and");
    match how {
        Paths::There => Ask::new("file_exists", format!("{paths} to be there")),
        Paths::Absent => Ask::new("file_not_exists", format!("{paths} not to be there")),
        Paths::Unchanged => Ask::new("file_unchanged", format!("{paths} to be as before")),
    }
}

/// `file_exists`, `file_not_exists`, `file_unchanged`: paths as they are.
fn paths(how: Paths, paths: &[String], seen: &Observation) -> Verdict {
    ask::all(paths.iter().enumerate().map(|(index, path)| {
        let file = match look(path, seen) {
            Ok(file) => file,
            Err(unknowable) => return unknowable,
        };
        let ask = ask_paths(how, &[path]);
        let verdict = match how {
            Paths::There => there(&ask, path, file),
            Paths::Absent => absent(&ask, path, file),
            Paths::Unchanged => unchanged::unchanged(&ask, path, file, seen),
        };
        verdict.within(Part::Item(index))
    }))
}

fn there(ask: &Ask, path: &str, file: &FileSeen) -> Verdict {
    if is_file_for_directory(path, &file.after) {
        return ask.missed("it is a file, and `/` at the end asks for a directory");
    }
    match (&file.after, &file.before) {
        (
            FileState::Content(_)
            | FileState::Digest { .. }
            | FileState::TooLong { .. }
            | FileState::Directory
            | FileState::Unreadable(_),
            _,
        ) => Verdict::Held,
        (FileState::Absent, FileState::Absent) => ask.missed("nothing is there"),
        (FileState::Absent, _) => ask.missed("it is gone"),
        (FileState::Unknown(reason), _) => untold(path, reason),
    }
}

/// Whether a path that can only be a directory, by the `/` at its end, is a file.
fn is_file_for_directory(path: &str, state: &FileState) -> bool {
    let is_file = match state {
        FileState::Content(_) | FileState::Digest { .. } | FileState::TooLong { .. } => true,
        FileState::Absent
        | FileState::Directory
        | FileState::Unreadable(_)
        | FileState::Unknown(_) => false,
    };
    is_file && path.ends_with('/')
}

fn absent(ask: &Ask, path: &str, file: &FileSeen) -> Verdict {
    if is_file_for_directory(path, &file.after) {
        return Verdict::Held;
    }
    let seen = match &file.after {
        FileState::Absent => return Verdict::Held,
        FileState::Content(bytes) => format!("a file of {} is there", count(bytes.len(), "byte")),
        FileState::Digest { length, .. } | FileState::TooLong { length } => {
            format!("a file of {length} bytes is there")
        }
        FileState::Directory => "a directory is there".to_owned(),
        FileState::Unreadable(reason) => format!("something is there: {reason}"),
        FileState::Unknown(reason) => return untold(path, reason),
    };
    ask.missed(seen)
}

/// An alteration in words.
fn told(altered: Alteration) -> String {
    match altered {
        Alteration::Kind { before, after } => {
            format!("it was {} and is {} now", before.word(), after.word())
        }
        Alteration::Content => "its content changed".to_owned(),
        Alteration::Mode { before, after } => {
            format!("its mode changed from {before:o} to {after:o}")
        }
    }
}

#[cfg(test)]
mod tests;
