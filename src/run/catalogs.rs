//! The catalog of each target, fetched once per run: one session asks, everybody else waits for that, and what came
//! of it is remembered, a failure too. Who asks, and when, is `survey`'s.

use std::{collections::HashMap, sync::Arc};

use tokio::sync::{Mutex, watch};

use crate::{observation::catalog::Catalog, plan::target_key::TargetKey};

/// What is known of a target's catalog.
#[derive(Debug, Clone)]
enum State {
    /// Nobody has asked for it yet.
    Unclaimed,
    /// A session is at it.
    Claimed,
    /// It was asked for, and is not again.
    Settled(Fetched),
}

/// What came of asking for a catalog.
#[derive(Debug, Clone, Default)]
pub(super) struct Fetched {
    /// What is known; `None` when nobody got as far as asking.
    pub(super) catalog: Option<Arc<Catalog>>,
    /// Why something of it is not known.
    pub(super) missing: Option<Arc<str>>,
}

/// The catalogs of a run, by the key of the target.
#[derive(Debug, Default)]
pub(super) struct Catalogs {
    targets: Mutex<HashMap<TargetKey, watch::Sender<State>>>,
}

/// The right, and the duty, to fetch a catalog. Dropped without a word, it passes on.
#[derive(Debug)]
pub(super) struct Claim {
    sender: watch::Sender<State>,
    settled: bool,
}

impl Catalogs {
    /// Claims the catalog of a target unless somebody has asked for it or is at it.
    pub(super) async fn claim(&self, target: TargetKey) -> Option<Claim> {
        let sender = self.sender(target).await;
        let claimed = sender.send_if_modified(|state| match state {
            State::Unclaimed => {
                *state = State::Claimed;
                true
            }
            State::Claimed | State::Settled(_) => false,
        });
        // Made only when it is one: a claim that is dropped takes back what is known.
        claimed.then(|| Claim {
            sender,
            settled: false,
        })
    }

    /// Whether nobody has asked a target yet, or is at it.
    pub(super) async fn is_unclaimed(&self, target: TargetKey) -> bool {
        matches!(*self.sender(target).await.borrow(), State::Unclaimed)
    }

    /// What came of asking a target; waits while a session is at it. `None` when nobody has asked.
    pub(super) async fn settled(&self, target: TargetKey) -> Option<Fetched> {
        let mut receiver = self.sender(target).await.subscribe();
        let state = receiver
            .wait_for(|state| !matches!(state, State::Claimed))
            .await
            .ok()?
            .clone();
        match state {
            State::Settled(fetched) => Some(fetched),
            State::Unclaimed | State::Claimed => None,
        }
    }

    /// The catalog of a target; waits while a session is at it. `None` when nobody got it.
    pub(super) async fn known(&self, target: TargetKey) -> Option<Arc<Catalog>> {
        self.settled(target).await?.catalog
    }

    /// Why something of a target's catalog is not known, for each target of which that is so.
    pub(super) async fn missing(&self) -> HashMap<TargetKey, Arc<str>> {
        let targets = self.targets.lock().await;
        let missing = targets.iter().filter_map(|(key, sender)| {
            let State::Settled(fetched) = &*sender.borrow() else {
                return None;
            };
            Some((*key, fetched.missing.clone()?))
        });
        missing.collect()
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
    /// Tells everybody what came of it.
    pub(super) fn settle(mut self, fetched: Fetched) {
        self.settled = true;
        self.sender.send_replace(State::Settled(fetched));
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.settled {
            self.sender.send_replace(State::Unclaimed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Catalogs, Fetched};
    use crate::plan::target_key::TargetKey;

    #[tokio::test]
    async fn one_session_asks_and_only_a_claim_that_was_lost_passes_on() {
        let catalogs = Catalogs::default();
        let [a, b] = [0, 1].map(TargetKey::numbered);
        let first = catalogs.claim(a).await.unwrap();
        assert!(catalogs.claim(a).await.is_none());
        assert!(catalogs.claim(b).await.is_some());
        drop(first);
        assert!(catalogs.settled(a).await.is_none());
        catalogs.claim(a).await.unwrap().settle(Fetched {
            catalog: None,
            missing: Some("it did not say".into()),
        });
        assert!(catalogs.claim(a).await.is_none());
        assert!(catalogs.known(a).await.is_none());
        assert_eq!(&*catalogs.missing().await[&a], "it did not say");
    }
}
