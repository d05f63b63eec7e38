//! One server in one container: made, filled, attached to, started; and in the end its exit read and everything
//! removed. What is said to it goes over the connection that is handed out.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use bollard::query_parameters::KillContainerOptionsBuilder;
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, timeout},
};

use super::{
    Containers, body,
    engine::EngineKind,
    failure::answer,
    image::ReadyImage,
    network,
    owned::Owned,
    readback::{self, ReadFailure, Tree},
    refusal::{self, About, Failure},
    sight::{self, Overlaid},
    sockets::sockets,
    steps::{self, Steps},
    work::Work,
};
use crate::{fixture::Fixture, launch::CommandLine, locked, process::Patience, tail::Tail};
use mcp::{
    observation::{
        container::ContainerSeen,
        files::FileState,
        process::{Ending, Exit, ExitStatus, StderrTail},
    },
    transport::{Connection, clock::JobClock},
};
use suite::model::container::Container;

/// How long the engine may take for what follows a container's end.
const AFTERWARDS: Duration = Duration::from_secs(5);

/// How often a container that is to end is looked at.
const LOOK: Duration = Duration::from_millis(250);

/// How long a container may take to end after SIGKILL.
const VANISHING: Duration = Duration::from_secs(2);

/// What is started in a container, and what it needs.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// The container as the suite describes it.
    pub container: &'a Container,
    /// Its image.
    pub image: &'a ReadyImage,
    /// What is started.
    pub command: CommandLine,
    /// What is put into it before.
    pub fixture: Option<&'a Arc<Fixture>>,
    /// The assertion it is for.
    pub assertion: &'a str,
    /// Paths outside of the fixture to look at before the server starts, each with its absolute path.
    pub outside: &'a [(String, String)],
    /// Whether it listens.
    pub listens: Listens,
}

/// Whether a server in a container listens on a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listens {
    /// It speaks over its standard streams.
    Nowhere,
    /// It has a network of its own for that, unless the suite names one.
    OnNetwork,
}

/// A server in a container: to be ended with [`ServerContainer::end`]; dropping it has the container removed.
#[derive(Debug)]
pub struct ServerContainer {
    owned: Owned,
    /// The network of its own.
    network: Option<String>,
    /// How it ended; `None` while it runs.
    state: watch::Receiver<Option<ExitStatus>>,
    stderr: Arc<Mutex<Tail>>,
    work: JoinHandle<()>,
    /// Whether it lived when it was asked to end; `None` before that.
    lived: Option<bool>,
    ended: Option<Exit>,
    /// What the report says about it.
    pub seen: ContainerSeen,
    /// The named paths outside of the fixture before the server started.
    pub before: BTreeMap<String, FileState>,
    /// What lies over its image.
    overlaid: Overlaid,
    memory_limit: Option<u64>,
    about: About,
}

/// Whether the engine took a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Signalled {
    Taken,
    /// The engine does not answer, or cannot do it.
    Unanswered,
    /// The container had ended already, and the notice of it had not come.
    Ended,
}

impl ServerContainer {
    /// Makes the container and starts the server in it. `limit` counts from the moment it was our turn.
    pub async fn start(
        containers: &Arc<Containers>,
        wanted: &Wanted<'_>,
        clock: JobClock,
        limit: Duration,
    ) -> Result<(Self, Connection), Failure> {
        let about = about(containers, wanted);
        let steps = Steps {
            containers,
            about: &about,
            wanted,
            deadline: Instant::now() + limit,
            limit,
        };
        let (owned, mut seen, network) = steps.create().await?;
        let begun = Instant::now();
        if let Some(fixture) = wanted.fixture {
            steps.fill(&owned, fixture).await?;
        }
        let mut before = BTreeMap::new();
        let overlaid = body::overlaid(wanted.container, wanted.image);
        for (name, path) in wanted.outside {
            let state = sight::look(&containers.engine.docker, &owned.id, path, &overlaid).await;
            before.insert(name.clone(), state);
        }
        seen.fill = begun.elapsed();
        let begun = Instant::now();
        let (connection, state, stderr, work) = steps.attach_and_start(&owned, clock).await?;
        seen.start = begun.elapsed();
        let container = Self {
            owned,
            network,
            state,
            stderr,
            work,
            lived: None,
            ended: None,
            seen,
            before,
            overlaid,
            memory_limit: wanted.container.memory,
            about,
        };
        Ok((container, connection))
    }

    /// Its address in its network.
    pub async fn address(&self) -> Result<String, String> {
        let asked = network::address(&self.owned.containers, &self.owned.id);
        let address = answer(AFTERWARDS, asked).await?.flatten();
        address.ok_or_else(|| "it has no address: its network has none".to_owned())
    }

    /// How it ended, if it has.
    pub fn status(&self) -> Option<ExitStatus> {
        *self.state.borrow()
    }

    /// Waits for its end without borrowing it.
    pub fn end_watch(&self) -> impl Future<Output = ExitStatus> + Send + use<> {
        let mut state = self.state.clone();
        async move {
            let ended = state.wait_for(Option::is_some).await;
            ended.ok().and_then(|it| *it).unwrap_or(ExitStatus::Unknown)
        }
    }

    /// What it wrote to stderr so far.
    pub fn stderr(&self) -> StderrTail {
        locked(&self.stderr).kept()
    }

    /// Expects its end from now on.
    pub fn ask(&mut self) {
        if self.lived.is_none() {
            self.lived = Some(self.status().is_none());
        }
    }

    /// Everything below the fixture's place; of the files that are asked for, relative to it, the content too.
    pub async fn tree(&self, path: &str, asked: BTreeSet<PathBuf>) -> Result<Tree, ReadFailure> {
        readback::tree(
            &self.owned.containers.engine.docker,
            &self.owned.id,
            path,
            asked,
        )
        .await
    }

    /// Adds the sockets in changed folders of the fixture at `root`, where the container's shell finds them. A changed
    /// folder alone does not say so, because files come and go too. Podman may not keep the times of folders.
    pub async fn add_sockets(&self, root: &str, tree: &mut Tree) {
        let engine = &self.owned.containers.engine;
        if tree.changed.is_empty() || engine.facts.kind == EngineKind::Podman {
            return;
        }
        let root = Path::new(root);
        let folders: Vec<PathBuf> = tree.changed.iter().map(|it| root.join(it)).collect();
        let found = sockets(&engine.docker, &self.owned.id, &folders).await;
        for socket in found.into_iter().flatten() {
            if let Ok(below) = socket.strip_prefix(root) {
                tree.add_socket(below.to_owned());
            }
        }
    }

    /// What one path of the fixture at `root` is.
    pub async fn look_below(&self, root: &str, path: &str) -> FileState {
        sight::look_below(
            &self.owned.containers.engine.docker,
            &self.owned.id,
            root,
            path,
        )
        .await
    }

    /// What a path outside of the fixture is.
    pub async fn look(&self, path: &str) -> FileState {
        let docker = &self.owned.containers.engine.docker;
        sight::look(docker, &self.owned.id, path, &self.overlaid).await
    }

    /// Ends it: stdin was closed by now, then SIGTERM, then SIGKILL; and removes it with its volumes.
    pub async fn end(&mut self, patience: Patience) -> Exit {
        if let Some(exit) = self.ended {
            return exit;
        }
        self.ask();
        let (ending, signalled) = self.descend(patience).await;
        let status = match (self.status(), signalled) {
            // It is not known what the server would have done, even when its end is reported later.
            (_, Signalled::Unanswered) => ExitStatus::Unknown,
            (Some(status), _) => status,
            (None, Signalled::Taken) => ExitStatus::Signal(9),
            (None, Signalled::Ended) => {
                steps::status_now(&self.owned.containers, &self.owned.id).await
            }
        };
        self.look_back(status).await;
        self.finish(Exit {
            status,
            ending,
            orphans: 0,
        })
        .await
    }

    /// Removes it in the background; [`Containers::close`] waits for that.
    pub fn abandon(&mut self) -> Exit {
        if let Some(exit) = self.ended {
            return exit;
        }
        let exit = Exit {
            status: self.status().unwrap_or(ExitStatus::Signal(9)),
            ending: Ending::Killed,
            orphans: 0,
        };
        self.ended = Some(exit);
        self.owned.containers.hurry();
        self.owned.pass_on();
        exit
    }

    async fn finish(&mut self, exit: Exit) -> Exit {
        self.ended = Some(exit);
        self.seen.remove = self.owned.remove().await;
        if let Some(network) = &self.network {
            let removing = network::remove(&self.owned.containers, network);
            // What takes longer is left to the end of the run.
            let _ = timeout(AFTERWARDS, removing).await;
        }
        // With the container its streams have ended.
        if timeout(AFTERWARDS, &mut self.work).await.is_err() {
            self.work.abort();
            locked(&self.stderr).cut_off();
        }
        exit
    }

    async fn descend(&self, patience: Patience) -> (Ending, Signalled) {
        if self.lived == Some(false) {
            return (Ending::ByItself, Signalled::Taken);
        }
        if self.ends_unasked(patience).await {
            return (Ending::StdinClosed, Signalled::Taken);
        }
        match self.signal("SIGTERM").await {
            Signalled::Taken => {}
            Signalled::Unanswered => return (Ending::Killed, Signalled::Unanswered),
            Signalled::Ended => return (Ending::StdinClosed, Signalled::Ended),
        }
        if timeout(patience.terminated, self.end_watch()).await.is_ok() {
            return (Ending::Terminated, Signalled::Taken);
        }
        match self.signal("SIGKILL").await {
            Signalled::Taken => {
                let _ = timeout(VANISHING, self.end_watch()).await;
                (Ending::Killed, Signalled::Taken)
            }
            Signalled::Unanswered => (Ending::Killed, Signalled::Unanswered),
            Signalled::Ended => (Ending::Terminated, Signalled::Ended),
        }
    }

    /// Whether it ends without a signal, in the time it has for it: longer where it is at work.
    async fn ends_unasked(&self, patience: Patience) -> bool {
        if patience.at_work.is_zero() {
            return timeout(patience.closed, self.end_watch()).await.is_ok();
        }
        let quiet = patience.closed.saturating_sub(LOOK);
        if timeout(quiet, self.end_watch()).await.is_ok() {
            return true;
        }
        let over = Instant::now() + LOOK + patience.at_work;
        let mut before = self.work_done().await;
        loop {
            if timeout(LOOK, self.end_watch()).await.is_ok() {
                return true;
            }
            let now = self.work_done().await;
            let works = before.zip(now);
            let goes_on = works.is_some_and(|(before, now)| now.goes_on_since(before));
            if !goes_on || Instant::now() >= over {
                // It may have ended while the engine was asked.
                return self.status().is_some();
            }
            before = now;
        }
    }

    /// What it worked so far, where the engine says so.
    async fn work_done(&self) -> Option<Work> {
        let containers = &self.owned.containers;
        if containers.silent.is_cancelled() {
            return None;
        }
        Work::of(&containers.engine.docker, &self.owned.id).await
    }

    /// Sends a signal.
    async fn signal(&self, name: &str) -> Signalled {
        let containers = &self.owned.containers;
        if containers.silent.is_cancelled() {
            return Signalled::Unanswered;
        }
        let options = KillContainerOptionsBuilder::default().signal(name).build();
        let asked = containers
            .engine
            .docker
            .kill_container(&self.owned.id, Some(options));
        match timeout(AFTERWARDS, asked).await {
            Ok(Err(error)) if refusal::is_over(&error) => Signalled::Ended,
            Ok(Ok(())) => Signalled::Taken,
            Ok(Err(_)) | Err(_) => Signalled::Unanswered,
        }
    }

    /// Learns what only a container tells that is still there: whether memory ran out in it, whatever the server made of
    /// that.
    async fn look_back(&mut self, status: ExitStatus) {
        let containers = &self.owned.containers;
        if containers.silent.is_cancelled() {
            return;
        }
        let state = readback::state(&containers.engine.docker, &self.owned.id, AFTERWARDS).await;
        if let Ok(Some(state)) = state {
            self.seen.out_of_memory = state.oom_killed == Some(true);
        }
        self.seen.out_of_memory |= status == ExitStatus::OutOfMemory;
    }

    /// Why a server that ended before its first answer could not be started, where that is known.
    pub fn explain(&self, status: ExitStatus) -> Option<Failure> {
        refusal::unstarted(&self.stderr().text(), status, &self.about)
    }

    /// The limit that a server met which ended out of memory.
    pub fn memory_limit(&self) -> u64 {
        self.memory_limit.unwrap_or(body::MEMORY)
    }
}

impl Drop for ServerContainer {
    fn drop(&mut self) {
        self.work.abort();
    }
}

/// What messages about it name.
fn about(containers: &Containers, wanted: &Wanted<'_>) -> About {
    let words = wanted.command.words_in(wanted.container, wanted.image);
    let (platform, engine) = (&wanted.image.platform, &containers.engine.facts.platform);
    let platforms = if platform == engine {
        String::new()
    } else {
        format!(" (the image is for {platform}, the engine runs {engine})")
    };
    About::new([
        ("{image}", &wanted.image.name),
        ("{platforms}", &platforms),
        ("{program}", words.first().map_or("", String::as_str)),
    ])
}
