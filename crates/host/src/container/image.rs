//! Images: the image that a suite names, made ready at the engine, with the facts that are needed to start containers of
//! it.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex},
    time::Duration,
};

use bollard::models::ImageInspect;
use tokio::{sync::OnceCell, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    build,
    engine::Engine,
    failure::is_unknown,
    labels::RunName,
    own, prepare, pull,
    refusal::Failure,
    warm::{FirstStart, warmed},
};
use crate::locked;
use suite::model::container::{ImageBase, ImageSource};
use text::environment::Environment;

/// How long the engine may take to say what it knows of an image.
const INSPECTION: Duration = Duration::from_secs(30);

/// Receives progress while an image is made ready.
pub type Progress<'a> = &'a (dyn Fn(Update) + Send + Sync);

/// What goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Update {
    /// Something has begun.
    Begun(String),
    /// How far it is: a line that is overwritten.
    Going(String),
}

/// An image that containers can be made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyImage {
    /// The engine's id.
    pub id: String,
    /// The name and digest at the registry, `name@sha256:…`, when it came from one.
    pub digest: Option<String>,
    /// Its name in messages.
    pub name: String,
    /// The user it names.
    pub user: Option<String>,
    /// The directory it names.
    pub workdir: Option<String>,
    /// Its variables, `NAME=value`.
    pub env: Vec<String>,
    /// What it starts, in front of the command.
    pub entrypoint: Vec<String>,
    /// Its command.
    pub command: Vec<String>,
    /// The paths of it that are kept outside of every image made of it.
    pub volumes: Vec<String>,
    /// Its platform, e.g. `linux/amd64`.
    pub platform: String,
}

impl ReadyImage {
    /// This image, made of another one: started as that one, and called so.
    pub(super) fn in_place_of(self, base: &Self, name: String) -> Self {
        Self {
            digest: base.digest.clone(),
            name,
            entrypoint: base.entrypoint.clone(),
            command: base.command.clone(),
            ..self
        }
    }
}

/// Whether images that were made before are taken as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rebuild {
    /// They are.
    #[default]
    No,
    /// They are made anew, once in a run.
    Yes,
}

/// The images of a run: each distinct source is provided once.
#[derive(Debug)]
pub struct Images {
    known: Once<ImageSource, Arc<ReadyImage>>,
    /// By the names that say what they are made of.
    made: Once<String, Option<ReadyImage>>,
    environment: Arc<Environment>,
    rebuild: Rebuild,
    run: Arc<RunName>,
}

/// What images are made with.
pub(super) struct Maker<'a> {
    pub(super) engine: &'a Engine,
    pub(super) environment: &'a Environment,
    pub(super) interrupt: &'a CancellationToken,
    /// The run, for the labels of containers that images are made in.
    pub(super) run: &'a RunName,
    rebuild: Rebuild,
    progress: Progress<'a>,
    made: &'a Once<String, Option<ReadyImage>>,
}

impl Maker<'_> {
    /// The image of this name, found or made once in this run. `None`: it could not be made, which `work` has reported.
    pub(super) async fn once(
        &self,
        name: &str,
        work: impl Future<Output = Result<bool, Failure>>,
    ) -> Result<Option<ReadyImage>, Failure> {
        let image = cell(self.made, name.to_owned());
        let made = async {
            if self.rebuild == Rebuild::No
                && let Some(found) = inspect(self.engine, name).await?
            {
                return Ok(Some(found));
            }
            if work.await? {
                inspect(self.engine, name).await
            } else {
                Ok(None)
            }
        };
        image.get_or_init(|| Box::pin(made)).await.clone()
    }

    /// Tells what has begun.
    pub(super) fn tell(&self, what: String) {
        (self.progress)(Update::Begun(what));
    }

    /// Tells how far it is.
    pub(super) fn tell_going(&self, what: String) {
        (self.progress)(Update::Going(what));
    }

    /// Whether images that were made before are made anew.
    pub(super) fn rebuilds(&self) -> bool {
        self.rebuild == Rebuild::Yes
    }

    /// Does something that is dropped when the run is interrupted.
    pub(super) async fn unless_interrupted<T>(
        &self,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        tokio::select! {
            done = work => done,
            () = self.interrupt.cancelled() => Err(Failure::Interrupted),
        }
    }
}

/// Images by what they are made of; the first to ask for an image makes it, and all others wait for it.
type Once<K, T> = Mutex<HashMap<K, Arc<OnceCell<Result<T, Failure>>>>>;

fn cell<K: Eq + Hash, T>(images: &Once<K, T>, key: K) -> Arc<OnceCell<Result<T, Failure>>> {
    Arc::clone(locked(images).entry(key).or_default())
}

impl Images {
    /// No image yet.
    pub fn new(environment: Arc<Environment>, rebuild: Rebuild, run: RunName) -> Self {
        Self {
            known: Once::default(),
            made: Once::default(),
            environment,
            rebuild,
            run: Arc::new(run),
        }
    }

    /// The run they are made in.
    pub(super) fn run(&self) -> Arc<RunName> {
        Arc::clone(&self.run)
    }

    /// The image of a source, after a first start where one is asked for. Interrupted, it leaves nothing half-made.
    pub(super) async fn ready(
        &self,
        engine: &Engine,
        wanted: (&ImageSource, Option<FirstStart>),
        progress: Progress<'_>,
        interrupt: &CancellationToken,
    ) -> Result<Arc<ReadyImage>, Failure> {
        let (source, start) = wanted;
        let maker = Maker {
            engine,
            environment: &self.environment,
            interrupt,
            run: &self.run,
            rebuild: self.rebuild,
            progress,
            made: &self.made,
        };
        let image = self.provided(&maker, source).await?;
        let Some(start) = start else {
            return Ok(image);
        };
        let image = Box::pin(warmed(&maker, &image, &start)).await;
        image.map(Arc::new)
    }

    /// The image of a source. What is prepared is made of what is not, so that one content is built once at a time.
    async fn provided(
        &self,
        maker: &Maker<'_>,
        source: &ImageSource,
    ) -> Result<Arc<ReadyImage>, Failure> {
        let provided = cell(&self.known, source.clone());
        let image = provided.get_or_init(|| async {
            let Some(prepare) = &source.prepare else {
                return Box::pin(provide(maker, source)).await.map(Arc::new);
            };
            let unprepared = ImageSource {
                prepare: None,
                ..source.clone()
            };
            let base = Box::pin(self.provided(maker, &unprepared)).await?;
            let image = prepare::prepared(maker, (*base).clone(), prepare, source);
            Box::pin(image).await.map(Arc::new)
        });
        image.await.clone()
    }
}

/// Makes sure that the engine has the image, and says what it is; not yet prepared.
async fn provide(maker: &Maker<'_>, wanted: &ImageSource) -> Result<ReadyImage, Failure> {
    match &wanted.base {
        // The engine gives up a pull when the connection is closed.
        ImageBase::Named(name) => {
            let named = pull::named(maker, name, wanted);
            maker.unless_interrupted(named).await
        }
        ImageBase::Own => maker.unless_interrupted(own::own(maker)).await,
        ImageBase::Built(build) => build::built(maker, build, wanted).await,
    }
}

/// What the engine knows of an image; `None`: it does not have it.
pub(super) async fn inspect(engine: &Engine, name: &str) -> Result<Option<ReadyImage>, Failure> {
    match timeout(INSPECTION, engine.docker.inspect_image(name)).await {
        Ok(Ok(found)) => Ok(Some(ready(name, found))),
        Ok(Err(error)) if is_unknown(&error) => Ok(None),
        Ok(Err(error)) => Err(Failure::of_image(name, &error)),
        Err(_) => Err(Failure::Silent {
            what: format!("asked about the image `{name}`"),
            after: INSPECTION,
        }),
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
        volumes: config.volumes.unwrap_or_default(),
        platform: format!(
            "{}/{}",
            part(found.os, "linux"),
            part(found.architecture, "unknown")
        ),
    }
}
