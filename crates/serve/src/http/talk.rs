//! One conversation over HTTP as faults and the journal see it: a session, or one request where there is none.

use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::layer::PatientStderr;
use crate::tap::{Emit, Kind, Tap, Ticket};
use crate::wire::{Arrival, Exchange};

/// A conversation. Its requests share the bookkeeping and the tap.
pub(super) struct Talk {
    pub(super) exchange: Exchange,
    /// Messages that nobody asked for; they go before the next answer.
    pub(super) mail: Vec<Emit>,
    /// The ways of the answers that are under way, by the text of their ids.
    ways: HashMap<String, mpsc::UnboundedSender<Vec<Emit>>>,
    /// Answers that are given up.
    pub(super) forgotten: HashSet<Ticket>,
}

/// A conversation that requests share.
pub(super) type Shared = Arc<Mutex<Talk>>;

pub(super) fn lock(talk: &Shared) -> MutexGuard<'_, Talk> {
    talk.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Talk {
    pub(super) fn shared(tap: Box<dyn Tap>) -> Shared {
        Arc::new(Mutex::new(Self {
            exchange: Exchange::new(tap),
            mail: Vec::new(),
            ways: HashMap::new(),
            forgotten: HashSet::new(),
        }))
    }

    /// A message came. What is handed on.
    pub(super) fn incoming(&mut self, arrival: Arrival) -> Option<Value> {
        let (message, emits) = self.exchange.incoming(arrival);
        self.route(emits);
        message
    }

    /// The time of a ticket has come.
    pub(super) fn wake(&mut self, ticket: Ticket) {
        let emits = self.exchange.tap.wake(ticket);
        self.route(emits);
    }

    /// Later messages about these requests come this way too.
    pub(super) fn way<'a>(
        &mut self,
        ids: impl Iterator<Item = &'a Value>,
    ) -> mpsc::UnboundedReceiver<Vec<Emit>> {
        let (way, comes) = mpsc::unbounded_channel();
        self.ways
            .extend(ids.map(|id| (id.to_string(), way.clone())));
        comes
    }

    /// Takes what is said to where it belongs.
    fn route(&mut self, emits: Vec<Emit>) {
        let mut to = None;
        for emit in emits {
            if let Emit::To(id) = emit {
                to = Some(id.to_string());
            } else if let Emit::Forget(ticket) = emit {
                self.forgotten.insert(ticket);
            } else if let Emit::Stderr(bytes) = emit {
                // Without stderr there is nobody left to tell.
                let _ = PatientStderr.write_all(&bytes);
            } else if let Some(id) = &to {
                // One that nobody reads any more is lost on its way.
                let _ = self.ways.get(id).map(|way| way.send(vec![emit]));
            } else {
                self.mail.push(emit);
            }
        }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        self.exchange.tap.ended();
    }
}

/// A request whose answer is not out yet.
pub(super) struct Owed {
    pub(super) talk: Shared,
    pub(super) id: Value,
    /// Of a request without a session: the end of the server. Any other end of its connection calls it off.
    pub(super) unless: Option<CancellationToken>,
    /// Whether the answer is out.
    pub(super) settled: bool,
}

impl Owed {
    /// It is answered with a status and nothing else.
    pub(super) fn refused(&mut self, status: u16) {
        self.settled = true;
        lock(&self.talk).exchange.refused(&self.id, status);
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        let mut talk = lock(&self.talk);
        talk.ways.remove(&self.id.to_string());
        if !self.settled && self.unless.as_ref().is_some_and(|end| !end.is_cancelled()) {
            let message = json!({
                "jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": self.id},
            });
            let kind = Kind::Notification;
            talk.incoming(Arrival {
                message,
                kind,
                batch: None,
                cut: None,
                sender: None,
            });
        }
    }
}
