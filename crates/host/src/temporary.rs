//! Temporary folders of ours: named after their owner, removed whatever was done to them, and swept when
//! their owner is dead.

use std::{
    fs,
    hash::{BuildHasher, Hasher, RandomState},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::task;

use super::{
    folder::Folder,
    inside::is_absent,
    owner::{Life, Owner},
    removal,
};

/// How the name of every folder of ours begins.
const PREFIX: &str = "mcp-assert-";

/// A folder whose owner cannot be judged from here is removed when it is as old as this.
const ABANDONED: Duration = Duration::from_hours(24);

/// The folder for temporary files. A TMPDIR that is empty names none, as everywhere.
pub(super) fn folder() -> PathBuf {
    let named = std::env::temp_dir();
    if named.as_os_str().is_empty() {
        PathBuf::from("/tmp")
    } else {
        named
    }
}

/// Whether folders can be made in `parent`.
pub(super) fn check(parent: &Path) -> io::Result<()> {
    create(parent).and_then(fs::remove_dir)
}

/// Makes a new, empty folder in `parent` that only we may enter.
pub(super) fn create(parent: &Path) -> io::Result<PathBuf> {
    loop {
        let number = RandomState::new().build_hasher().finish();
        let path = parent.join(name(Owner::this(), number));
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Removes a folder with all that is in it, closed directories included. A missing folder is not an error.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    // Links on the way to it are the machine's; it is none itself, and nothing in it is followed.
    match fs::canonicalize(parent).and_then(|parent| Folder::open(&parent)) {
        Ok(parent) => removal::remove(&parent, name),
        Err(error) if is_absent(&error) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The same on another thread: it may take long.
pub(super) async fn remove_beside(path: PathBuf) -> io::Result<()> {
    let removing = task::spawn_blocking(move || remove(&path));
    removing.await.map_err(io::Error::other)?
}

/// The folders of ours in `parent`, and whose they are.
fn owned(parent: &Path) -> impl Iterator<Item = (fs::DirEntry, Owner)> {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let owner = owner_of(entry.file_name().to_str()?)?;
        entry.metadata().ok()?.is_dir().then_some((entry, owner))
    })
}

/// Removes the folders in `parent` that this process made and that are there still, or again; what stays, and why.
pub(super) async fn remove_own(parent: &Path) -> Vec<(PathBuf, io::Error)> {
    let mut left = Vec::new();
    for (entry, owner) in owned(parent) {
        if owner == *Owner::this()
            && let Err(error) = remove_beside(entry.path()).await
        {
            left.push((entry.path(), error));
        }
    }
    left
}

/// Removes the folders in `parent` that ended runs left; how many.
pub(super) fn sweep(parent: &Path) -> usize {
    let abandoned = owned(parent).filter(|(entry, owner)| match owner.life() {
        Life::Alive => false,
        Life::Dead => true,
        Life::Unknown => is_old(entry),
    });
    // What cannot be removed belongs to another user, or the next run tries again.
    let removed = abandoned.filter(|(entry, _)| remove(&entry.path()).is_ok());
    removed.count()
}

fn is_old(entry: &fs::DirEntry) -> bool {
    let modified = entry.metadata().and_then(|found| found.modified());
    modified.is_ok_and(|time| time.elapsed().is_ok_and(|age| age > ABANDONED))
}

/// `mcp-assert-<pid>-<started>-<place>-<number>`; the place has one dash of its own.
fn name(owner: &Owner, number: u64) -> String {
    format!(
        "{PREFIX}{}-{}-{}-{number}",
        owner.pid, owner.started, owner.place
    )
}

/// The owner that a folder's name tells; `None` for every name that is not exactly ours.
fn owner_of(file_name: &str) -> Option<Owner> {
    let (front, number) = file_name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    let number = number.parse().ok()?;
    let mut parts = front.splitn(3, '-');
    let owner = Owner {
        pid: parts.next()?.parse().ok()?,
        started: parts.next()?.parse().ok()?,
        place: parts.next()?.to_owned(),
    };
    (name(&owner, number) == file_name).then_some(owner)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{create, name, owner_of, sweep};
    use crate::owner::Owner;

    #[test]
    fn a_name_tells_its_owner_and_no_other_name_does() {
        let this = Owner::this();
        assert_eq!(owner_of(&name(this, 7)).as_ref(), Some(this));
        for other in [
            "mcp-assert-1",
            "mcp-assert-1-2-3",
            "mcp-assert-x-2-a-b-1",
            "mcp-assert-01-2-a-b-1",
            "mcp-assert-1-2-a-b-c",
            "my-mcp-assert-1-2-a-b-1",
        ] {
            assert_eq!(owner_of(other), None, "{other}");
        }
    }

    #[test]
    fn only_folders_of_dead_owners_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let alive = create(parent.path()).unwrap();
        let this = Owner::this().clone();
        let dead = Owner {
            pid: u32::MAX,
            ..this.clone()
        };
        let elsewhere = Owner {
            place: "elsewhere-1".to_owned(),
            ..dead.clone()
        };
        let folder = |name: &str| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), "content").unwrap();
            path
        };
        let left = folder(&name(&dead, 1));
        let foreign = folder(&name(&elsewhere, 1));
        let stranger = folder("mcp-assert-notes");
        let file = parent.path().join(name(&dead, 2));
        fs::write(&file, "a file, no folder").unwrap();
        assert_eq!(sweep(parent.path()), 1);
        assert!(!left.exists());
        for kept in [alive, foreign, stranger, file] {
            assert!(kept.exists(), "{}", kept.display());
        }
    }
}
