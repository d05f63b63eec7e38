//! The steps from an image to a running container, in the order the engine needs them, and how its end is observed.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bollard::{
    body_full,
    errors::Error,
    query_parameters::{
        AttachContainerOptionsBuilder, CreateContainerOptionsBuilder,
        UploadToContainerOptionsBuilder, WaitContainerOptionsBuilder,
    },
};
use bytes::Bytes;
use futures_util::StreamExt;
use tokio::{
    sync::watch,
    task::{self, JoinHandle},
    time::{Instant, sleep, timeout, timeout_at},
};

use super::{
    Containers, attach,
    body::{self, FIXTURE_VOLUME, Volume},
    failure::is_unknown,
    network,
    owned::Owned,
    readback,
    refusal::{About, Asked, Failure, Kind, Refusal},
    server::{Listens, Wanted},
    sight,
    upload::{self, Ids},
};
use crate::{fixture::Fixture, locked, tail::Tail};
use mcp::{
    observation::{
        container::ContainerSeen,
        process::{BY_SIGNAL, ExitStatus},
    },
    transport::{Connection, clock::JobClock},
};

/// How long the engine may take for what follows a container's end.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// How long a container may live on after all its streams ended, to count as ended by itself.
const STREAM_TO_END: Duration = Duration::from_secs(10);

/// How often the engine is asked whether the kernel ended a container for its memory.
const LOOKS: usize = 10;

/// How long is waited before it is asked again.
const BETWEEN_LOOKS: Duration = Duration::from_millis(100);

/// The connection to an attached and started container, how it ended, its stderr, and the task that carries both.
pub(super) type Running = (
    Connection,
    watch::Receiver<Option<ExitStatus>>,
    Arc<Mutex<Tail>>,
    JoinHandle<()>,
);

/// The steps to a running container, with one deadline for all.
pub(super) struct Steps<'a> {
    pub(super) containers: &'a Arc<Containers>,
    pub(super) about: &'a About,
    pub(super) wanted: &'a Wanted<'a>,
    pub(super) deadline: Instant,
    pub(super) limit: Duration,
}

impl Steps<'_> {
    /// Waits for the engine, no longer than there is time.
    async fn within<T>(
        &self,
        step: &'static str,
        asked: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Failure> {
        match timeout_at(self.deadline, asked).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(error)) => Err(Failure::of(Asked::Container, self.about, &error)),
            Err(_) => Err(Failure::Slow {
                step,
                limit: self.limit,
            }),
        }
    }

    /// Makes the container; owned from the first byte of the request on.
    pub(super) async fn create(&self) -> Result<(Owned, ContainerSeen, Option<String>), Failure> {
        let wanted = self.wanted;
        if wanted
            .command
            .words_in(wanted.container, wanted.image)
            .is_empty()
        {
            // Asked for nothing, the engine would start what the suite took away.
            let image = &wanted.image.name;
            let why = match wanted.container.entrypoint {
                Some(_) => format!("`entrypoint: \"\"` takes away what the image `{image}` starts"),
                None => format!("the image `{image}` starts nothing by itself"),
            };
            return Err(Failure::Refused(Refusal::new(
                format!("{why}, and the server has no `command`"),
                None,
            )));
        }
        let marks = self.containers.run.next(wanted.assertion);
        let name = marks.name.clone();
        let volume = match wanted.fixture {
            Some(_) => Volume::Fixture,
            None => Volume::None,
        };
        let network = match wanted.listens {
            Listens::OnNetwork if wanted.container.network.is_none() => {
                let made = network::make(self.containers, &marks);
                Some(self.within("network", made).await?)
            }
            Listens::OnNetwork | Listens::Nowhere => None,
        };
        let body = body::of(
            wanted.container,
            wanted.image,
            &wanted.command,
            &marks,
            (volume, network.as_deref()),
        );
        let mut options = CreateContainerOptionsBuilder::default().name(&name);
        if let Some(platform) = &wanted.container.platform {
            options = options.platform(platform);
        }
        let begun = Instant::now();
        let mut owned = Owned::new(self.containers, name.clone());
        let asked = owned.create(options.build(), body);
        if let Err(failure) = self.within("create", asked).await {
            if matches!(&failure, Failure::Refused(refusal) if refusal.kind == Kind::NameTaken) {
                // What has the name is not ours.
                owned.disown();
            }
            return Err(failure);
        }
        let seen = ContainerSeen {
            id: owned.id.clone(),
            image: wanted.image.name.clone(),
            image_id: wanted.image.id.clone(),
            digest: wanted.image.digest.clone(),
            create: begun.elapsed(),
            ..ContainerSeen::default()
        };
        Ok((owned, seen, network))
    }

    /// Puts the fixture into its volume.
    pub(super) async fn fill(&self, owned: &Owned, fixture: &Arc<Fixture>) -> Result<(), Failure> {
        let ids = self.owner(owned).await?;
        let known = locked(&self.containers.fixtures).get(&ids).cloned();
        let tar = if let Some(tar) = known {
            tar
        } else {
            let fixture = Arc::clone(fixture);
            let packed = task::spawn_blocking(move || upload::pack(&fixture, ids)).await;
            let packed = packed.map_err(io::Error::other).flatten();
            let tar = Bytes::from(packed.map_err(|error| Failure::Fixture(error.to_string()))?);
            locked(&self.containers.fixtures).insert(ids, tar.clone());
            tar
        };
        let options = UploadToContainerOptionsBuilder::default()
            .path(FIXTURE_VOLUME)
            .build();
        let docker = &self.containers.engine.docker;
        let asked = docker.upload_to_container(&owned.id, Some(options), body_full(tar));
        self.within("fill", asked).await
    }

    /// Who the server runs as, in numbers.
    async fn owner(&self, owned: &Owned) -> Result<Ids, Failure> {
        let wanted = self.wanted;
        let user = body::user(wanted.container, wanted.image);
        let key = (wanted.image.id.clone(), user.clone());
        if let Some(known) = locked(&self.containers.users).get(&key) {
            return Ok(*known);
        }
        let docker = &self.containers.engine.docker;
        let (passwd, groups) = match upload::ids(&user, "", "") {
            Some(_) if user.contains(':') || user.is_empty() => (String::new(), String::new()),
            Some(_) | None => (
                sight::table(docker, &owned.id, "/etc/passwd").await,
                sight::table(docker, &owned.id, "/etc/group").await,
            ),
        };
        let ids = upload::ids(&user, &passwd, &groups).ok_or_else(|| {
            let said = format!("unable to find user {user}");
            Failure::Refused(Refusal::of(Asked::Container, &said, self.about))
        })?;
        locked(&self.containers.users).insert(key, ids);
        Ok(ids)
    }

    /// Attaches before the start, so that no byte is lost.
    pub(super) async fn attach_and_start(
        &self,
        owned: &Owned,
        clock: JobClock,
    ) -> Result<Running, Failure> {
        let docker = &self.containers.engine.docker;
        let options = AttachContainerOptionsBuilder::default()
            .stdin(true)
            .stdout(true)
            .stderr(true)
            .stream(true)
            .build();
        let asked = docker.attach_container(&owned.id, Some(options));
        let streams = self.within("attach to", asked).await?;
        let stderr = Arc::new(Mutex::new(Tail::default()));
        let heard = Arc::clone(&stderr);
        let on_stderr = move |bytes: &[u8]| locked(&heard).push(bytes);
        let (connection, carrying) = attach::attach(streams, on_stderr, clock);
        self.within("start", docker.start_container(&owned.id, None))
            .await?;
        let (sender, state) = watch::channel(None);
        let (containers, id) = (Arc::clone(self.containers), owned.id.clone());
        let written = Arc::clone(&stderr);
        let work = tokio::spawn(async move {
            let (held, is_broken) = carrying.await;
            let cut_off = |status: ExitStatus| {
                // When the engine is gone, the connection ends as if the server had closed its streams.
                if is_broken || status == ExitStatus::Unknown {
                    locked(&written).cut_off();
                }
                status
            };
            // The status is known before the end of the stream is seen, unless the server lives on.
            let mut status = Box::pin(status_of(&containers, &id));
            let known = timeout(STREAM_TO_END, &mut status).await;
            if let Ok(status) = known {
                sender.send_replace(Some(cut_off(status)));
            }
            drop(held);
            if known.is_err() {
                sender.send_replace(Some(cut_off(status.await)));
            }
        });
        Ok((connection, state, stderr, work))
    }
}

/// How a container ended; waits while it has not.
async fn status_of(containers: &Containers, id: &str) -> ExitStatus {
    let docker = &containers.engine.docker;
    let options = WaitContainerOptionsBuilder::default()
        .condition("not-running")
        .build();
    let mut waiting = Box::pin(docker.wait_container(id, Some(options)));
    let code = match waiting.next().await {
        Some(Ok(answer)) => answer.status_code,
        Some(Err(error)) if is_unknown(&error) => return ExitStatus::Removed,
        Some(Err(Error::DockerContainerWaitError { code, .. })) => code,
        Some(Err(_)) | None => return ExitStatus::Unknown,
    };
    meaning(containers, id, code).await
}

/// How a container has ended, without waiting for the engine to tell it by itself.
pub(super) async fn status_now(containers: &Containers, id: &str) -> ExitStatus {
    let state = match readback::state(&containers.engine.docker, id, AFTERWARDS).await {
        Ok(Some(state)) => state,
        Ok(None) => return ExitStatus::Removed,
        Err(_) => return ExitStatus::Unknown,
    };
    match (state.running, state.exit_code) {
        (Some(true), _) | (_, None) => ExitStatus::Unknown,
        (Some(false) | None, Some(code)) => meaning(containers, id, code).await,
    }
}

/// What the code of a container's end means.
async fn meaning(containers: &Containers, id: &str, code: i64) -> ExitStatus {
    if code == i64::from(BY_SIGNAL) + 9
        && let Some(status) = killed_by(containers, id).await
    {
        return status;
    }
    match i32::try_from(code) {
        // What ends a server unasked; other codes over 128 are its own.
        Ok(code @ (132 | 134..=137 | 139 | 143)) => ExitStatus::LikeSignal(code - BY_SIGNAL),
        Ok(code) => ExitStatus::Code(code),
        Err(_) => ExitStatus::Unknown,
    }
}

/// What killed it, where the engine knows: the kernel for its memory, or a removal.
async fn killed_by(containers: &Containers, id: &str) -> Option<ExitStatus> {
    let docker = &containers.engine.docker;
    // The engine hears of the end and of its reason by two ways, the second of which may be the slower one.
    for _ in 0..LOOKS {
        match readback::state(docker, id, AFTERWARDS).await {
            Ok(Some(state)) if state.oom_killed == Some(true) => {
                return Some(ExitStatus::OutOfMemory);
            }
            Ok(Some(_)) => {}
            Ok(None) => return Some(ExitStatus::Removed),
            Err(_) => return None,
        }
        sleep(BETWEEN_LOOKS).await;
    }
    None
}
