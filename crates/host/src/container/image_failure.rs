//! Why an image cannot be had. What engines and registries say is read by `refusal`.

use std::{
    fmt::{Display, Write as _},
    time::Duration,
};

use bollard::errors::Error;

use super::refusal::{About, Asked, Refusal, words};
use text::clean;

/// Why an image cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
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
    /// The run was interrupted.
    #[error("interrupted")]
    Interrupted,
    /// The engine or the registry refused, or what the suite says cannot be made.
    #[error("{0}")]
    Refused(Refusal),
}

impl ImageError {
    /// What the suite asks for cannot be.
    pub(super) fn new(message: String, help: impl Into<String>) -> Self {
        Self::Refused(Refusal::new(message, Some(help.into())))
    }

    /// The same of a step whose output is shown.
    pub(super) fn with_output(message: &str, output: &str, help: Option<String>) -> Self {
        Self::Refused(Refusal::new(format!("{message}{}", below(output)), help))
    }

    /// Files of ours that belong into the image cannot be read.
    pub(super) fn files(what: &str, path: &str, reason: &str) -> Self {
        Self::new(
            format!("{what} `{path}` cannot be used: {reason}"),
            "paths are relative to the YAML file",
        )
    }

    /// This program cannot be put into an image.
    pub(super) fn own(reason: impl Display) -> Self {
        Self::new(
            format!("this program cannot be put into an image: {reason}"),
            "name an image with --docker or `docker: {image: …}`, or run the embedded server with `--isolation process`",
        )
    }

    /// Whether the engine is gone or silent: that says nothing of the image.
    pub fn is_by_engine(&self) -> bool {
        matches!(self, Self::Silent { .. } | Self::Gone(_))
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Silent { .. } => Some("the engine may be overloaded; run it again".to_owned()),
            Self::Gone(_) => Some("start it again".to_owned()),
            Self::Refused(refusal) => refusal.help(),
            Self::Interrupted => None,
        }
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
    ImageError::Refused(Refusal::new(message, None))
}
