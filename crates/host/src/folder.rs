//! A folder held open. What is in it is reached one name at a time and never through a link, because a server may replace
//! folders by links while we look, and must not lead us out of its fixture.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read},
    os::unix::{
        ffi::OsStrExt,
        fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, SeekFrom, seek},
    io::Errno,
};

use mcp::observation::files::PathKind;

/// How every folder is opened.
const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Bytes of a file that are copied before the time is looked at.
const PIECE: u64 = 64 * 1024 * 1024;

/// Copies so many bytes, or up to the end; how many that were.
fn copy_up_to(
    length: u64,
    source: &mut File,
    copy: &mut File,
    may_go_on: &impl Fn() -> io::Result<()>,
) -> io::Result<u64> {
    let mut copied = 0;
    while copied < length {
        let piece = PIECE.min(length - copied);
        let count = io::copy(&mut source.by_ref().take(piece), copy)?;
        copied += count;
        if count < piece {
            break;
        }
        may_go_on()?;
    }
    Ok(copied)
}

/// Copies a file with holes, which stay holes: filling them would take time and room that the original does not take.
fn copy_sparse(
    source: &mut File,
    copy: &mut File,
    length: u64,
    may_go_on: &impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    let mut at = 0;
    loop {
        let begin = match seek(&*source, SeekFrom::Data(at)) {
            Ok(begin) => begin,
            Err(Errno::NXIO) => break,
            // The file system knows of no holes.
            Err(_) => at,
        };
        let end = seek(&*source, SeekFrom::Hole(begin)).unwrap_or(u64::MAX);
        seek(&*source, SeekFrom::Start(begin))?;
        seek(&*copy, SeekFrom::Start(begin))?;
        at = begin + copy_up_to(end - begin, source, copy, may_go_on)?;
        if at < end {
            break;
        }
    }
    if copy.metadata()?.len() < length {
        copy.set_len(length)?;
    }
    Ok(())
}

/// What a thing is that is neither a file nor a directory nor a link.
pub(super) fn word(kind: FileType) -> &'static str {
    if kind.is_fifo() {
        "a FIFO"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

/// A folder, wherever it is moved to.
#[derive(Debug)]
pub(super) struct Folder(File);

/// What is under a name.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    kind: FileType,
    /// Its permission bits.
    pub(super) mode: u32,
    /// Its length in bytes.
    pub(super) length: u64,
}

impl Entry {
    /// What it is.
    pub(super) fn kind(self) -> PathKind {
        if self.kind.is_file() {
            PathKind::File
        } else if self.kind.is_dir() {
            PathKind::Directory
        } else if self.kind.is_symlink() {
            PathKind::Link
        } else {
            PathKind::Special
        }
    }

    /// What it is, for people.
    pub(super) fn word(self) -> &'static str {
        word(self.kind)
    }
}

impl Folder {
    /// Opens a folder by its path, unless it is a link.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let opened = rustix::fs::open(path, FOLDER, Mode::empty())?;
        Ok(Self(opened.into()))
    }

    /// Opens a folder in it.
    pub(super) fn folder(&self, name: &OsStr) -> io::Result<Self> {
        let opened = rustix::fs::openat(&self.0, name, FOLDER, Mode::empty())?;
        Ok(Self(opened.into()))
    }

    /// The same, unless another file system is mounted there.
    pub(super) fn own_folder(&self, name: &OsStr) -> io::Result<Self> {
        let folder = Self(open_here(&self.0, name, FOLDER)?);
        if folder.identity()?.0 != self.identity()?.0 {
            return Err(io::ErrorKind::CrossesDevices.into());
        }
        Ok(folder)
    }

    /// Opens a folder below it, by a path without `..`; the empty path is the folder itself.
    pub(super) fn below(&self, path: &Path) -> io::Result<Self> {
        let mut reached: Option<Self> = None;
        for name in path {
            reached = Some(reached.as_ref().unwrap_or(self).folder(name)?);
        }
        reached.map_or_else(|| Ok(Self(self.0.try_clone()?)), Ok)
    }

    /// The names in it, in no order.
    pub(super) fn names(
        &self,
        may_go_on: impl Fn() -> io::Result<()>,
    ) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            may_go_on()?;
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsStr::from_bytes(name).to_owned());
            }
        }
        Ok(names)
    }

    /// What is under a name.
    #[allow(
        clippy::useless_conversion,
        reason = "modes are shorter on other systems"
    )]
    pub(super) fn entry(&self, name: &OsStr) -> io::Result<Entry> {
        let found = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(Entry {
            kind: FileType::from_raw_mode(found.st_mode),
            mode: u32::from(found.st_mode) & 0o7777,
            length: u64::try_from(found.st_size).unwrap_or_default(),
        })
    }

    /// The target of a link in it.
    pub(super) fn link(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.0, name, Vec::new())?;
        Ok(OsStr::from_bytes(target.as_bytes()).into())
    }

    /// Opens a regular file in it. What has become a FIFO meanwhile is not waited for.
    pub(super) fn file(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(&self.0, name, flags, Mode::empty())?);
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::other("it is not a regular file"))
        }
    }

    /// Makes a folder in it.
    pub(super) fn create_folder(&self, name: &OsStr) -> io::Result<Self> {
        rustix::fs::mkdirat(&self.0, name, Mode::RWXU)?;
        self.folder(name)
    }

    /// Makes a link in it.
    pub(super) fn create_link(&self, name: &OsStr, target: &Path) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.0, name)?)
    }

    /// Makes a copy of a file in it, where nothing is yet. Shares the blocks where the file system can. What is long is
    /// not copied on when `may_go_on` is an error.
    pub(super) fn create_copy(
        &self,
        name: &OsStr,
        source: &mut File,
        mode: u32,
        may_go_on: impl Fn() -> io::Result<()>,
    ) -> io::Result<()> {
        #[cfg(target_vendor = "apple")]
        if rustix::fs::fclonefileat(&*source, &self.0, name, rustix::fs::CloneFlags::empty())
            .is_ok()
        {
            return Self::set_mode_of(&self.file(name)?, mode);
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&self.0, name, flags, Mode::RUSR | Mode::WUSR)?;
        let mut copy = File::from(opened);
        let found = source.metadata()?;
        if found.blocks().saturating_mul(512) < found.len() {
            copy_sparse(source, &mut copy, found.len(), &may_go_on)?;
        } else {
            copy_up_to(u64::MAX, source, &mut copy, &may_go_on)?;
        }
        Self::set_mode_of(&copy, mode)
    }

    /// Its own permission bits.
    pub(super) fn mode(&self) -> io::Result<u32> {
        Ok(self.0.metadata()?.mode() & 0o7777)
    }

    /// Sets its own permission bits.
    pub(super) fn set_mode(&self, mode: u32) -> io::Result<()> {
        Self::set_mode_of(&self.0, mode)
    }

    fn set_mode_of(file: &File, mode: u32) -> io::Result<()> {
        file.set_permissions(fs::Permissions::from_mode(mode))
    }

    /// Whether both are one folder.
    pub(super) fn is(&self, other: &Self) -> io::Result<bool> {
        Ok(self.identity()? == other.identity()?)
    }

    fn identity(&self) -> io::Result<(u64, u64)> {
        let found = self.0.metadata()?;
        Ok((found.dev(), found.ino()))
    }

    /// Removes what is under a name and is not a folder.
    pub(super) fn unlink(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Removes an empty folder in it.
    pub(super) fn remove_folder(&self, name: &OsStr) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Makes a closed folder in it enterable and writable for us, and opens it.
    pub(super) fn open_up(&self, name: &OsStr) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        {
            use std::os::fd::AsRawFd;

            // A closed folder can be held, but not be opened; and its mode can only be set by a path.
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let held = open_here(&self.0, name, flags)?;
            let path = format!("/proc/self/fd/{}", held.as_raw_fd());
            fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
        }
        #[cfg(not(target_os = "linux"))]
        {
            rustix::fs::chmodat(&self.0, name, Mode::RWXU, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        self.own_folder(name)
    }
}

/// Opens what is under a name, unless something else is mounted there.
fn open_here(folder: &File, name: &OsStr, flags: OFlags) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    {
        use rustix::{fs::ResolveFlags, io::Errno};

        let here = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS;
        match rustix::fs::openat2(folder, name, flags, Mode::empty(), here) {
            Ok(opened) => return Ok(opened.into()),
            // Older kernels do not have it, and some sandboxes forbid what they do not know.
            Err(Errno::NOSYS | Errno::PERM) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let opened = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    Ok(opened.into())
}
