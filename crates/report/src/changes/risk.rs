//! Text for the model that the user does not see or shall not hear of. A short list of known signs, and no proof of the
//! opposite.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Change, Level};
use mcp::json::walk::walk;
use text::{
    clean, head,
    unseen::{Unseen, unseen},
};

/// Words of published tool poisoning attacks, in lower case. `docs/pull-requests.md` names the reports.
const INSTRUCTIONS: [&str; 10] = [
    "<important>",
    "<system>",
    "<secret>",
    "<instructions>",
    "ignore previous instructions",
    "ignore all previous instructions",
    "disregard previous instructions",
    "do not mention",
    "do not tell the user",
    "without telling the user",
];

/// Words that are named.
const MOST_NAMED: usize = 3;

/// Characters shown of a text with hidden ones.
const SHOWN: usize = 60;

/// What speaks to the model alone in the texts of an entry, and did not before.
pub(super) fn compare(old: &Value, new: &Value) -> Vec<Change> {
    let (before, now) = (texts(old), texts(new));
    let said = [&before, &now].map(|texts| {
        let texts: Vec<String> = texts.iter().map(|it| it.to_lowercase()).collect();
        texts.join("\n")
    });
    let words = INSTRUCTIONS.into_iter();
    let words = words.filter(|it| said[1].contains(it) && !said[0].contains(it));
    let words: Vec<String> = words.take(MOST_NAMED).map(|it| format!("`{it}`")).collect();
    let words = words.join(", ");
    let words = (!words.is_empty()).then(|| format!("has new instructions for the model: {words}"));
    let hidden = now.difference(&before).find_map(|it| hidden(it));
    let hidden = hidden.map(|it| format!("has hidden characters in a text: {it}"));
    let found = words.into_iter().chain(hidden);
    found.map(|it| Change::new(Level::Risky, it)).collect()
}

/// All texts of an entry, what nobody sees as `\u{…}`: stored catalogs are cleaned already.
fn texts(entry: &Value) -> BTreeSet<String> {
    let texts = walk(entry).flat_map(|it| match it {
        Value::String(text) => vec![clean(text)],
        Value::Object(members) => members.keys().map(|it| clean(it)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => Vec::new(),
    });
    texts.collect()
}

/// The part of a text round the first character that people do not see and models read. What emoji and some scripts need is
/// none.
fn hidden(text: &str) -> Option<String> {
    let is_hidden = |at: &usize| {
        let code = text[at + 3..].split('}').next();
        let code = code.and_then(|it| u32::from_str_radix(it, 16).ok());
        match code.and_then(char::from_u32).and_then(unseen) {
            Some(Unseen::Tag(_) | Unseen::ZeroWidth | Unseen::Bidi | Unseen::Control) => true,
            Some(Unseen::Joiner | Unseen::Variant) | None => false,
        }
    };
    let at = text
        .match_indices("\\u{")
        .map(|(at, _)| at)
        .find(is_hidden)?;
    let before = text[..at].char_indices().rev().nth(SHOWN / 2);
    Some(head(&text[before.map_or(0, |(at, _)| at)..], SHOWN))
}
