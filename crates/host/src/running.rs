//! A running server, wherever it runs: what `run` asks of a process and of a container alike.

use std::pin::Pin;

use super::{
    container::server::ServerContainer,
    process::{Patience, Process, Runs},
};
use mcp::observation::process::{Exit, ExitStatus, StderrTail};

/// A server's process, or its container.
#[derive(Debug)]
pub enum Running {
    /// A process of this machine.
    Process(Process),
    /// A container of the engine's.
    Container(Box<ServerContainer>),
}

impl Running {
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

    /// What the process is to the server, where it is one of this machine.
    pub fn runs(&self) -> Option<Runs> {
        match self {
            Self::Process(process) => Some(process.runs()),
            Self::Container(_) => None,
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
