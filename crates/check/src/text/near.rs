//! The nearest thing in a text that would have matched: the same words in another case or with other white
//! space, or the same words in another part of the answer.

use regex::RegexBuilder;

use crate::{phrase, text::hidden};
use mcp::{observation::answer::Reply, script::pattern::Pattern};

/// The longest wanted text that a nearest place is looked for, in bytes.
const LONGEST: usize = 8 * 1024;

/// A longer text is not searched by pattern, in bytes.
const LARGE: usize = 2 * 1024 * 1024;

/// A place in the text that nearly matched, and what to say of it.
pub(crate) struct Near {
    /// The byte where it begins.
    pub at: usize,
    /// What it is.
    pub hint: String,
}

/// The place of `words` in a text that has them in another case or with other white space.
pub(crate) fn in_text(words: &str, text: &str) -> Option<Near> {
    if words.len() > LONGEST || text.len() > LARGE {
        return None;
    }
    let words: Vec<String> = words.split_whitespace().map(regex::escape).collect();
    let pattern = RegexBuilder::new(&words.join(r"\s+"))
        .case_insensitive(true)
        .size_limit(4 << 20)
        .build()
        .ok()?;
    let found = pattern.find(text).filter(|found| !found.is_empty())?;
    let found_text = phrase::quoted(found.as_str());
    Some(Near {
        at: found.start(),
        hint: format!("the text has it in another case or with other white space: {found_text}"),
    })
}

/// What differs between two texts that are nearly the same.
pub(crate) fn same_but(wanted: &str, seen: &str) -> Option<String> {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if wanted.to_lowercase() == seen.to_lowercase() {
        return Some("they differ only in case".to_owned());
    }
    if squeezed(wanted) == squeezed(seen) {
        return Some("they differ only in white space".to_owned());
    }
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    crate::json::same(&json(wanted)?, &json(seen)?).then(|| {
        "both are the same JSON written differently; `json_path` with `$` compares values"
            .to_owned()
    })
}

/// Says so when words that are not in the text are in another part of the answer.
pub(crate) fn elsewhere(words: &str, reply: &Reply) -> Option<String> {
    let parts = hidden::content(reply);
    let part = parts.iter().find(|part| part.find(words).is_some())?;
    Some(format!(
        "it is not in the text, but in `{}`; look there with `{}`",
        part.path, part.looked_at_with
    ))
}

/// How a pattern would have matched.
pub(crate) fn of_pattern(pattern: &Pattern, text: &str) -> Option<Near> {
    if text.len() > LARGE {
        return None;
    }
    [
        ('i', "it would match in another case: with `(?i)` it finds"),
        ('m', "it would match a single line: with `(?m)` it finds"),
        ('s', "it would match across lines: with `(?s)` it finds"),
    ]
    .into_iter()
    .find_map(|(flag, says)| {
        let other = pattern.with_flag(flag)?;
        let found = other.find(text)?;
        Some(Near {
            at: found.start(),
            hint: format!("{says} {}", phrase::quoted(found.as_str())),
        })
    })
}
