//! Members of a record that stand there twice, of which JSON does not say which one counts: one reader takes the first,
//! another the last. A call that is told in such a way may have been another one.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::{Map, Value};

use super::{
    number,
    record::{ARGUMENTS, Told, told},
};
use crate::{protocol::members, words::json_text::without_lone_surrogates};

/// What is looked at in a record of a call, its arguments aside.
const LOOKED_AT: [&str; 25] = [
    "tool",
    "tool_name",
    "toolName",
    "name",
    "method",
    "kind",
    "source",
    "error_category",
    "seq",
    "of",
    "dt_us",
    "at_ms",
    "timestamp",
    "ts",
    "time",
    "outcome",
    "error",
    "is_error",
    "isError",
    "ok",
    "success",
    "redacted",
    "truncated",
    "request_truncated",
    "args_truncated",
];

/// What a line has that its record has not: the record holds of each member the last value only.
#[derive(Debug, Default)]
pub(super) struct Twice {
    /// Members with the values that stand there before the last one and are others.
    pub(super) earlier: Vec<(String, Value)>,
    /// Members in whose value something stands twice.
    within: Vec<String>,
}

impl Twice {
    /// Finds them in the line of a record.
    pub(super) fn of(line: &str, record: &Map<String, Value>) -> Self {
        let repaired = without_lone_surrogates(line);
        let line = repaired.as_deref().unwrap_or(line);
        let (mut of_itself, mut within) = (false, Vec::new());
        for repeat in members::repeats(line.as_bytes(), record) {
            match repeat.within {
                Some(key) => within.push(key),
                None => of_itself = true,
            }
        }
        // Almost no line has any, and the values are read once more for those that do.
        let earlier = if of_itself {
            others(line, record)
        } else {
            Vec::new()
        };
        Self { earlier, within }
    }

    /// The member by which it cannot be told what a record tells of a call; none where the record is of no call,
    /// whichever value counts.
    pub(super) fn unclear(&self, record: &Map<String, Value>) -> Option<&str> {
        let is_looked_at = |key: &&str| LOOKED_AT.contains(key) || ARGUMENTS.contains(key);
        let keys = self.earlier.iter().map(|(key, _)| key).chain(&self.within);
        let key = keys.map(String::as_str).find(is_looked_at)?;
        let is_call = |record: &Map<String, Value>| !matches!(told(record), Told::Nothing);
        let with = |(key, value): &(String, Value)| {
            let mut other = record.clone();
            other.insert(key.clone(), value.clone());
            other
        };
        let ends_a_call = number(record, "of").is_some();
        let tells =
            ends_a_call || is_call(record) || self.earlier.iter().any(|one| is_call(&with(one)));
        tells.then_some(key)
    }
}

/// The members of a line that have another value there than in its record.
fn others(line: &str, record: &Map<String, Value>) -> Vec<(String, Value)> {
    let all = serde_json::from_str(line).map_or_else(|_| Vec::new(), |Members(all)| all);
    all.into_iter()
        .filter(|(key, value)| record.get(key) != Some(value))
        .collect()
}

/// All members of an object, however often they stand there.
struct Members(Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut all = Vec::new();
                while let Some(member) = map.next_entry()? {
                    all.push(member);
                }
                Ok(Members(all))
            }
        }
        from.deserialize_map(All)
    }
}
