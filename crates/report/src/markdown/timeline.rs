//! The shards of a merged run beside each other: when each began, how long it was expected to take, how long it took.

use std::fmt::Write as _;

use crate::run_json::ShardFacts;

/// A diagram of the shards that left a result; nothing when there is none. It is made of numbers alone.
pub(super) fn timeline(shards: &[ShardFacts]) -> String {
    let ran = || shards.iter().filter(|shard| shard.attempt > 0);
    let Some(first) = ran().map(|shard| shard.started_unix_ms).min() else {
        return String::new();
    };
    let mut out =
        String::from("\n```mermaid\ngantt\n  title Shards\n  dateFormat x\n  axisFormat %M:%S\n");
    for shard in ran() {
        let begun = shard.started_unix_ms - first;
        let took = shard.duration_us / 1_000;
        // Writing to a text cannot fail.
        let _ = write!(
            out,
            "  section {}\n  {} planned {} :{begun}, {}\n",
            shard.shard,
            seconds(took),
            seconds(shard.planned_us / 1_000),
            begun.saturating_add(took.max(1)),
        );
    }
    out.push_str("```\n");
    out
}

/// `12.3 s`.
fn seconds(milliseconds: u64) -> String {
    format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100)
}

#[cfg(test)]
mod tests {
    use super::timeline;
    use crate::run_json::ShardFacts;

    #[test]
    fn shards_begin_where_they_began() {
        let shard = |shard, attempt, started_unix_ms| ShardFacts {
            shard,
            attempt,
            planned_us: 1_250_000,
            duration_us: 2_300_000,
            started_unix_ms,
        };
        let drawn = timeline(&[shard(1, 1, 5_000), shard(2, 0, 0), shard(3, 2, 4_000)]);
        insta::assert_snapshot!(drawn, @r"

        ```mermaid
        gantt
          title Shards
          dateFormat x
          axisFormat %M:%S
          section 1
          2.3 s planned 1.2 s :1000, 3300
          section 3
          2.3 s planned 1.2 s :0, 2300
        ```
        ");
        assert_eq!(timeline(&[shard(1, 0, 0)]), "");
        let far = timeline(&[shard(1, 1, u64::MAX), shard(2, 1, 0)]);
        assert!(
            far.contains(":18446744073709551615, 18446744073709551615"),
            "{far}"
        );
    }
}
