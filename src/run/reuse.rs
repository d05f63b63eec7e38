//! Which assertions may share a server (`--reuse-server`): same target, same client, and nothing that only a
//! fresh process can show. And what is said of one that was shared.

use crate::{
    observation::disruption::{Disruption, DisruptionKind},
    plan::{job::Planned, target_key::TargetKey},
    suite::model::subject::Needs,
};

/// The key of the server a job may share; `None` when it needs one of its own.
pub(super) fn key(planned: &Planned) -> Option<TargetKey> {
    match planned.assertion.needs {
        Needs::Session => planned.target_key,
        Needs::Nothing | Needs::Url | Needs::Fresh => None,
    }
}

/// Says who had used a server before, where that may be why it could not be observed.
pub(super) fn tell(disruption: &mut Disruption, used_by: &[String]) {
    if may_be_of_another(disruption.kind) {
        disruption.message += &shared_by(used_by);
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

/// Who had used a server, for the message that it could not be observed.
fn shared_by(ids: &[String]) -> String {
    const NAMED: usize = 3;
    let named: Vec<String> = ids.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
    let more = match ids.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "; the server was shared (--reuse-server): before, it was used by {}{more}",
        named.join(", ")
    )
}
