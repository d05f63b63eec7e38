//! Removes what runs left at the engine: this run at its end, killed runs when the next run begins, or on request. Only
//! what carries our labels or names is touched.

use std::{
    collections::HashMap,
    fmt::{self, Display},
    time::Duration,
};

use bollard::{
    errors::Error,
    models::ImageSummary,
    query_parameters::{
        ListContainersOptionsBuilder, ListImagesOptionsBuilder, ListNetworksOptionsBuilder,
        ListVolumesOptionsBuilder, RemoveVolumeOptions,
    },
};
use futures_util::{StreamExt, stream};
use tokio::time::sleep;

use super::{
    Unremoved,
    engine::Engine,
    failure::{chain, is_unknown},
    labels::{self, BUILT, PREPARED, RunName},
    patience::Patience,
    unfinished,
};
use crate::owner::Life;

/// Things that are removed at once.
const AT_ONCE: usize = 8;

/// How often a volume is tried whose container is being removed, by whomever.
const TRIES: usize = 10;

/// How long is waited before the next try.
const PAUSE: Duration = Duration::from_millis(200);

/// A nameless prepared image is left alone for so long: it may be about to get its name. In seconds.
const NAMING: i64 = 600;

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// What no living run waits for.
    Abandoned,
    /// What one run made, whether it lives or not.
    Run(&'a str),
    /// What any run made, living ones included.
    Anybody,
}

/// What was found and removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaped {
    /// The containers that were removed, by name; their volumes went with them.
    pub containers: Vec<String>,
    /// What else was removed, by kind and name.
    pub others: Vec<String>,
    /// Why others were not.
    pub failures: Vec<String>,
    /// Those of them that are known.
    pub left: Vec<String>,
    /// Whether the engine left a request without an answer.
    pub was_silent: bool,
}

/// The kinds of things that runs leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Container,
    Volume,
    Network,
    Image,
}

/// Something of ours at the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Leftover {
    kind: Kind,
    /// What the engine calls it.
    id: String,
    /// What people call it.
    name: String,
}

impl Display for Leftover {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Container => "container",
            Kind::Volume => "volume",
            Kind::Network => "network",
            Kind::Image => "image",
        };
        write!(formatter, "{kind} `{}`", self.name)
    }
}

/// Containers by kind and name, for messages.
pub(super) fn containers_called(names: impl IntoIterator<Item = String>) -> Vec<String> {
    let names = names.into_iter();
    names.map(|name| format!("container `{name}`")).collect()
}

/// Removes what this run left; gives back what stays, which a later run sweeps. Where the engine does not list what it has,
/// all that is `unremoved` may be there, and else what it has not answered for.
pub(super) async fn of_run(asked: Asked<'_>, run: &RunName, unremoved: &Unremoved) -> Vec<String> {
    let mut reaped = with_patience(asked, Whose::Run(run.text())).await;
    let is_unlisted = reaped.failures.len() > reaped.left.len();
    let may_be_there = unremoved.iter().filter(|(name, answered)| {
        (is_unlisted || !**answered) && !reaped.containers.contains(name)
    });
    let names = may_be_there.map(|(name, _)| name.clone());
    reaped.left.extend(containers_called(names));
    reaped.left.sort_unstable();
    reaped.left.dedup();
    reaped.left
}

/// Removes everything of ours: containers with their volumes first, because they hold on to the rest.
pub async fn reap(engine: &Engine, whose: Whose<'_>) -> Reaped {
    with_patience((engine, &Patience::usual()), whose).await
}

async fn with_patience(asked: Asked<'_>, whose: Whose<'_>) -> Reaped {
    let mut reaped = Reaped::default();
    let found = labelled(Kind::Container, asked, whose).await;
    reaped.take(asked, vec![found]).await;
    let (volumes, networks, images) = tokio::join!(
        labelled(Kind::Volume, asked, whose),
        labelled(Kind::Network, asked, whose),
        images(asked, whose)
    );
    reaped.take(asked, vec![volumes, networks, images]).await;
    reaped.was_silent = asked.1.has_run_out();
    reaped
}

/// The engine, and how long it is waited for.
type Asked<'a> = (&'a Engine, &'a Patience);

impl Reaped {
    /// Removes what was found.
    async fn take(
        &mut self,
        (engine, patience): Asked<'_>,
        found: Vec<Result<Vec<Leftover>, String>>,
    ) {
        let mut all = Vec::new();
        for found in found {
            match found {
                Ok(found) => all.extend(found),
                Err(reason) if self.failures.contains(&reason) => {}
                Err(reason) => self.failures.push(reason),
            }
        }
        let mut removing = stream::iter(all)
            .map(|leftover| async move {
                let removed = patience.answer(Box::pin(remove(engine, &leftover))).await;
                (leftover, removed.flatten())
            })
            .buffer_unordered(AT_ONCE);
        while let Some((leftover, removed)) = removing.next().await {
            match removed {
                Ok(()) if leftover.kind == Kind::Container => self.containers.push(leftover.name),
                Ok(()) => self.others.push(leftover.to_string()),
                Err(reason) => {
                    self.failures.push(format!("{leftover}: {reason}"));
                    self.left.push(leftover.to_string());
                }
            }
        }
        self.containers.sort_unstable();
        self.others.sort_unstable();
    }

    /// Whether anything was removed.
    pub fn is_empty(&self) -> bool {
        self.containers.is_empty() && self.others.is_empty()
    }
}

/// Waits for a list of the engine's.
async fn listed<T>(
    patience: &Patience,
    asked: impl Future<Output = Result<T, Error>>,
) -> Result<T, String> {
    let found = patience.answer(Box::pin(asked)).await?;
    found.map_err(|error| chain(&error))
}

/// What carries our labels.
async fn labelled(
    kind: Kind,
    (engine, patience): Asked<'_>,
    whose: Whose<'_>,
) -> Result<Vec<Leftover>, String> {
    let docker = &engine.docker;
    let label = match whose {
        Whose::Run(run) => format!("{}={run}", labels::RUN),
        Whose::Abandoned | Whose::Anybody => labels::RUN.to_owned(),
    };
    let filters = HashMap::from([("label", vec![label])]);
    let found: Vec<(Option<String>, Option<String>, Option<Labels>)> = match kind {
        Kind::Container => {
            let options = ListContainersOptionsBuilder::default().all(true);
            let options = options.filters(&filters).build();
            let found = listed(patience, docker.list_containers(Some(options))).await?;
            let found = found.into_iter().map(|container| {
                let name = container.names.unwrap_or_default().into_iter().next();
                let name = name.map(|name| name.trim_start_matches('/').to_owned());
                (container.id, name, container.labels)
            });
            found.collect()
        }
        Kind::Network => {
            let options = ListNetworksOptionsBuilder::default();
            let options = options.filters(&filters).build();
            let found = listed(patience, docker.list_networks(Some(options))).await?;
            let found = found.into_iter();
            found.map(|it| (it.id, it.name, it.labels)).collect()
        }
        Kind::Volume | Kind::Image => {
            let options = ListVolumesOptionsBuilder::default();
            let options = options.filters(&filters).build();
            let found = listed(patience, docker.list_volumes(Some(options))).await?;
            let found = found.volumes.unwrap_or_default().into_iter();
            found
                .map(|it| (Some(it.name), None, Some(it.labels)))
                .collect()
        }
    };
    let wanted = found.into_iter().filter_map(|(id, name, labels)| {
        let labels = labels.unwrap_or_default();
        let is_wanted = match whose {
            Whose::Run(_) | Whose::Anybody => labels::are_ours(&labels),
            Whose::Abandoned => labels::is_abandoned(&labels),
        };
        let id = id.filter(|_| is_wanted)?;
        let name = name.unwrap_or_else(|| id.clone());
        Some(Leftover { kind, id, name })
    });
    Ok(wanted.collect())
}

type Labels = HashMap<String, String>;

/// What unfinished builds made, what built images a run held on to, and built and prepared images that lost their name to
/// a newer one. Those that have a name are kept: they are what later runs find again.
async fn images((engine, patience): Asked<'_>, whose: Whose<'_>) -> Result<Vec<Leftover>, String> {
    let list = |filters: HashMap<String, Vec<String>>| {
        let options = ListImagesOptionsBuilder::default()
            .filters(&filters)
            .build();
        listed(patience, engine.docker.list_images(Some(options)))
    };
    let one = |name: &str, value: &str| (name.to_owned(), vec![value.to_owned()]);
    let building = list(HashMap::from([one("reference", unfinished::REPOSITORY)]));
    let nameless = |label: &str| {
        list(HashMap::from([
            one("dangling", "true"),
            one("label", label),
        ]))
    };
    let (building, mut nameless, built) =
        tokio::try_join!(building, nameless(PREPARED), nameless(BUILT))?;
    nameless.extend(built);
    // What was prepared of a built image has the labels of both.
    nameless.sort_unstable_by(|one, other| one.id.cmp(&other.id));
    nameless.dedup_by(|one, other| one.id == other.id);
    let mut found: Vec<Leftover> = building
        .iter()
        .flat_map(|image| unfinished(whose, image))
        .collect();
    let now = i64::try_from(labels::now().as_secs()).unwrap_or(i64::MAX);
    let replaced = |image: &ImageSummary| match whose {
        Whose::Run(_) => false,
        Whose::Abandoned | Whose::Anybody => now - image.created > NAMING,
    };
    let replaced = nameless.into_iter().filter(replaced);
    found.extend(replaced.map(|image| Leftover {
        kind: Kind::Image,
        name: image.id.clone(),
        id: image.id,
    }));
    Ok(found)
}

/// The names of an image that unfinished builds gave it.
fn unfinished<'a>(
    whose: Whose<'a>,
    image: &'a ImageSummary,
) -> impl Iterator<Item = Leftover> + 'a {
    image.repo_tags.iter().filter_map(move |name| {
        let (repository, tag) = name.rsplit_once(':')?;
        if !repository.ends_with(unfinished::REPOSITORY) {
            return None;
        }
        let (unique, owner) = unfinished::read(tag)?;
        let wanted = match whose {
            Whose::Run(run) => labels::unique(run) == unique,
            Whose::Anybody => true,
            Whose::Abandoned => match owner.life() {
                Life::Alive => false,
                Life::Dead => true,
                Life::Unknown => labels::is_too_old(image.created),
            },
        };
        wanted.then(|| Leftover {
            kind: Kind::Image,
            id: image.id.clone(),
            name: name.clone(),
        })
    })
}

/// Removes a thing; one that is gone already is not an error.
async fn remove(engine: &Engine, leftover: &Leftover) -> Result<(), String> {
    let id = &leftover.id;
    let removed = match leftover.kind {
        Kind::Container => engine.remove_container(id).await,
        Kind::Volume => remove_volume(engine, id).await,
        Kind::Network => engine.docker.remove_network(id).await,
        Kind::Image => match leftover
            .name
            .rsplit_once(&format!("{}:", unfinished::REPOSITORY))
        {
            Some((_, tag)) => unfinished::remove(engine, id, tag).await,
            None => unfinished::delete(engine, id).await,
        },
    };
    match removed {
        Err(error) if !is_unknown(&error) => Err(chain(&error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

async fn remove_volume(engine: &Engine, name: &str) -> Result<(), Error> {
    let mut tries = 1;
    loop {
        let docker = &engine.docker;
        let asked = docker.remove_volume(name, None::<RemoveVolumeOptions>);
        match asked.await {
            // Another run may be removing the container that has it.
            Err(Error::DockerResponseServerError {
                status_code: 409, ..
            }) if tries < TRIES => {
                tries += 1;
                sleep(PAUSE).await;
            }
            answer => return answer,
        }
    }
}
