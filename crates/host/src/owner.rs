//! The run that made a process or a temporary folder. It is told apart from every other process that ever had the same
//! number, so that exactly what a killed run left can be recognised.

use std::sync::OnceLock;

use rustix::process::{Pid, getpid, test_kill_process};

use super::process::table;

/// The environment variable of a started process that names its owner.
pub(crate) const VARIABLE: &str = "MCP_ASSERT_OWNER";

/// A run of this program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owner {
    /// Its process number.
    pub pid: u32,
    /// When it started, in the kernel's own count since boot.
    pub started: u64,
    /// The boot and the process namespace in which the numbers mean something.
    pub place: String,
}

/// What can be said of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    /// It runs.
    Alive,
    /// It has ended.
    Dead,
    /// It lived in another place: another boot, another container.
    Unknown,
}

impl Owner {
    /// This run.
    pub(crate) fn this() -> &'static Self {
        static THIS: OnceLock<Owner> = OnceLock::new();
        THIS.get_or_init(|| {
            let pid = getpid();
            Self {
                pid: pid.as_raw_nonzero().get().unsigned_abs(),
                started: table::status(pid).map_or(0, |status| status.started),
                place: table::place(),
            }
        })
    }

    /// The value of [`VARIABLE`].
    pub(crate) fn to_text(&self) -> String {
        format!("{}:{}:{}", self.pid, self.started, self.place)
    }

    /// Reads the value of [`VARIABLE`].
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        Some(Self {
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
            place: parts.next().filter(|place| !place.is_empty())?.to_owned(),
        })
    }

    /// Whether the run still goes on.
    pub(crate) fn life(&self) -> Life {
        if self.place != Self::this().place {
            return Life::Unknown;
        }
        let Some(pid) = i32::try_from(self.pid).ok().and_then(Pid::from_raw) else {
            return Life::Dead;
        };
        match table::status(pid) {
            Some(status) if status.started == self.started && !status.ended => Life::Alive,
            Some(_) => Life::Dead,
            None if table::READABLE => Life::Dead,
            None => match test_kill_process(pid) {
                Err(rustix::io::Errno::SRCH) => Life::Dead,
                Ok(()) | Err(_) => Life::Alive,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Life, Owner};

    #[test]
    fn an_owner_is_known_again_from_its_text() {
        let this = Owner::this();
        assert_eq!(Owner::parse(&this.to_text()).as_ref(), Some(this));
        for text in ["", "1", "1:2", "1:2:", "x:2:y", "-1:2:y"] {
            assert_eq!(Owner::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn only_the_very_same_run_is_alive() {
        let this = Owner::this().clone();
        assert_eq!(this.life(), Life::Alive);
        let with = |change: fn(&mut Owner)| {
            let mut owner = this.clone();
            change(&mut owner);
            owner.life()
        };
        assert_eq!(with(|owner| owner.pid = u32::MAX), Life::Dead);
        assert_eq!(with(|owner| owner.place.push('x')), Life::Unknown);
        if cfg!(target_os = "linux") {
            assert_eq!(with(|owner| owner.started += 1), Life::Dead);
        }
    }
}
