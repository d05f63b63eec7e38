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
use crate::{observation::Observation, plan::job::RunJob};

/// The most that is looked at on the way, in bytes: what takes microseconds.
const LITTLE_BYTES: usize = 8 * 1024;

/// How long a verdict that is being made is waited for when the run is interrupted.
const LAST_VERDICTS: Duration = Duration::from_secs(2);

/// What was seen and what follows from it; `None` where the run is over before that is known.
pub(super) async fn judged(
    work: &Arc<RunJob>,
    seen: Box<Attempted>,
    shared: &Shared,
) -> Option<(Box<Attempted>, Judgement)> {
    let rules = shared.options.rules;
    if is_little(&seen.observation) {
        let judgement = of(work, &seen, rules);
        return Some((seen, judgement));
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
            Ok(judged) => Some(judged),
            Err(broken) => match broken.try_into_panic() {
                // It is told where every panic of a job is.
                Ok(panic) => panic::resume_unwind(panic),
                Err(_) => None,
            },
        },
        () = interrupted => None,
    }
}

fn of(work: &RunJob, seen: &Attempted, rules: Rules) -> Judgement {
    judge(work, &seen.bindings, &seen.observation, rules)
}

/// Whether no expectation can have much to look at.
fn is_little(seen: &Observation) -> bool {
    let said: usize = seen.wire.iter().map(|frame| frame.length).sum();
    said <= LITTLE_BYTES && seen.trace.is_none() && seen.files.paths.is_empty()
}
