//! The caches among the changes of a container: the bytecode of Python beside its sources, and the folder of Node.js. They
//! are carried to another container, and nothing else is.

use std::{
    collections::{BTreeSet, HashSet},
    io::{self, Read},
    path::{Path, PathBuf},
};

use bollard::models::{ChangeType, FilesystemChange};
use bytes::Bytes;
use futures_util::stream;

use super::{
    upload::Ids,
    worker::{WorkError, Worker},
};

/// Where Node.js keeps compiled code, below the root.
pub(super) const NODE_CACHE: &str = "/var/cache/mcp-assert/node";

/// The folder of bytecode, beside its sources.
const BYTECODE: &str = "__pycache__";

/// In memory when assertions run.
const TEMPORARY: &str = "/tmp";

/// Carries the caches. `made_by` wrote them and `used_by` reads them: Node.js has a folder for each user, which no other
/// user may read.
pub(super) async fn carry(
    from: &Worker<'_>,
    to: &Worker<'_>,
    (made_by, used_by): (Ids, Ids),
) -> Result<(), WorkError> {
    let changes = from.changes().await?;
    let mut caches = Caches {
        packed: tar::Builder::new(Vec::new()),
        made_by,
        used_by,
    };
    for folder in bytecode(&changes) {
        let tar = from.fetch(&folder).await?;
        caches.add(&folder, &tar, |path| {
            path.extension() == Some("pyc".as_ref())
        })?;
    }
    let tar = from.fetch(NODE_CACHE).await?;
    caches.add(NODE_CACHE, &tar, |_| true)?;
    let packed = Bytes::from(caches.packed.into_inner()?);
    to.put(stream::iter([Ok(packed)])).await
}

/// The folders with new bytecode. What has no source in the image is none of its caches.
fn bytecode(changes: &[FilesystemChange]) -> BTreeSet<String> {
    let added: HashSet<&str> = changes
        .iter()
        .filter(|change| change.kind == ChangeType::_1)
        .map(|change| change.path.as_str())
        .collect();
    let of_image = |folder: &Path| {
        let beside = folder.parent().and_then(Path::to_str);
        beside.is_some_and(|beside| !added.contains(beside) && !folder.starts_with(TEMPORARY))
    };
    changes
        .iter()
        .filter(|change| change.kind != ChangeType::_2)
        .map(|change| Path::new(&change.path))
        .filter(|path| path.extension() == Some("pyc".as_ref()))
        .filter_map(Path::parent)
        .filter(|folder| folder.ends_with(BYTECODE) && of_image(folder))
        .filter_map(|folder| folder.to_str().map(str::to_owned))
        .collect()
}

/// What is carried.
struct Caches {
    packed: tar::Builder<Vec<u8>>,
    made_by: Ids,
    used_by: Ids,
}

impl Caches {
    /// Adds the folders and the files of an archive of a folder, as far as they are wanted.
    fn add(&mut self, folder: &str, tar: &[u8], wanted: fn(&Path) -> bool) -> io::Result<()> {
        let above = Path::new(folder).parent().unwrap_or(Path::new("/"));
        let above = above.strip_prefix("/").unwrap_or(above);
        let mut archive = tar::Archive::new(tar);
        for entry in archive.entries()? {
            let entry = entry?;
            let kind = entry.header().entry_type();
            let path = above.join(entry.path()?);
            let is_wanted = kind.is_dir() || kind.is_file() && wanted(&path);
            if !is_wanted {
                continue;
            }
            let mut header = entry.header().clone();
            let path = match self.of_user(&path) {
                Some(path) => {
                    header.set_uid(self.used_by.user.into());
                    header.set_gid(self.used_by.group.into());
                    path
                }
                None => path,
            };
            let size = entry.size();
            header.set_size(size);
            self.packed
                .append_data(&mut header, path, entry.take(size))?;
        }
        Ok(())
    }

    /// Where a thing in the folder of Node.js's cache for one user is for the other; `None`: it is not there.
    fn of_user(&self, path: &Path) -> Option<PathBuf> {
        let below = path.strip_prefix(NODE_CACHE.trim_start_matches('/')).ok()?;
        let mut parts = below.components();
        let first = parts.next()?.as_os_str().to_str()?;
        let made_by = format!("-{}", self.made_by.user);
        let first = match first.strip_suffix(&made_by) {
            Some(version) => format!("{version}-{}", self.used_by.user),
            None => first.to_owned(),
        };
        let cache = Path::new(NODE_CACHE.trim_start_matches('/'));
        Some(cache.join(first).join(parts.as_path()))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use bollard::models::{ChangeType, FilesystemChange};

    use super::{Caches, Ids, bytecode};

    #[test]
    fn only_bytecode_beside_sources_of_the_image_is_a_cache() {
        let change = |(path, kind): (&str, ChangeType)| FilesystemChange {
            path: path.to_owned(),
            kind,
        };
        let changes = [
            ("/opt", ChangeType::_0),
            ("/opt/a", ChangeType::_0),
            ("/opt/a/__pycache__", ChangeType::_1),
            ("/opt/a/__pycache__/x.cpython-313.pyc", ChangeType::_1),
            ("/opt/a/__pycache__/state.txt", ChangeType::_1),
            ("/opt/b/__pycache__/y.pyc", ChangeType::_0),
            ("/opt/c/__pycache__/gone.pyc", ChangeType::_2),
            ("/var/made", ChangeType::_1),
            ("/var/made/__pycache__/z.pyc", ChangeType::_1),
            ("/tmp/__pycache__/t.pyc", ChangeType::_1),
            ("/var/count", ChangeType::_1),
            ("/var/own.pyc", ChangeType::_1),
        ];
        let folders = bytecode(&changes.map(change));
        let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
        assert_eq!(folders, ["/opt/a/__pycache__", "/opt/b/__pycache__"]);
    }

    #[test]
    fn the_folder_of_one_user_becomes_that_of_another() {
        let ids = |id| Ids {
            user: id,
            group: id,
        };
        let caches = Caches {
            packed: tar::Builder::new(Vec::new()),
            made_by: ids(0),
            used_by: ids(65534),
        };
        let case = |path: &str, wanted: Option<&str>| {
            assert_eq!(
                caches.of_user(Path::new(path)).as_deref(),
                wanted.map(Path::new)
            );
        };
        let cache = "var/cache/mcp-assert/node";
        case(
            &format!("{cache}/v22-x64-ab-0/cd"),
            Some("var/cache/mcp-assert/node/v22-x64-ab-65534/cd"),
        );
        case(
            &format!("{cache}/v22-x64-0"),
            Some("var/cache/mcp-assert/node/v22-x64-65534"),
        );
        case(
            &format!("{cache}/else/0"),
            Some("var/cache/mcp-assert/node/else/0"),
        );
        case(cache, None);
        case("opt/a/__pycache__/x-0", None);
    }
}
