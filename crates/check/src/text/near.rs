//! The nearest thing in a text that would have matched: the same words in another case or with other white
//! space, the beginning of them, or the same words in another part of the answer.

use regex::RegexBuilder;

use crate::{phrase, text::hidden};
use mcp::{observation::answer::Reply, script::pattern::Pattern};
use text::{
    CUT,
    unicode_form::{self, composed},
};

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

/// The nearest place of `words` in a text that does not contain them.
pub(crate) fn in_text(words: &str, text: &str) -> Option<Near> {
    if words.is_empty() || words.len() > LONGEST || text.is_empty() {
        return None;
    }
    if text.len() > LARGE {
        return beginning(words, text);
    }
    let exact = regex::escape(words);
    let spaced = spaced_pattern(words);
    other_way(&exact, text, "in another case")
        .or_else(|| other_way(&format!("(?-i:{spaced})"), text, "with other white space"))
        .or_else(|| other_way(&spaced, text, "in another case and with other white space"))
        .or_else(|| other_form(words, text))
        .or_else(|| escaped(words, text))
        .or_else(|| beginning(words, text))
}

/// A pattern for the words of a text with any white space between them.
fn spaced_pattern(words: &str) -> String {
    let words: Vec<String> = words.split_whitespace().map(regex::escape).collect();
    words.join(r"\s+")
}

fn other_way(pattern: &str, text: &str, how: &str) -> Option<Near> {
    if pattern == "(?-i:)" || pattern.is_empty() {
        return None;
    }
    let pattern = RegexBuilder::new(pattern)
        .case_insensitive(true)
        .size_limit(4 << 20)
        .build()
        .ok()?;
    let found = pattern.find(text)?;
    Some(Near {
        at: found.start(),
        hint: format!("the text has it {how}: {}", phrase::quoted(found.as_str())),
    })
}

/// The words in another Unicode normalization form, which looks the same.
fn other_form(words: &str, text: &str) -> Option<Near> {
    let hit = composed(text).find(&composed(words))?;
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    let after = starts.partition_point(|at| composed(&text[..*at]).len() <= hit);
    let at = *starts.get(after.checked_sub(1)?)?;
    let difference = unicode_form::difference(words, &text[at..])?;
    Some(Near {
        at,
        hint: format!("the text has it in another Unicode form: {difference}"),
    })
}

/// The words as they stand inside a JSON string, whichever letters its writer escapes.
fn escaped(words: &str, text: &str) -> Option<Near> {
    if !text.contains('\\') {
        return None;
    }
    let pattern: String = words.chars().map(escaped_pattern).collect();
    let found = RegexBuilder::new(&pattern)
        .size_limit(4 << 20)
        .build()
        .ok()?
        .find(text)?;
    Some(Near {
        at: found.start(),
        hint: format!(
            "the text has it as JSON escapes it: {}; `json_path` compares the value itself",
            phrase::quoted(found.as_str())
        ),
    })
}

/// A pattern for a letter, as it is or as JSON may escape it.
fn escaped_pattern(letter: char) -> String {
    let short = match letter {
        '"' | '/' => Some(letter),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\u{8}' => Some('b'),
        '\u{c}' => Some('f'),
        _ => None,
    };
    let short = short.map_or_else(String::new, |short| format!(r"|\\{short}"));
    // A backslash that is not doubled would be the beginning of another escape.
    let plain = match letter {
        '\\' => r"\\\\".to_owned(),
        _ => regex::escape(letter.encode_utf8(&mut [0; 4])),
    };
    let units: Vec<String> = letter
        .encode_utf16(&mut [0; 2])
        .iter()
        .map(|unit| format!(r"\\u(?i:{unit:04x})"))
        .collect();
    format!("(?:{plain}{short}|{})", units.concat())
}

/// The longest beginning of the words that the text has, when it is most of them.
fn beginning(words: &str, text: &str) -> Option<Near> {
    let ends: Vec<usize> = words.char_indices().map(|(at, _)| at).skip(1).collect();
    let found = ends.partition_point(|end| text.contains(&words[..*end]));
    let end = *ends.get(found.checked_sub(1)?)?;
    let long_enough = found >= 4 && found * 2 > ends.len();
    long_enough.then(|| Near {
        at: text.find(&words[..end]).unwrap_or(0),
        hint: format!(
            "the text has its beginning: {}",
            phrase::quoted(&format!("{}{CUT}", &words[..end]))
        ),
    })
}

/// What differs between two texts that are nearly the same.
pub(crate) fn same_but(wanted: &str, seen: &str) -> Option<String> {
    if seen.len() / 8 > wanted.len() + 64 || wanted.len() / 8 > seen.len() + 64 {
        return None;
    }
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if wanted.to_lowercase() == seen.to_lowercase() {
        return Some("they differ only in case".to_owned());
    }
    if wanted.replace("\r\n", "\n") == seen.replace("\r\n", "\n") {
        return Some("they differ only in line ends: one has CR LF".to_owned());
    }
    if squeezed(wanted) == squeezed(seen) {
        return Some("they differ only in white space".to_owned());
    }
    if let Some(difference) = unicode_form::only_difference(wanted, seen) {
        return Some(format!(
            "they differ only in their Unicode form: {difference}"
        ));
    }
    let unquoted: Option<String> = serde_json::from_str(seen).ok();
    if unquoted.as_deref().map(str::trim) == Some(wanted) {
        return Some("the text is that, as a JSON string in quotation marks".to_owned());
    }
    let is_json = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    match (is_json(wanted), is_json(seen)) {
        (Some(left), Some(right)) if crate::json::same(&left, &right) => Some(
            "both are the same JSON written differently; `json_path` with `$` compares values"
                .to_owned(),
        ),
        _ => None,
    }
}

/// Says so when words that are not in the text are in another part of the answer.
pub(crate) fn elsewhere(words: &str, reply: &Reply) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    hidden::content(reply)
        .iter()
        .find(|part| part.find(words).is_some())
        .map(|part| {
            format!(
                "it is not in the text, but in `{}`; look there with `{}`",
                part.path, part.looked_at_with
            )
        })
}

/// Says so when a text that is not the whole text is the whole of another part of the answer.
pub(crate) fn equal_elsewhere(words: &str, reply: &Reply) -> Option<String> {
    if words.is_empty() {
        return None;
    }
    let parts = hidden::content(reply);
    let part = parts.iter().find(|part| part.is(words))?;
    Some(format!(
        "it is not the text, but `{}`; look there with `{}`",
        part.path, part.looked_at_with
    ))
}

/// How a pattern would have matched.
pub(crate) fn of_pattern(pattern: &Pattern, text: &str) -> Option<Near> {
    if text.len() > LARGE {
        return None;
    }
    if let Some(found) = pattern.between_slashes().and_then(|inner| inner.find(text)) {
        return Some(Near {
            at: found.start(),
            hint: format!(
                "the slashes are looked for too: without them it finds {}",
                phrase::quoted(found.as_str())
            ),
        });
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
