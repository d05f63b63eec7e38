//! Dividing assertions into shards of like duration. The same assertions and durations give the same shards, whatever
//! order they come in.

use std::{cmp::Reverse, collections::BinaryHeap, ops::RangeInclusive};

use text::digest::sha256_bytes;

/// How much longer than expected an assertion is reckoned to take at worst, in hundredths.
const WORST_PER_CENT: u128 = 175;

/// How far a shard may then be over the others, in hundredths; the first that costs little enough is taken.
const STRETCH_PER_CENT: RangeInclusive<u128> = 110..=150;

/// How far the longest shard may be over the bound for caution, in thousandths.
const MOST_PER_MILLE: u128 = 1_009;

/// An assertion and how long it is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load<'a> {
    /// Its identity.
    pub id: &'a str,
    /// All its trials together, in microseconds.
    pub duration_us: u64,
}

/// One shard: the places of its assertions in what was divided, and their durations together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Places, ascending by identity.
    pub places: Vec<usize>,
    /// The sum of the durations, in microseconds.
    pub duration_us: u64,
}

/// How many shards there should be: so many that each takes `target_us` with `jobs` at once, no more than there are
/// assertions that take time, and no more than `most`.
pub fn number_of_shards(loads: &[Load<'_>], jobs: usize, target_us: u64, most: usize) -> usize {
    let total: u128 = loads.iter().map(|load| u128::from(load.duration_us)).sum();
    let room = (jobs as u128).max(1) * u128::from(target_us).max(1);
    let wanted = usize::try_from(total.div_ceil(room)).unwrap_or(usize::MAX);
    // Skipped assertions need no shard.
    let run = loads.iter().filter(|load| load.duration_us > 0).count();
    wanted.max(1).min(most).min(run.max(1)).min(loads.len())
}

/// Divides into so many shards: the longest first, each into the lightest shard. Equals are ordered by the digest of
/// their identity, so that neighbours in a file do not end up together.
///
/// Expectations are never exact, and one long assertion that takes longer still hurts more than many short ones that
/// even each other out. So a shard that would be far over the others if its longest assertion took much longer gets
/// less besides, as far as the longest shard stays within a hundredth of what no division could be better than.
pub fn divide(loads: &[Load<'_>], shards: usize) -> Vec<Part> {
    let mut order: Vec<(Reverse<u64>, [u8; 32], usize)> = loads
        .iter()
        .enumerate()
        .map(|(place, load)| {
            let digest = sha256_bytes(load.id.as_bytes());
            (Reverse(load.duration_us), digest, place)
        })
        .collect();
    order.sort_unstable();
    let order: Vec<(u64, usize)> = order
        .into_iter()
        .map(|(Reverse(duration_us), _, place)| (duration_us, place))
        .collect();
    let bound = u128::from(bound(&order, shards));
    let most = bound * MOST_PER_MILLE / 1_000;
    let careful = STRETCH_PER_CENT.step_by(2).find_map(|stretch| {
        let parts = filled(&order, shards, |load, longest| {
            let worst = longest * WORST_PER_CENT / 100;
            let stretched = (load.saturating_sub(longest) + worst)
                .saturating_mul(bound)
                .saturating_mul(100);
            let stretched = stretched / stretch.saturating_mul(worst.max(bound)).max(1);
            stretched.max(load)
        });
        let fits = parts
            .iter()
            .all(|part| u128::from(part.duration_us) <= most);
        fits.then_some(parts)
    });
    let mut parts = careful.unwrap_or_else(|| filled(&order, shards, |load, _| load));
    for part in &mut parts {
        part.places.sort_unstable_by_key(|place| loads[*place].id);
    }
    parts
}

/// The lower bound of any division of these, longest first: the mean, the longest, and the two that share a shard when
/// there is one more than shards.
fn bound(order: &[(u64, usize)], shards: usize) -> u64 {
    let duration = |at: usize| order.get(at).map_or(0, |(duration_us, _)| *duration_us);
    let total: u128 = order.iter().map(|(it, _)| u128::from(*it)).sum();
    let mean = u64::try_from(total.div_ceil((shards as u128).max(1))).unwrap_or(u64::MAX);
    let pair = match duration(shards) {
        0 => 0,
        next => duration(shards.saturating_sub(1)).saturating_add(next),
    };
    mean.max(duration(0)).max(pair)
}

/// Each into the shard that weighs the least, by its load and its longest assertion.
fn filled(order: &[(u64, usize)], shards: usize, weight: impl Fn(u128, u128) -> u128) -> Vec<Part> {
    let mut parts = vec![Part::default(); shards];
    let mut lightest: BinaryHeap<Reverse<(u128, usize, u64)>> =
        (0..shards).map(|shard| Reverse((0, shard, 0))).collect();
    for (duration_us, place) in order {
        let Some(mut top) = lightest.peek_mut() else {
            break;
        };
        let Reverse((_, shard, longest)) = *top;
        let longest = longest.max(*duration_us);
        let part = &mut parts[shard];
        part.places.push(*place);
        part.duration_us = part.duration_us.saturating_add(*duration_us);
        let weight = weight(u128::from(part.duration_us), u128::from(longest));
        *top = Reverse((weight, shard, longest));
    }
    parts
}

#[cfg(test)]
mod tests;
