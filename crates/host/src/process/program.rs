//! Finds the program a suite names, and says why one could not be started.

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
use crate::regular;
use text::nearest;

/// Where programs are looked for when nobody says.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Words that only a shell understands.
const SHELL_WORDS: &[&str] = &[
    "cd", "source", ".", "export", "alias", "exec", "eval", "set", "ulimit", "umask",
];

/// Signs that a whole line for a shell was written as the program.
const SHELL_SIGNS: &[&str] = &["&&", "||", "|", ";", ">", "<", "$(", "`"];

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

    /// The system refused, for a reason that nothing is known to help against.
    pub(super) fn refused(program: &str, reason: &dyn Display) -> Self {
        Self {
            message: format!("cannot start `{program}`: {reason}"),
            help: None,
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }
}

/// The file to execute. What names a file is not looked at: the system does so, and where it refuses, [`explain`] does.
pub(super) fn named(spec: &ProcessSpec) -> Result<PathBuf, StartFailure> {
    match &spec.file {
        Some(file) => Ok(file.clone()),
        None if spec.program.contains('/') => Ok(spec.directory.join(&spec.program)),
        None => find(spec),
    }
}

/// The file to execute, looked at.
fn find(spec: &ProcessSpec) -> Result<PathBuf, StartFailure> {
    match fs::metadata(&spec.directory) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(no_directory(spec, "is not a directory")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(no_directory(spec, "does not exist"));
        }
        Err(error) => return Err(no_directory(spec, &format!("cannot be used: {error}"))),
    }
    let named = Some(Path::new(&spec.program)).filter(|_| spec.program.contains('/'));
    if let Some(file) = spec.file.as_deref().or(named) {
        let path = spec.directory.join(file);
        return match fs::metadata(&path) {
            Ok(found) => usable(path, &found),
            Err(_) => Err(not_found(spec, OsStr::new(""))),
        };
    }
    let search = search_path(spec);
    let mut unusable = None;
    for folder in std::env::split_paths(&search).filter(|_| !spec.program.is_empty()) {
        let path = spec.directory.join(folder).join(&spec.program);
        let Some(found) = fs::metadata(&path).ok().filter(fs::Metadata::is_file) else {
            continue;
        };
        match usable(path, &found) {
            Ok(path) => return Ok(path),
            Err(failure) => unusable = unusable.or(Some(failure)),
        }
    }
    Err(unusable.unwrap_or_else(|| not_found(spec, &search)))
}

/// What the error of the system means: there is no such program, it cannot be executed, or the system refused.
pub(super) fn explain(spec: &ProcessSpec, path: &Path, error: &io::Error) -> StartFailure {
    match find(spec) {
        Ok(_) => refused(spec, path, error),
        Err(failure) => failure,
    }
}

/// What the error of the system means for a program that is there.
fn refused(spec: &ProcessSpec, path: &Path, error: &io::Error) -> StartFailure {
    let shown = path.display();
    let beginning = beginning(path);
    let interpreter = interpreter(&beginning);
    let not_run = |reason: &str, help: String| {
        StartFailure::new(format!("`{shown}` cannot be run here: {reason}"), help)
    };
    match (Errno::from_io_error(error), interpreter) {
        (Some(Errno::NOEXEC), _) => not_run(
            "neither a program for this system nor a script with a `#!` line",
            "a script needs a first line such as `#!/bin/sh`, a program must be built for this machine".into(),
        ),
        (Some(Errno::NOENT), Some(name)) if name.ends_with('\r') => not_run(
            "its `#!` line ends with a carriage return",
            "save the script with Unix line ends".into(),
        ),
        (Some(Errno::NOENT), Some(name)) => not_run(
            &format!("its interpreter `{name}` does not exist"),
            format!("install `{name}`, or change the script's first line"),
        ),
        (Some(Errno::NOENT), None) => not_run(
            "the loader it was built for does not exist",
            "it was built for another system, for example with another C library".into(),
        ),
        (Some(Errno::ACCESS), name) => {
            let reason = name.map_or("permission denied".to_owned(), |name| {
                format!("its interpreter `{name}` may not be executed")
            });
            StartFailure::new(
                format!("`{shown}` cannot be executed: {reason}"),
                "the file system may be mounted `noexec`, or a folder above is closed to us",
            )
        }
        (Some(Errno::AGAIN), _) => {
            let reason = format!("the limit of processes is reached: {error}");
            StartFailure::refused(&spec.program, &reason)
        }
        (Some(_) | None, _) => StartFailure::refused(&spec.program, error),
    }
}

fn no_directory(spec: &ProcessSpec, reason: &str) -> StartFailure {
    let path = spec.directory.display();
    let message = format!("the server's directory `{path}` {reason}");
    StartFailure::new(message, "`cwd` is relative to the suite's file")
}

/// Where the server itself would look, then where we do.
fn search_path(spec: &ProcessSpec) -> OsString {
    let callers = if spec.search_path.is_empty() {
        OsStr::new(USUAL_PATH)
    } else {
        &spec.search_path
    };
    let own = match spec.lookup {
        Lookup::ServerFirst => spec.env.iter().rfind(|(name, _)| name == "PATH"),
        Lookup::CallerOnly => None,
    };
    match own {
        Some((_, own)) if !own.is_empty() => {
            let mut path = OsString::from(format!("{own}:"));
            path.push(callers);
            path
        }
        Some(_) | None => callers.to_owned(),
    }
}

/// A file that is there, if it can be executed.
fn usable(path: PathBuf, found: &fs::Metadata) -> Result<PathBuf, StartFailure> {
    let shown = path.display();
    let not_executable = |reason: &str, help: String| {
        let message = format!("`{shown}` cannot be executed: {reason}");
        Err(StartFailure::new(message, help))
    };
    if found.is_dir() {
        return not_executable("it is a directory", "name the program inside it".into());
    }
    if !found.is_file() {
        return not_executable(
            "it is no regular file",
            "name a program, or a script".into(),
        );
    }
    if access(&path, Access::EXEC_OK).is_err() {
        let help = match interpreter(&beginning(&path)) {
            Some(name) => format!(
                "`chmod +x {shown}`, or start it with `command: {name}` and `{shown}` as first of `args`"
            ),
            None => format!("`chmod +x {shown}`"),
        };
        return not_executable("it is not marked as executable", help);
    }
    Ok(path)
}

fn not_found(spec: &ProcessSpec, search: &OsStr) -> StartFailure {
    let program = &spec.program;
    let place = if Path::new(program).is_absolute() {
        String::new()
    } else if search.is_empty() {
        format!(" in `{}`", spec.directory.display())
    } else {
        " on the PATH".to_owned()
    };
    let message = format!("program `{program}` was not found{place}");
    StartFailure::new(message, hint(spec, search))
}

/// The most likely mistake behind a name that leads nowhere.
fn hint(spec: &ProcessSpec, search: &OsStr) -> String {
    let program = spec.program.as_str();
    let first = program.split_whitespace().next().unwrap_or_default();
    if first.is_empty() {
        return "`command` is empty; name the server's program".to_owned();
    }
    if program.starts_with("~/") {
        return "`~` is not expanded: no shell is involved; write the whole path".to_owned();
    }
    if SHELL_WORDS.contains(&first) || SHELL_SIGNS.iter().any(|sign| program.contains(sign)) {
        return "no shell is involved; write `command: sh` and `args: [-c, …]`".to_owned();
    }
    if program.contains('$') {
        return "`$` is not expanded in `command`: no shell is involved; write the path".to_owned();
    }
    if first != program {
        return format!(
            "`command` is one program; write `command: {first}` and the rest under `args`"
        );
    }
    if Path::new(program).is_absolute() {
        return "check that it is installed, or was built, at this very path".to_owned();
    }
    if search.is_empty() {
        return format!(
            "a relative path starts at `{}`; check that the server was built, and `cwd`",
            spec.directory.display()
        );
    }
    if spec.directory.join(program).is_file() {
        return format!("a file of that name is in the server's directory: write `./{program}`");
    }
    if let Some(package) = provider(program) {
        return format!("it comes with {package}; install that, or put it on the PATH");
    }
    match neighbour(program, search) {
        Some(name) => format!("did you mean `{name}`?"),
        None => "install it, or write its whole path".to_owned(),
    }
}

/// What brings the usual starters of servers.
fn provider(program: &str) -> Option<&'static str> {
    Some(match program {
        "node" | "npm" | "npx" => "Node.js",
        "uv" | "uvx" => "uv (https://docs.astral.sh/uv)",
        "bun" | "bunx" => "Bun",
        "deno" => "Deno",
        "docker" => "Docker",
        "go" => "Go",
        "cargo" => "Rust",
        "java" => "a Java runtime",
        "dotnet" => ".NET",
        _ => return None,
    })
}

/// The program on the PATH whose name is closest.
fn neighbour(program: &str, search: &OsStr) -> Option<String> {
    let mut names = Vec::new();
    for folder in std::env::split_paths(search) {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        names.extend(entries.filter_map(|entry| entry.file_name().into_string().ok()));
    }
    names.sort_unstable();
    nearest(program, names.iter().map(String::as_str)).map(str::to_owned)
}

/// The first bytes of a file, as far as they can be read.
fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = regular::open(path) {
        // A file that cannot be read is explained without its content.
        let _ = file.take(256).read_to_end(&mut bytes);
    }
    bytes
}

/// The interpreter named by a `#!` line; keeps a final carriage return, which is part of the name.
pub(crate) fn interpreter(beginning: &[u8]) -> Option<String> {
    let line = beginning.strip_prefix(b"#!")?;
    let line = line.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let name = line
        .trim_start_matches([' ', '\t'])
        .split([' ', '\t'])
        .next()?;
    Some(name.to_owned())
}
