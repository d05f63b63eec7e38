//! The durations of assertions in the last runs, by which a plan divides them into shards.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{RunReport, tally::median};
use check::outcome::Status;

/// What stands in `format`.
const FORMAT: &str = "mcp-assert/timings";

/// The version of the format.
const VERSION: u64 = 1;

/// Durations kept of each assertion.
const MOST_KEPT: usize = 20;

/// The last durations of each assertion.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Timings {
    /// Microseconds, the oldest first, by the assertion's identity.
    pub durations_us: BTreeMap<String, Vec<u64>>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    format: String,
    version: u64,
    durations_us: BTreeMap<String, Vec<u64>>,
}

impl Timings {
    /// Reads a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if file.format != FORMAT || file.version != VERSION {
            return Err(format!("it is not `{FORMAT}` of version {VERSION}"));
        }
        Ok(Self {
            durations_us: file.durations_us,
        })
    }

    /// The file.
    pub fn render(&self) -> String {
        let file = serde_json::json!({
            "format": FORMAT,
            "version": VERSION,
            "durations_us": self.durations_us,
        });
        format!("{file:#}\n")
    }

    /// The middle duration of each assertion, of two the lower one.
    pub fn medians(&self) -> BTreeMap<String, u64> {
        let all = self.durations_us.iter();
        all.filter_map(|(key, durations)| Some((key.clone(), median(durations.clone())?)))
            .collect()
    }

    /// Takes in a run. Assertions that a whole run does not have are forgotten.
    #[must_use]
    pub fn updated(&self, report: &RunReport) -> Self {
        let mut new: BTreeMap<String, Vec<u64>> = BTreeMap::new();
        for record in &report.records {
            let known = || self.durations_us.get(&record.key()).cloned();
            let durations = new
                .entry(record.key())
                .or_insert_with(|| known().unwrap_or_default());
            if record.status != Status::Skip && !record.says_nothing() {
                durations.push(record.duration_us);
            }
            let surplus = durations.len().saturating_sub(MOST_KEPT);
            durations.drain(..surplus);
        }
        new.retain(|_, durations| !durations.is_empty());
        Self { durations_us: new }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{MOST_KEPT, Timings};
    use crate::sample::{outcome, report, sample};

    #[test]
    fn the_last_durations_are_kept_and_read_back() {
        let mut timings = Timings::default();
        for _ in 0..MOST_KEPT + 5 {
            timings = timings.updated(&sample());
        }
        assert!(
            timings
                .durations_us
                .values()
                .all(|it| it.len() == MOST_KEPT)
        );
        // What was skipped took no time.
        assert_eq!(timings.durations_us.len(), sample().records.len() - 1);
        assert_eq!(Timings::parse(&timings.render()), Ok(timings.clone()));
        let other = timings.updated(&report(vec![outcome("a.yaml", "a")], 1));
        assert_eq!(other.durations_us.len(), 1);
        assert!(Timings::parse("{}").is_err());
        let timings = Timings {
            durations_us: BTreeMap::from([("a".to_owned(), vec![9, 1, 5, 7])]),
        };
        assert_eq!(timings.medians(), BTreeMap::from([("a".to_owned(), 5)]));
    }
}
