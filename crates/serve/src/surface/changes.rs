//! Lists that change on demand, and who is told.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
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
    tools: AtomicBool,
    prompts: AtomicBool,
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
        self.flag(list).load(Ordering::Relaxed)
    }

    /// Takes in a listener, and forgets those that are gone.
    pub(super) fn hear(&self, listener: Listener) {
        let mut listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|listener| match listener {
            Listener::Session(peer) => !peer.is_transport_closed(),
            Listener::Stream(sink) => sink.strong_count() > 0,
        });
        listeners.push(listener);
    }

    /// Adds the entry or takes it away, and tells everybody.
    pub(super) async fn change(&self, list: List) {
        self.flag(list).fetch_not(Ordering::Relaxed);
        let listeners = self
            .listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        for listener in listeners {
            let told = tokio::time::timeout(PATIENCE, listener.tell(notification(list)));
            // Whoever is gone, slow, or asked for other changes misses this one.
            let _ = told.await;
        }
    }

    fn flag(&self, list: List) -> &AtomicBool {
        match list {
            List::Tools => &self.tools,
            List::Prompts => &self.prompts,
        }
    }
}

impl Listener {
    /// A listener that is there as long as `sink` is.
    pub(super) fn stream(sink: &Arc<SubscriptionSink>) -> Self {
        Self::Stream(Arc::downgrade(sink))
    }

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
    match list {
        List::Tools => {
            ServerNotification::ToolListChangedNotification(NotificationNoParam::default())
        }
        List::Prompts => {
            ServerNotification::PromptListChangedNotification(NotificationNoParam::default())
        }
    }
}
