//! Work on the items of a list, on all cores and yet handed over in their order. What the work is, is the caller's.

use std::{
    collections::BTreeMap,
    num::NonZero,
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

/// So many items are worked on at a time.
const BATCH: usize = 16;

/// Of fewer items than these another thread does none: to start one takes as long as a few.
const FEW: usize = 4 * BATCH;

/// More threads find nothing to do: what is handed over is taken on one.
const MOST: usize = 4;

/// Bytes of stack: what is read may be nested deep.
const STACK: usize = 8 << 20;

/// Does the work for each item, by its number, and hands over what comes of it in the order of the items. Where the
/// system lets us have no further thread, this one does it alone.
pub(super) fn in_order<'a, T: Sync, R: Send>(
    items: &'a [T],
    work: impl Fn(usize, &T) -> R + Sync,
    mut take: impl FnMut(&'a T, R),
) {
    let threads = if items.len() < FEW {
        1
    } else {
        thread::available_parallelism().map_or(1, NonZero::get)
    };
    let batches = Batches::new(items);
    let all = |number: usize, batch: &[T]| -> Vec<R> {
        let numbered = (number * BATCH..).zip(batch);
        numbered.map(|(number, item)| work(number, item)).collect()
    };
    thread::scope(|scope| {
        let (sender, receiver) = mpsc::channel();
        for _ in 1..threads.min(MOST) {
            let sender = sender.clone();
            let beside = || {
                let sender = sender;
                while let Some((number, batch)) = batches.next() {
                    if sender.send((number, all(number, batch))).is_err() {
                        break;
                    }
                }
            };
            let thread = thread::Builder::new().name("loading".to_owned());
            if thread
                .stack_size(STACK)
                .spawn_scoped(scope, beside)
                .is_err()
            {
                break;
            }
        }
        drop(sender);
        let mut done: BTreeMap<usize, Vec<R>> = BTreeMap::new();
        for (due, batch) in items.chunks(BATCH).enumerate() {
            let results = loop {
                done.extend(receiver.try_iter());
                if let Some(results) = done.remove(&due) {
                    break results;
                }
                if let Some((number, batch)) = batches.next() {
                    done.insert(number, all(number, batch));
                } else if let Ok((number, results)) = receiver.recv() {
                    done.insert(number, results);
                } else {
                    // The thread that had it panicked, which the end of the scope tells.
                    return;
                }
            };
            batch
                .iter()
                .zip(results)
                .for_each(|(item, result)| take(item, result));
        }
    });
}

/// The batches that nobody works on yet.
struct Batches<'a, T> {
    items: &'a [T],
    next: AtomicUsize,
}

impl<'a, T> Batches<'a, T> {
    fn new(items: &'a [T]) -> Self {
        let next = AtomicUsize::new(0);
        Self { items, next }
    }

    /// The next one, with its number.
    fn next(&self) -> Option<(usize, &'a [T])> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.items
            .chunks(BATCH)
            .nth(number)
            .map(|batch| (number, batch))
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{BATCH, FEW, in_order};

    #[test]
    fn what_comes_of_the_items_is_handed_over_in_their_order() {
        for length in [0, 1, FEW - 1, FEW, FEW + 1, 50 * BATCH + 7] {
            let items: Vec<usize> = (0..length).collect();
            let mut taken = Vec::new();
            in_order(
                &items,
                |number, item| (number, *item),
                |item, worked| taken.push((*item, worked)),
            );
            let wanted: Vec<_> = (0..length).map(|item| (item, (item, item))).collect();
            assert_eq!(taken, wanted);
        }
    }

    #[test]
    fn who_waits_for_work_that_panics_panics_too() {
        let items: Vec<usize> = (0..50 * BATCH).collect();
        let waited = catch_unwind(AssertUnwindSafe(|| {
            in_order(&items, |_, item| assert_ne!(*item, 20 * BATCH), |_, ()| {});
        }));
        assert!(waited.is_err());
    }
}
