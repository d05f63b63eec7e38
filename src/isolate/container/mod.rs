//! Containers: the engine and how it is found, images, and one fresh container for each job. What a job says to
//! its server goes through `transport::attach`; who needs a container is decided by `plan`.

mod context;
mod discover;
pub(crate) mod engine;
mod failure;
pub(crate) mod image;

use std::sync::Arc;

use self::{
    engine::Engine,
    image::{ImageError, Images, Progress, ReadyImage},
};
use crate::suite::model::container::ImageSource;

/// What the containers of a run share.
#[derive(Debug)]
pub(crate) struct Containers {
    engine: Engine,
    images: Images,
}

impl Containers {
    /// No container yet.
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            images: Images::default(),
        }
    }

    /// The image of a source; provided at the first question, whoever asks.
    pub(crate) async fn image(
        &self,
        wanted: &ImageSource,
        progress: Progress<'_>,
    ) -> Result<Arc<ReadyImage>, ImageError> {
        self.images.ready(&self.engine, wanted, progress).await
    }
}
