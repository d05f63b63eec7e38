//! Removes a folder of ours with all that is in it, whatever was done to it: closed folders are opened, links are
//! removed and never followed, and what is mounted in it is left alone. Nothing but folders has its mode changed, so
//! that a file which is linked to from elsewhere stays as it is there.

use std::{
    ffi::{OsStr, OsString},
    hash::{BuildHasher, Hasher, RandomState},
    io,
};

use super::{folder::Folder, inside::is_absent};
use mcp::observation::files::PathKind;

/// Folders that are held open at once. What lies deeper is moved up first.
const DEEPEST: usize = 64;

/// Removes what is under a name. Nothing there is no error. What can be removed is, and of the rest the first is told.
pub(super) fn remove(parent: &Folder, name: &OsStr) -> io::Result<()> {
    let mut removal = Removal {
        levels: Vec::new(),
        mark: RandomState::new().build_hasher().finish(),
        moved: 0,
        failed: None,
    };
    removal.one(parent, name.to_owned());
    while let Some(level) = removal.levels.last_mut() {
        if let Some(name) = level.names.pop() {
            removal.next(name);
        } else {
            removal.leave(parent);
        }
    }
    removal.failed.map_or(Ok(()), Err)
}

/// A folder that is being emptied.
struct Level {
    folder: Folder,
    name: OsString,
    /// What is left in it.
    names: Vec<OsString>,
}

struct Removal {
    /// Each in the one before.
    levels: Vec<Level>,
    /// In the names of what is moved up: whoever wrote the folder may have guessed others.
    mark: u64,
    /// How many folders were moved up.
    moved: usize,
    failed: Option<io::Error>,
}

/// What became of a name.
enum Step {
    Gone,
    Into(Folder),
}

impl Removal {
    /// Removes something in the innermost folder, or goes into it.
    fn next(&mut self, name: OsString) {
        if self.levels.len() >= DEEPEST {
            self.move_up(name);
        } else if let Some(level) = self.levels.last() {
            let step = step(&level.folder, &name);
            self.take(step, name);
        }
    }

    fn one(&mut self, parent: &Folder, name: OsString) {
        let step = step(parent, &name);
        self.take(step, name);
    }

    fn take(&mut self, step: io::Result<Step>, name: OsString) {
        let entered = step.and_then(|step| match step {
            Step::Gone => Ok(None),
            Step::Into(folder) => Ok(Some((folder.names(|| Ok(()))?, folder))),
        });
        match entered {
            Ok(None) => {}
            Ok(Some((names, folder))) => self.levels.push(Level {
                folder,
                name,
                names,
            }),
            Err(error) => self.fail(&name, &error),
        }
    }

    /// Removes the innermost folder, which is empty by now.
    fn leave(&mut self, parent: &Folder) {
        let Some(level) = self.levels.pop() else {
            return;
        };
        let outer = self.levels.last().map_or(parent, |level| &level.folder);
        match outer.remove_folder(&level.name) {
            Err(error) if !is_absent(&error) => self.fail(&level.name, &error),
            Ok(()) | Err(_) => {}
        }
    }

    /// Removes something in the innermost folder that is as deep as we go: a folder is moved to the outermost.
    fn move_up(&mut self, name: OsString) {
        let (Some(outermost), Some(level)) = (self.levels.first(), self.levels.last()) else {
            return;
        };
        match step(&level.folder, &name) {
            Ok(Step::Into(_)) => {}
            other => return self.take(other, name),
        }
        self.moved += 1;
        let new = OsString::from(format!("moved-{:016x}-{}", self.mark, self.moved));
        match level.folder.give(&name, &outermost.folder, &new) {
            Ok(()) => self.levels[0].names.push(new),
            Err(error) => self.fail(&name, &error),
        }
    }

    /// Remembers the first failure, and the path it is about.
    fn fail(&mut self, name: &OsStr, error: &io::Error) {
        if self.failed.is_none() {
            let outer = self.levels.iter().skip(1).map(|level| &*level.name);
            let path: std::path::PathBuf = outer.chain([name]).collect();
            let reason = if error.kind() == io::ErrorKind::CrossesDevices {
                "something is mounted there".to_owned()
            } else {
                error.to_string()
            };
            // A deep path is cut where it is told; the reason is not.
            let told = format!("{reason}: `{}`", path.display());
            self.failed = Some(io::Error::new(error.kind(), told));
        }
    }
}

/// Removes what is no folder, and opens what is one so that it can be emptied.
fn step(parent: &Folder, name: &OsStr) -> io::Result<Step> {
    let met = match parent.meet(name) {
        Ok(met) => met,
        Err(error) if is_absent(&error) => return Ok(Step::Gone),
        Err(error) => return Err(error),
    };
    match met.kind() {
        PathKind::File | PathKind::Link | PathKind::Special => match parent.unlink(name) {
            Err(error) if !is_absent(&error) => Err(error),
            Ok(()) | Err(_) => Ok(Step::Gone),
        },
        PathKind::Directory if met.mode & 0o700 == 0o700 => parent.own_folder(name).map(Step::Into),
        // What cannot be opened up shows when it is emptied.
        PathKind::Directory => parent
            .open_up(name)
            .or_else(|_| parent.own_folder(name))
            .map(Step::Into),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Folder, remove};

    #[test]
    fn a_folder_is_removed_however_deep_and_wide_it_is() {
        let parent = tempfile::tempdir().unwrap();
        let outside = Folder::open(parent.path()).unwrap();
        let mut deep = outside.create_folder("copy".as_ref()).unwrap();
        for _ in 0..150 {
            deep = deep.create_folder("d".as_ref()).unwrap();
        }
        for name in 0..100 {
            let wide = deep.create_folder(format!("{name}").as_ref()).unwrap();
            drop(wide.create_folder("in it".as_ref()).unwrap());
        }
        remove(&outside, "copy".as_ref()).unwrap();
        assert!(!fs::exists(parent.path().join("copy")).unwrap());
        remove(&outside, "copy".as_ref()).unwrap();
    }
}
