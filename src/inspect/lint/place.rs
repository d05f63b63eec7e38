//! Where a finding stands in the file that it was read from.

use std::collections::HashMap;

use report::inspection::{Finding, Place};

/// Gives each finding the line of its subject's name, where that stands exactly once in the file. The others stay with
/// the file as a whole.
pub(crate) fn put(findings: &mut [Finding], file: &str, text: &str) {
    let places = quoted(text);
    for it in findings.iter_mut().filter(|it| !it.name.is_empty()) {
        let quoted = serde_json::Value::from(it.name.as_str()).to_string();
        if let Some(Some((line, column))) = places.get(quoted.as_str()) {
            it.place = Some(Place {
                file: file.to_owned(),
                line: *line,
                column: *column,
            });
        }
    }
}

/// The texts between quotes that stand in a JSON file once, with line and column; of others nothing.
fn quoted(text: &str) -> HashMap<&str, Option<(usize, usize)>> {
    let mut places = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let (mut begun, mut is_escaped) = (None, false);
        for (column, (at, character)) in (1..).zip(line.char_indices()) {
            match (character, begun) {
                (_, Some(_)) if is_escaped => is_escaped = false,
                ('\\', Some(_)) => is_escaped = true,
                ('"', None) => begun = Some((at, column)),
                ('"', Some((from, column))) => {
                    let place = places.entry(&line[from..=at]);
                    place
                        .and_modify(|it| *it = None)
                        .or_insert(Some((number, column)));
                    begun = None;
                }
                _ => {}
            }
        }
    }
    places
}
