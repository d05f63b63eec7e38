//! Dividing assertions into shards of like duration. The same assertions and durations give the same shards, whatever
//! order they come in.

use std::{cmp::Reverse, collections::BinaryHeap};

use crate::words::digest::sha256_bytes;

/// An assertion and how long it is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load<'a> {
    /// Its identity.
    pub(crate) id: &'a str,
    /// All its trials together, in microseconds.
    pub(crate) duration_us: u64,
}

/// One shard: the places of its assertions in what was divided, and their durations together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Part {
    /// Places, ascending by identity.
    pub(crate) places: Vec<usize>,
    /// The sum of the durations, in microseconds.
    pub(crate) duration_us: u64,
}

/// How many shards there should be: so many that each takes `target_us` with `jobs` at once, no more than there are
/// assertions, and no more than `most`.
pub(crate) fn number_of_shards(
    loads: &[Load<'_>],
    jobs: usize,
    target_us: u64,
    most: usize,
) -> usize {
    let total: u128 = loads.iter().map(|load| u128::from(load.duration_us)).sum();
    let room = (jobs as u128).max(1) * u128::from(target_us).max(1);
    let wanted = usize::try_from(total.div_ceil(room)).unwrap_or(usize::MAX);
    wanted.max(1).min(most).min(loads.len())
}

/// Divides into so many shards: the longest first, each into the lightest shard. Equals are ordered by the digest of
/// their identity, so that neighbours in a file do not end up together.
pub(crate) fn divide(loads: &[Load<'_>], shards: usize) -> Vec<Part> {
    let mut order: Vec<(Reverse<u64>, [u8; 32], usize)> = loads
        .iter()
        .enumerate()
        .map(|(place, load)| {
            let digest = sha256_bytes(load.id.as_bytes());
            (Reverse(load.duration_us), digest, place)
        })
        .collect();
    order.sort_unstable();
    let mut parts = vec![Part::default(); shards];
    let mut lightest: BinaryHeap<Reverse<(u64, usize)>> =
        (0..shards).map(|shard| Reverse((0, shard))).collect();
    for (Reverse(duration_us), _, place) in order {
        let Some(mut top) = lightest.peek_mut() else {
            break;
        };
        let Reverse((load, shard)) = *top;
        let load = load.saturating_add(duration_us);
        *top = Reverse((load, shard));
        parts[shard].places.push(place);
        parts[shard].duration_us = load;
    }
    for part in &mut parts {
        part.places.sort_unstable_by_key(|place| loads[*place].id);
    }
    parts
}

#[cfg(test)]
mod tests;
