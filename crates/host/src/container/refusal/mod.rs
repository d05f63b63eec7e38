//! What engines and registries say when they refuse. The kinds in the table come with a next step; anything else is shown in
//! the engine's own words.

use std::{fmt, path::Path, time::Duration};

use bollard::errors::Error;

use super::failure::{chain, io_kind};
use mcp::observation::{
    disruption::{Disruption, DisruptionKind, Phase},
    process::ExitStatus,
};
use text::clean;

/// What an engine was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// To pull an image from its registry.
    Registry,
    /// To look at an image, or to make one.
    Image,
    /// To make or start a container.
    Container,
}

/// The refusals that callers act on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The registry cannot be reached: trying again may help.
    Unreachable,
    /// Another container has the name.
    NameTaken,
    /// Nothing to act on.
    Other,
}

/// One kind of refusal.
struct Row {
    /// The request that is refused this way; `None`: any.
    asked: Option<Asked>,
    /// What the engine says, in lower case, parted by `|`; of words parted by `*` it says all.
    says: &'static str,
    kind: Kind,
    /// The message, in front of the engine's own words.
    message: &'static str,
    /// What to do about it.
    help: &'static str,
}

const fn row(
    asked: Option<Asked>,
    says: &'static str,
    message: &'static str,
    help: &'static str,
) -> Row {
    Row {
        asked,
        says,
        kind: Kind::Other,
        message,
        help,
    }
}

const REGISTRY: Option<Asked> = Some(Asked::Registry);
const CONTAINER: Option<Asked> = Some(Asked::Container);

/// What to do about an image for another platform.
pub(super) const PLATFORM: &str = "name an image for the engine's platform, or ask for another with `platform:`, which takes an emulator";

/// The documented kinds; the first that fits is taken.
const TABLE: &[Row] = &[
    row(
        None,
        "no space left|disk quota",
        "no space is left on the engine's disk",
        "`docker system df` shows what takes it, `docker system prune` frees some",
    ),
    row(
        REGISTRY,
        "toomanyrequests|too many requests|rate limit",
        "the registry's limit of pulls is used up for the image `{image}`",
        "`docker login` raises the limit; or name a mirror of the image",
    ),
    row(
        None,
        "no matching manifest|does not match the specified platform",
        "the image `{image}` is not made for this platform",
        PLATFORM,
    ),
    row(
        REGISTRY,
        "manifest unknown|not found: manifest|name unknown",
        "the image `{image}` was not found",
        NOT_FOUND,
    ),
    row(
        REGISTRY,
        "denied|unauthorized|forbidden|no basic auth|authentication",
        "the registry refused to give the image `{image}`",
        "check the name, then `docker login {registry}` ({credentials})",
    ),
    Row {
        kind: Kind::Unreachable,
        ..row(
            REGISTRY,
            "dial tcp|no such host|timeout|deadline|connection re|unexpected eof|: eof|x509|tls|\
             server misbehaving|server gave http response|bad gateway|service unavailable|\
             unexpected http status|received unexpected|temporar",
            "the registry of the image `{image}` cannot be reached",
            "the engine pulls, not we: try `docker pull {image}` where it runs",
        )
    },
    row(
        REGISTRY,
        "not found|no such image",
        "the image `{image}` was not found",
        NOT_FOUND,
    ),
    row(
        CONTAINER,
        "port is already allocated|address already in use",
        "a port of the container is already in use",
        "end what listens there, or choose another port",
    ),
    Row {
        kind: Kind::NameTaken,
        ..row(
            CONTAINER,
            "is already in use by container|name is already in use",
            "the name of the container is already in use",
            "`mcp-assert reap` removes what killed runs left; run it again",
        )
    },
    row(
        CONTAINER,
        "unable to find user|unable to find group|no matching entries in passwd",
        "the image `{image}` does not know the user",
        "name one of its `/etc/passwd` under `docker: {user: …}`, or a number",
    ),
    row(
        CONTAINER,
        "container-init binary not found",
        "the engine has no init process for containers",
        "install it beside the engine (Podman: the package `catatonit`), or leave it out: `docker: {init: false}`",
    ),
    row(
        CONTAINER,
        "exec format error",
        "the image `{image}` cannot run on this engine: exec format error{platforms}",
        "name an image for the engine's platform, or a program built for it; a script needs a first line such as `#!/bin/sh`",
    ),
    row(
        CONTAINER,
        "executable file not found|exec*no such file or directory",
        "program `{program}` was not found in the image `{image}`, or what it needs to run was not{platforms}",
        "install the program, the interpreter of its `#!` line and its libraries in the image (`docker: {prepare: […]}`), or write its whole path inside; a \
         `PATH` among the server's variables replaces the image's",
    ),
    row(
        CONTAINER,
        "exec*permission denied",
        "program `{program}` of the image `{image}` cannot be executed: permission denied",
        "`chmod +x {program}` in the image, name a file where it is a directory, or another `docker: {user: …}`",
    ),
];

const NOT_FOUND: &str = "check name and tag; an image of this machine: `docker build -t {image} .`, or `build:` in the suite";

/// What messages name, by what stands for it in the table.
#[derive(Debug, Clone)]
pub(super) struct About(Vec<(&'static str, String)>);

impl About {
    /// These names.
    pub(super) fn new<const COUNT: usize>(names: [(&'static str, &str); COUNT]) -> Self {
        let names = names.into_iter();
        Self(
            names
                .map(|(name, value)| (name, value.to_owned()))
                .collect(),
        )
    }

    fn fill(&self, text: &str) -> String {
        let filled = |text: String, (name, value): &(&str, String)| text.replace(name, value);
        self.0.iter().fold(text.to_owned(), filled)
    }
}

/// Why the engine did not do what it was asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    pub(super) kind: Kind,
    message: String,
    help: Option<String>,
}

impl Refusal {
    /// A refusal that is not in the table.
    pub(super) fn new(message: String, help: Option<String>) -> Self {
        Self {
            kind: Kind::Other,
            message,
            help,
        }
    }

    /// What the engine's words mean.
    pub(super) fn of(asked: Asked, said: &str, about: &About) -> Self {
        let low = said.to_lowercase();
        let said = clean(said.trim());
        let fits = |row: &&Row| {
            let mut says = row.says.split('|');
            row.asked.is_none_or(|only| only == asked)
                && says.any(|words| words.split('*').all(|part| low.contains(part)))
        };
        if let Some(row) = TABLE.iter().find(fits) {
            Self {
                kind: row.kind,
                message: format!("{}: {said}", about.fill(row.message)),
                help: Some(about.fill(row.help)),
            }
        } else {
            let message = match asked {
                Asked::Registry | Asked::Image => {
                    about.fill(&format!("the image `{{image}}` cannot be used: {said}"))
                }
                Asked::Container => format!("the container could not be started: {said}"),
            };
            Self::new(message, None)
        }
    }
}

/// The engine's words; the error is why it is gone.
pub(super) fn words(error: &Error) -> Result<String, String> {
    if let Error::DockerResponseServerError { message, .. } = error {
        return Ok(message.clone());
    }
    if let Error::DockerStreamError { error } = error {
        return Ok(error.clone());
    }
    let is_gone = matches!(
        error,
        Error::HyperLegacyError { .. }
            | Error::HyperResponseError { .. }
            | Error::IOError { .. }
            | Error::RequestTimeoutError
            | Error::SocketNotFoundError(_)
    );
    if is_gone || io_kind(error).is_some() {
        Err(chain(error))
    } else {
        Ok(chain(error))
    }
}

/// Why there is no image, or no running container.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The engine or the registry refused, or what the suite says cannot be made.
    #[error("{0}")]
    Refused(Refusal),
    /// The engine did not answer in time.
    #[error("the engine was silent for {} s while {what}", after.as_secs())]
    Silent {
        /// What it was doing.
        what: String,
        /// How long it was waited for.
        after: Duration,
    },
    /// The time of the assertion was over before the container ran.
    #[error("the engine took over {limit:?} to {step} the container")]
    Slow {
        /// What the engine was asked for.
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
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
}

impl Failure {
    /// What an error of the engine means that was asked for this.
    pub(super) fn of(asked: Asked, about: &About, error: &Error) -> Self {
        match words(error) {
            Ok(said) => Self::Refused(Refusal::of(asked, &said, about)),
            Err(gone) => Self::Gone(gone),
        }
    }

    /// The same while the engine was asked for an image or to make one.
    pub(super) fn of_image(image: &str, error: &Error) -> Self {
        Self::of(Asked::Image, &About::new([("{image}", image)]), error)
    }

    /// What the suite asks for cannot be.
    pub(super) fn new(message: String, help: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(message, Some(help.into())))
    }

    /// A step failed whose output is shown.
    pub(super) fn with_output(message: String, output: &str, help: Option<String>) -> Self {
        let lines = output.lines().map(|line| clean(line.trim_end()));
        let lines: Vec<String> = [message].into_iter().chain(lines).collect();
        Self::Refused(Refusal::new(lines.join("\n"), help))
    }

    /// Files of the user's that belong into the image cannot be read.
    pub(super) fn files(what: &str, path: &Path, reason: &dyn fmt::Display) -> Self {
        Self::new(
            format!("{what} `{}` cannot be used: {reason}", path.display()),
            "paths are relative to the YAML file",
        )
    }

    /// This program cannot be put into an image.
    pub(super) fn own(reason: impl fmt::Display) -> Self {
        Self::new(
            format!("this program cannot be put into an image: {reason}"),
            "name an image with --docker or `docker: {image: …}`, or run the embedded server with `--isolation process`",
        )
    }

    /// The engine does not have an image that it should have.
    pub(super) fn unusable(image: &str, reason: &str) -> Self {
        let message = format!("the image `{image}` cannot be used: {reason}");
        Self::Refused(Refusal::new(message, None))
    }

    /// What to do about it.
    fn help(&self) -> Option<String> {
        let help = match self {
            Self::Refused(refusal) => return refusal.help.clone(),
            Self::Silent { .. } => "the engine may be overloaded; run it again",
            Self::Slow { .. } => "a longer `timeout` or fewer `--jobs` give the engine more time",
            Self::Gone(_) => "start it again, and look into its log",
            Self::Fixture(_) | Self::Interrupted => return None,
        };
        Some(help.to_owned())
    }

    /// What it means for an assertion that needed the image, or the container in `Phase::Start`.
    pub fn disruption(&self, phase: Phase) -> Disruption {
        let kind = match self {
            Self::Interrupted => DisruptionKind::Interrupted,
            Self::Slow { .. } => DisruptionKind::Timeout,
            Self::Refused(_) | Self::Gone(_) | Self::Silent { .. } if phase == Phase::Start => {
                DisruptionKind::Start
            }
            Self::Refused(_) | Self::Gone(_) | Self::Silent { .. } | Self::Fixture(_) => {
                DisruptionKind::Place
            }
        };
        let message = match phase {
            Phase::Start => format!("the server could not be started: {self}"),
            Phase::Place | Phase::Handshake | Phase::Setup | Phase::Subject => self.to_string(),
        };
        let disruption = Disruption {
            help: self.help(),
            ..Disruption::new(kind, phase, message)
        };
        match self {
            // It says nothing about the server.
            Self::Silent { .. } | Self::Slow { .. } | Self::Gone(_) => disruption.by_engine(),
            Self::Refused(_) | Self::Fixture(_) | Self::Interrupted => disruption,
        }
    }
}

/// What the init process or the runtime said of a server that it could not start.
pub(super) fn unstarted(said: &str, status: ExitStatus, about: &About) -> Option<Failure> {
    // Docker's init process, Podman's, and the runtime without one.
    let is_told = |line: &&str| {
        ["[FATAL ", "ERROR (catatonit", "exec /"]
            .iter()
            .any(|front| line.starts_with(front) && line.contains("exec "))
            || line.to_lowercase().contains("exec format error")
    };
    let line = said.lines().find(is_told)?;
    let is_code = matches!(status, ExitStatus::Code(1 | 126 | 127));
    is_code.then(|| Failure::Refused(Refusal::of(Asked::Container, line, about)))
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

#[cfg(test)]
mod tests;
