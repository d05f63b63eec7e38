//! The bounds that a division keeps, by simulation, and its independence of order.

use std::f64::consts::TAU;

use super::{Load, divide, number_of_shards};

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Between 0 and 1, neither of them.
    fn share(&mut self) -> f64 {
        let bits = u32::try_from(self.next() >> 32).unwrap();
        (f64::from(bits) + 0.5) / 4_294_967_296.0
    }

    /// A factor whose logarithm is normal with this deviation.
    fn lognormal(&mut self, sigma: f64) -> f64 {
        let normal = (-2.0 * self.share().ln()).sqrt() * (TAU * self.share()).cos();
        (sigma * normal).exp()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "durations are positive and far below 2^63"
)]
fn micros(seconds: f64) -> u64 {
    (seconds * 1e6) as u64
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
fn ratio(one: u64, other: u64) -> f64 {
    one as f64 / other as f64
}

/// What no division can be better than: the mean, the longest, and the two that must share when there is one more
/// than shards.
fn bound(durations: &[u64], shards: usize) -> u64 {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable_by(|one, other| other.cmp(one));
    let mean = sorted.iter().sum::<u64>().div_ceil(shards as u64);
    let pair = sorted
        .get(shards)
        .map_or(0, |next| sorted[shards - 1] + next);
    mean.max(sorted[0]).max(pair)
}

/// The longest shard over the bound when the division goes by `expected` and the run takes `real`.
fn stretch(ids: &[String], expected: &[u64], real: &[u64], shards: usize) -> f64 {
    let loads: Vec<Load<'_>> = ids
        .iter()
        .zip(expected)
        .map(|(id, duration_us)| Load {
            id,
            duration_us: *duration_us,
        })
        .collect();
    let parts = divide(&loads, shards);
    let longest = parts
        .iter()
        .map(|part| part.places.iter().map(|place| real[*place]).sum::<u64>())
        .max();
    ratio(longest.unwrap(), bound(real, shards))
}

#[test]
fn shards_keep_within_both_bounds() {
    let ids: Vec<String> = (0..10_000)
        .map(|number| format!("a.yaml::{number}"))
        .collect();
    // More of them, for the table in full: SHARD_SEEDS=100.
    let seeds = std::env::var("SHARD_SEEDS").map_or(1, |seeds| seeds.parse().unwrap());
    println!("sigma shards | exact: worst median | estimated: worst median");
    for sigma in [0.5, 1.0, 2.0] {
        for shards in [2, 3, 8, 16, 32, 64, 128, 256] {
            let (mut exact, mut estimated) = (Vec::new(), Vec::new());
            for seed in 0..seeds {
                let mut numbers = Numbers(seed);
                let real: Vec<u64> = ids
                    .iter()
                    .map(|_| micros(numbers.lognormal(sigma)))
                    .collect();
                let guessed: Vec<u64> = real
                    .iter()
                    .map(|real| micros(ratio(*real, 1_000_000) * numbers.lognormal(0.2)))
                    .collect();
                exact.push(stretch(&ids, &real, &real, shards));
                estimated.push(stretch(&ids, &guessed, &real, shards));
            }
            exact.sort_unstable_by(f64::total_cmp);
            estimated.sort_unstable_by(f64::total_cmp);
            let (worst, off) = (exact[exact.len() - 1], estimated[estimated.len() - 1]);
            println!(
                "{sigma:5} {shards:6} | {worst:.5} {:.5} | {off:.4} {:.4}",
                exact[exact.len() / 2],
                estimated[estimated.len() / 2],
            );
            assert!(worst <= 1.01, "sigma {sigma}, {shards} shards: {worst}");
            if shards <= 128 {
                assert!(off <= 4.0 / 3.0, "sigma {sigma}, {shards} shards: {off}");
            }
        }
    }
}

#[test]
fn the_order_of_what_is_divided_does_not_matter() {
    let ids: Vec<String> = (0..100).map(|number| format!("a.yaml::{number}")).collect();
    let mut loads: Vec<Load<'_>> = ids
        .iter()
        .enumerate()
        .map(|(place, id)| Load {
            id,
            duration_us: place as u64 / 10,
        })
        .collect();
    let named = |loads: &[Load<'_>]| -> Vec<Vec<String>> {
        let parts = divide(loads, 7);
        let ids = |places: Vec<usize>| places.iter().map(|at| loads[*at].id.to_owned()).collect();
        parts.into_iter().map(|part| ids(part.places)).collect()
    };
    let wanted = named(&loads);
    loads.reverse();
    assert_eq!(named(&loads), wanted);
    loads.swap(3, 50);
    assert_eq!(named(&loads), wanted);
    let all: usize = wanted.iter().map(Vec::len).sum();
    assert_eq!(all, 100);
}

#[test]
fn shards_are_as_many_as_the_time_asks_for() {
    let case = |durations: &[u64], jobs, target, most, wanted| {
        let loads: Vec<Load<'_>> = durations
            .iter()
            .map(|duration_us| Load {
                id: "a",
                duration_us: *duration_us,
            })
            .collect();
        assert_eq!(number_of_shards(&loads, jobs, target, most), wanted);
    };
    case(&[], 2, 60, 8, 0);
    case(&[0, 0], 2, 60, 8, 1);
    case(&[60, 60], 1, 60, 8, 2);
    case(&[60, 61], 1, 60, 8, 2);
    // What is skipped takes no time, and needs no shard of its own.
    case(&[60, 61, 0], 1, 60, 8, 2);
    case(&[60, 61, 1], 1, 60, 8, 3);
    case(&[60, 61, 1], 2, 60, 8, 2);
    case(&[600; 100], 1, 60, 8, 8);
    case(&[u64::MAX; 3], 1, 1, 256, 3);
}

#[test]
fn more_shards_than_assertions_leave_some_empty() {
    let loads = [Load {
        id: "a",
        duration_us: 1,
    }];
    let parts = divide(&loads, 3);
    assert_eq!(
        parts.iter().filter(|part| part.places.is_empty()).count(),
        2
    );
    assert!(divide(&loads, 0).is_empty());
    let endless = [Load {
        id: "a",
        duration_us: u64::MAX,
    }; 3];
    assert_eq!(divide(&endless, 2).len(), 2);
}
