//! Where jobs run: on the thread of the run itself and on those beside it, each with a runtime of its own, so that the
//! answers of a server wake nobody but the thread that waits for them.

use tokio::runtime::Handle;

/// The threads that jobs are spawned onto, with how many slots are held on each.
#[derive(Debug)]
pub(super) struct Desks {
    all: Vec<(Handle, usize)>,
    /// Where a slot became free last.
    freed: usize,
}

/// A place on one of the threads; to be given back.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Desk(usize);

impl Desks {
    /// Nothing runs yet. The run's own thread comes first.
    pub(super) fn new(own: Handle, beside: Vec<Handle>) -> Self {
        let all = std::iter::once(own).chain(beside);
        Self {
            all: all.map(|thread| (thread, 0)).collect(),
            freed: 0,
        }
    }

    /// A place on the thread that has the fewest; among those, the one that became free last, because who frees it
    /// asks for the next.
    pub(super) fn take(&mut self) -> (Desk, Handle) {
        let held = |(at, (_, held)): &(usize, &(Handle, usize))| (*held, *at != self.freed);
        let least = self.all.iter().enumerate().min_by_key(held);
        let at = least.map_or(0, |(at, _)| at);
        let (thread, held) = &mut self.all[at];
        *held += 1;
        (Desk(at), thread.clone())
    }

    /// A slot is held there no longer.
    pub(super) fn give_back(&mut self, Desk(at): Desk) {
        self.all[at].1 = self.all[at].1.saturating_sub(1);
        self.freed = at;
    }
}

#[cfg(test)]
mod tests {
    use tokio::runtime::Handle;

    use super::{Desk, Desks};

    #[tokio::test]
    async fn a_job_goes_to_the_thread_that_has_the_fewest_and_else_to_the_one_that_became_free() {
        let own = Handle::current();
        let mut desks = Desks::new(own.clone(), vec![own.clone(), own]);
        let take = |desks: &mut Desks| desks.take().0;
        let first: Vec<Desk> = (0..4).map(|_| take(&mut desks)).collect();
        assert_eq!(first, [0, 1, 2, 0].map(Desk));
        desks.give_back(Desk(1));
        assert_eq!(take(&mut desks), Desk(1));
        desks.give_back(Desk(0));
        desks.give_back(Desk(2));
        assert_eq!([take(&mut desks), take(&mut desks)], [2, 2].map(Desk));
        desks.give_back(Desk(1));
        desks.give_back(Desk(0));
        assert_eq!(take(&mut desks), Desk(0));
    }
}
