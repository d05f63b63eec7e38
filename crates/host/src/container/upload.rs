//! The fixture on its way into a container: one tar for each user, sent before the server starts.

use std::{fs, io};

use tar::{Builder, EntryType, Header};

use super::{body::FIXTURE_VOLUME, labels::now};
use crate::fixture::{Fixture, Kind};

/// The user and group that own what is put into a container, in numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ids {
    pub(super) user: u32,
    pub(super) group: u32,
}

impl Ids {
    /// The superuser.
    pub(super) const ROOT: Self = Self { user: 0, group: 0 };
}

/// When the folders of the fixture were changed, in seconds since 1970: one with another time was changed by the server.
pub(super) const FOLDERS: u64 = 946_684_800;

/// Where the fixture is in every container.
pub fn place(fixture: &Fixture) -> String {
    format!("{FIXTURE_VOLUME}/{}", fixture.name.display())
}

/// The fixture below its name as a tar, parents before children.
pub(super) fn pack(fixture: &Fixture, owner: Ids) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(Vec::new());
    let name = &fixture.name;
    let mut folder = header(owner, fixture.mode, EntryType::Directory);
    tar.append_data(&mut folder, name.join(""), io::empty())?;
    for (path, entry) in &fixture.entries {
        let place = name.join(path);
        match &entry.kind {
            Kind::Directory => {
                let mut header = header(owner, entry.mode, EntryType::Directory);
                tar.append_data(&mut header, place.join(""), io::empty())?;
            }
            Kind::Link(target) => {
                let mut header = header(owner, 0o777, EntryType::Symlink);
                tar.append_link(&mut header, place, target)?;
            }
            Kind::File { .. } | Kind::Special => {
                let file = fs::File::open(fixture.root().join(path))?;
                let length = file.metadata()?.len();
                let mut header = header(owner, entry.mode, EntryType::Regular);
                header.set_size(length);
                // A file that grows while it is read is cut at the length in its header.
                tar.append_data(&mut header, place, io::Read::take(file, length))?;
            }
        }
    }
    tar.into_inner()
}

fn header(owner: Ids, mode: u32, kind: EntryType) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(u64::from(owner.user));
    header.set_gid(u64::from(owner.group));
    header.set_mtime(if kind.is_dir() {
        FOLDERS
    } else {
        now().as_secs()
    });
    header.set_size(0);
    header
}

/// The numbers of a user such as `node`, `1000` or `1000:1000`, by the image's own tables.
pub(super) fn ids(user: &str, passwd: &str, groups: &str) -> Option<Ids> {
    let (user, group) = match user.split_once(':') {
        Some((user, group)) => (user, Some(group)),
        None => (user, None),
    };
    let row = rows(passwd).find(|row| row.len() > 3 && (row[0] == user || row[2] == user));
    let number = match &row {
        _ if user.is_empty() => "0",
        Some(row) => row[2],
        None => user,
    };
    let group = match (group, &row) {
        (Some(group), _) => {
            let row = rows(groups).find(|row| row.len() > 2 && row[0] == group);
            row.map_or(group, |row| row[2])
        }
        (None, Some(row)) => row[3],
        (None, None) => "0",
    };
    Some(Ids {
        user: number.parse().ok()?,
        group: group.parse().ok()?,
    })
}

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().map(|line| line.split(':').collect())
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
        let tar = pack(&fixture, owner).unwrap();
        let mut archive = tar::Archive::new(&tar[..]);
        let mut seen = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            assert_eq!(entry.header().uid().unwrap(), 7);
            assert_eq!(entry.header().gid().unwrap(), 8);
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
