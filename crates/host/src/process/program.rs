//! Finds the program a suite names, and says why a program could not be started.

use std::{
    ffi::{OsStr, OsString},
    fmt::Display,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, access},
    io::Errno,
};

use super::{Lookup, ProcessSpec};
use crate::launch::CommandLine;
use crate::regular;

/// Where programs are looked for when the caller has no PATH.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Why a server could not be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StartFailure {
    message: String,
    help: Option<String>,
}

impl StartFailure {
    fn new(message: String, help: impl Into<String>) -> Self {
        Self {
            message,
            help: Some(help.into()),
        }
    }

    /// The system refused, for a reason without a known remedy.
    pub(super) fn refused(program: &str, reason: &dyn Display) -> Self {
        Self {
            message: format!("cannot start `{program}`: {reason}"),
            help: None,
        }
    }

    fn not_executable(path: &Path, reason: &str, help: impl Into<String>) -> Self {
        let message = format!("`{}` cannot be executed: {reason}", path.display());
        Self::new(message, help)
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// The file to execute. A path is not looked at here: the system does so, and where it refuses, [`explain`] does.
pub(super) fn named(spec: &ProcessSpec) -> Result<PathBuf, StartFailure> {
    path(spec).map_or_else(|| find(spec), Ok)
}

/// The file to execute, where the suite names a path.
fn path(spec: &ProcessSpec) -> Option<PathBuf> {
    let program = Path::new(&spec.line.program);
    let named = Some(program).filter(|_| spec.line.program.contains('/'));
    let file = spec.line.file.as_deref().or(named)?;
    Some(spec.directory().join(file))
}

/// The file to execute, looked at.
fn find(spec: &ProcessSpec) -> Result<PathBuf, StartFailure> {
    let directory = spec.directory();
    match fs::metadata(&directory) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(no_directory(&directory, "is not a directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(no_directory(&directory, "does not exist"));
        }
        Err(error) => {
            return Err(no_directory(
                &directory,
                &format!("cannot be used: {error}"),
            ));
        }
    }
    if let Some(path) = path(spec) {
        return match fs::metadata(&path) {
            Ok(found) => usable(path, &found),
            Err(_) => Err(not_found(spec, "")),
        };
    }
    let mut unusable = None;
    let name = &spec.line.program;
    for folder in std::env::split_paths(&search_path(spec)).filter(|_| !name.is_empty()) {
        let path = directory.join(folder).join(name);
        let Some(found) = fs::metadata(&path).ok().filter(fs::Metadata::is_file) else {
            continue;
        };
        match usable(path, &found) {
            Ok(path) => return Ok(path),
            Err(failure) => unusable = unusable.or(Some(failure)),
        }
    }
    Err(unusable.unwrap_or_else(|| not_found(spec, " on the PATH")))
}

/// What the error of the system means: there is no such program, it cannot be executed, or the system refused.
pub(super) fn explain(spec: &ProcessSpec, path: &Path, error: &io::Error) -> StartFailure {
    find(spec).map_or_else(|failure| failure, |_| refused(spec, path, error))
}

/// What the error of the system means for a program that is there.
fn refused(spec: &ProcessSpec, path: &Path, error: &io::Error) -> StartFailure {
    let not_run = |reason: &str, help: &str| {
        let message = format!("`{}` cannot be run here: {reason}", path.display());
        StartFailure::new(message, help)
    };
    match (Errno::from_io_error(error), interpreter_of(path)) {
        (Some(Errno::NOEXEC), _) => not_run(
            "neither a program for this system nor a script with a `#!` line",
            "a script needs a first line such as `#!/bin/sh`, a program must be built for this machine",
        ),
        (Some(Errno::NOENT), Some(name)) if name.ends_with('\r') => not_run(
            "its `#!` line ends with a carriage return",
            "save the script with Unix line ends",
        ),
        (Some(Errno::NOENT), Some(name)) => not_run(
            &format!("its interpreter `{name}` does not exist"),
            &format!("install `{name}`, or change the script's first line"),
        ),
        (Some(Errno::NOENT), None) => not_run(
            "the loader it was built for does not exist",
            "it was built for another system, for example with another C library",
        ),
        (Some(Errno::ACCESS), _) => StartFailure::not_executable(
            path,
            "permission denied",
            "the file system may be mounted `noexec`, or a folder or the interpreter may be closed to this user",
        ),
        (Some(Errno::AGAIN), _) => {
            let reason = format!("the limit of processes is reached: {error}");
            StartFailure::refused(&spec.line.program, &reason)
        }
        (Some(_) | None, _) => StartFailure::refused(&spec.line.program, error),
    }
}

fn no_directory(directory: &Path, reason: &str) -> StartFailure {
    let path = directory.display();
    let message = format!("the server's directory `{path}` {reason}");
    StartFailure::new(message, "`cwd` is relative to the suite's file")
}

/// The server's own PATH, then the caller's.
fn search_path(spec: &ProcessSpec) -> OsString {
    let callers = spec.environment.raw("PATH").filter(|path| !path.is_empty());
    let callers = callers.unwrap_or(OsStr::new(USUAL_PATH));
    let own = match spec.lookup {
        Lookup::ServerFirst => spec.line.env.iter().rfind(|(name, _)| name == "PATH"),
        Lookup::CallerOnly => None,
    };
    let mut path = OsString::new();
    if let Some((_, own)) = own.filter(|(_, own)| !own.is_empty()) {
        path.push(own);
        path.push(":");
    }
    path.push(callers);
    path
}

/// A file that is there, if it can be executed.
fn usable(path: PathBuf, found: &fs::Metadata) -> Result<PathBuf, StartFailure> {
    let refused = |reason: &str, help: &str| Err(StartFailure::not_executable(&path, reason, help));
    if found.is_dir() {
        return refused("it is a directory", "name the program inside it");
    }
    if !found.is_file() {
        return refused("it is not a regular file", "name a program, or a script");
    }
    if access(&path, Access::EXEC_OK).is_err() {
        let shown = path.display();
        let help = match interpreter_of(&path) {
            Some(name) => format!(
                "`chmod +x {shown}`, or start it with `command: {name}` and `{shown}` as first of `args`"
            ),
            None => format!("`chmod +x {shown}`"),
        };
        return refused("it is not marked as executable", &help);
    }
    Ok(path)
}

fn not_found(spec: &ProcessSpec, place: &str) -> StartFailure {
    let program = &spec.line.program;
    let place = match place {
        "" if Path::new(program).is_relative() => format!(" in `{}`", spec.directory().display()),
        other => other.to_owned(),
    };
    let message = format!("program `{program}` was not found{place}");
    StartFailure::new(message, hint(spec))
}

/// The most likely mistake behind a name that leads nowhere.
fn hint(spec: &ProcessSpec) -> String {
    let program = spec.line.program.as_str();
    let first = program.split_whitespace().next().unwrap_or_default();
    let directory = spec.directory();
    if first.is_empty() {
        "`command` is empty; name the server's program".to_owned()
    } else if let Some(hint) = hint_of_windows(&spec.line) {
        hint
    } else if program.starts_with('~') || program.contains(['&', '|', ';', '>', '<', '$', '`']) {
        "no shell is involved; write `command: sh` and `args: [-c, …]`".to_owned()
    } else if first != program {
        format!("`command` is one program; write `command: {first}` and the rest under `args`")
    } else if Path::new(program).is_absolute() {
        "check that it is installed, or was built, at this very path".to_owned()
    } else if program.contains('/') {
        let directory = directory.display();
        format!(
            "a relative path starts at `{directory}`; check that the server was built, and `cwd`"
        )
    } else if directory.join(program).is_file() {
        format!("a file of that name is in the server's directory: write `./{program}`")
    } else {
        "install it, or write its whole path".to_owned()
    }
}

/// The programs of Windows that run what their arguments say.
const SHELLS: [&str; 3] = ["cmd", "powershell", "pwsh"];

/// What to write instead of a command line of Windows.
fn hint_of_windows(line: &CommandLine) -> Option<String> {
    let program = line.program.as_str();
    if program.contains(char::is_control)
        || program.contains(['\u{85}', '\u{a0}', '\u{2028}', '\u{2029}'])
    {
        return Some(
            "inside \"…\" a backslash begins an escape of YAML, such as `\\n`; it looks like a path of Windows: write the \
             program's name, such as `command: node`"
                .to_owned(),
        );
    }
    let mut drive = program.chars();
    let has_drive = drive
        .next()
        .is_some_and(|letter| letter.is_ascii_alphabetic())
        && drive.next() == Some(':');
    let is_path = has_drive || program.contains('\\');
    let file = program.rsplit(['\\', '/']).next().unwrap_or_default();
    // A whole command line may stand behind the program.
    let (name, suffix) = file
        .split_whitespace()
        .next()?
        .rsplit_once('.')
        .unwrap_or((file, ""));
    let name = name.to_ascii_lowercase();
    let is_program = ["exe", "cmd", "bat", "ps1"].contains(&suffix.to_ascii_lowercase().as_str());
    if SHELLS.contains(&name.as_str()) {
        let is_word = |arg: &&String| !arg.starts_with(['/', '-']);
        let mut words = line.args.iter().skip_while(|arg| !is_word(arg));
        let instead = match words.next() {
            Some(first) => {
                let rest: Vec<&str> = words.map(String::as_str).collect();
                format!("`command: {first}` and `args: [{}]`", rest.join(", "))
            }
            None => "the program that it is to run as `command`".to_owned(),
        };
        return Some(format!("`{name}` is the shell of Windows; write {instead}"));
    }
    let what = match (is_path, is_program) {
        (true, _) => "it is a path of Windows",
        (false, true) => "it is the name of a program of Windows",
        (false, false) => return None,
    };
    Some(format!(
        "{what}; write `command: {name}` and its arguments under `args`"
    ))
}

/// The interpreter named by the `#!` line of a file that can be read.
fn interpreter_of(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    regular::open(path)
        .ok()?
        .take(256)
        .read_to_end(&mut bytes)
        .ok()?;
    interpreter(&bytes)
}

/// The interpreter named by a `#!` line, with a final carriage return, which is part of the name.
fn interpreter(beginning: &[u8]) -> Option<String> {
    let line = beginning.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let name = line
        .trim_start_matches([' ', '\t'])
        .split([' ', '\t'])
        .next()?;
    Some(name.to_owned())
}
