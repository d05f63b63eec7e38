//! The start of a program: its pipes, its environment, its group. With `posix_spawn` where it starts in our own
//! directory, because the standard library copies the whole environment several times for each start; else as the
//! standard library does it. Who accounts for the child is `family`'s.

use std::{
    collections::BTreeSet,
    ffi::{CStr, CString, OsStr, OsString},
    io,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::{ffi::OsStrExt, process::CommandExt},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Arc, OnceLock},
};

use nix::{
    spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawn},
    sys::signal::SigSet,
};
use rustix::process::Pid;

use super::{MARKER, ProcessSpec, dispositions};
use crate::owner::{self, Owner};
use text::environment::Environment;

/// The environment that servers take over, in the form the system wants, made once for all of them.
#[derive(Debug, Clone, Default)]
pub struct Inherited {
    variables: Vec<Variable>,
}

#[derive(Debug, Clone)]
struct Variable {
    name: OsString,
    /// `NAME=value`
    entry: CString,
}

impl Inherited {
    /// The environment of the caller. What the system has given us can be given on.
    pub fn new(environment: &Environment) -> Self {
        Self::of(environment.inherited())
    }

    /// Those of the caller's variables that have these names.
    pub fn only<'a>(environment: &'a Environment, names: &'a [String]) -> Self {
        let names: BTreeSet<&String> = names.iter().collect();
        let variable = |name: &'a String| Some((OsStr::new(name), environment.raw(name)?));
        Self::of(names.into_iter().filter_map(variable))
    }

    fn of<'a>(variables: impl Iterator<Item = (&'a OsStr, &'a OsStr)>) -> Self {
        let variable = |(name, value): (&OsStr, &OsStr)| {
            let entry = [name.as_bytes(), value.as_bytes()].join(&b'=');
            Some(Variable {
                name: name.to_owned(),
                entry: CString::new(entry).ok()?,
            })
        };
        Self {
            variables: variables.filter_map(variable).collect(),
        }
    }
}

/// A child that was just started, and our ends of its pipes.
#[derive(Debug)]
pub(super) struct Spawned {
    pub(super) pid: Pid,
    pub(super) stdin: OwnedFd,
    pub(super) stdout: OwnedFd,
    pub(super) stderr: OwnedFd,
}

/// Everything that a start needs, made once for all of its tries.
#[derive(Debug)]
pub(super) struct Start {
    path: PathBuf,
    directory: PathBuf,
    /// As the program is told its own name, and its arguments.
    words: Vec<CString>,
    environment: Block,
}

impl Start {
    pub(super) fn new(spec: &ProcessSpec, path: PathBuf, marker: &str) -> io::Result<Self> {
        let words = std::iter::once(&spec.program).chain(&spec.args);
        Ok(Self {
            path,
            directory: spec.directory.clone(),
            words: words
                .map(|word| CString::new(word.as_str()))
                .collect::<Result<_, _>>()?,
            environment: Block::new(spec, marker)?,
        })
    }

    /// Starts it, in a group of its own.
    pub(super) fn spawn(&self) -> io::Result<Spawned> {
        if here().is_some_and(|here| here == self.directory.as_path()) {
            self.spawn_here()
        } else {
            self.spawn_elsewhere()
        }
    }

    fn spawn_here(&self) -> io::Result<Spawned> {
        let (its_stdin, stdin) = io::pipe()?;
        let (stdout, its_stdout) = io::pipe()?;
        let (stderr, its_stderr) = io::pipe()?;
        let mut actions = PosixSpawnFileActions::init()?;
        actions.add_dup2(its_stdin.as_raw_fd(), 0)?;
        actions.add_dup2(its_stdout.as_raw_fd(), 1)?;
        actions.add_dup2(its_stderr.as_raw_fd(), 2)?;
        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_flags(
            PosixSpawnFlags::POSIX_SPAWN_SETPGROUP
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF
                | PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK,
        )?;
        attributes.set_pgroup(nix::unistd::Pid::from_raw(0))?;
        attributes.set_sigdefault(&dispositions::restored())?;
        attributes.set_sigmask(&SigSet::empty())?;
        let pid = posix_spawn(
            self.path.as_path(),
            &actions,
            &attributes,
            &self.words,
            &self.environment.entries().collect::<Vec<_>>(),
        )?;
        Ok(Spawned {
            pid: Pid::from_raw(pid.as_raw()).ok_or_else(nameless)?,
            stdin: stdin.into(),
            stdout: stdout.into(),
            stderr: stderr.into(),
        })
    }

    fn spawn_elsewhere(&self) -> io::Result<Spawned> {
        let os = OsStr::from_bytes;
        let mut words = self.words.iter().map(|word| os(word.to_bytes()));
        let mut command = Command::new(&self.path);
        command
            .arg0(words.next().unwrap_or_default())
            .args(words)
            .current_dir(&self.directory)
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        for entry in self.environment.entries() {
            let entry = entry.to_bytes();
            // The first byte belongs to the name even if it is the sign.
            let sign = memchr::memchr(b'=', entry.get(1..).unwrap_or_default());
            if let Some(at) = sign.map(|at| at + 1) {
                command.env(os(&entry[..at]), os(&entry[at + 1..]));
            }
        }
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok(Spawned {
                pid,
                stdin: stdin.into(),
                stdout: stdout.into(),
                stderr: stderr.into(),
            }),
            _ => Err(nameless()),
        }
    }
}

/// What no system does.
fn nameless() -> io::Error {
    io::Error::other("the system started it without a number or a pipe")
}

/// Our own directory, which never changes; none if it cannot be told.
fn here() -> Option<&'static Path> {
    static HERE: OnceLock<Option<PathBuf>> = OnceLock::new();
    HERE.get_or_init(|| std::env::current_dir().ok()).as_deref()
}

/// The variables of a server: those it inherits, over them its own, of equal names the last one, and the marks of
/// the job and its owner.
#[derive(Debug)]
struct Block {
    inherited: Option<Arc<Inherited>>,
    /// Those of the inherited ones that it has no value of its own for.
    taken_over: Vec<usize>,
    own: Vec<CString>,
}

impl Block {
    fn new(spec: &ProcessSpec, marker: &str) -> io::Result<Self> {
        let owner = Owner::this().to_text();
        let marks = [(MARKER, marker), (owner::VARIABLE, owner.as_str())];
        let own = spec.env.iter();
        let own: Vec<(&str, &str)> = own
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .chain(marks)
            .collect();
        let inherited = spec.inherited.iter().flat_map(|all| &all.variables);
        let taken_over = inherited
            .enumerate()
            .filter(|(_, variable)| own.iter().all(|(name, _)| *name != variable.name))
            .map(|(at, _)| at)
            .collect();
        let last = own.iter().enumerate().filter(|(at, (name, _))| {
            let mut later = own[at + 1..].iter();
            later.all(|(other, _)| other != name)
        });
        let own = last
            .map(|(_, (name, value))| CString::new(format!("{name}={value}")))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            inherited: spec.inherited.clone(),
            taken_over,
            own,
        })
    }

    fn entries(&self) -> impl Iterator<Item = &CStr> {
        let inherited = self.inherited.iter().flat_map(|all| {
            let taken_over = self.taken_over.iter();
            taken_over.map(|at| all.variables[*at].entry.as_c_str())
        });
        inherited.chain(self.own.iter().map(CString::as_c_str))
    }
}
