//! Servers that are started before it is their jobs' turn to talk: which ones, and how a job waits for its turn. Who
//! gets a slot when is `slots`'.

use std::{future::pending, time::Duration};

use tokio::sync::oneshot;

use super::{image, job::Shared};
use crate::{
    plan::job::Planned,
    script::subject::Needs,
    suite::model::{container::Container, server::Target},
};

/// How long the next job waits for a server to be gone, where one is to run at a time.
const TO_BE_GONE: Duration = Duration::from_secs(1);

/// How long it waits where several may run. One that ends at once does so on the core that the next would start on:
/// begun beside it, two starts meet on one core while another is idle, which costs a sixth of a run of small servers.
const TO_END_AT_ONCE: Duration = Duration::from_millis(5);

/// The right of a job to talk to its server.
#[derive(Debug)]
pub(super) enum Slot {
    /// It has it.
    Held,
    /// It will be told.
    Awaited(oneshot::Receiver<()>),
    /// It will never have it: the job is not wanted any more.
    CalledOff,
}

/// What became of waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The job may talk.
    Ours,
    /// It is not wanted any more.
    CalledOff,
}

impl Slot {
    /// Waits for the slot. May be cancelled at any moment.
    pub(super) async fn turn(&mut self) -> Turn {
        loop {
            match self {
                Self::Held => return Turn::Ours,
                Self::CalledOff => return Turn::CalledOff,
                Self::Awaited(told) => {
                    *self = match told.await {
                        Ok(()) => Self::Held,
                        Err(_) => Self::CalledOff,
                    };
                }
            }
        }
    }

    /// Waits until the job is not wanted any more; one that has its slot always is.
    pub(super) async fn called_off(&mut self) {
        match self.turn().await {
            Turn::Ours => pending().await,
            Turn::CalledOff => {}
        }
    }

    /// Whether it is still waited for.
    pub(super) fn is_awaited(&self) -> bool {
        match self {
            Self::Awaited(_) => true,
            Self::Held | Self::CalledOff => false,
        }
    }
}

/// Whether the server of a job can be started while others talk: nothing is talked to before its turn, and there is
/// nothing to wait for but the start. Processes are not: they see each other, and the time that one takes to start, for
/// which its deadline is there too, would count in some places of a suite and not in others.
pub(super) fn can_start(planned: &Planned, shared: &Shared) -> bool {
    match planned.assertion.needs {
        Needs::Nothing | Needs::Url => return false,
        Needs::Fresh | Needs::Session => {}
    }
    if shared.lane(planned).is_some() {
        return false;
    }
    match &planned.terms.server.target {
        // Nobody can tell that it is there.
        Target::Container { container, .. } => {
            is_its_own(container) && image::is_there(planned, shared)
        }
        Target::Process(_) | Target::Builtin { .. } | Target::Url { .. } | Target::None => false,
    }
}

/// How long the next job waits for the server of this one to be gone. Processes see each other's files, locks and
/// ports, so where one is to run at a time, one that ends as it should is not met by the next; for one that will not
/// end nobody waits.
pub(super) fn before_the_next(planned: &Planned, jobs: usize) -> Option<Duration> {
    match planned.terms.server.target {
        Target::Process(_) | Target::Builtin { .. } => Some(match jobs {
            1 => TO_BE_GONE,
            _ => TO_END_AT_ONCE,
        }),
        Target::Container { .. } | Target::Url { .. } | Target::None => None,
    }
}

/// Whether a server in the container can reach nothing that a server of another job can see: no network, and nothing
/// mounted that it may write to.
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

    use tokio::{sync::oneshot, time::timeout};

    use super::{Slot, Turn, is_its_own};
    use crate::suite::model::container::{Container, Mount, MountSource};

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

    #[tokio::test(start_paused = true)]
    async fn a_job_hears_of_its_turn_and_that_none_will_come() {
        let (tell, told) = oneshot::channel();
        let mut slot = Slot::Awaited(told);
        let soon = Duration::from_secs(1);
        assert!(timeout(soon, slot.called_off()).await.is_err());
        assert!(slot.is_awaited());
        tell.send(()).unwrap();
        assert!(
            timeout(soon, slot.called_off()).await.is_err(),
            "it is wanted"
        );
        assert!(!slot.is_awaited());
        assert_eq!(slot.turn().await, Turn::Ours);

        let (tell, told) = oneshot::channel();
        let mut slot = Slot::Awaited(told);
        drop(tell);
        slot.called_off().await;
        assert_eq!(slot.turn().await, Turn::CalledOff);
    }
}
