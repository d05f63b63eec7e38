//! What makes an entry less safe than it was: hints about a tool that got worse, and text for the model that the user does
//! not see or shall not hear of. A short list of known signs, and no proof of the opposite.

use std::collections::BTreeSet;

use serde_json::Value;

use text::clean;

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

/// Characters without a shape of their own: zero width, direction, and the tags that repeat ASCII invisibly. Joiners are
/// not here, which emoji and some scripts need.
const INVISIBLE: [std::ops::RangeInclusive<u32>; 6] = [
    0x200b..=0x200b,
    0x202a..=0x202e,
    0x2060..=0x2064,
    0x2066..=0x2069,
    0xfeff..=0xfeff,
    0xe0000..=0xe007f,
];

/// Invisible characters that are named.
const MOST_NAMED: usize = 3;

/// Whether a hint of a tool says now that calling it is less safe.
pub(super) fn is_worse(hint: &str, old: &Value, new: &Value) -> bool {
    let (was, is) = (flag(old, hint), flag(new, hint));
    match hint {
        "readOnlyHint" => was == Some(true) && is != Some(true),
        // Where nothing is said, the specification assumes `true`; of a tool that only reads, the hint says nothing.
        "destructiveHint" if flag(new, "readOnlyHint") != Some(true) => match is {
            Some(true) => was != Some(true),
            Some(false) => false,
            None => was == Some(false),
        },
        _ => false,
    }
}

fn flag(tool: &Value, hint: &str) -> Option<bool> {
    tool.get("annotations")?.get(hint)?.as_bool()
}

/// What speaks to the model in the texts of an entry, and did not before.
pub(super) fn texts(old: &Value, new: &Value) -> Vec<String> {
    let before = signs(old);
    let new: Vec<String> = signs(new)
        .into_iter()
        .filter(|it| !before.contains(it))
        .collect();
    let (invisible, words): (Vec<_>, Vec<_>) = new.iter().partition(|it| it.starts_with("`\\"));
    let told = [
        ("has new instructions for the model", words),
        ("has new invisible characters", invisible),
    ];
    let told = told.into_iter().filter(|(_, signs)| !signs.is_empty());
    let named = told.map(|(what, signs)| {
        let signs: Vec<&str> = signs
            .iter()
            .take(MOST_NAMED)
            .map(|it| it.as_str())
            .collect();
        format!("{what}: {}", signs.join(", "))
    });
    named.collect()
}

/// The signs that an entry has anywhere, invisible characters as `\u{…}`.
fn signs(entry: &Value) -> BTreeSet<String> {
    // Stored catalogs are cleaned already.
    let text = clean(&entry.to_string()).to_lowercase();
    let words = INSTRUCTIONS.into_iter().filter(|it| text.contains(it));
    let codes = text.split("\\u{").skip(1);
    let codes = codes.filter_map(|it| u32::from_str_radix(it.split('}').next()?, 16).ok());
    let codes = codes.filter(|code| INVISIBLE.iter().any(|it| it.contains(code)));
    let codes = codes.map(|code| format!("`\\u{{{code:x}}}`"));
    words.map(|it| format!("`{it}`")).chain(codes).collect()
}
