//! A part of a plan: every n-th assertion, so that shards of one suite are of like size and a new
//! assertion moves few others; or exactly those that an earlier plan named.

use std::collections::BTreeSet;

/// Which of the selected assertions are run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// All of them.
    Whole,
    /// Every n-th.
    EveryNth(Shard),
    /// The assertions with these identities.
    These(BTreeSet<String>),
}

impl Part {
    /// Whether the assertion at this position (from 0) is run.
    pub fn holds(&self, position: usize, id: &str) -> bool {
        match self {
            Self::Whole => true,
            Self::EveryNth(shard) => shard.holds(position),
            Self::These(ids) => ids.contains(id),
        }
    }
}

/// `i/n`: the i-th of n parts, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// An invalid shard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid shard `{0}`: expected `i/n` with 1 ≤ i ≤ n, such as `2/4`")]
pub struct BadShard(String);

impl Shard {
    /// Reads `i/n`.
    pub fn from_text(text: &str) -> Result<Self, BadShard> {
        let bad = || BadShard(text.to_owned());
        let (number, of) = text.split_once('/').ok_or_else(bad)?;
        let number: usize = number.trim().parse().map_err(|_| bad())?;
        let of: usize = of.trim().parse().map_err(|_| bad())?;
        if number == 0 || number > of {
            return Err(bad());
        }
        Ok(Self { number, of })
    }

    /// Which part it is, from 1.
    pub fn number(self) -> usize {
        self.number
    }

    /// How many parts there are.
    pub fn of(self) -> usize {
        self.of
    }

    /// Whether the selected assertion at this position (from 0) is in this part.
    fn holds(&self, position: usize) -> bool {
        position % self.of == self.number - 1
    }
}

#[cfg(test)]
mod tests {
    use super::Shard;

    #[test]
    fn every_position_is_in_exactly_one_part() {
        let shards: Vec<Shard> = (1..=3).map(|number| Shard { number, of: 3 }).collect();
        for position in 0..20 {
            assert_eq!(
                shards.iter().filter(|shard| shard.holds(position)).count(),
                1
            );
        }
    }

    #[test]
    fn only_parts_that_exist_are_read() {
        for text in ["0/3", "4/3", "1", "a/b", "1/0", "-1/2", ""] {
            assert!(Shard::from_text(text).is_err(), "{text}");
        }
        assert_eq!(Shard::from_text("2/4"), Ok(Shard { number: 2, of: 4 }));
    }
}
