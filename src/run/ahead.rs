//! The limits of concurrency: jobs that talk to their servers, jobs whose containers are started meanwhile, and jobs whose
//! servers are closed meanwhile.

use std::{future::pending, pin::Pin, sync::Arc, time::Duration};

use futures_util::FutureExt;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::job::Shared;
use mcp::script::subject::Needs;
use suite::{
    model::{container::Container, server::Target},
    plan::job::Planned,
};

/// How long the next job waits for the server of this one to be gone, where one runs at a time.
const TO_BE_GONE: Duration = Duration::from_secs(1);

/// How long it waits where several run: most servers end within this time, and two starts on one core while another
/// core is idle cost more.
const TO_END_AT_ONCE: Duration = Duration::from_millis(5);

/// The limits of a run, as semaphores, which serve those that wait in their order.
#[derive(Debug)]
pub(super) struct Slots {
    /// Jobs that have begun and have not given back their slots: twice as many as may talk.
    begun: Arc<Semaphore>,
    /// Jobs that talk.
    talking: Arc<Semaphore>,
    /// Jobs whose servers are closed.
    closing: Semaphore,
    /// Cancelled when no job gets a slot any more.
    stopped: CancellationToken,
}

/// The right of a job to talk to its server. Permits are given back when it is dropped.
pub(super) enum Slot {
    /// The job has it; without a permit where there is no limit.
    Held(Option<[OwnedSemaphorePermit; 2]>),
    /// The job has begun and waits for the right.
    Awaited(Awaited),
    /// The job has given it back, or will not get it because the run has stopped.
    CalledOff,
}

/// A place in the queue for a slot.
pub(super) struct Awaited {
    begun: OwnedSemaphorePermit,
    talking: Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>,
    stopped: CancellationToken,
}

impl Slots {
    /// Slots for so many jobs at once, until `stopped` is cancelled.
    pub(super) fn new(jobs: usize, stopped: CancellationToken) -> Self {
        let jobs = jobs.clamp(1, Semaphore::MAX_PERMITS / 2);
        Self {
            begun: Arc::new(Semaphore::new(jobs * 2)),
            talking: Arc::new(Semaphore::new(jobs)),
            closing: Semaphore::new(jobs),
            stopped,
        }
    }

    /// Waits until one more job may begin, which takes a slot, or a place in the queue for one. Cancel-safe.
    pub(super) async fn begin(&self) -> Slot {
        let Ok(begun) = Arc::clone(&self.begun).acquire_owned().await else {
            return Slot::CalledOff;
        };
        let mut talking = Box::pin(Arc::clone(&self.talking).acquire_owned());
        // Polled once, it has its place.
        match talking.as_mut().now_or_never() {
            Some(Ok(talking)) => Slot::Held(Some([begun, talking])),
            Some(Err(_)) => Slot::CalledOff,
            None => Slot::Awaited(Awaited {
                begun,
                talking,
                stopped: self.stopped.clone(),
            }),
        }
    }

    /// Waits until one more server may be closed.
    pub(super) async fn room_to_close(&self) -> Option<SemaphorePermit<'_>> {
        self.closing.acquire().await.ok()
    }

    /// No job gets a slot any more.
    pub(super) fn stop(&self) {
        self.stopped.cancel();
    }
}

impl Slot {
    /// Waits for the slot; `false` when the run has stopped. Cancel-safe.
    pub(super) async fn turn(&mut self) -> bool {
        if let Self::Awaited(awaited) = self {
            let talking = tokio::select! {
                biased;
                () = awaited.stopped.cancelled() => None,
                permit = &mut awaited.talking => permit.ok(),
            };
            if let (Self::Awaited(Awaited { begun, .. }), Some(talking)) =
                (std::mem::replace(self, Self::CalledOff), talking)
            {
                *self = Self::Held(Some([begun, talking]));
            }
        }
        match self {
            Self::Held(_) => true,
            Self::Awaited(_) | Self::CalledOff => false,
        }
    }

    /// Lets other jobs begin and talk.
    pub(super) fn give_back(&mut self) {
        if let Self::Held(permits) = std::mem::replace(self, Self::CalledOff) {
            drop(permits);
        }
    }

    /// Waits until the run has stopped, for a job that has no slot. With a slot it runs to its end.
    pub(super) async fn called_off(&mut self) {
        match self {
            Self::Held(_) => pending().await,
            Self::Awaited(awaited) => awaited.stopped.cancelled().await,
            Self::CalledOff => {}
        }
    }

    /// Whether it is still waited for.
    pub(super) fn is_awaited(&self) -> bool {
        match self {
            Self::Awaited(_) => true,
            Self::Held(_) | Self::CalledOff => false,
        }
    }
}

/// Whether the server of a job can be started while others talk: a container that shares nothing. Processes see each
/// other, and the time that one takes to start, which counts against its deadline, would depend on its place in the suite.
pub(super) fn can_start(planned: &Planned, shared: &Shared) -> bool {
    match planned.assertion.needs {
        Needs::Nothing => return false,
        Needs::Fresh | Needs::Session => {}
    }
    match &planned.terms.server.target {
        Target::Container { container, .. } => {
            is_its_own(container) && shared.lane(planned).is_none()
        }
        Target::Process(_) | Target::Builtin { .. } | Target::Url { .. } | Target::None => false,
    }
}

/// How long a job that has nothing left but the end of its server keeps its slot. Processes see each other's files, locks
/// and ports: where one runs at a time, the next must not meet one that ends as it should.
pub(super) fn before_the_next(planned: &Planned, jobs: usize) -> Option<Duration> {
    match planned.terms.server.target {
        Target::Process(_) | Target::Builtin { .. } => Some(match jobs {
            1 => TO_BE_GONE,
            _ => TO_END_AT_ONCE,
        }),
        Target::Container { .. } | Target::Url { .. } | Target::None => None,
    }
}

/// Whether a server in the container can reach nothing that a server of another job can see: it has no network, and
/// nothing mounted that it may write to.
fn is_its_own(container: &Container) -> bool {
    let alone = container
        .network
        .as_deref()
        .is_none_or(|mode| mode == "none");
    alone && !container.mounts.iter().any(|mount| mount.writable)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;
    use tokio_util::sync::CancellationToken;

    use super::{Slot, Slots, is_its_own};
    use suite::model::container::{Container, Mount, MountSource};

    #[test]
    fn only_a_container_that_shares_nothing_is_started_ahead() {
        let case = |container: Container, wanted: bool| {
            assert_eq!(is_its_own(&container), wanted, "{container:?}");
        };
        let network = |name: &str| Container {
            network: Some(name.into()),
            ..Container::default()
        };
        let mounted = |source, writable| Container {
            mounts: vec![Mount {
                source,
                target: "/data".into(),
                writable,
            }],
            ..Container::default()
        };
        let volume = || MountSource::Volume("data".into());
        case(Container::default(), true);
        case(network("none"), true);
        case(network("bridge"), false);
        case(mounted(MountSource::Path("/data".into()), false), true);
        case(mounted(MountSource::Path("/data".into()), true), false);
        case(mounted(volume(), false), true);
        case(mounted(volume(), true), false);
    }

    /// Longer than anything that does not wait.
    const SOON: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn twice_as_many_begin_as_talk_and_each_slot_goes_to_the_next() {
        let slots = Slots::new(2, CancellationToken::new());
        let mut begun = Vec::new();
        while let Ok(slot) = timeout(SOON, slots.begin()).await {
            begun.push(slot);
        }
        let awaited: Vec<bool> = begun.iter().map(Slot::is_awaited).collect();
        assert_eq!(awaited, [false, false, true, true]);
        begun[0].give_back();
        // The third was before the fourth, and loses nothing by not asking.
        assert!(timeout(SOON, begun[3].turn()).await.is_err());
        assert!(timeout(SOON, begun[2].called_off()).await.is_err());
        begun.push(slots.begin().await);
        assert!(begun[4].is_awaited());
        assert!(begun[2].turn().await);
        assert!(timeout(SOON, slots.begin()).await.is_err());
        drop(begun.remove(2));
        assert!(begun[2].turn().await);
        let one = Slots::new(0, CancellationToken::new());
        assert!(one.begin().await.turn().await, "at least one");
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_servers_end_at_once_as_there_are_jobs() {
        let slots = Slots::new(2, CancellationToken::new());
        let ends = [slots.room_to_close().await, slots.room_to_close().await];
        assert!(timeout(SOON, slots.room_to_close()).await.is_err());
        drop(ends);
        assert!(timeout(SOON, slots.room_to_close()).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn no_job_gets_a_slot_once_the_run_has_stopped() {
        let interrupt = CancellationToken::new();
        let slots = Slots::new(1, interrupt.child_token());
        let [mut talks, mut waits] = [slots.begin().await, slots.begin().await];
        assert!(talks.turn().await);
        interrupt.cancel();
        waits.called_off().await;
        drop(talks);
        assert!(!waits.turn().await);
        assert!(Slot::Held(None).turn().await);
    }
}
