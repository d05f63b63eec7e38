//! `file_unchanged`: a path whose content, kind and mode are as before.

use sha2::{Digest, Sha256};

use super::{told, unlooked, untold};
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase,
    text::whole_or_around,
};
use mcp::observation::{
    Observation,
    files::{Alteration, Change, FileSeen, FileState},
};

/// The same rule as that of `only_changed`: content, kind and mode are as they were, and so are the links on the way.
pub(super) fn unchanged(ask: &Ask, path: &str, file: &FileSeen, seen: &Observation) -> Verdict {
    if let Some(altered) = other_form(path, file, seen) {
        return ask.missed(altered);
    }
    match (&file.before, &file.after) {
        (FileState::Unknown(reason), _) | (_, FileState::Unknown(reason)) => untold(path, reason),
        (FileState::Absent, FileState::Absent) => ask.missed("nothing was there, before or after"),
        (FileState::Absent, _) => ask.missed("it was not there before"),
        (_, FileState::Absent) => ask.missed("it is gone"),
        (FileState::Unreadable(reason), _) | (_, FileState::Unreadable(reason)) => {
            Verdict::Unknowable(format!("`{path}` cannot be looked at: {reason}"))
        }
        (FileState::Directory, FileState::Directory) => below(ask, (path, file), seen),
        (FileState::Directory, _) => ask.missed("the directory is a file now"),
        (_, FileState::Directory) => ask.missed("the file is a directory now"),
        (before, after) => match same_content(before, after) {
            Some(true) => Verdict::Held,
            Some(false) => Verdict::Missed(vec![changed(ask, before, after)]),
            None => Verdict::Unknowable(format!("`{path}` is too long to be compared")),
        },
    }
}

/// How a path of the fixture is other than before, the content of its file aside: what stands at its end, or what it
/// leads over.
fn other_form(path: &str, file: &FileSeen, seen: &Observation) -> Option<String> {
    let (way, changed) = (file.inside.as_ref()?, seen.files.changed.as_ref()?);
    let altered = |place: &String| match changed.get(place)? {
        Change::Modified(altered) => Some(*altered),
        Change::Added | Change::Removed => None,
    };
    let end = || match altered(&way.place)? {
        Alteration::Content => None,
        other @ (Alteration::Kind { .. } | Alteration::Mode { .. }) => Some(told(other)),
    };
    let on_the_way = |place: &String| {
        let name = if place == path {
            "it".to_owned()
        } else {
            phrase::quoted(place)
        };
        match altered(place).filter(|_| *place != way.place)? {
            Alteration::Kind { before, after } => Some(format!(
                "{name} was {} and is {} now",
                before.word(),
                after.word()
            )),
            Alteration::Content => Some(format!("{name} is a link that leads elsewhere now")),
            // The mode of a folder on the way does not affect its contents.
            Alteration::Mode { .. } => None,
        }
    };
    way.over.iter().find_map(on_the_way).or_else(end)
}

/// A directory is unchanged when nothing in it changed, which only the list of changes can tell.
fn below(ask: &Ask, (path, file): (&str, &FileSeen), seen: &Observation) -> Verdict {
    let (Some(changed), Some(inside)) = (&seen.files.changed, &file.inside) else {
        return Verdict::Unknowable(format!(
            "`{path}` is a directory: name its files, or use `only_changed`"
        ));
    };
    let inside = &inside.place;
    let folder = format!("{inside}/");
    let is_below = |changed: &&String| inside == "." || changed.starts_with(&folder);
    if let Some(inner) = changed.keys().find(is_below) {
        return ask.missed(format!("{} changed", phrase::quoted(inner)));
    }
    let hides = |unseen: &&String| {
        let outer = format!("{unseen}/");
        is_below(unseen) || *unseen == "." || *unseen == inside || folder.starts_with(&outer)
    };
    match seen.files.unseen.iter().find(|(path, _)| hides(path)) {
        Some((path, unseen)) => unlooked(path, unseen),
        None => Verdict::Held,
    }
}

/// Whether two states of a regular file have the same content, as far as it is known.
fn same_content(before: &FileState, after: &FileState) -> Option<bool> {
    match (before, after) {
        (FileState::Content(left), FileState::Content(right)) => Some(left == right),
        (FileState::Digest { sha256: left, .. }, FileState::Digest { sha256: right, .. }) => {
            Some(left == right)
        }
        (FileState::Content(bytes), FileState::Digest { sha256, .. })
        | (FileState::Digest { sha256, .. }, FileState::Content(bytes)) => {
            Some(Sha256::digest(bytes).as_slice() == sha256)
        }
        _ => None,
    }
}

/// The mismatch of a file that has other content than before.
fn changed(ask: &Ask, before: &FileState, after: &FileState) -> Mismatch {
    let text = |state: &FileState| match state {
        FileState::Content(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
        FileState::Absent
        | FileState::Digest { .. }
        | FileState::TooLong { .. }
        | FileState::Directory
        | FileState::Unreadable(_)
        | FileState::Unknown(_) => None,
    };
    let (expected, actual) = match (text(before), text(after)) {
        (Some(before), Some(after)) => {
            let (before, after) = whole_or_around(&before, &after);
            (Some(before), Some(after))
        }
        (_, _) => (None, None),
    };
    Mismatch {
        expected,
        actual,
        ..ask.miss("its content changed")
    }
}
