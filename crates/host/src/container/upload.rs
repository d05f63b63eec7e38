//! The fixture on its way into a container: one tar for all that go to the same user, sent before the server starts.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock},
};

use bytes::Bytes;

use super::{body::FIXTURE_VOLUME, labels::now};
use crate::{
    fixture::{Entry, Fixture, Kind},
    locked,
};

/// Who owns what is put into a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ids {
    /// The user's number.
    pub(super) user: u32,
    /// The group's number.
    pub(super) group: u32,
}

impl Ids {
    /// The superuser.
    pub(super) const ROOT: Self = Self { user: 0, group: 0 };
}

/// The tars of a run's fixture, by who is to own it.
#[derive(Debug, Default)]
pub(super) struct Uploads {
    /// When the folders in them were changed, in seconds since 1970.
    stamp: OnceLock<u64>,
    known: Mutex<HashMap<Ids, Bytes>>,
}

/// How much older than the rest the folders are: engines tell times in seconds, and a server may be quick.
const OLDER: u64 = 10;

/// Where the fixture is in every container.
pub fn place(fixture: &Fixture) -> String {
    format!("{FIXTURE_VOLUME}/{}", fixture.name().display())
}

impl Uploads {
    /// When every folder of the fixture was changed before the server ran: one that has another time now was changed
    /// since.
    pub(super) fn stamp(&self) -> u64 {
        *self
            .stamp
            .get_or_init(|| now().as_secs().saturating_sub(OLDER))
    }

    /// The fixture as a tar; read from the disk at the first question.
    pub(super) async fn tar(&self, fixture: &Arc<Fixture>, owner: Ids) -> io::Result<Bytes> {
        let known = |uploads: &Self| {
            let known = locked(&uploads.known);
            known.get(&owner).cloned()
        };
        if let Some(tar) = known(self) {
            return Ok(tar);
        }
        let fixture = Arc::clone(fixture);
        let stamp = self.stamp();
        let made = tokio::task::spawn_blocking(move || pack(&fixture, owner, stamp));
        let tar = Bytes::from(made.await.map_err(io::Error::other)??);
        let mut known = locked(&self.known);
        Ok(known.entry(owner).or_insert(tar).clone())
    }
}

/// Everything in the fixture below its name, parents before children; the folders of this age.
fn pack(fixture: &Fixture, owner: Ids, stamp: u64) -> io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    let name = fixture.name();
    let mut header = header(owner, fixture.mode(), tar::EntryType::Directory);
    header.set_mtime(stamp);
    builder.append_data(&mut header, folder(name), io::empty())?;
    for entry in fixture.entries() {
        append(&mut builder, fixture, (owner, stamp), entry)?;
    }
    builder.into_inner()
}

fn append(
    builder: &mut tar::Builder<Vec<u8>>,
    fixture: &Fixture,
    (owner, stamp): (Ids, u64),
    entry: &Entry,
) -> io::Result<()> {
    let place = fixture.name().join(&entry.path);
    match &entry.kind {
        Kind::Directory => {
            let mut header = header(owner, entry.mode, tar::EntryType::Directory);
            header.set_mtime(stamp);
            builder.append_data(&mut header, folder(&place), io::empty())
        }
        Kind::Link(target) => {
            let mut header = header(owner, 0o777, tar::EntryType::Symlink);
            builder.append_link(&mut header, place, target)
        }
        Kind::File { .. } => {
            let file = fs::File::open(fixture.root().join(&entry.path))?;
            let length = file.metadata()?.len();
            let mut header = header(owner, entry.mode, tar::EntryType::Regular);
            header.set_size(length);
            // Should it grow while it is read, the tar stays what its header says.
            builder.append_data(&mut header, place, io::Read::take(file, length))
        }
    }
}

fn header(owner: Ids, mode: u32, kind: tar::EntryType) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(u64::from(owner.user));
    header.set_gid(u64::from(owner.group));
    header.set_mtime(now().as_secs());
    header.set_size(0);
    header
}

/// A folder's name ends with a slash.
fn folder(path: &Path) -> PathBuf {
    path.join("")
}

/// The numbers of a user such as `node`, `1000` or `1000:1000`, by the image's own tables.
pub(super) fn ids(user: &str, passwd: &str, groups: &str) -> Option<Ids> {
    let (user, group) = match user.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (user, None),
    };
    let row = passwd.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let [name, _, number, primary, ..] = fields[..] else {
            return None;
        };
        (name == user || number == user).then(|| (number.to_owned(), primary.to_owned()))
    });
    let number = match (&row, user) {
        (_, "") => 0,
        (Some((number, _)), _) => number.parse().ok()?,
        (None, user) => user.parse().ok()?,
    };
    let group = match group {
        Some(group) => {
            let row = groups.lines().find_map(|line| {
                let fields: Vec<&str> = line.split(':').collect();
                let [name, _, number, ..] = fields[..] else {
                    return None;
                };
                (name == group).then(|| number.to_owned())
            });
            row.as_deref().unwrap_or(group).parse().ok()?
        }
        None => row.map_or(Some(0), |(_, primary)| primary.parse().ok())?,
    };
    Some(Ids {
        user: number,
        group,
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, io::Read, os::unix::fs::symlink, path::PathBuf};

    use super::{Ids, ids, pack};
    use crate::fixture::Fixture;

    #[test]
    fn users_are_found_in_the_images_own_tables() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1001::/home/node:/bin/sh\n";
        let groups = "root:x:0:\nstaff:x:50:node\n";
        let case = |user: &str, wanted: Option<(u32, u32)>| {
            let wanted = wanted.map(|(user, group)| Ids { user, group });
            assert_eq!(ids(user, passwd, groups), wanted, "{user}");
        };
        case("", Some((0, 0)));
        case("root", Some((0, 0)));
        case("node", Some((1000, 1001)));
        case("1000", Some((1000, 1001)));
        case("1234", Some((1234, 0)));
        case("65534:65534", Some((65534, 65534)));
        case("node:staff", Some((1000, 50)));
        case("ghost", None);
        case("node:ghosts", None);
    }

    #[test]
    fn a_tar_holds_the_fixture_as_it_is_and_whose_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("fixture");
        fs::create_dir_all(root.join("sub/empty")).unwrap();
        fs::write(root.join("sub/a.txt"), "hello").unwrap();
        symlink("sub/a.txt", root.join("link")).unwrap();
        let far = format!("{}sub/a.txt", "sub/../".repeat(20));
        symlink(&far, root.join("far")).unwrap();
        let long = "x".repeat(120);
        fs::write(root.join(&long), "long").unwrap();
        let fixture = Fixture::open(&root).unwrap();
        let owner = Ids { user: 7, group: 8 };
        let tar = pack(&fixture, owner, 7).unwrap();
        let mut archive = tar::Archive::new(&tar[..]);
        let mut seen = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            assert_eq!(entry.header().uid().unwrap(), 7);
            assert_eq!(entry.header().gid().unwrap(), 8);
            let is_folder = entry.header().entry_type().is_dir();
            assert_eq!(entry.header().mtime().unwrap() == 7, is_folder);
            let path = entry.path().unwrap().into_owned();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            if let Some(target) = entry.link_name().unwrap() {
                text = target.to_str().unwrap().to_owned();
            }
            seen.insert(path, text);
        }
        let wanted = [
            ("fixture/", ""),
            ("fixture/sub", ""),
            ("fixture/sub/empty", ""),
            ("fixture/sub/a.txt", "hello"),
            ("fixture/link", "sub/a.txt"),
            ("fixture/far", &far),
        ];
        for (path, text) in wanted {
            assert_eq!(
                seen.get(&PathBuf::from(path)).map(String::as_str),
                Some(text),
                "{path}"
            );
        }
        assert_eq!(seen[&PathBuf::from("fixture").join(long)], "long");
        assert_eq!(seen.len(), 7);
    }
}
