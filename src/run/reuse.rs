//! Which assertions may share a server (`--reuse-server`): same target, same client, and nothing that only a
//! fresh process can show. And what is said of one that was shared.

use mcp::{
    observation::disruption::{Disruption, DisruptionKind},
    script::subject::Needs,
};
use suite::plan::{job::Planned, target_key::TargetKey};

/// The key of the server a job may share; `None` when it needs one of its own.
pub(super) fn key(planned: &Planned) -> Option<TargetKey> {
    match planned.assertion.needs {
        Needs::Session => planned.terms.target_key,
        Needs::Nothing | Needs::Fresh => None,
    }
}

/// Says who had used a server before, where that may be why it could not be observed.
pub(super) fn tell(disruption: &mut Disruption, used_by: &Users) {
    if may_be_of_another(disruption.kind)
        && let Some(listed) = used_by.listed("`")
    {
        let said = "; the server was shared (--reuse-server): before, it was used by ";
        disruption.message += said;
        disruption.message += &listed;
    }
}

/// Whether what was done before with a shared server may be why an assertion could not be observed.
fn may_be_of_another(kind: DisruptionKind) -> bool {
    match kind {
        DisruptionKind::Crash
        | DisruptionKind::Timeout
        | DisruptionKind::Violation
        | DisruptionKind::Transport
        | DisruptionKind::ProtocolError
        | DisruptionKind::Step => true,
        DisruptionKind::Invalid
        | DisruptionKind::Place
        | DisruptionKind::Start
        | DisruptionKind::Unsupported
        | DisruptionKind::Interrupted => false,
    }
}

/// Who used a server that is shared. Only some are named: each of ten thousand assertions would otherwise keep the names
/// of all before it.
#[derive(Debug, Clone, Default)]
pub(super) struct Users {
    /// Ids of the first of them.
    first: Vec<String>,
    /// The id of the last one, where it is none of the first.
    last: Option<String>,
    /// All of them.
    count: usize,
}

impl Users {
    /// How many are named from the first on.
    const NAMED: usize = 3;

    /// One more.
    pub(super) fn add(&mut self, id: &str) {
        self.count += 1;
        if self.first.len() < Self::NAMED {
            self.first.push(id.to_owned());
        } else {
            self.last = Some(id.to_owned());
        }
    }

    /// The one that it was started for.
    pub(super) fn first(&self) -> Option<&String> {
        self.first.first()
    }

    /// How many there were.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// The first ones, how many more there were, and the last one, each between two of `quote`; none without any.
    pub(super) fn listed(&self, quote: &str) -> Option<String> {
        let quoted = |id: &String| format!("{quote}{id}{quote}");
        let first: Vec<String> = self.first.iter().map(quoted).collect();
        let first = first.join(", ");
        let more = self.count.saturating_sub(self.first.len());
        match self.last.as_ref().map(quoted) {
            _ if self.count == 0 => None,
            None => Some(first),
            Some(last) if more == 1 => Some(format!("{first}, {last}")),
            Some(last) => Some(format!("{first} and {more} more, at last {last}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Users;

    #[test]
    fn of_many_users_the_first_and_the_last_are_named() {
        let mut users = Users::default();
        let mut told = vec![users.listed("`")];
        for id in ["a", "b", "c", "d", "e", "f"] {
            users.add(id);
            told.push(users.listed("`"));
        }
        let told: Vec<_> = told.iter().map(Option::as_deref).collect();
        assert_eq!(told[0], None);
        assert_eq!(told[1], Some("`a`"));
        assert_eq!(told[3], Some("`a`, `b`, `c`"));
        assert_eq!(told[4], Some("`a`, `b`, `c`, `d`"));
        assert_eq!(told[5], Some("`a`, `b`, `c` and 2 more, at last `e`"));
        assert_eq!(told[6], Some("`a`, `b`, `c` and 3 more, at last `f`"));
    }
}
