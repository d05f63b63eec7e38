//! Removes a folder of ours with everything in it: closed folders are opened, links are removed and never followed, and
//! mounts are left alone. Only folders have their mode changed, because a file may be linked to from elsewhere.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::{Path, PathBuf},
};

use super::{folder::Folder, inside::is_absent};
use mcp::observation::files::PathKind;

/// Removes what is under a name; nothing there is no error. Removes as much as it can, and reports the first failure.
pub(super) fn remove(parent: &Folder, name: &OsStr) -> io::Result<()> {
    let mut failed = Ok(());
    let mut note = |path: &Path, error: io::Error| {
        if !is_absent(&error) && failed.is_ok() {
            let reason = if error.kind() == io::ErrorKind::CrossesDevices {
                "something is mounted there".to_owned()
            } else {
                error.to_string()
            };
            let told = format!("{reason}: `{}`", path.display());
            failed = Err(io::Error::new(error.kind(), told));
        }
    };
    // Each folder is opened anew from the top: a deep tree has more folders than may be open at once.
    let mut waiting = vec![(PathBuf::from(name), Next::Empty)];
    while let Some((path, next)) = waiting.pop() {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            continue;
        };
        let holder = parent.below(above);
        let names = holder.and_then(|holder| match next {
            Next::Empty => empty(&holder, name, |name, error| note(&path.join(name), error)),
            Next::Remove => holder.remove_folder(name).map(|()| None),
        });
        match names {
            Ok(None) => {}
            Ok(Some(names)) => {
                waiting.push((path.clone(), Next::Remove));
                waiting.extend(names.iter().map(|name| (path.join(name), Next::Empty)));
            }
            Err(error) => note(&path, error),
        }
    }
    failed
}

/// What happens to a path next.
enum Next {
    /// It is removed, or emptied when it is a folder.
    Empty,
    /// It is a folder, and is empty.
    Remove,
}

/// Removes what is under a name, or all files of it when it is a folder; gives back the folders in it.
fn empty(
    holder: &Folder,
    name: &OsStr,
    mut failed: impl FnMut(&OsStr, io::Error),
) -> io::Result<Option<Vec<OsString>>> {
    let entry = holder.entry(name)?;
    if entry.kind() != PathKind::Directory {
        return holder.unlink(name).map(|()| None);
    }
    let opened = match entry.mode & 0o700 {
        0o700 => None,
        _ => holder.open_up(name).ok(),
    };
    let folder = opened.map_or_else(|| holder.own_folder(name), Ok)?;
    let mut folders = Vec::new();
    for name in folder.names(|| Ok(()))? {
        match folder.entry(&name) {
            Ok(entry) if entry.kind() == PathKind::Directory => folders.push(name),
            Ok(_) => {
                if let Err(error) = folder.unlink(&name) {
                    failed(&name, error);
                }
            }
            Err(error) => failed(&name, error),
        }
    }
    Ok(Some(folders))
}
