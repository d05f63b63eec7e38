//! Which assertions may share a server (`--reuse-server`): same target, same client, and nothing that only a
//! fresh process can show.

use crate::{
    plan::{job::RunJob, target_key::TargetKey},
    suite::model::subject::{RawHandshake, Subject},
};

/// The key of the server a job may share; `None` when it needs one of its own.
pub(super) fn key(work: &RunJob) -> Option<TargetKey> {
    let shareable = match &work.assertion.subject {
        Subject::Tool(_)
        | Subject::Tools(_)
        | Subject::Resources(_)
        | Subject::Prompts(_)
        | Subject::Completion(_)
        | Subject::Sampling(_)
        | Subject::Elicitation(_)
        | Subject::Logging { .. }
        | Subject::Notifications { .. }
        | Subject::Steps { .. } => true,
        Subject::Raw(exchange) => exchange.handshake == RawHandshake::Made,
        Subject::Initialize | Subject::Trajectory(_) | Subject::Http(_) => false,
    };
    (shareable && !asks_of_process(work))
        .then_some(work.target_key)
        .flatten()
}

/// Whether the assertion is about the process: how it ends, and all that it ever wrote or did wrong, belong to one
/// assertion.
pub(super) fn asks_of_process(work: &RunJob) -> bool {
    wants(work, &["exit", "stderr", "findings", "not"])
}

/// Whether a question after the subject could show in what the assertion looks at: the process's stderr and end. A
/// declared output schema is worth it all the same.
pub(super) fn would_show(work: &RunJob) -> bool {
    wants(work, &["exit", "stderr"]) && !needs_catalog(work)
}

/// Whether the assertion cannot be judged without knowing what the server declares.
pub(super) fn needs_catalog(work: &RunJob) -> bool {
    wants(work, &["output_schema"])
}

fn wants(work: &RunJob, keys: &[&str]) -> bool {
    let wanted = &work.assertion.wanted;
    wanted.iter().any(|wanted| keys.contains(&wanted.key))
}
