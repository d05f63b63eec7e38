//! Expectations about all of something of which there was nothing.

use crate::{check::progress, observation::Observation, suite::model::expectation::Expectation};

/// Why an expectation that holds had nothing to look at.
pub(super) fn reason(expectation: &Expectation, seen: &Observation) -> Option<String> {
    let is_monotonic =
        matches!(expectation, Expectation::Progress(wanted) if wanted.monotonic == Some(true));
    if is_monotonic && progress::is_untold(seen) {
        let reason = "no progress came that `monotonic` could look at; `min: 1` wants some";
        return Some(reason.to_owned());
    }
    // Rules that want a call do not hold here.
    let no_call = seen.trace.as_ref().is_some_and(Vec::is_empty);
    (no_call && matches!(expectation, Expectation::Trajectory(_)))
        .then(|| "the list of calls is empty: it proves nothing of what was not called".to_owned())
}
