//! Opens files that are named elsewhere and read to their end. Only regular files are opened: a FIFO may block for ever, and
//! a device may never end.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

/// Bytes of a text.
const LONGEST_TEXT: u64 = 1024 * 1024;

/// Opens a regular file for reading; a link to one is followed.
pub fn open(path: &Path) -> io::Result<File> {
    // To open a device may do something already.
    regular(&fs::metadata(path)?)?;
    // Should it have become a FIFO by now, this does not wait for a writer.
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    regular(&file.metadata()?)?;
    Ok(file)
}

/// The text of a regular file, which is no longer than 1 MiB.
pub(super) fn text(path: &Path) -> io::Result<String> {
    let file = open(path)?;
    if file.metadata()?.len() > LONGEST_TEXT {
        return Err(io::Error::other("it is too long"));
    }
    io::read_to_string(file)
}

fn regular(found: &fs::Metadata) -> io::Result<()> {
    if found.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use rustix::fs::{CWD, Mode, mkfifoat};

    use super::{open, text};

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        mkfifoat(CWD, &fifo, Mode::RUSR | Mode::WUSR).unwrap();
        for path in [&fifo, folder.path(), Path::new("/dev/zero")] {
            let refused = open(path).unwrap_err().to_string();
            assert_eq!(refused, "it is not a regular file", "{}", path.display());
        }
        let file = folder.path().join("file");
        fs::write(&file, "text").unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&file, &link).unwrap();
        assert_eq!(text(&link).unwrap(), "text");
    }
}
