//! What handlers say beside their answers where messages come as HTTP requests.

use std::io;
use std::pin::Pin;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CustomNotification, ServerNotification};
use rmcp::service::{Peer, RequestContext};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::Clock;

/// The header that names a session.
pub(super) const SESSION: &str = "mcp-session-id";

/// Work that goes on after the request that asked for it.
pub(super) type Later = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The way to the client of one server.
#[derive(Clone)]
pub(crate) struct Post {
    clock: Clock,
    later: mpsc::UnboundedSender<Later>,
}

impl Post {
    pub(super) fn new(clock: Clock, later: mpsc::UnboundedSender<Later>) -> Self {
        Self { clock, later }
    }

    pub(crate) fn after_reply(
        &self,
        context: &RequestContext<RoleServer>,
        messages: Vec<Value>,
        pause: Duration,
    ) -> io::Result<()> {
        if session(context).is_none() {
            return Err(io::Error::other(
                "no stream is left after the answer of a request without a session",
            ));
        }
        let (peer, clock) = (context.peer.clone(), self.clock.clone());
        let send = async move {
            for (at, message) in messages.into_iter().enumerate() {
                if at > 0 && !pause.is_zero() {
                    clock.sleep(pause).await;
                }
                let method = message.get("method").and_then(Value::as_str);
                let params = message.get("params").cloned();
                // A session that ended meanwhile has nobody to tell.
                if notify(&peer, method.unwrap_or_default(), params)
                    .await
                    .is_err()
                {
                    return;
                }
            }
        };
        self.later
            .send(Box::pin(send))
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

/// The session that a request belongs to. One that brings its own revision belongs to none.
fn session(context: &RequestContext<RoleServer>) -> Option<String> {
    if context.meta.protocol_version().is_some() {
        return None;
    }
    let parts = context.extensions.get::<http::request::Parts>()?;
    let session = parts.headers.get(SESSION)?.to_str().ok()?;
    Some(session.to_owned())
}

/// rmcp routes progress by its token to the stream of the call, and everything else to the stream of the session.
pub(crate) async fn notify(
    peer: &Peer<RoleServer>,
    method: &str,
    params: Option<Value>,
) -> io::Result<()> {
    let message = json!({"method": method, "params": params});
    let notification = match serde_json::from_value(message) {
        Ok(ServerNotification::ProgressNotification(progress)) => progress.into(),
        Ok(_) | Err(_) => {
            ServerNotification::CustomNotification(CustomNotification::new(method, params))
        }
    };
    let sent = peer.send_notification(notification).await;
    sent.map_err(io::Error::other)
}
