//! Why a container could not be made or started, told apart so that each comes with its fix.

use std::time::Duration;

use bollard::errors::Error;

use super::{
    failure::{chain, is_gone},
    program::{Lacking, WRONG_PLATFORM},
};

/// Why there is no running container.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ContainerFailure {
    /// The image is gone.
    #[error("the engine has no image `{0}`")]
    NoImage(String),
    /// The engine's disk is full.
    #[error("the engine has no space left: {0}")]
    NoSpace(String),
    /// A port is taken.
    #[error("a port of the container is already in use: {0}")]
    PortInUse(String),
    /// The name is taken.
    #[error("the name of the container is already in use: {0}")]
    NameConflict(String),
    /// The image is for another machine.
    #[error("the image `{image}` cannot run on this engine: exec format error ({platform})")]
    WrongPlatform {
        /// The image.
        image: String,
        /// Both platforms, for people.
        platform: String,
    },
    /// There is no such program in the image.
    #[error("program `{program}` was not found in the image `{image}`")]
    NoProgram {
        /// The program.
        program: String,
        /// The image.
        image: String,
        /// The image as a command line names it.
        reference: String,
        /// Where it was looked for.
        path: SearchPath,
    },
    /// It is there, and what it asks for is not.
    #[error("program `{program}` of the image `{image}` cannot be run: {lacking}")]
    Lacks {
        /// The program.
        program: String,
        /// The image.
        image: String,
        /// What it lacks.
        lacking: Lacking,
    },
    /// It is there, and may not be executed.
    #[error("program `{program}` of the image `{image}` cannot be executed: permission denied")]
    NotExecutable {
        /// The program.
        program: String,
        /// The image.
        image: String,
    },
    /// It is no place to start in.
    #[error("the server's directory `{directory}` {reason} in the image `{image}`")]
    NoDirectory {
        /// The directory.
        directory: String,
        /// The image.
        image: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The image does not know the user.
    #[error("the image `{image}` does not know the user: {reason}")]
    NoUser {
        /// The image.
        image: String,
        /// What the engine said.
        reason: String,
    },
    /// The engine does not know the network.
    #[error("the engine does not know the network: {0}")]
    NoNetwork(String),
    /// The engine lacks the process that is the first in each container.
    #[error("the engine has no init process for containers: {0}")]
    NoInit(String),
    /// A path to mount is not there.
    #[error("a mount of the container cannot be made: {0}")]
    NoMount(String),
    /// The engine took too long.
    #[error("the engine took over {limit:?} to {step} the container")]
    Slow {
        /// What it was asked for.
        step: &'static str,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The engine is gone.
    #[error("the container engine is gone: {0}")]
    Gone(String),
    /// The fixture could not be put into the container.
    #[error("the fixture could not be put into the container: {0}")]
    Fixture(String),
    /// The engine refused in another way.
    #[error("the container could not be started: {0}")]
    Refused(String),
}

/// Where programs without a folder in their name are looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPath {
    /// Where the image says.
    Image,
    /// Where a variable of the suite says.
    Suite,
}

/// What to do about a network that the engine does not know.
pub(super) const NO_NETWORK: &str =
    "`docker network ls` lists those there are; `none` and `bridge` always are";

/// What a failure is told about.
#[derive(Debug, Clone, Copy)]
pub(super) struct About<'a> {
    /// The image, as people call it.
    pub(super) image: &'a str,
    /// Its platform.
    pub(super) platform: &'a str,
    /// The engine's platform.
    pub(super) engine: &'a str,
    /// The program.
    pub(super) program: &'a str,
    /// The image as a command line names it.
    pub(super) reference: &'a str,
    /// The directory it starts in.
    pub(super) directory: &'a str,
    /// Where the program is looked for.
    pub(super) path: SearchPath,
}

impl ContainerFailure {
    /// Whether the engine is gone or silent: that says nothing of the server.
    pub fn is_by_engine(&self) -> bool {
        matches!(self, Self::Slow { .. } | Self::Gone(_))
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::NoImage(name) if name.contains(' ') => {
                "it was removed while the run went on; it is made again by the next run".to_owned()
            }
            Self::NoImage(name) => format!(
                "it was removed while the run went on; `docker pull {name}` or `docker build -t {name} .`"
            ),
            Self::NoSpace(_) => {
                "free some: `docker system df` shows what takes it, `docker system prune` removes what nobody uses"
                    .to_owned()
            }
            Self::PortInUse(_) => "end what listens there, or choose another port".to_owned(),
            Self::NameConflict(_) => {
                "`mcp-assert reap` removes what killed runs left; run it again".to_owned()
            }
            Self::WrongPlatform { .. } => WRONG_PLATFORM.to_owned(),
            Self::Lacks { lacking, .. } => lacking.help(),
            Self::NoProgram { program, path: SearchPath::Suite, .. } if !program.contains('/') => {
                "the server's variables have a `PATH`, which stands in place of the image's: leave it out, or write the \
                 program's whole path inside".to_owned()
            }
            Self::NoProgram { program, reference, .. } => format!(
                "`docker run --rm --entrypoint {program} {reference}` shows the same; \
                 install it in the image (`docker: {{prepare: […]}}`), or write its whole path inside"
            ),
            Self::NotExecutable { program, .. } => {
                format!("`chmod +x {program}` in the image, or another `docker: {{user: …}}`")
            }
            Self::NoDirectory { .. } => {
                "name a folder by its whole path under `cwd` or `docker: {workdir: …}`".to_owned()
            }
            Self::NoUser { .. } => {
                "name one of its `/etc/passwd` under `docker: {user: …}`, or a number".to_owned()
            }
            Self::NoNetwork(_) => NO_NETWORK.to_owned(),
            Self::NoInit(_) => {
                "install it beside the engine (Podman: the package `catatonit`), or leave it out: `docker: {init: false}`"
                    .to_owned()
            }
            Self::NoMount(_) => {
                "paths of `mounts` are the engine's, which may be another machine; \
                 a fixture needs no mount"
                    .to_owned()
            }
            Self::Slow { .. } => {
                "a longer `timeout` or fewer `--jobs` give the engine more time".to_owned()
            }
            Self::Gone(_) => "start it again, and look into its log".to_owned(),
            Self::Fixture(_) | Self::Refused(_) => return None,
        })
    }
}

impl About<'_> {
    /// There is no such program.
    fn no_program(&self) -> ContainerFailure {
        ContainerFailure::NoProgram {
            program: self.program.to_owned(),
            image: self.image.to_owned(),
            reference: self.reference.to_owned(),
            path: self.path,
        }
    }

    /// What an engine says in lower case is wrong with the directory to start in.
    fn directory_is(&self, lower: &str) -> Option<&'static str> {
        let directory = self.directory.trim_end_matches('/').to_lowercase();
        let names = !directory.is_empty() && lower.contains(&directory);
        let changes = lower.contains("chdir to cwd");
        let makes = lower.contains("mkdir") || lower.contains("lstat");
        if lower.contains("not a directory") && (changes || makes && names) {
            Some("is not a directory")
        } else if changes && lower.contains("permission denied") {
            Some("may not be entered by its user")
        } else if changes && lower.contains("no such file or directory") {
            Some("does not exist")
        } else {
            None
        }
    }

    /// Whether the image says that it is for another machine.
    fn is_foreign(&self) -> bool {
        let at_home = |processor| is_home(processor, self.engine);
        self.platform != self.engine && !self.platform.strip_prefix("linux/").is_some_and(at_home)
    }
}

/// Whether an engine of this platform runs programs for this processor; 64 bits run programs of 32.
pub(super) fn is_home(processor: &str, engine: &str) -> bool {
    let as_home = [("386", "amd64"), ("arm", "arm64")];
    let own = engine.split('/').nth(1).unwrap_or_default();
    processor == own || as_home.contains(&(processor, own))
}

/// Whether an engine that was asked for a container says that it does not know its network.
pub(super) fn is_no_network(message: &str) -> bool {
    let lower = message.to_lowercase();
    lower.contains("network") && (lower.contains("not found") || lower.contains("no such network"))
}

/// Whether an engine that was asked to signal a container says that it runs no more.
pub(super) fn is_over(error: &Error) -> bool {
    let Error::DockerResponseServerError {
        status_code,
        message,
    } = error
    else {
        return false;
    };
    // Older engines tell it by their words only.
    matches!(status_code, 404 | 409) || message.contains("is not running")
}

/// Neither the image nor the suite says what is to be started.
pub(super) fn nothing_to_start(about: About<'_>) -> ContainerFailure {
    ContainerFailure::Refused(format!(
        "the image `{}` starts nothing by itself, and the server has no `command`",
        about.image
    ))
}

/// The suite takes away what the image starts, and puts nothing there.
pub(super) fn nothing_left(about: About<'_>) -> ContainerFailure {
    ContainerFailure::Refused(format!(
        "`entrypoint: \"\"` takes away what the image `{}` starts, and the server has no `command`",
        about.image
    ))
}

/// A program cannot run where it is; `program` is the platform that it is for, where that is known.
pub(super) fn wrong_platform(about: About<'_>, program: Option<&str>) -> ContainerFailure {
    let (platform, engine) = (about.platform, about.engine);
    ContainerFailure::WrongPlatform {
        image: about.image.to_owned(),
        platform: if about.is_foreign() {
            format!("it is for {platform}, the engine runs {engine}")
        } else if let Some(program) = program {
            format!("it says that it is for {platform}, and its program is for {program}")
        } else {
            format!("it says that it is for {platform}, and its program is not")
        },
    }
}

/// What an error of the engine means.
pub(super) fn explain(error: &Error, about: About<'_>) -> ContainerFailure {
    let Error::DockerResponseServerError {
        status_code,
        message,
    } = error
    else {
        return if is_gone(error) {
            ContainerFailure::Gone(chain(error))
        } else {
            ContainerFailure::Refused(chain(error))
        };
    };
    if *status_code == 404 && message.contains("o such image") {
        return ContainerFailure::NoImage(about.image.to_owned());
    }
    explain_text(message.trim().to_owned(), about)
}

/// The same by the words alone: engines tell most of it nowhere else.
pub(super) fn explain_text(message: String, about: About<'_>) -> ContainerFailure {
    let lower = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| lower.contains(words));
    let (program, image) = (about.program.to_owned(), about.image.to_owned());
    if says(&["no space left on device", "disk quota exceeded"]) {
        ContainerFailure::NoSpace(message)
    } else if says(&["port is already allocated", "address already in use"]) {
        ContainerFailure::PortInUse(message)
    } else if says(&["is already in use by container", "name is already in use"]) {
        ContainerFailure::NameConflict(message)
    } else if says(&["exec format error", "does not match the specified platform"]) {
        wrong_platform(about, None)
    } else if says(&[
        "unable to find user",
        "unable to find group",
        "no matching entries in passwd",
    ]) {
        ContainerFailure::NoUser {
            image,
            reason: message,
        }
    } else if is_no_network(&message) {
        ContainerFailure::NoNetwork(message)
    } else if let Some(reason) = about.directory_is(&lower) {
        ContainerFailure::NoDirectory {
            directory: about.directory.to_owned(),
            image,
            reason,
        }
    } else if says(&["container-init binary not found"]) {
        ContainerFailure::NoInit(message)
    } else if says(&["bind source path does not exist", "invalid mount config"]) {
        ContainerFailure::NoMount(message)
    } else if program.is_empty()
        && says(&[
            "no command specified",
            "no command or entrypoint provided",
            "executable file not found",
        ])
    {
        nothing_to_start(about)
    } else if says(&["executable file not found", "no command specified"]) {
        about.no_program()
    } else if lower.contains("exec") && says(&["no such file or directory"]) {
        // What starts a program that the machine cannot run tries a shell next, and says that this is not there.
        if about.is_foreign() {
            wrong_platform(about, None)
        } else {
            about.no_program()
        }
    } else if lower.contains("exec: ") && says(&["is a directory"]) {
        let lacking = Lacking::File;
        ContainerFailure::Lacks {
            program,
            image,
            lacking,
        }
    } else if lower.contains("exec") && says(&["permission denied"]) {
        ContainerFailure::NotExecutable { program, image }
    } else {
        ContainerFailure::Refused(message)
    }
}

#[cfg(test)]
mod tests;
