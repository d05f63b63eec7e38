//! Tools that touch files: only under `--files`, and never through a link.
//!
//! Each step of a path is opened from the folder before it without following links, so neither
//! `..`, nor a link, nor one that is put there meanwhile leads out.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, Mode, OFlags};
use serde_json::{Value, json};

use crate::surface::call::{Call, structured_result, tool_error};

pub(super) fn write(call: &Call<'_>) -> Value {
    let text = call.text("text").unwrap_or_default();
    shown(call, "write", |root, path| {
        write_under(root, path, text)?;
        Ok(json!({"path": path, "bytes": text.len()}))
    })
}

pub(super) fn delete(call: &Call<'_>) -> Value {
    shown(call, "delete", |root, path| {
        delete_under(root, path)?;
        Ok(json!({"path": path, "deleted": true}))
    })
}

fn shown(call: &Call<'_>, verb: &str, act: impl FnOnce(&Path, &str) -> io::Result<Value>) -> Value {
    let path = call.text("path").unwrap_or_default();
    let Some(root) = call.bench.options.files.as_deref() else {
        return tool_error("the server has no folder for files");
    };
    match act(root, path) {
        Ok(answer) => structured_result(&answer),
        Err(error) => tool_error(&format!("cannot {verb} \"{path}\": {error}")),
    }
}

fn write_under(root: &Path, path: &str, text: &str) -> io::Result<()> {
    let (folder, name) = folder_of(root, path, Missing::Made)?;
    let flags =
        OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A pipe or a device under that name must neither block nor be written.
    let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mode = Mode::from_raw_mode(0o644);
    let mut file = File::from(rustix::fs::openat(&folder, name, flags, mode)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    file.write_all(text.as_bytes())
}

fn delete_under(root: &Path, path: &str) -> io::Result<()> {
    let (folder, name) = folder_of(root, path, Missing::Error)?;
    Ok(rustix::fs::unlinkat(&folder, name, AtFlags::empty())?)
}

/// What becomes of folders that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Made,
    Error,
}

/// Opens the folder that `path` lies in, step by step, and gives the last name.
fn folder_of<'a>(root: &Path, path: &'a str, missing: Missing) -> io::Result<(OwnedFd, &'a str)> {
    let names = names_of(path)?;
    let Some((name, folders)) = names.split_last() else {
        return Err(io::Error::other("it names no file"));
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open(root, flags, Mode::empty())?;
    for step in folders {
        if missing == Missing::Made {
            match rustix::fs::mkdirat(&folder, *step, Mode::from_raw_mode(0o755)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        folder = rustix::fs::openat(&folder, *step, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok((folder, name))
}

/// The steps of a relative path that stays where it starts.
fn names_of(path: &str) -> io::Result<Vec<&str>> {
    let mut names = Vec::new();
    for step in Path::new(path).components() {
        match step {
            Component::Normal(name) => names.extend(name.to_str()),
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(io::Error::other("it leads out of the server's folder"));
            }
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn files_are_written_and_deleted_under_the_root() {
        let root = tempfile::tempdir().unwrap();
        write_under(root.path(), "a/b/c.txt", "first, and longer").unwrap();
        write_under(root.path(), "./a/b/c.txt", "text").unwrap();
        let file = root.path().join("a/b/c.txt");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        delete_under(root.path(), "a/b/c.txt").unwrap();
        assert!(!file.exists());
        assert!(delete_under(root.path(), "a/b/c.txt").is_err());
        assert!(delete_under(root.path(), "nowhere/c.txt").is_err());
        assert!(!root.path().join("nowhere").exists());
    }

    #[test]
    fn no_path_leads_out() {
        let outside = tempfile::tempdir().unwrap();
        let kept = outside.path().join("kept.txt");
        std::fs::write(&kept, "kept").unwrap();
        let root = tempfile::tempdir().unwrap();
        symlink(outside.path(), root.path().join("folder")).unwrap();
        symlink(&kept, root.path().join("file")).unwrap();
        let absolute = kept.to_str().unwrap();
        let climbing = format!("x/../../{}", kept.file_name().unwrap().to_str().unwrap());
        for path in [
            absolute,
            "../kept.txt",
            climbing.as_str(),
            "a/../../kept.txt",
            "folder/kept.txt",
            "folder/new.txt",
            "file",
            "",
            ".",
            "/",
            "a\0b",
        ] {
            assert!(write_under(root.path(), path, "gone").is_err(), "{path:?}");
        }
        for path in [
            absolute,
            "../kept.txt",
            "folder/kept.txt",
            "",
            ".",
            "folder/..",
        ] {
            assert!(delete_under(root.path(), path).is_err(), "{path:?}");
        }
        assert_eq!(std::fs::read_to_string(&kept).unwrap(), "kept");
        assert!(!outside.path().join("new.txt").exists());
    }

    #[test]
    fn a_link_is_deleted_and_not_what_it_names() {
        let root = tempfile::tempdir().unwrap();
        let kept = root.path().join("kept.txt");
        std::fs::write(&kept, "kept").unwrap();
        symlink(&kept, root.path().join("link")).unwrap();
        delete_under(root.path(), "link").unwrap();
        assert!(kept.exists());
        assert!(!root.path().join("link").exists());
    }
}
