//! Files that appear whole or not at all.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    os::{
        fd::AsFd,
        unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown},
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rustix::{fs::OFlags, io::Errno};

use super::standard::Patience;

/// Whom files are handed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    user: u32,
    group: u32,
}

impl Owner {
    /// The owner of a folder, if we are another user who may hand files over.
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

/// Replaces a file by one that is complete: written beside it, then renamed.
pub(super) fn replace(
    path: &Path,
    text: &str,
    owner: Option<Owner>,
    patience: &Patience,
) -> io::Result<()> {
    let path = behind_links(path)?;
    if fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        return write_to_device(&path, text.as_bytes(), patience);
    }
    if path.is_dir() {
        return Err(io::Error::other("it is a directory"));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    make_folder(folder, owner)?;
    let mut builder = tempfile::Builder::new();
    builder.prefix(".mcp-assert-");
    keep_mode(&mut builder, &path);
    let mut file = builder.tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    hand_over(file.as_file(), owner)?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

/// How many links the system follows one behind the other.
const MOST_LINKS: usize = 40;

/// The place behind links, which stay links: what they lead to is replaced, or made where it is not there yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        if let Ok(real) = fs::canonicalize(&path) {
            return Ok(real);
        }
        // What a pipe without a name is called behind its link is no path.
        let leads = fs::metadata(&path).is_ok();
        match fs::read_link(&path) {
            Ok(target) if !leads => path = path.parent().unwrap_or(Path::new("")).join(target),
            Ok(_) | Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its link leads in a circle"))
}

/// Writes to a pipe or a device, which cannot be replaced. Nobody is waited for who may never come: for a
/// reader only for a moment, and so for one that stands still once a signal has come.
fn write_to_device(path: &Path, bytes: &[u8], patience: &Patience) -> io::Result<()> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(flags.bits().cast_signed());
    let begun = Instant::now();
    loop {
        match options.open(path) {
            Ok(device) => return patience.write_all(device.as_fd(), bytes),
            Err(error) if !is_unread(path, &error) => return Err(error),
            // One that is started beside us may come a moment later.
            Err(_) if begun.elapsed() < READER => thread::sleep(LOOK),
            Err(_) => return Err(io::Error::other("nobody reads from this pipe")),
        }
    }
}

/// How long a pipe's reader is waited for, and how often it is looked for.
const READER: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(10);

/// Whether it could not be opened because nobody has it open for reading.
fn is_unread(path: &Path, error: &io::Error) -> bool {
    let is_fifo = || fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo());
    Errno::from_io_error(error) == Some(Errno::NXIO) && is_fifo()
}

/// Makes a folder and those above it that are missing.
fn make_folder(folder: &Path, owner: Option<Owner>) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(parent) = folder.parent().filter(|it| !it.as_os_str().is_empty()) {
        make_folder(parent, owner)?;
    }
    match fs::create_dir(folder) {
        // Somebody else was quicker.
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

/// The mode of the file that is replaced, else what the umask leaves; a temporary file would be private.
fn keep_mode(builder: &mut tempfile::Builder<'_, '_>, path: &Path) {
    let mode = fs::metadata(path).map_or(0o666, |found| found.permissions().mode() & 0o777);
    builder.permissions(fs::Permissions::from_mode(mode));
}
