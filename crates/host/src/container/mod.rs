//! Containers: finding the engine, images, and one fresh container for each job.

mod attach;
pub mod body;
mod build;
mod bundle;
mod caches;
mod context;
pub mod covered;
mod credentials;
mod discover;
pub mod engine;
mod failure;
mod ignore;
pub mod image;
pub mod labels;
mod network;
mod own;
mod owned;
mod patience;
mod prepare;
mod pull;
pub mod readback;
pub mod reap;
pub mod refusal;
mod script;
pub mod server;
pub mod sight;
mod sockets;
mod steps;
mod unfinished;
pub mod upload;
pub mod warm;
mod work;
mod worker;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{Semaphore, SemaphorePermit},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use self::{
    engine::{Engine, EngineFacts},
    image::{Images, Progress, ReadyImage},
    labels::RunName,
    patience::Patience,
    refusal::Failure,
    upload::Ids,
    warm::FirstStart,
};
use crate::locked;
use suite::model::container::ImageSource;
use text::environment::Environment;

/// Containers that are created and started at once: more only makes the engine slower.
const STARTS: usize = 2;

/// Containers that are removed at once.
const REMOVALS: usize = 2;

/// The same when the run was interrupted.
const HURRIED_REMOVALS: usize = 8;

/// How long the engine may take to remove a container. When one takes longer, the others are not waited for.
const REMOVAL: Duration = Duration::from_secs(15);

/// How long the engine may take to answer an abandoned request for a container.
const ANSWER: Duration = Duration::from_secs(15);

/// The same when the run was interrupted.
const HURRIED_ANSWER: Duration = Duration::from_secs(2);

/// How long an engine that was silent may take to show that it is there again.
const RECOVERY: Duration = Duration::from_secs(2);

/// What the containers of a run share.
#[derive(Debug)]
pub struct Containers {
    engine: Engine,
    images: Images,
    run: Arc<RunName>,
    /// The fixture as a tar, by its owner in the container.
    fixtures: Mutex<HashMap<Ids, Bytes>>,
    /// The container that we run in.
    own_container: Option<String>,
    users: Mutex<HashMap<(String, String), Ids>>,
    starts: Semaphore,
    removals: Semaphore,
    hurried: CancellationToken,
    /// Cancelled when the engine did not answer in time: then nothing else is waited for.
    silent: CancellationToken,
    /// Whether the engine once left something without an answer: then it is waited for less at the end.
    mistrusted: AtomicBool,
    unremoved: Mutex<Unremoved>,
    /// Removals that only [`Containers::close`] waits for.
    abandoned: Mutex<JoinSet<()>>,
}

impl Containers {
    /// No container yet.
    pub fn new(engine: Engine, images: Images, environment: &Environment) -> Arc<Self> {
        Arc::new(Self {
            engine,
            run: images.run(),
            images,
            fixtures: Mutex::default(),
            own_container: network::own_container(environment),
            users: Mutex::default(),
            starts: Semaphore::new(STARTS),
            removals: Semaphore::new(REMOVALS),
            hurried: CancellationToken::new(),
            silent: CancellationToken::new(),
            mistrusted: AtomicBool::new(false),
            unremoved: Mutex::default(),
            abandoned: Mutex::default(),
        })
    }

    /// What the engine says about itself.
    pub fn facts(&self) -> &EngineFacts {
        &self.engine.facts
    }

    /// The name that all containers of the run carry.
    pub fn run(&self) -> &RunName {
        &self.run
    }

    /// The image of a source, after a first start where one is asked for.
    pub async fn image(
        &self,
        wanted: (&ImageSource, Option<FirstStart>),
        progress: Progress<'_>,
        interrupt: &CancellationToken,
    ) -> Result<Arc<ReadyImage>, Failure> {
        let image = self.images.ready(&self.engine, wanted, progress, interrupt);
        let image = image.await;
        if matches!(image, Err(Failure::Silent { .. })) {
            self.mistrust();
        }
        image
    }

    /// The engine left something without an answer.
    pub fn mistrust(&self) {
        self.mistrusted.store(true, Ordering::Relaxed);
    }

    /// The right to create and start a container. Waiting for it does not count as time of the assertion.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        // It is never closed.
        self.starts.acquire().await.ok()
    }

    /// Removes more at once from now on.
    pub fn hurry(&self) {
        if !self.hurried.is_cancelled() {
            self.hurried.cancel();
            self.removals.add_permits(HURRIED_REMOVALS - REMOVALS);
        }
    }

    /// The containers that may still be there, each by kind and name.
    pub fn known(&self) -> Vec<String> {
        reap::containers_called(locked(&self.unremoved).keys().cloned())
    }

    /// Waits for every removal, then removes whatever of this run is still there; gives back what the engine did not
    /// remove, each by kind and name.
    pub async fn close(&self) -> Vec<String> {
        let mut waiting = std::mem::take(&mut *locked(&self.abandoned));
        while waiting.join_next().await.is_some() {}
        let mistrusted = self.mistrusted.load(Ordering::Relaxed);
        if mistrusted {
            let answered = timeout(RECOVERY, self.engine.docker.ping()).await;
            if !matches!(answered, Ok(Ok(_))) {
                return self.known();
            }
        }
        let unremoved = locked(&self.unremoved).clone();
        let patience = if mistrusted {
            Patience::short()
        } else {
            Patience::usual()
        };
        Box::pin(reap::of_run(
            (&self.engine, &patience),
            &self.run,
            &unremoved,
        ))
        .await
    }

    /// The engine has said whether it made this one.
    fn answered(&self, name: &str) {
        if let Some(answered) = locked(&self.unremoved).get_mut(name) {
            *answered = true;
        }
    }

    /// Waits for the engine's answer to an abandoned request; whether it came.
    async fn answers(&self, answer: impl Future) -> bool {
        let patience = async {
            tokio::select! {
                () = sleep(ANSWER) => {}
                () = self.silent.cancelled() => {}
                () = async {
                    self.hurried.cancelled().await;
                    sleep(HURRIED_ANSWER).await;
                } => {}
            }
        };
        tokio::select! {
            _ = answer => true,
            () = patience => {
                self.mistrust();
                false
            }
        }
    }

    /// Removes a container with its volumes, whatever it does; whether that worked, and how long the engine took.
    async fn remove(&self, id: &str, name: &str) -> (bool, Duration) {
        let _permit = self.removals.acquire().await.ok();
        let begun = Instant::now();
        if self.silent.is_cancelled() {
            return (false, Duration::ZERO);
        }
        let removed = timeout(REMOVAL, self.engine.remove_container(id)).await;
        match &removed {
            Ok(Ok(())) => drop(locked(&self.unremoved).remove(name)),
            Ok(Err(_)) => {}
            Err(_) => {
                self.silent.cancel();
                self.mistrust();
            }
        }
        (matches!(removed, Ok(Ok(()))), begun.elapsed())
    }
}

/// The names of containers that may be there, and whether the engine has answered that it made them: it may still make
/// the others.
type Unremoved = BTreeMap<String, bool>;
