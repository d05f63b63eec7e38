//! Which assertions may share a server (`--reuse-server`): same target, same client, and nothing that only a
//! fresh process can show.

use crate::{
    plan::{
        job::{Planned, RunJob},
        target_key::TargetKey,
    },
    suite::model::subject::Needs,
};

/// The key of the server a job may share; `None` when it needs one of its own.
pub(super) fn key(planned: &Planned) -> Option<TargetKey> {
    match planned.assertion.needs {
        Needs::Session => planned.target_key,
        Needs::Nothing | Needs::Url | Needs::Fresh => None,
    }
}

/// Whether a question after the subject could show in what the assertion looks at: the process's stderr and end. A
/// declared output schema is worth it all the same.
pub(super) fn would_show(work: &RunJob) -> bool {
    work.body.wants(&["exit", "stderr"]) && !needs_catalog(work)
}

/// Whether the assertion cannot be judged without knowing what the server declares.
pub(super) fn needs_catalog(work: &RunJob) -> bool {
    work.body.wants(&["output_schema"])
}
