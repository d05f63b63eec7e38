//! Limits the jobs to what `ulimit -n` allows. The limit is not raised, because servers inherit it.

use rustix::process::{Resource, getrlimit};

/// Open files of the run itself.
const OURS: u64 = 40;

/// Open files of one job: the pipes of one running server, one started ahead and one closing.
const OF_A_JOB: u64 = 12;

/// The reduced number of jobs and a note, if the limit is too low.
pub(super) fn fewer_jobs(jobs: usize) -> Option<(usize, String)> {
    fewer(jobs, getrlimit(Resource::Nofile).current?)
}

fn fewer(jobs: usize, limit: u64) -> Option<(usize, String)> {
    let most = usize::try_from(limit.saturating_sub(OURS) / OF_A_JOB).unwrap_or(usize::MAX);
    let most = most.max(1);
    let note = format!(
        "{most} at a time instead of {jobs}: no more than {limit} files may be open (`ulimit -n`)"
    );
    (most < jobs).then_some((most, note))
}

#[cfg(test)]
mod tests {
    use super::fewer;

    #[test]
    fn only_a_limit_that_is_too_low_counts() {
        let case = |jobs, limit| fewer(jobs, limit).map(|(most, _)| most);
        assert_eq!(case(64, 256), Some(18));
        assert_eq!(case(18, 256), None);
        assert_eq!(case(8, 1024), None);
        assert_eq!(case(2, 20), Some(1));
        assert_eq!(case(1, 20), None);
        assert_eq!(case(64, u64::MAX), None);
    }
}
