//! The entries of a finished mapping: merge keys are filled in, and duplicate keys are reported.

use std::collections::{HashMap, HashSet};

use super::node::{At, Entry, Kind, Node};
use crate::problems::{self, Problems};

/// The key of maps that are merged into another one.
pub(crate) const MERGE: &str = "<<";

/// The entries, followed by those of merged maps; `merge_keys` begin at these bytes. A merge that fails stays as a key
/// without value, so that readers know that keys are missing.
pub(super) fn merged(
    entries: Vec<Entry>,
    merge_keys: &HashSet<usize>,
    problems: &mut Problems,
) -> Vec<Entry> {
    let mut known: HashMap<String, At> = HashMap::new();
    let (mut own, mut merges) = (Vec::with_capacity(entries.len()), Vec::new());
    for entry in entries {
        let at = entry.key.at;
        let first = *known.entry(entry.key.text.clone()).or_insert(at);
        if first != at {
            let line = problems.origin(first).position().line;
            problems.add(at, problems::duplicate_key(&entry.key.text, line));
        }
        if entry.key.text == MERGE && merge_keys.contains(&at.span.start) {
            merges.push(entry);
        } else if first == at {
            own.push(entry);
        }
    }
    for Entry { key, value } in merges {
        let at = value.at;
        let maps = match value {
            Node {
                kind: Kind::List(items),
                ..
            } => items,
            single => vec![single],
        };
        for map in maps {
            if let Kind::Map(entries) = map.kind {
                let is_new = |entry: &Entry| known.insert(entry.key.text.clone(), at).is_none();
                own.extend(entries.into_iter().filter(is_new));
                continue;
            }
            if !problems.is_broken(map.at) {
                problems.add(at, problems::merge_of_no_map());
            }
            let value = Node {
                kind: Kind::Null,
                at,
            };
            own.push(Entry {
                key: key.clone(),
                value,
            });
        }
    }
    own
}
