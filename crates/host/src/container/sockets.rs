//! Sockets in a container's folders: the engine's archives hold none, so the container's own shell looks for them.

use std::{ffi::OsStr, os::unix::ffi::OsStrExt, path::PathBuf, time::Duration};

use bollard::{
    Docker,
    container::LogOutput,
    errors::Error,
    exec::{CreateExecOptions, StartExecOptions, StartExecResults},
};
use futures_util::StreamExt;
use tokio::time::timeout;

use super::worker::SHELL;

/// How long the engine and the shell may take.
const LOOKING: Duration = Duration::from_secs(10);

/// Folders that are looked into at once: a command line has a limit.
const MOST_FOLDERS: usize = 500;

/// Bytes of names that are read.
const MOST_BYTES: usize = 1024 * 1024;

/// Prints the sockets of the folders it is given, each with a zero byte behind it, and then that this is all. Needs nothing
/// but a shell.
const SCRIPT: &str = "for folder; do for name in \"$folder\"/* \"$folder\"/.*; do \
    if [ -S \"$name\" ] && ! [ -L \"$name\" ]; then printf '%s\\0' \"$name\"; fi; done; done; printf all";

/// What the script prints at its end.
const ALL: &[u8] = b"all";

/// The sockets in folders of a container, by their whole paths. `None` where they cannot be found: there is no shell, the
/// container has ended, or the name of a folder is not UTF-8.
pub(super) async fn sockets(
    docker: &Docker,
    id: &str,
    folders: &[PathBuf],
) -> Option<Vec<PathBuf>> {
    let named = folders.iter().map(|folder| folder.to_str());
    let folders: Vec<&str> = named.collect::<Option<_>>()?;
    let looking = async {
        let mut found = Vec::new();
        for folders in folders.chunks(MOST_FOLDERS) {
            let output = output(docker, id, folders).await.ok()?;
            let paths = output.strip_suffix(ALL)?.split(|byte| *byte == 0);
            let paths = paths.filter(|path| !path.is_empty());
            found.extend(paths.map(|path| PathBuf::from(OsStr::from_bytes(path))));
        }
        Some(found)
    };
    timeout(LOOKING, looking).await.ok().flatten()
}

/// The output of the script.
async fn output(docker: &Docker, id: &str, folders: &[&str]) -> Result<Vec<u8>, Error> {
    let words = [SHELL, "-c", SCRIPT, SHELL];
    let options = CreateExecOptions {
        attach_stdout: Some(true),
        // The server may have removed its own directory.
        working_dir: Some("/"),
        cmd: Some(words.iter().chain(folders).copied().collect()),
        ..CreateExecOptions::default()
    };
    let exec = docker.create_exec(id, options).await?.id;
    let mut out = Vec::new();
    let started = docker.start_exec(&exec, None::<StartExecOptions>).await?;
    if let StartExecResults::Attached { mut output, .. } = started {
        while let Some(piece) = output.next().await {
            if let LogOutput::StdOut { message } = piece? {
                out.extend_from_slice(&message);
            }
            if out.len() > MOST_BYTES {
                break;
            }
        }
    }
    Ok(out)
}
