//! The catalog of each target, fetched once per run: the first session that is still well after its subject
//! fetches it, everybody else waits for that. Nobody waits for a session that cannot deliver.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::{Mutex, watch};

use crate::{observation::catalog::Catalog, plan::target_key::TargetKey};

/// What is known of a target's catalog.
#[derive(Debug, Clone)]
enum State {
    /// Nobody has fetched it yet.
    Unclaimed,
    /// A session is at it.
    Claimed,
    /// It is known, or the server would not tell.
    Known(Option<Arc<Catalog>>),
}

/// The catalogs of a run, by the key of the target.
#[derive(Debug, Default)]
pub(super) struct Catalogs {
    targets: Mutex<HashMap<TargetKey, watch::Sender<State>>>,
}

/// The right, and the duty, to fetch a catalog. Dropped without a catalog, it passes to the next session.
#[derive(Debug)]
pub(super) struct Claim {
    sender: watch::Sender<State>,
    delivered: bool,
}

impl Catalogs {
    /// Claims the catalog of a target unless somebody has it or is at it.
    pub(super) async fn claim(&self, target: TargetKey) -> Option<Claim> {
        let sender = self.sender(target).await;
        let claimed = sender.send_if_modified(|state| match state {
            State::Unclaimed => {
                *state = State::Claimed;
                true
            }
            State::Claimed | State::Known(_) => false,
        });
        // Made only when it is one: a claim that is dropped takes back what is known.
        claimed.then(|| Claim {
            sender,
            delivered: false,
        })
    }

    /// The catalog of a target; waits while a session is at it. `None` when nobody got it.
    pub(super) async fn known(&self, target: TargetKey) -> Option<Arc<Catalog>> {
        let mut receiver = self.sender(target).await.subscribe();
        let state = receiver
            .wait_for(|state| !matches!(state, State::Claimed))
            .await
            .ok()?
            .clone();
        match state {
            State::Known(catalog) => catalog,
            State::Unclaimed | State::Claimed => None,
        }
    }

    async fn sender(&self, target: TargetKey) -> watch::Sender<State> {
        let mut targets = self.targets.lock().await;
        targets
            .entry(target)
            .or_insert_with(|| watch::Sender::new(State::Unclaimed))
            .clone()
    }
}

impl Claim {
    /// Hands the catalog to everybody.
    pub(super) fn deliver(mut self, catalog: Option<Arc<Catalog>>) {
        self.delivered = true;
        self.sender.send_replace(State::Known(catalog));
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.delivered {
            self.sender.send_replace(State::Unclaimed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Catalogs;
    use crate::{observation::catalog::Catalog, plan::target_key::TargetKey};

    #[tokio::test]
    async fn one_session_fetches_and_a_lost_claim_passes_on() {
        let catalogs = Catalogs::default();
        let [a, b] = [0, 1].map(TargetKey::numbered);
        let first = catalogs.claim(a).await.unwrap();
        assert!(catalogs.claim(a).await.is_none());
        assert!(catalogs.claim(b).await.is_some());
        drop(first);
        assert!(catalogs.known(a).await.is_none());
        catalogs
            .claim(a)
            .await
            .unwrap()
            .deliver(Some(Arc::new(Catalog::default())));
        assert!(catalogs.known(a).await.is_some());
        assert!(catalogs.claim(a).await.is_none());
        assert!(catalogs.known(a).await.is_some());
    }
}
