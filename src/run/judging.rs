//! Where a verdict is made: at once where there is little to look at, else on a thread of its own, so that the answers
//! of other servers are not left lying until then and their time is not counted wrong. The verdict itself is `judge`'s.

use std::{panic, sync::Arc, time::Duration};

use tokio::{task, time::sleep};

use super::{
    Rules,
    attempt::Attempted,
    job::Shared,
    judge::{Judgement, judge},
};
use mcp::observation::{
    Observation,
    disruption::{Disruption, DisruptionKind, Phase},
};
use suite::plan::job::RunJob;

/// The most that is looked at on the way, in bytes: what takes microseconds.
const LITTLE_BYTES: usize = 8 * 1024;

/// How long a verdict that is being made is waited for when the run is interrupted.
const LAST_VERDICTS: Duration = Duration::from_secs(2);

/// How long a verdict may take to be made. A path or a schema of the suite can take for ever with an answer.
const LONGEST: Duration = Duration::from_secs(30);

/// What was seen and what follows from it, or why that is not known.
pub(super) async fn judged(
    work: &Arc<RunJob>,
    seen: Box<Attempted>,
    shared: &Shared,
) -> Result<(Box<Attempted>, Judgement), Disruption> {
    let rules = shared.options.rules;
    if is_little(&seen.observation) {
        let judgement = of(work, &seen, rules);
        return Ok((seen, judgement));
    }
    let work = Arc::clone(work);
    let judging = task::spawn_blocking(move || {
        let judgement = of(&work, &seen, rules);
        (seen, judgement)
    });
    let interrupted = async {
        shared.options.interrupt.cancelled().await;
        sleep(LAST_VERDICTS).await;
    };
    tokio::select! {
        biased;
        judged = judging => match judged {
            Ok(judged) => Ok(judged),
            Err(broken) => match broken.try_into_panic() {
                // It is told where every panic of a job is.
                Ok(panic) => panic::resume_unwind(panic),
                Err(_) => Err(unjudged(DisruptionKind::Interrupted, "interrupted")),
            },
        },
        () = interrupted => Err(unjudged(DisruptionKind::Interrupted, "interrupted")),
        () = sleep(LONGEST) => Err(unjudged(DisruptionKind::Timeout, "30 s passed")),
    }
}

fn unjudged(kind: DisruptionKind, what: &str) -> Disruption {
    let message = format!("{what} while the expectations were checked");
    Disruption::new(kind, Phase::Subject, message)
}

fn of(work: &RunJob, seen: &Attempted, rules: Rules) -> Judgement {
    judge(work, &seen.bindings, &seen.observation, rules)
}

/// Whether no expectation can have much to look at.
fn is_little(seen: &Observation) -> bool {
    let said: usize = seen.wire.iter().map(|frame| frame.length).sum();
    said <= LITTLE_BYTES && seen.trace.is_none() && seen.files.paths.is_empty()
}
