//! Lists that change on demand, and who is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{NotificationNoParam, ServerNotification};
use rmcp::service::{Peer, SubscriptionSink};
use serde::Deserialize;

/// The longest that one listener keeps the others waiting.
const PATIENCE: Duration = Duration::from_secs(1);

/// A list that has one entry more, or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum List {
    /// Of tools.
    Tools,
    /// Of prompts.
    Prompts,
}

/// Which lists have their entry now.
#[derive(Default)]
pub(super) struct Changes {
    changed: [AtomicBool; 2],
    listeners: Mutex<Vec<Listener>>,
}

/// Who wants to know.
#[derive(Clone)]
pub(super) enum Listener {
    /// A session: all changes.
    Session(Peer<RoleServer>),
    /// A stream that is listened to while somebody holds this.
    Stream(Weak<SubscriptionSink>),
}

impl Changes {
    /// Whether the entry is there.
    pub(super) fn has(&self, list: List) -> bool {
        self.changed[list as usize].load(Ordering::Relaxed)
    }

    /// Takes in a listener, and forgets those that are gone.
    pub(super) fn hear(&self, listener: Listener) {
        let mut listeners = self.listeners();
        listeners.retain(|listener| match listener {
            Listener::Session(peer) => !peer.is_transport_closed(),
            Listener::Stream(sink) => sink.strong_count() > 0,
        });
        listeners.push(listener);
    }

    /// Adds the entry or takes it away, and tells everybody.
    pub(super) async fn change(&self, list: List) {
        self.changed[list as usize].fetch_not(Ordering::Relaxed);
        let listeners = self.listeners().clone();
        for listener in listeners {
            let told = tokio::time::timeout(PATIENCE, listener.tell(notification(list)));
            // Whoever is gone, slow, or asked for other changes misses this one.
            let _ = told.await;
        }
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<Listener>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    async fn tell(self, notification: ServerNotification) {
        match self {
            Self::Session(peer) => drop(peer.send_notification(notification).await),
            Self::Stream(sink) => {
                if let Some(sink) = sink.upgrade() {
                    drop(sink.send(notification).await);
                }
            }
        }
    }
}

fn notification(list: List) -> ServerNotification {
    use ServerNotification as Told;
    match list {
        List::Tools => Told::ToolListChangedNotification(NotificationNoParam::default()),
        List::Prompts => Told::PromptListChangedNotification(NotificationNoParam::default()),
    }
}
