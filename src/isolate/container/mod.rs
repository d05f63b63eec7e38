//! Containers: the engine and how it is found, images, and one fresh container for each job. What a job says to
//! its server goes through `transport::attach`; who needs a container is decided by `plan`.

mod build;
mod bundle;
mod context;
mod credentials;
mod discover;
mod dockerfile;
mod elf;
pub(crate) mod engine;
mod failure;
mod ignore;
pub(crate) mod image;
pub(crate) mod image_failure;
mod own;
mod prepare;
mod pull;
mod script;
mod workshop;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::{
    engine::Engine,
    image::{Images, Progress, ReadyImage},
    image_failure::ImageError,
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
    pub(crate) fn new(engine: Engine, images: Images) -> Self {
        Self { engine, images }
    }

    /// The image of a source; provided at the first question, whoever asks.
    pub(crate) async fn image(
        &self,
        wanted: &ImageSource,
        progress: Progress<'_>,
        interrupt: &CancellationToken,
    ) -> Result<Arc<ReadyImage>, ImageError> {
        let image = self.images.ready(&self.engine, wanted, progress, interrupt);
        image.await
    }
}
