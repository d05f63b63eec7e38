//! What carries what a session says beside rmcp's answers. Handlers speak to it and do not know which way their client
//! came: over a pipe, where every byte is ours, or over HTTP, where rmcp has the streams.

use std::io::{self, Write as _};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CustomNotification, RequestId};
use rmcp::service::{Peer, RequestContext};
use serde_json::Value;

use crate::http::post::{self, Post};
use crate::layer::PatientStderr;
use crate::wire::{WaitsFor, Wire};

/// The way to the client of one session, or of one call in it.
#[derive(Clone)]
pub(crate) enum Line {
    /// A byte stream in each direction.
    Pipe(Wire),
    /// HTTP requests.
    Http(Post),
}

impl Line {
    /// Writes text for a human.
    pub(crate) fn stderr(&self, text: &str) {
        match self {
            Self::Pipe(wire) => wire.stderr(text),
            // The server goes on answering when stderr is closed.
            Self::Http(_) => drop(PatientStderr.write_all(text.as_bytes())),
        }
    }

    /// The handler of `id` waits for `what`.
    pub(crate) fn park(&self, id: &RequestId, what: WaitsFor) {
        match self {
            Self::Pipe(wire) => wire.park(id, what),
            // Each request is read by itself: nobody waits for a handler.
            Self::Http(_) => {}
        }
    }

    /// The handler of `id` goes on.
    pub(crate) fn resume(&self, id: &RequestId, after: WaitsFor) {
        match self {
            Self::Pipe(wire) => wire.resume(id, after),
            Self::Http(_) => {}
        }
    }

    /// Sends a notification through rmcp.
    pub(crate) async fn notify(
        &self,
        peer: &Peer<RoleServer>,
        method: &str,
        params: Value,
    ) -> io::Result<()> {
        match self {
            Self::Pipe(_) => {
                let notification = CustomNotification::new(method, Some(params));
                let sent = peer.send_notification(notification.into()).await;
                sent.map_err(io::Error::other)
            }
            Self::Http(_) => post::notify(peer, method, Some(params)).await,
        }
    }

    /// Sends one message as it is. HTTP carries notifications alone.
    pub(crate) async fn send(&self, peer: &Peer<RoleServer>, message: &Value) -> io::Result<()> {
        match self {
            Self::Pipe(wire) => wire.send(message).await,
            Self::Http(_) => match message.get("method").and_then(Value::as_str) {
                Some(method) => post::notify(peer, method, message.get("params").cloned()).await,
                None => Err(io::Error::other("no stream is left for it")),
            },
        }
    }

    /// Sends `messages` after the answer of `context`, with `pause` between two.
    pub(crate) fn after_reply(
        &self,
        context: &RequestContext<RoleServer>,
        messages: Vec<Value>,
        pause: Duration,
    ) -> io::Result<()> {
        match self {
            Self::Pipe(wire) => {
                wire.after_reply(&context.id, messages, pause);
                Ok(())
            }
            Self::Http(post) => post.after_reply(context, messages, pause),
        }
    }
}
