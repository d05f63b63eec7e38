//! The start of a program: its pipes, its environment, its group. Who accounts for the child is `family`'s.

use std::{
    io,
    os::{fd::OwnedFd, unix::process::CommandExt},
    path::PathBuf,
    process::{Command, Stdio},
};

use rustix::process::Pid;

use super::{MARKER, ProcessSpec};
use crate::owner::{self, Owner};
use suite::model::server::Inherit;

/// A child that was just started, and our ends of its pipes.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) pid: Pid,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Everything that a start needs, for all of its tries.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) spec: ProcessSpec,
    /// The file to execute.
    pub(super) path: PathBuf,
    /// The mark of the job.
    pub(super) marker: String,
}

impl Start {
    /// Starts the program in a group of its own. Of variables of one name the last one counts, the marks of the job and
    /// its owner after all others.
    pub(super) fn spawn(&self) -> io::Result<Spawned> {
        let spec = &self.spec;
        let mut command = Command::new(&self.path);
        command
            .arg0(&spec.program)
            .args(&spec.args)
            .current_dir(&spec.directory)
            .env_clear();
        let environment = &spec.environment;
        match &spec.inherit {
            Inherit::All => command.envs(environment.inherited()),
            Inherit::Nothing => &mut command,
            Inherit::Only(names) => {
                let names = names.iter();
                command.envs(names.filter_map(|name| Some((name, environment.raw(name)?))))
            }
        };
        let mut child = command
            .envs(spec.env.iter().map(|(name, value)| (name, value)))
            .env(MARKER, &self.marker)
            .env(owner::VARIABLE, Owner::this().to_text())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pid = Pid::from_child(&child);
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok(Spawned {
                pid,
                stdin: stdin.into(),
                stdout: stdout.into(),
                stderr: stderr.into(),
            }),
            _ => Err(io::Error::other("the system started it without a pipe")),
        }
    }
}
