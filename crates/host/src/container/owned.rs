//! The duty to remove a container, from the moment the engine is asked for it. A caller that gives up before the engine
//! answered leaves the duty to the end of the run, because the engine makes what it was asked for.

use std::{io, sync::Arc, time::Duration};

use bollard::{
    errors::Error,
    models::{ContainerCreateBody, ContainerCreateResponse},
    query_parameters::CreateContainerOptions,
};
use tokio::{runtime::Handle, task::JoinHandle};

use super::Containers;
use crate::locked;

/// The duty to remove a container. Dropped, it passes to [`Containers::close`].
#[derive(Debug)]
pub(super) struct Owned {
    pub(super) containers: Arc<Containers>,
    /// The engine's id; its name before that is known.
    pub(super) id: String,
    name: String,
    /// The engine's answer to who wanted it, as long as it has not come.
    asked: Option<JoinHandle<Result<ContainerCreateResponse, Error>>>,
    /// Whether there is still something to remove.
    due: bool,
}

impl Owned {
    /// There is nothing yet.
    pub(super) fn new(containers: &Arc<Containers>, name: String) -> Self {
        Self {
            containers: Arc::clone(containers),
            id: name.clone(),
            name,
            asked: None,
            due: false,
        }
    }

    /// Asks the engine for it; not to be asked again. Owned from the first byte of the request on.
    pub(super) async fn create(
        &mut self,
        options: CreateContainerOptions,
        body: ContainerCreateBody,
    ) -> Result<(), Error> {
        self.due = true;
        locked(&self.containers.unremoved).insert(self.name.clone(), false);
        let docker = self.containers.engine.docker.clone();
        // In a task of its own: a request that breaks off may or may not have made something.
        let asking = async move { docker.create_container(Some(options), body).await };
        let asked = self.asked.insert(tokio::spawn(asking));
        let answer = asked.await;
        self.asked = None;
        self.containers.answered(&self.name);
        let answer = answer.unwrap_or_else(|error| {
            let err = io::Error::other(error);
            Err(Error::IOError { err })
        })?;
        self.id = answer.id;
        Ok(())
    }

    /// The container is not ours: it is not removed.
    pub(super) fn disown(&mut self) {
        self.due = false;
        locked(&self.containers.unremoved).remove(&self.name);
    }

    /// Removes it, and tells how long the engine took; what cannot be removed is tried again at the end of the run.
    pub(super) async fn remove(&mut self) -> Duration {
        if !self.due {
            return Duration::ZERO;
        }
        let (removed, took) = self.containers.remove(&self.id, &self.name).await;
        self.due = !removed;
        took
    }

    /// Leaves the removal to [`Containers::close`], which waits for it.
    pub(super) fn pass_on(&mut self) {
        if !self.due {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            // Without a runtime the labels are what is left: the next run sweeps.
            return;
        };
        self.due = false;
        let (containers, id, name) = (
            Arc::clone(&self.containers),
            self.id.clone(),
            self.name.clone(),
        );
        let asked = self.asked.take();
        let mut abandoned = locked(&self.containers.abandoned);
        abandoned.spawn_on(
            async move {
                if let Some(asked) = asked {
                    if !containers.answers(asked).await {
                        // It stays among what may be there.
                        return;
                    }
                    containers.answered(&name);
                }
                containers.remove(&id, &name).await;
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
