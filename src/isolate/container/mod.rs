//! Containers: the engine and how it is found, images, and one fresh container for each job. What a job says to
//! its server goes through `transport::attach`; who needs a container is decided by `plan`.

pub(crate) mod body;
mod build;
mod bundle;
mod caches;
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
pub(crate) mod labels;
mod own;
mod prepare;
mod pull;
pub(crate) mod readback;
pub(crate) mod reap;
pub(crate) mod refusal;
mod scaffold;
mod script;
pub(crate) mod server;
pub(crate) mod sight;
mod steps;
pub(crate) mod upload;
pub(crate) mod warm;
mod workshop;

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bollard::{errors::Error, query_parameters::RemoveContainerOptionsBuilder};
use tokio::{
    runtime::Handle,
    sync::{Semaphore, SemaphorePermit},
    task::JoinSet,
    time::{Instant, timeout},
};
use tokio_util::sync::CancellationToken;

use self::{
    engine::{Engine, EngineFacts},
    image::{Images, Progress, ReadyImage},
    image_failure::ImageError,
    labels::RunName,
    upload::{Ids, Uploads},
    warm::FirstStart,
};
use crate::suite::model::container::ImageSource;

/// Containers that are created and started at once: more only makes the engine slower.
const STARTS: usize = 2;

/// Containers that are removed at once.
const REMOVALS: usize = 2;

/// The same when the run was interrupted.
const HURRIED_REMOVALS: usize = 8;

/// How long the engine may take to remove a container.
const REMOVAL: Duration = Duration::from_secs(20);

/// What the containers of a run share.
#[derive(Debug)]
pub(crate) struct Containers {
    engine: Engine,
    images: Images,
    run: Arc<RunName>,
    uploads: Uploads,
    users: Mutex<HashMap<(String, String), Ids>>,
    starts: Semaphore,
    removals: Semaphore,
    hurried: AtomicBool,
    /// The names of containers that may be there.
    unremoved: Mutex<BTreeSet<String>>,
    /// Removals that nobody waits for but [`Containers::close`].
    abandoned: Mutex<JoinSet<()>>,
}

impl Containers {
    /// No container yet.
    pub(crate) fn new(engine: Engine, images: Images) -> Arc<Self> {
        Arc::new(Self {
            engine,
            run: images.run(),
            images,
            uploads: Uploads::default(),
            users: Mutex::default(),
            starts: Semaphore::new(STARTS),
            removals: Semaphore::new(REMOVALS),
            hurried: AtomicBool::new(false),
            unremoved: Mutex::default(),
            abandoned: Mutex::default(),
        })
    }

    /// What the engine says about itself.
    pub(crate) fn facts(&self) -> &EngineFacts {
        &self.engine.facts
    }

    /// The name that all containers of the run carry.
    pub(crate) fn run(&self) -> &RunName {
        &self.run
    }

    /// The image of a source, started once as said; provided at the first question, whoever asks.
    pub(crate) async fn image(
        &self,
        wanted: (&ImageSource, Option<FirstStart>),
        progress: Progress<'_>,
        interrupt: &CancellationToken,
    ) -> Result<Arc<ReadyImage>, ImageError> {
        let image = self.images.ready(&self.engine, wanted, progress, interrupt);
        image.await
    }

    /// Whether [`Self::image`] would answer at once, with an image.
    pub(crate) fn has_image(&self, source: &ImageSource, start: Option<&FirstStart>) -> bool {
        self.images.has(source, start)
    }

    /// The right to create and start a container. Waiting for it is no time of the assertion's.
    pub(crate) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.starts.acquire().await.ok()
    }

    /// Removes more at once from now on.
    pub(crate) fn hurry(&self) {
        if !self.hurried.swap(true, Ordering::Relaxed) {
            self.removals.add_permits(HURRIED_REMOVALS - REMOVALS);
        }
    }

    /// Waits for every removal, then removes whatever of this run is still there; gives back what the engine did not
    /// remove, each by kind and name.
    pub(crate) async fn close(&self) -> Vec<String> {
        let mut waiting = {
            let mut abandoned = self
                .abandoned
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *abandoned)
        };
        while waiting.join_next().await.is_some() {}
        let unremoved = || self.unremoved().iter().cloned().collect();
        reap::of_run(&self.engine, &self.run, unremoved).await
    }

    fn unremoved(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.unremoved
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn users(&self) -> MutexGuard<'_, HashMap<(String, String), Ids>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes a container with its volumes, whatever it does; tells how long the engine took.
    async fn remove(&self, id: &str, name: &str) -> (Removed, Duration) {
        let _permit = self.removals.acquire().await.ok();
        let begun = Instant::now();
        let options = RemoveContainerOptionsBuilder::default()
            .force(true)
            .v(true)
            .build();
        let asked = self.engine.docker.remove_container(id, Some(options));
        let removed = match timeout(REMOVAL, asked).await {
            // Gone already, or somebody else is at it.
            Ok(
                Ok(())
                | Err(Error::DockerResponseServerError {
                    status_code: 404 | 409,
                    ..
                }),
            ) => {
                self.unremoved().remove(name);
                Removed::Yes
            }
            Ok(Err(_)) | Err(_) => Removed::No,
        };
        (removed, begun.elapsed())
    }
}

/// Whether a container was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Removed {
    Yes,
    No,
}

/// The duty to remove a container. Dropped, it passes to [`Containers::close`].
#[derive(Debug)]
struct Owned {
    crew: Arc<Containers>,
    /// The engine's id; its name before that is known.
    id: String,
    name: String,
    /// Whether there is still something to remove.
    due: bool,
}

impl Owned {
    fn new(crew: &Arc<Containers>, name: String) -> Self {
        crew.unremoved().insert(name.clone());
        Self {
            crew: Arc::clone(crew),
            id: name.clone(),
            name,
            due: true,
        }
    }

    /// There is nothing of ours to remove.
    fn disown(&mut self) {
        self.due = false;
        self.crew.unremoved().remove(&self.name);
    }

    /// Removes it, and tells how long the engine took; what cannot be removed is tried again at the end of the run.
    async fn remove(&mut self) -> Duration {
        if !self.due {
            return Duration::ZERO;
        }
        let (removed, took) = self.crew.remove(&self.id, &self.name).await;
        self.due = removed == Removed::No;
        took
    }
}

impl Owned {
    /// Leaves the removal to [`Containers::close`], which waits for it.
    fn pass_on(&mut self) {
        if !self.due {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            // Without a runtime the labels are what is left: the next run sweeps.
            return;
        };
        self.due = false;
        let (crew, id, name) = (Arc::clone(&self.crew), self.id.clone(), self.name.clone());
        let mut abandoned = self
            .crew
            .abandoned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        abandoned.spawn_on(
            async move {
                crew.remove(&id, &name).await;
            },
            &runtime,
        );
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        self.pass_on();
    }
}
