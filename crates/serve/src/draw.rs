//! Seeded draws: PCG-DXSM over 128 bits, seeded by FNV-1a, so that other fixture servers that use
//! the same generator give the same rolls.

/// The generator's multiplier and increment.
const MULTIPLIER: u128 = 0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645;
const INCREMENT: u128 = 0x5851_f42d_4c95_7f2d_1405_7b7e_f767_814f;
const MIX: u64 = 0xda94_2042_e4dd_58b5;

const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// A stream of 64-bit draws.
#[derive(Debug, Clone)]
pub(crate) struct Pcg {
    state: u128,
}

impl Pcg {
    /// The stream of the 128-bit seed `high`, `low`.
    pub(crate) fn new(high: u64, low: u64) -> Self {
        Self {
            state: (u128::from(high) << 64) | u128::from(low),
        }
    }

    /// The next 64 bits.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves of the state are what is wanted"
    )]
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let mut high = (self.state >> 64) as u64;
        let low = self.state as u64;
        high ^= high >> 32;
        high = high.wrapping_mul(MIX);
        high ^= high >> 48;
        high.wrapping_mul(low | 1)
    }

    /// A number under `limit`, each as likely as the others.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the low half of the product is what is compared, and the high half is under the limit"
    )]
    pub(crate) fn next_below(&mut self, limit: usize) -> usize {
        let limit = limit as u64;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(limit);
            if product as u64 >= limit.wrapping_neg() % limit.max(1) {
                return (product >> 64) as usize;
            }
        }
    }

    /// A number in 0 ≤ x < 1 with 53 bits.
    #[expect(
        clippy::cast_precision_loss,
        reason = "53 bits fit a double without loss"
    )]
    pub(crate) fn next_unit(&mut self) -> f64 {
        const BITS: u64 = 1 << 53;
        (self.next_u64() & (BITS - 1)) as f64 / BITS as f64
    }
}

/// FNV-1a with 64 bits.
pub(crate) fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(FNV_OFFSET, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// The roll of `flaky` for a seed and a call.
pub(crate) fn roll(seed: &str, call_id: i64) -> f64 {
    let high = fnv1a(&format!("{seed}|{call_id}"));
    let low = fnv1a(&format!("salt|{seed}|{call_id}"));
    Pcg::new(high, low).next_unit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_gives_the_published_stream() {
        let mut stream = Pcg::new(1, 2);
        let first: Vec<u64> = (0..5).map(|_| stream.next_u64()).collect();
        assert_eq!(
            first,
            [
                0xc4f5_a586_56ee_f510,
                0x9dce_c3ad_077d_ec6c,
                0xc8d0_4605_312f_8088,
                0xcbed_c0dc_b63a_c19a,
                0x3bf9_8798_cae9_7950,
            ]
        );
    }

    #[test]
    fn seeds_are_hashed_as_published() {
        for (text, hash) in [
            ("abc", 0xe71f_a219_0541_574b),
            ("salt:abc", 0x7abe_0668_18eb_70ff),
            ("test|0", 0x8def_78dc_8604_8ab1),
            ("salt|test|0", 0x56c6_7f80_c4e9_5f97),
        ] {
            assert_eq!(fnv1a(text), hash, "{text}");
        }
    }

    #[test]
    fn rolls_are_the_published_ones() {
        let wanted = [
            0.133_118_754_832_773_9,
            0.363_784_450_463_376_04,
            0.577_303_050_375_265_2,
            0.756_160_212_296_160_2,
            0.851_473_797_832_343_8,
            0.362_081_772_719_215_27,
            0.820_317_302_745_420_7,
            0.342_308_618_438_741_5,
        ];
        for (call, wanted) in (0..).zip(wanted) {
            assert!((roll("test", call) - wanted).abs() < 1e-17, "call {call}");
        }
        assert!((roll("abc", 7) - 0.096_070_426_715_716_64).abs() < 1e-17);
        assert!((roll("abc", -1) - 0.946_843_963_655_279_6).abs() < 1e-17);
    }
}
