//! Which assertions may share a server (`--reuse-server`): same target, same client, and nothing that only a
//! fresh process can show.

use crate::{
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
