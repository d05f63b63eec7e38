//! Removes what runs left at the engine: of this run at its end, of killed ones when the next run begins, and on
//! request. Whatever does not carry our labels is never touched.

use std::{collections::HashMap, time::Duration};

use bollard::{
    errors::Error,
    query_parameters::{ListContainersOptionsBuilder, RemoveContainerOptionsBuilder},
};
use futures_util::{StreamExt, stream};
use tokio::time::timeout;

use super::{
    engine::Engine,
    failure::chain,
    labels::{self, RunName},
};

/// How long the engine may take to list or to remove.
const ANSWER: Duration = Duration::from_secs(20);

/// Containers that are removed at once.
const AT_ONCE: usize = 8;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Whose<'a> {
    /// What no living run waits for.
    Abandoned,
    /// What one run made, whether it lives or not.
    Run(&'a str),
    /// What any run made, living ones included.
    Anybody,
}

/// What was found and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reaped {
    /// The containers that were removed, by name.
    pub(crate) containers: Vec<String>,
    /// Why others were not.
    pub(crate) failures: Vec<String>,
}

/// Removes what this run left.
pub(super) async fn of_run(engine: &Engine, run: &RunName) {
    // What stays now is swept by the next run.
    reap(engine, Whose::Run(run.text())).await;
}

/// Removes containers of ours with their volumes.
pub(crate) async fn reap(engine: &Engine, whose: Whose<'_>) -> Reaped {
    let mut reaped = Reaped::default();
    let found = match list(engine, whose).await {
        Ok(found) => found,
        Err(reason) => {
            reaped.failures.push(reason);
            return reaped;
        }
    };
    let mut removing = stream::iter(found)
        .map(|(id, name)| async move { (name, remove(engine, &id).await) })
        .buffer_unordered(AT_ONCE);
    while let Some((name, removed)) = removing.next().await {
        match removed {
            Ok(()) => reaped.containers.push(name),
            Err(reason) => reaped.failures.push(format!("`{name}`: {reason}")),
        }
    }
    reaped.containers.sort_unstable();
    reaped
}

/// The ids and names of containers.
async fn list(engine: &Engine, whose: Whose<'_>) -> Result<Vec<(String, String)>, String> {
    let label = match whose {
        Whose::Run(run) => format!("{}={run}", labels::RUN),
        Whose::Abandoned | Whose::Anybody => labels::RUN.to_owned(),
    };
    let filters = HashMap::from([("label", vec![label])]);
    let options = ListContainersOptionsBuilder::default()
        .all(true)
        .filters(&filters)
        .build();
    let found = match timeout(ANSWER, engine.docker.list_containers(Some(options))).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => return Err(chain(&error)),
        Err(_) => return Err(format!("the engine did not answer within {ANSWER:?}")),
    };
    let found = found.into_iter().filter(|container| match whose {
        Whose::Run(_) | Whose::Anybody => true,
        Whose::Abandoned => container.labels.as_ref().is_some_and(labels::is_abandoned),
    });
    Ok(found
        .filter_map(|container| {
            let id = container.id?;
            let name = container.names.unwrap_or_default().into_iter().next();
            let name = name.map(|name| name.trim_start_matches('/').to_owned());
            Some((id.clone(), name.unwrap_or(id)))
        })
        .collect())
}

async fn remove(engine: &Engine, id: &str) -> Result<(), String> {
    let options = RemoveContainerOptionsBuilder::default()
        .force(true)
        .v(true)
        .build();
    match timeout(ANSWER, engine.docker.remove_container(id, Some(options))).await {
        // Gone already, or somebody else is at it.
        Ok(
            Ok(())
            | Err(Error::DockerResponseServerError {
                status_code: 404 | 409,
                ..
            }),
        ) => Ok(()),
        Ok(Err(error)) => Err(chain(&error)),
        Err(_) => Err(format!("the engine did not answer within {ANSWER:?}")),
    }
}
