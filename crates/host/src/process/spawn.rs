//! The command that starts a program: its pipes, its environment, its process group.

use std::{
    os::unix::process::CommandExt,
    path::Path,
    process::{Command, Stdio},
};

use super::{MARKER, ProcessSpec};
use crate::owner::{self, Owner};
use suite::model::server::Inherit;

/// Starts the file at `path` in a group of its own. Of variables of one name the last one counts; the marks of the job and
/// its owner come last.
pub(super) fn command(spec: &ProcessSpec, path: &Path, marker: &str) -> Command {
    let (line, environment) = (&spec.line, &spec.environment);
    let mut command = Command::new(path);
    command
        .arg0(&line.program)
        .args(&line.args)
        .current_dir(spec.directory())
        .env_clear();
    match &line.inherit {
        Inherit::All => command.envs(environment.inherited()),
        Inherit::Nothing => &mut command,
        Inherit::Only(names) => {
            let names = names.iter();
            command.envs(names.filter_map(|name| Some((name, environment.raw(name)?))))
        }
    };
    command
        .envs(line.env.iter().map(|(name, value)| (name, value)))
        .env(MARKER, marker)
        .env(owner::VARIABLE, Owner::this().to_text())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    command
}
