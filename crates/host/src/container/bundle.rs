//! Files of ours as a tar archive for the engine, written to a nameless temporary file, so that nothing is left of it, and
//! sent from there.

use std::{
    fs::{self, File},
    io::{self, Seek, SeekFrom},
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};
use tokio_util::io::ReaderStream;

use crate::regular;
use text::digest::sha256_of_all;

/// How much is read and sent at once.
const PIECE: usize = 256 * 1024;

/// An archive that is being written.
pub(super) struct Bundle {
    tar: Builder<File>,
    digest: Sha256,
}

/// A file or folder that cannot be read, and why.
pub(super) type Unreadable = (PathBuf, io::Error);

/// An archive that is complete.
pub(super) struct Sealed {
    file: File,
    /// The sha256 of names, kinds, modes and contents, without times.
    pub(super) digest: String,
    /// How long it is.
    pub(super) bytes: u64,
}

impl Bundle {
    /// An empty archive.
    pub(super) fn new() -> io::Result<Self> {
        let mut tar = Builder::new(tempfile::tempfile()?);
        tar.follow_symlinks(false);
        Ok(Self {
            tar,
            digest: Sha256::new(),
        })
    }

    /// Adds a folder of its own.
    pub(super) fn folder(&mut self, name: &str, mode: u32) -> io::Result<()> {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Directory);
        header.set_mode(mode);
        header.set_size(0);
        self.note(Path::new(name), "folder", mode, &mut io::empty())?;
        self.tar.append_data(&mut header, name, io::empty())
    }

    /// Adds a file or a folder with all that is in it under a name in the archive; `keeps` says of each path
    /// below the folder whether it is taken. A link at the top is followed, others stay links.
    pub(super) fn tree(
        &mut self,
        from: &Path,
        name: &Path,
        keeps: &dyn Fn(&Path) -> bool,
    ) -> Result<(), Unreadable> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| (path, error)
        };
        let facts = fs::metadata(from).map_err(failed(from))?;
        if name != Path::new("") {
            self.add(from, &facts, name).map_err(failed(from))?;
        }
        if !facts.is_dir() {
            return Ok(());
        }
        let mut waiting = vec![PathBuf::new()];
        while let Some(below) = waiting.pop() {
            let folder = from.join(&below);
            let entries = fs::read_dir(&folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
            let mut entries = entries.map_err(failed(&folder))?;
            entries.sort_by_key(fs::DirEntry::file_name);
            for entry in entries {
                let below = below.join(entry.file_name());
                let path = entry.path();
                let facts = fs::symlink_metadata(&path).map_err(failed(&path))?;
                if keeps(&below) {
                    let inside = name.join(&below);
                    self.add(&path, &facts, &inside).map_err(failed(&path))?;
                }
                if facts.is_dir() {
                    // Something inside may be kept although the folder is not.
                    waiting.push(below);
                }
            }
        }
        Ok(())
    }

    /// Adds a file, a folder without its content, or a link; anything else is left out.
    fn add(&mut self, from: &Path, facts: &fs::Metadata, name: &Path) -> io::Result<()> {
        let mode = facts.permissions().mode() & 0o7777;
        let mut header = Header::new_gnu();
        header.set_mode(mode);
        // Files of an image belong to root.
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(u64::try_from(facts.mtime()).unwrap_or_default());
        header.set_size(0);
        if facts.is_file() {
            self.note(name, "file", mode, &mut regular::open(from)?)?;
            header.set_entry_type(EntryType::Regular);
            header.set_size(facts.len());
            // A file that grows meanwhile would break the archive.
            let content = io::Read::take(regular::open(from)?, facts.len());
            self.tar.append_data(&mut header, name, content)
        } else if facts.is_dir() {
            header.set_entry_type(EntryType::Directory);
            self.note(name, "folder", mode, &mut io::empty())?;
            self.tar.append_data(&mut header, name, io::empty())
        } else if facts.is_symlink() {
            let target = fs::read_link(from)?;
            header.set_entry_type(EntryType::Symlink);
            let shown = target.display().to_string();
            self.note(name, "link", 0, &mut shown.as_bytes())?;
            self.tar.append_link(&mut header, name, target)
        } else {
            Ok(())
        }
    }

    /// Adds an entry to the digest; each part with its length, so that two lists never look alike.
    fn note(
        &mut self,
        name: &Path,
        kind: &str,
        mode: u32,
        content: &mut dyn io::Read,
    ) -> io::Result<()> {
        let (inner, length) = sha256_of_all(content)?;
        let head = format!("{}\0{kind}\0{mode:o}\0{length}\0", name.display());
        self.digest.update(head.as_bytes());
        self.digest.update(inner);
        Ok(())
    }

    /// Ends the archive.
    pub(super) fn seal(self) -> io::Result<Sealed> {
        let mut file = self.tar.into_inner()?;
        let bytes = file.stream_position()?;
        file.seek(SeekFrom::Start(0))?;
        Ok(Sealed {
            file,
            digest: hex(&self.digest.finalize()),
            bytes,
        })
    }
}

impl Sealed {
    /// The archive, for the body of a request.
    pub(super) fn stream(self) -> ReaderStream<tokio::fs::File> {
        ReaderStream::with_capacity(tokio::fs::File::from_std(self.file), PIECE)
    }
}

/// Bytes in hexadecimal digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, io::Read, path::Path};

    use super::{Bundle, Sealed};

    fn sealed(from: &Path, name: &str, keeps: &dyn Fn(&Path) -> bool) -> Sealed {
        let mut bundle = Bundle::new().unwrap();
        bundle.tree(from, Path::new(name), keeps).unwrap();
        bundle.seal().unwrap()
    }

    fn entries(sealed: Sealed) -> BTreeMap<String, String> {
        let mut archive = tar::Archive::new(sealed.file);
        let entries = archive.entries().unwrap();
        entries
            .map(|entry| {
                let mut entry = entry.unwrap();
                let name = entry.path().unwrap().display().to_string();
                let mut text = String::new();
                entry.read_to_string(&mut text).unwrap();
                let link = entry.link_name().unwrap();
                (
                    name,
                    link.map_or(text, |link| format!("-> {}", link.display())),
                )
            })
            .collect()
    }

    #[test]
    fn a_tree_keeps_its_shape_and_links_stay_links() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("in")).unwrap();
        fs::write(folder.path().join("in/a"), "1").unwrap();
        fs::write(folder.path().join("b"), "2").unwrap();
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
        let all = entries(sealed(folder.path(), "app", &|_| true));
        let wanted = [
            ("app", ""),
            ("app/b", "2"),
            ("app/in", ""),
            ("app/in/a", "1"),
            ("app/link", "-> /etc/passwd"),
        ];
        let wanted = wanted.map(|(name, text)| (name.to_owned(), text.to_owned()));
        assert_eq!(all, BTreeMap::from(wanted));
        let some = entries(sealed(folder.path(), "", &|path| path != Path::new("b")));
        assert_eq!(some.keys().collect::<Vec<_>>(), ["in", "in/a", "link"]);
    }

    #[test]
    fn the_digest_is_of_what_matters() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let digest = |name: &str| sealed(folder.path(), name, &|_| true).digest;
        fs::write(&file, "1").unwrap();
        let before = digest("x");
        let later = std::time::SystemTime::now() + std::time::Duration::from_mins(1);
        fs::File::open(&file).unwrap().set_modified(later).unwrap();
        assert_eq!(digest("x"), before);
        assert_ne!(digest("y"), before);
        fs::write(&file, "2").unwrap();
        assert_ne!(digest("x"), before);
    }
}
