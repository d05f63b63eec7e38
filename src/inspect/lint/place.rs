//! Where a finding stands in the files that its subject is written in.

use std::collections::{BTreeMap, HashMap};

use report::inspection::{Finding, Place};

/// Gives each finding the place where the quoted name of its subject stands exactly once in the files, which are texts by
/// path. The others stay without.
pub(crate) fn put(findings: &mut [Finding], files: &BTreeMap<String, String>) {
    let named = findings.iter().filter(|it| !it.name.is_empty());
    let mut places: HashMap<String, Vec<Place>> =
        named.map(|it| (escaped(&it.name), Vec::new())).collect();
    let longest = places.keys().map(String::len).max().unwrap_or_default();
    for (file, text) in files {
        for (line, content) in (1..).zip(text.lines()) {
            for (column, (at, quote)) in (1..).zip(content.char_indices()) {
                if !matches!(quote, '"' | '\'' | '`') {
                    continue;
                }
                let name = quoted(&content[at + 1..], quote, longest);
                let found = name.and_then(|name| places.get_mut(name));
                if let Some(found) = found.filter(|it| it.len() < 2) {
                    let file = file.clone();
                    found.push(Place { file, line, column });
                }
            }
        }
    }
    for it in findings {
        if let Some([place]) = places.get(&escaped(&it.name)).map(Vec::as_slice) {
            it.place = Some(place.clone());
        }
    }
}

/// A name as it stands between quotes.
fn escaped(name: &str) -> String {
    let quoted = serde_json::Value::from(name).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// A text up to the next quote that is not escaped, if that is near. In a language that nobody knows any quote may be the
/// first one.
fn quoted(text: &str, quote: char, longest: usize) -> Option<&str> {
    let mut is_escaped = false;
    let mut signs = text.char_indices().take(longest + 1);
    let (end, _) = signs.find(|(_, sign)| {
        let is_end = *sign == quote && !is_escaped;
        is_escaped = *sign == '\\' && !is_escaped;
        is_end
    })?;
    Some(&text[..end])
}
