//! Why an image cannot be had, told apart so that each comes with its own way out, and how the words of engines
//! and registries are read.

use std::{fmt::Write as _, time::Duration};

use bollard::errors::Error;

use super::{
    failure::{chain, io_kind},
    refusal::{NO_NETWORK, is_no_network},
};
use text::clean;

/// Why an image cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// The engine does not have it, and it is not to be pulled.
    #[error("the engine has no image `{0}`, and `pull: never` forbids to pull it")]
    Absent(String),
    /// The registry does not have it.
    #[error("the image `{image}` was not found: {reason}")]
    NotFound {
        /// The image.
        image: String,
        /// What was said.
        reason: String,
    },
    /// The registry wants other credentials.
    #[error("the registry refused to give the image `{image}`: {reason}")]
    Denied {
        /// The image.
        image: String,
        /// What was said.
        reason: String,
        /// The registry.
        registry: String,
        /// Which credentials were sent.
        credentials: String,
    },
    /// Too many pulls.
    #[error("the registry's limit of pulls is used up for the image `{image}`: {reason}")]
    RateLimit {
        /// The image.
        image: String,
        /// What was said.
        reason: String,
    },
    /// The registry cannot be reached.
    #[error("the registry of the image `{image}` cannot be reached: {reason}")]
    Network {
        /// The image.
        image: String,
        /// What was said.
        reason: String,
    },
    /// The engine does not know the network of the lines.
    #[error("`prepare`: the engine does not know the network: {0}")]
    NoNetwork(String),
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
    /// No image can be called so.
    #[error("`{image}` cannot be the name of an image: {reason}")]
    Name {
        /// The image.
        image: String,
        /// What was said.
        reason: String,
    },
    /// The engine's disk is full.
    #[error("no space is left on the engine's disk: {0}")]
    NoSpace(String),
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
        /// The Dockerfile, its line and what stands there.
        place: String,
        /// What was said.
        reason: String,
        /// The last lines of the output.
        output: String,
        /// What of the Dockerfile only another builder understands.
        newer: Option<String>,
    },
    /// A line of `prepare` did not work.
    #[error("`prepare` in `{image}`: `{line}` {end}{}", below(output))]
    Prepare {
        /// The image it started from.
        image: String,
        /// The line.
        line: String,
        /// The network it ran in, where the suite names one.
        network: Option<String>,
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
    /// The engine refused.
    #[error("the image `{image}` cannot be used: {reason}")]
    Refused {
        /// The image.
        image: String,
        /// What the engine said.
        reason: String,
    },
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
            Self::NotFound { image, .. } => format!(
                "check name and tag; an image of this machine: `docker build -t {image} .`, or `build:` in the suite"
            ),
            Self::Denied {
                registry,
                credentials,
                ..
            } => format!("check the name, then `docker login {registry}` ({credentials})"),
            Self::RateLimit { .. } => {
                "`docker login` raises the limit; or name a mirror of the image".to_owned()
            }
            Self::Network { image, .. } => {
                format!("the engine pulls, not we: try `docker pull {image}` where it runs")
            }
            Self::NoNetwork(_) => NO_NETWORK.to_owned(),
            Self::Platform { .. } => {
                "name an image for the engine's platform, or ask for another with `platform:`"
                    .to_owned()
            }
            Self::Name { .. } => "names look like `registry.example/team/name:tag`".to_owned(),
            Self::NoSpace(_) => {
                "`docker system df` shows what takes it, `docker system prune` frees some"
                    .to_owned()
            }
            Self::Silent { .. } => "the engine may be overloaded; run it again".to_owned(),
            Self::Gone(_) => "start it again".to_owned(),
            Self::Files { .. } => "paths are relative to the YAML file".to_owned(),
            Self::Build {
                newer: Some(what), ..
            } => format!(
                "`build:` uses the engine's classic builder, which does not understand {what}: \
                 build it yourself, `docker build -t NAME FOLDER`, and name it, `image: NAME`"
            ),
            Self::Build { newer: None, .. } => {
                "`DOCKER_BUILDKIT=0 docker build` on the same folder, with the same classic builder, \
                 shows all of the output"
                    .to_owned()
            }
            Self::Prepare { network, end, .. } => return end.help(network.as_deref()),
            Self::Own(_) => "name an image with --docker or `docker: {image: …}`, or run the \
                             embedded server with `--isolation process`"
                .to_owned(),
            Self::Interrupted | Self::Refused { .. } => return None,
        })
    }
}

impl PrepareEnd {
    fn help(&self, network: Option<&str>) -> Option<String> {
        Some(match self {
            Self::Exit(127) => {
                "the image lacks that program: take another image, or install it in a line before"
                    .to_owned()
            }
            Self::Exit(_) => format!(
                "the lines run as the image's user {}; variables of ours come with `prepare: {{env: [NAME]}}`, files with \
                 `prepare: {{copy: {{host: container}}}}`",
                connected(network)
            ),
            Self::Early => "leave `exit` and `exec` out".to_owned(),
            Self::Timeout(_) => "give it more with `prepare: {timeout: 20m}`".to_owned(),
            Self::Lost(_) => return None,
            Self::NoShell => "build the image with `build:` instead".to_owned(),
        })
    }
}

/// How lines reach others, as a part of a sentence.
fn connected(network: Option<&str>) -> String {
    match network {
        None => "with the network on".to_owned(),
        Some("none") => "without a network (`network: none`)".to_owned(),
        Some(name) => format!("in the network `{name}`"),
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

/// What an error means that came while an image was asked for; `registry` and `credentials` for one that was denied.
pub(super) fn image_error(
    image: &str,
    error: &Error,
    registry: &str,
    credentials: &str,
) -> ImageError {
    match words(error) {
        Words::Said(reason) => classify(image, &reason, registry, credentials),
        Words::Gone(reason) => ImageError::Gone(reason),
    }
}

/// What an engine answered.
pub(super) enum Words {
    /// It said why not.
    Said(String),
    /// It is gone.
    Gone(String),
}

/// The words of an error.
pub(super) fn words(error: &Error) -> Words {
    if let Error::DockerResponseServerError { message, .. } = error {
        Words::Said(message.clone())
    } else if let Error::DockerStreamError { error } = error {
        Words::Said(error.clone())
    } else if io_kind(error).is_some() {
        Words::Gone(chain(error))
    } else {
        Words::Said(chain(error))
    }
}

/// The engine's words, when they mean that it does not know the network that a container was to have.
pub(super) fn without_network(error: &Error) -> Option<String> {
    match words(error) {
        Words::Said(reason) => is_no_network(&reason).then(|| clean(reason.trim())),
        Words::Gone(_) => None,
    }
}

/// Whether an engine's words mean that its disk is full.
pub(super) fn is_full(reason: &str) -> bool {
    let low = reason.to_lowercase();
    ["no space left", "disk quota"]
        .iter()
        .any(|word| low.contains(word))
}

/// What an engine's words mean.
fn classify(image: &str, reason: &str, registry: &str, credentials: &str) -> ImageError {
    let low = reason.to_lowercase();
    let said = |words: &[&str]| words.iter().any(|word| low.contains(word));
    let image = image.to_owned();
    let reason = clean(reason.trim());
    if is_full(&reason) {
        ImageError::NoSpace(reason)
    } else if said(&["toomanyrequests", "too many requests", "rate limit"]) {
        ImageError::RateLimit { image, reason }
    } else if said(&[
        "no matching manifest",
        "does not match the specified platform",
    ]) {
        ImageError::Platform {
            image,
            has: "not made for it".to_owned(),
            wanted: reason,
        }
    } else if said(&["invalid reference", "invalid tag", "must be lowercase"]) {
        ImageError::Name { image, reason }
    } else if said(&["manifest unknown", "not found: manifest", "name unknown"]) {
        ImageError::NotFound { image, reason }
    } else if said(&[
        "denied",
        "unauthorized",
        "forbidden",
        "no basic auth",
        "authentication",
    ]) {
        ImageError::Denied {
            image,
            reason,
            registry: registry.to_owned(),
            credentials: credentials.to_owned(),
        }
    } else if said(&[
        "dial tcp",
        "no such host",
        "timeout",
        "deadline",
        "connection re",
        "unexpected eof",
        ": eof",
        "x509",
        "tls",
        "server misbehaving",
        "server gave http response",
        "bad gateway",
        "service unavailable",
        "unexpected http status",
        "received unexpected",
        "temporar",
    ]) {
        ImageError::Network { image, reason }
    } else if said(&["not found", "no such image"]) {
        ImageError::NotFound { image, reason }
    } else {
        ImageError::Refused { image, reason }
    }
}

#[cfg(test)]
mod tests {
    use super::{ImageError, PrepareEnd, classify};

    #[test]
    fn the_help_of_a_line_that_failed_names_its_network() {
        let case = |network: Option<&str>, wanted: &str| {
            let error = ImageError::Prepare {
                image: "a".into(),
                line: "b".into(),
                network: network.map(str::to_owned),
                end: PrepareEnd::Exit(1),
                output: String::new(),
            };
            let help = error.help().unwrap();
            assert!(help.contains(wanted), "{help}");
        };
        case(None, "user with the network on;");
        case(Some("none"), "user without a network (`network: none`);");
        case(Some("net"), "user in the network `net`;");
    }

    #[test]
    fn words_of_engines_and_registries_are_told_apart() {
        let case = |said: &str, wanted: fn(&ImageError) -> bool| {
            let error = classify("a:1", said, "docker.io", "none");
            assert!(wanted(&error), "{said}: {error:?}");
        };
        case(
            "manifest for a:1 not found: manifest unknown: manifest unknown",
            |error| matches!(error, ImageError::NotFound { .. }),
        );
        case(
            "pull access denied for a, repository does not exist or may require 'docker login': denied: no",
            |error| matches!(error, ImageError::Denied { .. }),
        );
        case("unauthorized: authentication required", |error| {
            matches!(error, ImageError::Denied { .. })
        });
        case(
            "toomanyrequests: You have reached your pull rate limit",
            |error| matches!(error, ImageError::RateLimit { .. }),
        );
        case(
            "Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host",
            |error| matches!(error, ImageError::Network { .. }),
        );
        case(
            "no matching manifest for linux/arm64/v8 in the manifest list entries",
            |error| matches!(error, ImageError::Platform { .. }),
        );
        case(
            "failed to register layer: write /usr/lib/x: no space left on device",
            |error| matches!(error, ImageError::NoSpace(_)),
        );
        case(
            "invalid reference format: repository name must be lowercase",
            |error| matches!(error, ImageError::Name { .. }),
        );
        case(
            "received unexpected HTTP status: 500 Internal Server Error",
            |error| matches!(error, ImageError::Network { .. }),
        );
        case("something else", |error| {
            matches!(error, ImageError::Refused { .. })
        });
    }
}
