//! Files that appear whole or not at all.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Write},
    path::Path,
};

/// Whom files are handed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    user: u32,
    group: u32,
}

impl Owner {
    /// The owner of a folder, if we are another user who may hand files over.
    #[cfg(unix)]
    pub(super) fn to_hand_to(folder: &Path) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;

        if !rustix::process::geteuid().is_root() {
            return None;
        }
        let found = fs::metadata(folder).ok()?;
        Some(Self {
            user: found.uid(),
            group: found.gid(),
        })
    }

    #[cfg(not(unix))]
    pub(super) fn to_hand_to(_folder: &Path) -> Option<Self> {
        None
    }
}

/// Replaces a file by one that is complete: written beside it, then renamed.
pub(super) fn replace(path: &Path, text: &str, owner: Option<Owner>) -> io::Result<()> {
    // A link stays a link: what it points to is replaced.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
        // A pipe or a device cannot be replaced, only written to.
        let mut device = OpenOptions::new().write(true).open(&path)?;
        return device.write_all(text.as_bytes());
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

#[cfg(unix)]
fn hand_over(file: &fs::File, owner: Option<Owner>) -> io::Result<()> {
    match owner {
        Some(Owner { user, group }) => std::os::unix::fs::fchown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn hand_over(_file: &fs::File, _owner: Option<Owner>) -> io::Result<()> {
    Ok(())
}

/// The mode of the file that is replaced, else what the umask leaves; a temporary file would be private.
#[cfg(unix)]
fn keep_mode(builder: &mut tempfile::Builder<'_, '_>, path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    let mode = fs::metadata(path).map_or(0o666, |found| found.permissions().mode() & 0o777);
    builder.permissions(fs::Permissions::from_mode(mode));
}

#[cfg(not(unix))]
fn keep_mode(_builder: &mut tempfile::Builder<'_, '_>, _path: &Path) {}
