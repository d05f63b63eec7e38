//! Images: what a suite names becomes an image that the engine has, with what must be known to start containers
//! of it.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use bollard::{errors::Error, models::ImageInspect};
use tokio::{sync::OnceCell, time::timeout};

use super::{
    engine::Engine,
    failure::{chain, io_kind},
};
use crate::suite::model::container::{ImageBase, ImageSource};

/// How long the engine may take to say what it knows of an image.
const INSPECTION: Duration = Duration::from_secs(30);

/// Told what goes on while an image is being made ready.
pub(crate) type Progress<'a> = &'a (dyn Fn(String) + Send + Sync);

/// An image that containers can be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadyImage {
    /// The engine's id.
    pub(crate) id: String,
    /// The name and digest at the registry, `name@sha256:…`, when it came from one.
    pub(crate) digest: Option<String>,
    /// How people call it.
    pub(crate) name: String,
    /// The user it names.
    pub(crate) user: Option<String>,
    /// The directory it names.
    pub(crate) workdir: Option<String>,
    /// Its variables, `NAME=value`.
    pub(crate) env: Vec<String>,
    /// What it starts, in front of the command.
    pub(crate) entrypoint: Vec<String>,
    /// Its command.
    pub(crate) command: Vec<String>,
    /// Its platform, e.g. `linux/amd64`.
    pub(crate) platform: String,
}

/// Why an image cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ImageError {
    /// The engine does not have it.
    #[error("the engine has no image `{0}`")]
    NotFound(String),
    /// This way to get an image is not there.
    #[error("{0} is not supported by this version")]
    Unsupported(&'static str),
    /// The engine did not say in time.
    #[error("the engine did not answer in time about the image `{0}`")]
    Silent(String),
    /// The engine is gone.
    #[error("the container engine is gone: {0}")]
    Gone(String),
    /// The engine refused.
    #[error("the image `{image}` cannot be used: {reason}")]
    Refused {
        /// The image.
        image: String,
        /// What the engine said.
        reason: String,
    },
}

impl ImageError {
    /// What to do about it.
    pub(crate) fn help(&self) -> Option<String> {
        Some(match self {
            Self::NotFound(name) => {
                format!("check the name; `docker pull {name}` or `docker build -t {name} .` first")
            }
            Self::Unsupported(_) => "build or pull the image yourself and name it".to_owned(),
            Self::Silent(_) => "the engine may be overloaded; run it again".to_owned(),
            Self::Gone(_) => "start it again".to_owned(),
            Self::Refused { .. } => return None,
        })
    }
}

/// The images of a run: each distinct source is provided once, whoever asks first.
#[derive(Debug, Default)]
pub(crate) struct Images {
    known: Mutex<HashMap<ImageSource, Provided>>,
}

type Provided = Arc<OnceCell<Result<Arc<ReadyImage>, ImageError>>>;

impl Images {
    /// The image of a source; waits while somebody provides it.
    pub(crate) async fn ready(
        &self,
        engine: &Engine,
        wanted: &ImageSource,
        progress: Progress<'_>,
    ) -> Result<Arc<ReadyImage>, ImageError> {
        let provided = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            match known.get(wanted) {
                Some(provided) => Arc::clone(provided),
                None => Arc::clone(known.entry(wanted.clone()).or_default()),
            }
        };
        let image = provided.get_or_init(|| async {
            let image = Box::pin(provide(engine, wanted, progress)).await;
            image.map(Arc::new)
        });
        image.await.clone()
    }
}

/// Makes sure that the engine has the image, and says what it is.
pub(crate) async fn provide(
    engine: &Engine,
    wanted: &ImageSource,
    _progress: Progress<'_>,
) -> Result<ReadyImage, ImageError> {
    if wanted.prepare.is_some() {
        return Err(ImageError::Unsupported("`prepare`"));
    }
    match &wanted.base {
        ImageBase::Named(name) => inspect(engine, name).await,
        ImageBase::Built(_) => Err(ImageError::Unsupported("`build`")),
        ImageBase::Own => Err(ImageError::Unsupported("the image `self`")),
    }
}

/// What the engine knows of an image.
pub(super) async fn inspect(engine: &Engine, name: &str) -> Result<ReadyImage, ImageError> {
    match timeout(INSPECTION, engine.docker.inspect_image(name)).await {
        Ok(Ok(found)) => Ok(ready(name, found)),
        Ok(Err(Error::DockerResponseServerError {
            status_code: 404, ..
        })) => Err(ImageError::NotFound(name.to_owned())),
        Ok(Err(Error::DockerResponseServerError { message, .. })) => Err(ImageError::Refused {
            image: name.to_owned(),
            reason: message,
        }),
        Ok(Err(error)) if io_kind(&error).is_some() => Err(ImageError::Gone(chain(&error))),
        Ok(Err(error)) => Err(ImageError::Refused {
            image: name.to_owned(),
            reason: chain(&error),
        }),
        Err(_) => Err(ImageError::Silent(name.to_owned())),
    }
}

fn ready(name: &str, found: ImageInspect) -> ReadyImage {
    let config = found.config.unwrap_or_default();
    let named = |text: Option<String>| text.filter(|text| !text.is_empty());
    let part = |text: Option<String>, unknown: &str| named(text).unwrap_or_else(|| unknown.into());
    ReadyImage {
        id: found.id.unwrap_or_else(|| name.to_owned()),
        digest: found.repo_digests.unwrap_or_default().into_iter().next(),
        name: name.to_owned(),
        user: named(config.user),
        workdir: named(config.working_dir),
        env: config.env.unwrap_or_default(),
        entrypoint: config.entrypoint.unwrap_or_default(),
        command: config.cmd.unwrap_or_default(),
        platform: format!(
            "{}/{}",
            part(found.os, "linux"),
            part(found.architecture, "unknown")
        ),
    }
}
