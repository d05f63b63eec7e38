//! One way to have a server: started in its place, as a process or in a container, and ended with all that came of it.
//! What is said to it is `session`'s.

use std::{pin::Pin, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    contained,
    container::{Containers, image::ReadyImage, server::ServerContainer},
    fixture::Fixture,
    launch::{CommandLine, not_started, process_spec},
    place::Place,
    process::{Inherited, Patience, Process, Runs},
};
use mcp::{
    observation::{
        disruption::Disruption,
        process::{Ending, Exit, ExitStatus, StderrTail},
    },
    script::template::Bindings,
    transport::{Connection, clock::JobClock},
};
use suite::model::server::Target;
use text::environment::Environment;

/// What the servers of a run are started with.
#[derive(Debug)]
pub struct Host {
    /// Facts about our surroundings.
    pub environment: Arc<Environment>,
    /// The environment, as servers inherit it.
    pub inherited: Arc<Inherited>,
    /// The folder that is copied for each place that uses it.
    pub fixture: Option<Arc<Fixture>>,
    /// What containers are made with; there when any server needs one.
    pub containers: Option<Arc<Containers>>,
    /// Ends the start of a container early.
    pub interrupt: CancellationToken,
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
    /// Starts a server. The time that was waited for a turn at the container engine is added to `waited`; nothing is
    /// started any more once `called_off` resolves.
    pub async fn start(
        &self,
        command: CommandLine,
        start: &Start<'_>,
        waited: &mut Duration,
        called_off: impl Future<Output = ()>,
    ) -> Result<Server, Disruption> {
        let image = start.image;
        if let (Target::Container { container, program }, Some(image)) = (start.target, image) {
            let what = (&**container, program, image);
            let started = contained::start(self, what, start, waited, called_off);
            let (container, connection) = Box::pin(started).await?;
            let peer = Peer::Container(Box::new(container));
            return Ok(Server { connection, peer });
        }
        let spec = process_spec(command, self);
        let started = Process::start(&spec, start.clock).await;
        let (process, connection) = started.map_err(|failure| not_started(&failure))?;
        let peer = Peer::Process(process);
        Ok(Server { connection, peer })
    }
}

/// What a killed client of an engine leaves.
const LEFT_BY_CLIENT: &str = "what was killed is the client of the engine: the container that it ran may live on (see \
                              the engine's list). `--init` lets it end on SIGTERM; under `docker:` in `server` \
                              nothing is left";

/// A server's process, or its container.
#[derive(Debug)]
pub enum Peer {
    /// A process of this machine.
    Process(Process),
    /// A container of the engine's.
    Container(Box<ServerContainer>),
}

impl Peer {
    /// How it ended, if it has.
    pub fn status(&self) -> Option<ExitStatus> {
        match self {
            Self::Process(process) => process.status(),
            Self::Container(container) => container.status(),
        }
    }

    /// Waits for its end.
    pub async fn exited(&self) -> ExitStatus {
        match self {
            Self::Process(process) => process.exited().await,
            Self::Container(container) => container.exited().await,
        }
    }

    /// The same, for whoever outlives the borrow.
    pub fn end_watch(&self) -> Pin<Box<dyn Future<Output = ExitStatus> + Send>> {
        match self {
            Self::Process(process) => Box::pin(process.end_watch()),
            Self::Container(container) => Box::pin(container.end_watch()),
        }
    }

    /// Whether a signal has stopped it; of a container nobody asks.
    pub fn is_stopped(&self) -> bool {
        match self {
            Self::Process(process) => process.is_stopped(),
            Self::Container(_) => false,
        }
    }

    /// What it wrote to stderr so far.
    pub fn stderr(&self) -> StderrTail {
        match self {
            Self::Process(process) => process.stderr(),
            Self::Container(container) => container.stderr(),
        }
    }

    /// Says that from now on it is expected to end. To be called just before its stdin is closed.
    pub fn ask(&mut self) {
        match self {
            Self::Process(process) => process.ask(),
            Self::Container(container) => container.ask(),
        }
    }

    /// Ends it and everything that came of it.
    pub async fn end(&mut self, patience: Patience) -> Exit {
        match self {
            Self::Process(process) => Box::pin(process.end(patience)).await,
            Self::Container(container) => Box::pin(container.end(patience)).await,
        }
    }

    /// Ends it while somebody waits for all of it to be over.
    pub async fn end_now(&mut self, patience: Patience) -> Exit {
        match self {
            Self::Process(process) => Box::pin(process.end(patience)).await,
            Self::Container(container) => container.abandon(),
        }
    }

    /// What is to be told of the way it ended, beside the way itself.
    pub fn notes(&self, exit: &Exit) -> Option<String> {
        match self {
            Self::Process(process) => {
                let client = process.runs() == Runs::ContainerClient;
                (exit.ending == Ending::Killed && client).then(|| LEFT_BY_CLIENT.to_owned())
            }
            Self::Container(container) => contained::ran_out(container, exit.status),
        }
    }

    /// The container, when it runs in one.
    pub fn container(&self) -> Option<&ServerContainer> {
        match self {
            Self::Process(_) => None,
            Self::Container(container) => Some(container),
        }
    }
}
