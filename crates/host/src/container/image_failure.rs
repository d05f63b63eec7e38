//! Why an image cannot be had. What engines and registries say is read by `refusal`.

use std::{fmt::Write as _, time::Duration};

use bollard::errors::Error;

use super::refusal::{About, Asked, PLATFORM, Refusal, words};
use text::clean;

/// Why an image cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The engine does not have it, and it is not to be pulled.
    #[error("the engine has no image `{0}`, and `pull: never` forbids to pull it")]
    Absent(String),
    /// There is none for this platform.
    #[error("the image `{image}` is {has}, not {wanted}")]
    Platform {
        /// The image.
        image: String,
        /// What it is for.
        has: String,
        /// What was wanted.
        wanted: String,
    },
    /// The engine did not say in time.
    #[error("the engine was silent for {} s while {what}", after.as_secs())]
    Silent {
        /// What it was doing.
        what: String,
        /// How long we waited.
        after: Duration,
    },
    /// The engine is gone.
    #[error("the container engine is gone: {0}")]
    Gone(String),
    /// Files of ours that belong into the image cannot be read.
    #[error("{what} `{path}` cannot be used: {reason}")]
    Files {
        /// What they are for.
        what: &'static str,
        /// Where.
        path: String,
        /// What is wrong with them.
        reason: String,
    },
    /// The image cannot be built.
    #[error("{place}: {reason}{}", below(output))]
    Build {
        /// The Dockerfile, and the step as the engine counts it.
        place: String,
        /// What was said.
        reason: String,
        /// The last lines of the output.
        output: String,
    },
    /// A line of `prepare` did not work.
    #[error("`prepare` in `{image}`: `{line}` {end}{}", below(output))]
    Prepare {
        /// The image it started from.
        image: String,
        /// The line.
        line: String,
        /// How it ended.
        end: PrepareEnd,
        /// The last lines of the output.
        output: String,
    },
    /// This program cannot be put into an image.
    #[error("this program cannot be put into an image: {0}")]
    Own(String),
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The engine or the registry refused.
    #[error("{0}")]
    Refused(Refusal),
}

/// How a line of `prepare` ended.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrepareEnd {
    /// By itself.
    #[error("ended with exit code {0}")]
    Exit(i64),
    /// It ended the shell, although lines are left.
    #[error("ended the shell, and the lines after it were not run")]
    Early,
    /// Not in time.
    #[error("did not end within {} s", .0.as_secs())]
    Timeout(Duration),
    /// Its container ended under it.
    #[error("lost its container: {0}")]
    Lost(String),
    /// There is no shell to run it.
    #[error("cannot be run: the image has no `/bin/sh`")]
    NoShell,
}

impl ImageError {
    /// Whether the engine is gone or silent: that says nothing of the image.
    pub fn is_by_engine(&self) -> bool {
        matches!(self, Self::Silent { .. } | Self::Gone(_))
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::Absent(name) => format!("`docker pull {name}` first, or leave `pull` out"),
            Self::Platform { .. } => PLATFORM.to_owned(),
            Self::Silent { .. } => "the engine may be overloaded; run it again".to_owned(),
            Self::Gone(_) => "start it again".to_owned(),
            Self::Files { .. } => "paths are relative to the YAML file".to_owned(),
            Self::Build { .. } => "`build:` uses the engine's classic builder, as `DOCKER_BUILDKIT=0 docker build` does; \
                 what only BuildKit understands (`RUN --mount`, `COPY --chmod`, heredocs) build yourself, \
                 `docker build -t NAME FOLDER`, and name it, `image: NAME`"
                .to_owned(),
            Self::Prepare { end, .. } => return end.help(),
            Self::Own(_) => "name an image with --docker or `docker: {image: …}`, or run the \
                             embedded server with `--isolation process`"
                .to_owned(),
            Self::Refused(refusal) => return refusal.help(),
            Self::Interrupted => return None,
        })
    }
}

impl PrepareEnd {
    fn help(&self) -> Option<String> {
        Some(match self {
            Self::Exit(127) => {
                "the image lacks that program: take another image, or install it in a line before"
                    .to_owned()
            }
            Self::Exit(_) => "the lines run as the image's user, in the network of `prepare: {network: …}`; variables of \
                 yours come with `prepare: {env: [NAME]}`, files with `prepare: {copy: {host: container}}`"
                .to_owned(),
            Self::Early => "leave `exit` and `exec` out".to_owned(),
            Self::Timeout(_) => "give it more with `prepare: {timeout: 20m}`".to_owned(),
            Self::Lost(_) => return None,
            Self::NoShell => "build the image with `build:` instead".to_owned(),
        })
    }
}

/// Output under a message.
fn below(output: &str) -> String {
    let mut text = String::new();
    for line in output.lines() {
        let _ = write!(text, "\n{}", clean(line.trim_end()));
    }
    text
}

/// What an error means that came while an image was pulled.
pub(super) fn pull_error(about: &About, error: &Error) -> ImageError {
    of(Asked::Registry, about, error)
}

/// The same while the engine was asked for an image or to make one.
pub(super) fn local_error(image: &str, error: &Error) -> ImageError {
    of(Asked::Image, &About::new([("{image}", image)]), error)
}

fn of(asked: Asked, about: &About, error: &Error) -> ImageError {
    match words(error) {
        Ok(said) => ImageError::Refused(Refusal::of(asked, &said, about)),
        Err(gone) => ImageError::Gone(gone),
    }
}

/// Something of ours that cannot be.
pub(super) fn unusable(image: &str, reason: &str) -> ImageError {
    let message = format!("the image `{image}` cannot be used: {reason}");
    ImageError::Refused(Refusal::plain(message))
}
