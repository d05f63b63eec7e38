//! The entries of a finished mapping: merge keys are filled in, keys that occur twice are told.

use std::collections::{HashMap, HashSet};

use super::node::{At, Entry, Kind, Node};
use crate::problems::{self, Problems};

/// The key of maps that are merged into another one.
pub(crate) const MERGE: &str = "<<";

/// The entries with those of merged maps behind them, where `merge_keys` begin at these bytes. A merge that cannot be
/// filled in stays as a key without value, so that readers know that keys are lacking.
pub(super) fn merged(
    entries: Vec<Entry>,
    merge_keys: &HashSet<usize>,
    problems: &mut Problems,
) -> Vec<Entry> {
    let mut own: Vec<Entry> = Vec::with_capacity(entries.len());
    let mut known: HashMap<String, At> = HashMap::new();
    let mut merges: Vec<Entry> = Vec::new();
    for entry in entries {
        let at = entry.key.at;
        let is_merge = entry.key.text == MERGE && merge_keys.contains(&at.span.start);
        let first = known.get(&entry.key.text).copied();
        if let Some(first) = first {
            let line = problems.origin(first).position().line;
            let origin = problems.origin(at);
            problems.add(problems::duplicate_key(origin, &entry.key.text, line));
        } else {
            known.insert(entry.key.text.clone(), at);
        }
        if is_merge {
            merges.push(entry);
        } else if first.is_none() {
            own.push(entry);
        }
    }
    for Entry { key, value } in merges {
        let at = value.at;
        let (maps, is_sound) = maps_of(value, problems);
        for entry in maps.into_iter().flatten() {
            if !known.contains_key(&entry.key.text) {
                known.insert(entry.key.text.clone(), entry.key.at);
                own.push(entry);
            }
        }
        if !is_sound {
            let kind = Kind::Null;
            let value = Node { kind, at };
            own.push(Entry { key, value });
        }
    }
    own
}

/// The maps to be merged, and whether that is all that was to be.
fn maps_of(value: Node, problems: &mut Problems) -> (Vec<Vec<Entry>>, bool) {
    let at = value.at;
    let nodes = match value.kind {
        Kind::List(items) => items,
        kind @ (Kind::Map(_) | Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..)) => {
            vec![Node { kind, at }]
        }
    };
    let mut is_sound = true;
    let mut maps = Vec::with_capacity(nodes.len());
    for node in nodes {
        match node.kind {
            Kind::Map(entries) => maps.push(entries),
            Kind::Null | Kind::Flag(..) | Kind::Number(..) | Kind::Text(..) | Kind::List(_) => {
                is_sound = false;
                if !problems.is_broken(node.at) {
                    let origin = problems.origin(at);
                    problems.add(problems::merge_of_no_map(origin));
                }
            }
        }
    }
    (maps, is_sound)
}
