//! A folder of ours with the files of another revision, for servers that are compared with those of the caller's files. No
//! link in it leads out.

use std::{
    fs,
    io::{self, Read},
    path::{Component, Path, PathBuf},
};

use flate2::read::GzDecoder;

use super::temporary;

/// The most bytes of an archive's files.
const MOST_BYTES: u64 = 16 << 30;

/// The folder. It is removed when it is dropped, and by the sweeps.
#[derive(Debug)]
pub struct Checkout(PathBuf);

impl Checkout {
    /// A folder without files.
    pub fn new() -> io::Result<Self> {
        // Without links, as suites are found below it.
        let folder = fs::canonicalize(temporary::create(&temporary::folder())?)?;
        Ok(Self(folder))
    }

    /// A path in the folder, for what is needed to make the files.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Makes the files of a compressed archive that has them all in one folder. Returns that folder, and how many links are
    /// left out because they would lead out of it.
    pub fn unpack(&self, archive: impl Read) -> io::Result<(PathBuf, usize)> {
        let place = self.beside("files");
        fs::create_dir(&place)?;
        let mut archive = tar::Archive::new(GzDecoder::new(archive).take(MOST_BYTES));
        archive.set_preserve_mtime(false);
        let (mut root, mut left_out) = (place.clone(), 0);
        for entry in archive.entries()? {
            let mut entry = entry?;
            let path = entry.path()?.into_owned();
            let kind = entry.header().entry_type();
            if kind.is_symlink() && !stays_inside(&path, &entry.link_name()?.unwrap_or_default()) {
                left_out += 1;
            } else if kind.is_file() || kind.is_dir() || kind.is_symlink() {
                root = place.join(path.iter().next().unwrap_or_default());
                entry.unpack_in(&place)?;
            }
        }
        Ok((root, left_out))
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        // What stays is removed by the next sweep.
        let _ = temporary::remove(&self.0);
    }
}

/// Whether a link stays inside the first folder of its path wherever the links on its way lead: `..` only begins its target,
/// because behind a name it would leave what that name leads to.
fn stays_inside(link: &Path, target: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(2);
    let mut has_name = false;
    target.components().all(|part| match part {
        Component::Normal(_) => {
            has_name = true;
            true
        }
        Component::CurDir => true,
        Component::ParentDir if depth > 0 && !has_name => {
            depth -= 1;
            true
        }
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::Path};

    use flate2::{Compression, write::GzEncoder};

    use super::{Checkout, stays_inside};

    #[test]
    fn only_links_that_stay_inside_are_made() {
        let case = |link: &str, target: &str, wanted: bool| {
            let found = stays_inside(Path::new(link), Path::new(target));
            assert_eq!(found, wanted, "{link} -> {target}");
        };
        case("o/a", "b", true);
        case("o/a", "./b/c", true);
        case("o/x/a", "../b", true);
        case("o/a", "../b", false);
        case("o/x/a", "../../b", false);
        case("o/x/a", "b/../../..", false);
        case("o/x/y/a", "../b/../c", false);
        case("o/a", "/etc/passwd", false);
        case("a", "..", false);
    }

    /// An archive of files, each with its content, or of links.
    fn archive(files: &[(&str, &str)], links: &[(&str, &str)]) -> Vec<u8> {
        let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (path, text) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o775);
            let field = &mut header.as_old_mut().name;
            field[..path.len()].copy_from_slice(path.as_bytes());
            header.set_cksum();
            archive.append(&header, text.as_bytes()).unwrap();
        }
        for (path, target) in links {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::Symlink);
            header.set_size(0);
            archive.append_link(&mut header, path, target).unwrap();
        }
        archive.into_inner().unwrap().finish().unwrap()
    }

    #[test]
    fn an_archive_is_unpacked() {
        let links = [
            ("o-r-1/l", "a"),
            ("o-r-1/out", "/etc"),
            ("o-r-1/x/up", "../a/run.sh"),
        ];
        let checkout = Checkout::new().unwrap();
        let bytes = archive(&[("o-r-1/a/run.sh", "hi")], &links);
        let (files, left_out) = checkout.unpack(&bytes[..]).unwrap();
        assert!(files.ends_with("files/o-r-1") && left_out == 1);
        for path in ["a/run.sh", "l/run.sh", "x/up"] {
            let text = fs::read_to_string(files.join(path)).unwrap();
            assert_eq!(text, "hi", "{path}");
        }
        let mode = fs::metadata(files.join("a/run.sh"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o100, 0o100);
        assert!(!files.join("out").exists());
        let folder = checkout.beside("");
        drop(checkout);
        assert!(!folder.exists());
    }

    #[test]
    fn no_file_is_written_outside() {
        let checkout = Checkout::new().unwrap();
        let bytes = archive(&[("o/../../../x", "x"), ("/y", "x"), ("o/z", "x")], &[]);
        let _ = checkout.unpack(&bytes[..]);
        let outside = [checkout.beside("../x"), checkout.beside("x"), "/y".into()];
        assert!(!outside.iter().any(|path| path.exists()));
    }
}
