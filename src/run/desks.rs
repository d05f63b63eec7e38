//! Where jobs run: on the thread of the scheduler and on those beside it. A new job goes to the one that has the
//! fewest.

use tokio::runtime::Handle;

/// The threads that jobs are spawned onto, with how many each has.
#[derive(Debug)]
pub(super) struct Desks(Vec<(Handle, usize)>);

/// A place on one of the threads; to be given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Desk(usize);

impl Desks {
    /// Nothing runs yet. The scheduler's own thread comes first.
    pub(super) fn new(own: Handle, beside: Vec<Handle>) -> Self {
        let all = std::iter::once(own).chain(beside);
        Self(all.map(|thread| (thread, 0)).collect())
    }

    /// A place on the thread that has the fewest jobs.
    pub(super) fn take(&mut self) -> (Desk, Handle) {
        let mut least = 0;
        for (at, (_, jobs)) in self.0.iter().enumerate() {
            if *jobs < self.0[least].1 {
                least = at;
            }
        }
        let (thread, jobs) = &mut self.0[least];
        *jobs += 1;
        (Desk(least), thread.clone())
    }

    /// A job is over.
    pub(super) fn give_back(&mut self, Desk(at): Desk) {
        self.0[at].1 = self.0[at].1.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;

    use super::{Desk, Desks};

    #[tokio::test]
    async fn a_job_goes_to_the_thread_that_has_the_fewest() {
        let own = Handle::current();
        let mut desks = Desks::new(own.clone(), vec![own.clone(), own]);
        let take = |desks: &mut Desks| desks.take().0;
        let first: Vec<Desk> = (0..4).map(|_| take(&mut desks)).collect();
        assert_eq!(first, [0, 1, 2, 0].map(Desk));
        desks.give_back(Desk(1));
        assert_eq!(take(&mut desks), Desk(1));
        desks.give_back(Desk(0));
        desks.give_back(Desk(0));
        assert_eq!([take(&mut desks), take(&mut desks)], [0, 0].map(Desk));
    }
}
