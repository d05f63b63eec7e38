//! rmcp's side of the wire: its `Transport`, over typed messages.

use std::future::pending;
use std::io;
use std::sync::Arc;

use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::{Mutex, mpsc};

use super::Wire;

/// Messages that wait for rmcp. One server reads at a time; a new one takes over after a failed
/// handshake.
#[derive(Clone)]
pub(crate) struct Inbox(Arc<Mutex<mpsc::Receiver<ClientJsonRpcMessage>>>);

/// An inbox and the end that fills it.
pub(super) fn inbox() -> (mpsc::Sender<ClientJsonRpcMessage>, Inbox) {
    let (sender, receiver) = mpsc::channel(1);
    (sender, Inbox(Arc::new(Mutex::new(receiver))))
}

/// The transport that rmcp uses.
pub(crate) struct WireTransport {
    wire: Wire,
    inbox: Inbox,
}

impl WireTransport {
    pub(crate) fn new(wire: Wire, inbox: Inbox) -> Self {
        Self { wire, inbox }
    }
}

impl Transport<RoleServer> for WireTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let sent = serde_json::to_value(&item)
            .map(|message| self.wire.send(&message))
            .map_err(io::Error::from);
        async move { sent?.await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        match self.inbox.0.lock().await.recv().await {
            Some(message) => Some(message),
            // The server ends when its owner says so, not when reading does: answers that are
            // under way still go out.
            None => pending().await,
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
