//! Writes files atomically.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    path::{Component, Path, PathBuf},
    thread,
    time::Instant,
};

use rustix::{fs::OFlags, io::Errno};

use super::standard::{LOOK, Streams};

/// The owner of new files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    user: u32,
    group: u32,
}

impl Owner {
    /// The owner of a folder, if this process is root and may give files away.
    pub(super) fn to_hand_to(folder: &Path) -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let found = fs::metadata(folder).ok()?;
        Some(Self {
            user: found.uid(),
            group: found.gid(),
        })
    }
}

/// Resolves all links of a path, even if the file or its folders do not exist yet.
pub(crate) fn resolved(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        other => return other,
    }
    // The link of an anonymous pipe names no path.
    if fs::metadata(path).is_ok() {
        return Ok(path.to_owned());
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) | None => Path::new("."),
    };
    if let Ok(target) = fs::read_link(path) {
        return resolved(&parent.join(target));
    }
    let mut folder = resolved(parent)?;
    match path.components().next_back() {
        Some(Component::Normal(name)) => folder.push(name),
        // Missing folders contain no links, so `..` is plain.
        _ => drop(folder.pop()),
    }
    Ok(folder)
}

/// The resolved path of a file that exists or may be created; `None` for pipes, devices and folders.
pub(crate) fn identity(path: &Path) -> Option<PathBuf> {
    let file = resolved(path).ok()?;
    fs::metadata(&file)
        .map_or(true, |found| found.is_file())
        .then_some(file)
}

/// Replaces a file by writing beside it and renaming. A link stays a link.
pub(super) fn replace(
    path: &Path,
    text: &str,
    owner: Option<Owner>,
    streams: &Streams,
) -> io::Result<()> {
    let path = resolved(path)?;
    if path.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return write_to_device(&path, text.as_bytes(), streams);
    }
    let folder = path.parent().unwrap_or(Path::new("/"));
    make_folder(folder, owner)?;
    let mut builder = tempfile::Builder::new();
    // Keeps the mode of the old file, else uses the umask; a temporary file would be private.
    let mode = fs::metadata(&path).map_or(0o666, |found| found.permissions().mode() & 0o777);
    builder
        .prefix(".mcp-assert-")
        .permissions(fs::Permissions::from_mode(mode));
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    hand_over(file.as_file(), owner)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// Writes to a pipe or device. A pipe without a reader is an error; a stalled reader is given up after a signal.
fn write_to_device(path: &Path, mut bytes: &[u8], streams: &Streams) -> io::Result<()> {
    let unread = || io::Error::other("the pipe has no reader");
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(flags.bits().cast_signed());
    let mut device = options.open(path).map_err(|error| {
        let is_unread = Errno::from_io_error(&error) == Some(Errno::NXIO);
        if is_unread { unread() } else { error }
    })?;
    let mut taken = Instant::now();
    while !bytes.is_empty() {
        match device.write(bytes) {
            Ok(count) => (bytes, taken) = (&bytes[count..], Instant::now()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(_) if streams.is_over(taken) => return Err(unread()),
            Err(_) => thread::sleep(LOOK),
        }
    }
    Ok(())
}

/// Creates a folder and its missing parents.
fn make_folder(folder: &Path, owner: Option<Owner>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent().filter(|it| !it.as_os_str().is_empty()) {
        make_folder(parent, owner)?;
    }
    match fs::create_dir(folder) {
        // Another process created it first.
        Err(error) if error.kind() == ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) if owner.is_none() => Ok(()),
        Ok(()) => hand_over(&fs::File::open(folder)?, owner),
    }
}

fn hand_over(file: &fs::File, owner: Option<Owner>) -> io::Result<()> {
    match owner {
        Some(Owner { user, group }) => fchown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}
