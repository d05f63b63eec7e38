//! One way to have a server: started in its place, as a process or in a container, and ended with all that came of it.
//! What is said to it is `session`'s.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::{
    contained,
    container::{
        Containers,
        image::ReadyImage,
        server::{Listens, ServerContainer},
    },
    fixture::Fixture,
    launch::{CommandLine, Spelled, not_started},
    locked,
    place::Place,
    process::{Parting, Patience, Process, ProcessSpec},
    remote::{self, Launched},
};
use mcp::{
    observation::{
        container::ContainerSeen,
        disruption::Disruption,
        process::{Exit, ExitStatus, StderrTail},
    },
    script::template::Bindings,
    transport::{
        Connection,
        clock::JobClock,
        http::{self, Client},
        tls::Trusted,
    },
};
use suite::model::{runtime_rules::Lookup, server::Target};
use text::environment::Environment;

/// What the servers of a run are started with.
#[derive(Debug)]
pub struct Host {
    /// Facts about our surroundings.
    pub environment: Arc<Environment>,
    /// The folder that is copied for each place that uses it.
    pub fixture: Option<Arc<Fixture>>,
    /// What containers are made with; there when any server needs one.
    pub containers: Option<Arc<Containers>>,
    /// Ends the start of a server early.
    pub interrupt: CancellationToken,
    /// What servers behind a url are reached with, made for the first that trusts these certificates.
    pub http: Mutex<HashMap<Trusted, Result<Client, String>>>,
}

/// What is started, and where.
pub struct Start<'a> {
    /// The target, as written.
    pub target: &'a Target,
    /// The values of its `{{…}}`.
    pub bindings: &'a Bindings,
    /// The files that it finds.
    pub place: &'a Place,
    /// The image of its container, when it has one.
    pub image: Option<&'a ReadyImage>,
    /// Where its program is looked for.
    pub lookup: Lookup,
    /// What its frames are timed by.
    pub clock: JobClock,
    /// The time that a container has to start.
    pub timeout: Duration,
    /// The assertion, for the label of a container.
    pub assertion: &'a str,
}

/// A started server.
pub struct Server {
    /// What it is talked to over.
    pub connection: Connection,
    /// What runs.
    pub peer: Peer,
}

impl Host {
    /// Starts a server. Adds the time that was waited for a turn at the container engine to `waited`; starts nothing any
    /// more once `called_off` resolves.
    pub async fn start(
        &self,
        spelled: Spelled,
        start: &Start<'_>,
        waited: &mut Duration,
        called_off: impl Future<Output = ()>,
    ) -> Result<Server, Disruption> {
        let patience = (waited, called_off);
        let mut reached = match spelled {
            Spelled::Command(line) => {
                let line = (line, Listens::Nowhere);
                let (peer, connection) = self.launch(line, start, patience).await?;
                return Ok(Server { connection, peer });
            }
            Spelled::Url(reached) => reached,
        };
        let peer = match reached.listener.take() {
            None => Peer::Remote,
            Some(listener) => {
                let line = (listener.command.clone(), Listens::OnNetwork);
                let started = self.launch(line, start, patience).await?;
                let what = (&mut reached, &listener);
                Box::pin(remote::listening(self, started, what, start)).await?
            }
        };
        remote::connect(self, reached, peer, start)
    }

    /// Starts a process, or a container where the job has an image.
    async fn launch(
        &self,
        (line, listens): (CommandLine, Listens),
        start: &Start<'_>,
        patience: (&mut Duration, impl Future<Output = ()>),
    ) -> Result<(Peer, Connection), Disruption> {
        if let (Target::Container { container, .. }, Some(image)) = (start.target, start.image) {
            let what = (line, listens);
            let started = contained::start(self, (container, image), what, start, patience);
            let (container, connection) = Box::pin(started).await?;
            return Ok((Peer::Container(Box::new(container)), connection));
        }
        let spec = ProcessSpec {
            line,
            environment: Arc::clone(&self.environment),
            lookup: start.lookup,
        };
        let started = Process::start(spec, start.clock).await;
        let (process, connection) = started.map_err(|failure| not_started(&failure))?;
        Ok((Peer::Process(process), connection))
    }

    /// The client of servers behind a url; why there is none where nothing can be trusted.
    pub(super) fn http(&self, trusted: &Trusted) -> Result<Client, String> {
        let mut made = locked(&self.http);
        let made = made.entry(trusted.clone());
        made.or_insert_with(|| http::client(&self.environment, trusted))
            .clone()
    }
}

/// What answers on the other side of a connection.
#[derive(Debug)]
pub enum Peer {
    /// A process of this machine.
    Process(Process),
    /// A container of the engine's.
    Container(Box<ServerContainer>),
    /// A process or a container that listens on a port.
    Launched(Box<Launched>),
    /// A server behind a url that we did not start: there is no process to watch or to end.
    Remote,
}

/// How a server ended.
#[derive(Debug)]
pub struct Ended {
    /// Its exit, and what it took; `None`: we did not start it.
    pub exit: Option<Exit>,
    /// How much time it was given.
    pub pace: Pace,
    /// How it took the end of its stdin, where that is known.
    pub parting: Parting,
    /// The end of its stderr.
    pub stderr: StderrTail,
    /// What it left behind, or died of, where `exit` does not say so.
    pub note: Option<String>,
    /// The container it ran in.
    pub container: Option<Box<ContainerSeen>>,
}

/// How much time a server was given to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pace {
    /// All that it should need.
    Usual,
    /// Less: the run was interrupted, and the way it ended says nothing about it.
    Hurried,
}

impl Peer {
    /// How it ended, if it has.
    pub fn status(&self) -> Option<ExitStatus> {
        match self {
            Self::Process(process) => process.status(),
            Self::Launched(launched) => launched.peer.status(),
            Self::Container(container) => container.status(),
            Self::Remote => None,
        }
    }

    /// Waits for its end without borrowing it.
    pub fn end_watch(&self) -> Pin<Box<dyn Future<Output = ExitStatus> + Send>> {
        match self {
            Self::Process(process) => Box::pin(process.end_watch()),
            Self::Launched(launched) => launched.peer.end_watch(),
            Self::Container(container) => Box::pin(container.end_watch()),
            Self::Remote => Box::pin(std::future::pending()),
        }
    }

    /// Whether a signal has stopped its process.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Process(process) => process.is_stopped(),
            Self::Launched(launched) => launched.peer.is_stopped(),
            Self::Container(_) | Self::Remote => false,
        }
    }

    /// What it wrote to stderr so far.
    pub fn stderr(&self) -> StderrTail {
        match self {
            Self::Process(process) => process.stderr(),
            Self::Launched(launched) => launched.peer.stderr(),
            Self::Container(container) => container.stderr(),
            Self::Remote => StderrTail::default(),
        }
    }

    /// The container, when it runs in one.
    pub fn container(&self) -> Option<&ServerContainer> {
        match self {
            Self::Container(container) => Some(container),
            Self::Launched(launched) => launched.peer.container(),
            Self::Process(_) | Self::Remote => None,
        }
    }

    /// Whether it is to be ended when the session is closed, and not by that: it may serve others.
    pub fn outlives_its_sessions(&self) -> bool {
        match self {
            Self::Launched(_) => true,
            Self::Process(_) | Self::Container(_) | Self::Remote => false,
        }
    }

    /// Expects its end from now on. To be called just before its stdin is closed.
    pub fn ask(&mut self) {
        match self {
            Self::Process(process) => process.ask(),
            Self::Launched(launched) => launched.peer.ask(),
            Self::Container(container) => container.ask(),
            Self::Remote => {}
        }
    }

    /// Ends it and everything that it started; in a hurry from the moment `interrupt` is cancelled.
    pub async fn end(&mut self, patience: Patience, interrupt: &CancellationToken) -> Ended {
        let in_time = tokio::select! {
            biased;
            () = interrupt.cancelled() => None,
            exit = self.end_in(patience) => Some(exit),
        };
        let (exit, pace) = match in_time {
            Some(exit) => (exit, Pace::Usual),
            None => (self.end_now().await, Pace::Hurried),
        };
        Ended {
            note: exit.and_then(|exit| self.note(&exit)),
            exit,
            pace,
            parting: self.parting(),
            stderr: self.stderr(),
            container: self
                .container()
                .map(|container| Box::new(container.seen.clone())),
        }
    }

    /// Ends it in the time that there is when the run was interrupted.
    pub async fn end_now(&mut self) -> Option<Exit> {
        match self {
            Self::Container(container) => Some(container.abandon()),
            Self::Launched(launched) => Box::pin(launched.peer.end_now()).await,
            Self::Process(_) | Self::Remote => self.end_in(Patience::HURRIED).await,
        }
    }

    pub(super) async fn end_in(&mut self, patience: Patience) -> Option<Exit> {
        match self {
            Self::Process(process) => Some(Box::pin(process.end(patience)).await),
            Self::Launched(launched) => Box::pin(launched.end(patience)).await,
            Self::Container(container) => Some(Box::pin(container.end(patience)).await),
            Self::Remote => None,
        }
    }

    /// How it took the end of its stdin.
    fn parting(&self) -> Parting {
        match self {
            Self::Process(process) => process.parting(),
            Self::Container(_) | Self::Launched(_) | Self::Remote => Parting::default(),
        }
    }

    fn note(&self, exit: &Exit) -> Option<String> {
        match self {
            Self::Process(process) => process.left().map(str::to_owned),
            Self::Container(container) => contained::ran_out(container, exit.status),
            Self::Launched(launched) => launched.peer.note(exit),
            Self::Remote => None,
        }
    }
}
