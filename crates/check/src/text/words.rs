//! The expectations of texts, one after another.

use serde_json::Value;

use super::{hidden, near};
use crate::{
    ask::Ask,
    outcome::verdict::{Mismatch, Verdict},
    phrase, view,
};
use mcp::{
    observation::{Observation, answer::Reply},
    script::pattern::Pattern,
};
use suite::written::Part;
use text::count;

/// The longest wanted or seen text of `equals` that is shown whole, in bytes.
const WHOLE: usize = 16 * 1024;

/// Mismatches of one expectation that are explained in full; looking for near places costs time.
const EXPLAINED: usize = 8;

/// `not_empty`
pub(super) fn ask_not_empty(wanted: bool) -> Ask {
    Ask::new(
        "not_empty",
        if wanted {
            "content that is not empty"
        } else {
            "empty content"
        },
    )
}

/// `not_empty`: text that is not blank, `null`, `[]` or `{}`, or any other content.
pub(super) fn not_empty(wanted: bool, seen: &Observation) -> Verdict {
    let ask = ask_not_empty(wanted);
    view::with_reply(seen, &ask, |reply| match (wanted, emptiness(reply)) {
        (true, Some(what)) => vec![Mismatch {
            actual: Some(reply.text.clone()).filter(|text| !text.is_empty()),
            ..ask.miss(what)
        }],
        (false, None) => vec![filled(&ask, reply)],
        (true, None) | (false, Some(_)) => Vec::new(),
    })
}

/// The mismatch of content that is there: the text, else all that was answered.
fn filled(ask: &Ask, reply: &Reply) -> Mismatch {
    let actual = if is_hollow(&reply.text) {
        Some(phrase::laid_out(&reply.raw))
    } else {
        shown(&reply.text, 0)
    };
    Mismatch {
        actual,
        ..ask.miss("there is content")
    }
}

/// The type of a content block.
fn kind_of(block: &Value) -> Option<&str> {
    block.get("type").and_then(Value::as_str)
}

/// What the content is when it is empty; `None` when there is something.
fn emptiness(reply: &Reply) -> Option<&'static str> {
    let only_text = reply
        .content
        .iter()
        .all(|block| kind_of(block) == Some("text"));
    let structured = reply
        .structured
        .as_ref()
        .is_some_and(|value| !is_hollow(&value.to_string()));
    if !only_text || structured {
        return None;
    }
    let text = reply.text.trim();
    if text.is_empty() {
        return Some(if reply.text.is_empty() {
            "there is no text and no other content"
        } else {
            "the text is only white space"
        });
    }
    is_hollow(text).then_some("the text is only an empty JSON value")
}

/// Whether a text is `null`, `[]` or `{}`, white space aside.
fn is_hollow(text: &str) -> bool {
    const LONGEST: usize = 64;
    if text.len() > LONGEST {
        return false;
    }
    let bare: String = text
        .chars()
        .filter(|letter| !letter.is_whitespace())
        .collect();
    matches!(bare.as_str(), "" | "null" | "[]" | "{}")
}

/// `equals`
pub(super) fn ask_equals(wanted: &str) -> Ask {
    Ask::new(
        "equals",
        format!("the text to be {}", phrase::quoted(wanted.trim())),
    )
}

/// `equals`: the text is this, surrounding white space aside.
pub(super) fn equals(wanted: &str, seen: &Observation) -> Verdict {
    let ask = ask_equals(wanted);
    view::with_reply(seen, &ask, |reply| {
        let (wanted, text) = (wanted.trim(), reply.text.trim());
        if wanted == text {
            return Vec::new();
        }
        let at = first_difference(wanted, text);
        let summary = if text.is_empty() {
            "the text is empty".to_owned()
        } else if text.len() <= 100 && !text.contains('\n') {
            format!("the text is {}", phrase::quoted(text))
        } else {
            format!("the text differs from {}", place(text, at))
        };
        let (expected, actual) = whole_or_around(wanted, text);
        vec![Mismatch {
            expected: Some(expected),
            actual: Some(actual),
            hint: near::same_but(wanted, text),
            ..ask.miss(summary)
        }]
    })
}

/// The byte at which two texts part.
fn first_difference(left: &str, right: &str) -> usize {
    let common = left
        .bytes()
        .zip(right.bytes())
        .take_while(|(one, other)| one == other)
        .count();
    right.floor_char_boundary(common)
}

/// `line 3, column 7`, for people.
fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let column = before[start..].chars().count() + 1;
    format!("line {line}, column {column}")
}

/// Two texts in full, or round the place where they part if one is too long to be read.
pub(crate) fn whole_or_around(wanted: &str, seen: &str) -> (String, String) {
    if wanted.len().max(seen.len()) <= WHOLE {
        return (wanted.to_owned(), seen.to_owned());
    }
    phrase::cut_both(wanted, seen)
}

/// `contains`
pub(super) fn ask_contains<S: AsRef<str>>(wanted: &[S]) -> Ask {
    Ask::new(
        "contains",
        format!("the text to contain {}", phrase::list(wanted, "and")),
    )
}

/// `contains`: the text holds each of these.
pub(super) fn contains(wanted: &[String], seen: &Observation) -> Verdict {
    let whole = ask_contains(wanted);
    view::with_reply(seen, &whole, |reply| {
        wanted
            .iter()
            .enumerate()
            .filter(|(_, words)| !reply.text.contains(words.as_str()))
            .enumerate()
            .map(|(missing, (index, words))| {
                let ask = ask_contains(&[words]);
                let mismatch = if missing < EXPLAINED {
                    absent(&ask, words, reply)
                } else {
                    ask.miss("it is not there either")
                };
                mismatch.within(Part::Item(index))
            })
            .collect()
    })
}

/// The mismatch for a text that was looked for in vain.
fn absent(ask: &Ask, words: &str, reply: &Reply) -> Mismatch {
    let near = near::in_text(words, &reply.text);
    let at = near.as_ref().map_or(0, |near| near.at);
    let comparable = near.is_some() && is_short(&reply.text);
    let hint = near
        .map(|near| near.hint)
        .or_else(|| near::elsewhere(words, reply));
    Mismatch {
        expected: comparable.then(|| words.to_owned()),
        actual: shown(&reply.text, at),
        hint,
        ..ask.miss(summary(&reply.text))
    }
}

/// What the text is, in a few words.
fn summary(text: &str) -> String {
    if text.is_empty() {
        "the text is empty".to_owned()
    } else if is_short(text) {
        format!("the text is {}", phrase::quoted(text))
    } else {
        format!(
            "it is not in the text ({}, {})",
            count(text.lines().count(), "line"),
            count(text.len(), "byte")
        )
    }
}

/// Whether a text is taken in at a glance: beside a longer one, what was looked for in it shows no difference.
fn is_short(text: &str) -> bool {
    text.len() <= 80 && !text.contains('\n')
}

/// A text for display; nothing when it is empty.
fn shown(text: &str, at: usize) -> Option<String> {
    (!text.is_empty()).then(|| phrase::cut(text, at))
}

/// `contains_any`
pub(super) fn ask_contains_any(wanted: &[String]) -> Ask {
    Ask::new(
        "contains_any",
        format!("the text to contain {}", phrase::list(wanted, "or")),
    )
}

/// `contains_any`: the text holds at least one of these; an empty list holds.
pub(super) fn contains_any(wanted: &[String], seen: &Observation) -> Verdict {
    let ask = ask_contains_any(wanted);
    view::with_reply(seen, &ask, |reply| {
        let text = reply.text.as_str();
        if wanted.is_empty() || wanted.iter().any(|words| text.contains(words.as_str())) {
            return Vec::new();
        }
        let near = wanted.iter().find_map(|words| near::in_text(words, text));
        let at = near.as_ref().map_or(0, |near| near.at);
        let summary = if text.is_empty() {
            "the text is empty".to_owned()
        } else {
            "none of them is there".to_owned()
        };
        vec![Mismatch {
            actual: shown(text, at),
            hint: near.map(|near| near.hint).or_else(|| {
                wanted
                    .iter()
                    .find_map(|words| near::elsewhere(words, reply))
            }),
            ..ask.miss(summary)
        }]
    })
}

/// `not_contains`
pub(super) fn ask_not_contains<S: AsRef<str>>(wanted: &[S]) -> Ask {
    Ask::new(
        "not_contains",
        format!("no content to contain {}", phrase::list(wanted, "or")),
    )
}

/// `not_contains`: none of these occurs in any content, structured content included.
pub(super) fn not_contains(wanted: &[String], seen: &Observation) -> Verdict {
    let whole = ask_not_contains(wanted);
    view::with_reply(seen, &whole, |reply| {
        let hidden = hidden::all(reply, seen.proof);
        let look = |(index, words): (usize, &String)| {
            present(words, reply, &hidden).map(|found| found.within(Part::Item(index)))
        };
        wanted.iter().enumerate().filter_map(look).collect()
    })
}

/// The mismatch for a text that occurs in some content.
fn present(words: &str, reply: &Reply, hidden: &[hidden::Part<'_>]) -> Option<Mismatch> {
    let ask = ask_not_contains(&[words]);
    if let Some(at) = reply.text.find(words) {
        return Some(Mismatch {
            actual: shown(&reply.text, at),
            ..ask.miss(format!("the text has it at {}", place(&reply.text, at)))
        });
    }
    let (part, text, at) = hidden
        .iter()
        .find_map(|part| part.find(words).map(|(text, at)| (part, text, at)))?;
    let hint = match part.unescaped() {
        Some(_) => "the text has it as JSON escapes it; `not_contains` looks at both",
        None => "`not_contains` looks at all content, not only at the text",
    };
    Some(Mismatch {
        path: Some(part.path.clone()),
        actual: shown(&text, at),
        hint: Some(hint.to_owned()),
        ..ask.miss("it is there")
    })
}

/// `in_order`
pub(super) fn ask_in_order(wanted: &[String]) -> Ask {
    let words = phrase::list(wanted, "and");
    Ask::new(
        "in_order",
        format!("the text to contain, one after another, {words}"),
    )
}

/// `in_order`: the text holds these one after another.
pub(super) fn in_order(wanted: &[String], seen: &Observation) -> Verdict {
    let ask = ask_in_order(wanted);
    view::with_reply(seen, &ask, |reply| {
        let text = reply.text.as_str();
        let mut from = 0;
        for (index, words) in wanted.iter().enumerate() {
            let Some(at) = text[from..].find(words.as_str()) else {
                let before = index.checked_sub(1).and_then(|index| wanted.get(index));
                let mismatch = out_of_order(&ask, words, before, (text, from));
                return vec![mismatch.within(Part::Item(index))];
            };
            from += at + words.len();
        }
        Vec::new()
    })
}

/// Whether a text holds these one after another.
pub(super) fn in_a_row(wanted: &[String], text: &str) -> bool {
    let mut rest = Some(text);
    wanted.iter().all(|words| {
        rest = rest.and_then(|rest| rest.split_once(words.as_str()).map(|(_, rest)| rest));
        rest.is_some()
    })
}

/// The mismatch for the first text that does not follow the one before it.
fn out_of_order(
    ask: &Ask,
    words: &str,
    before: Option<&String>,
    (text, from): (&str, usize),
) -> Mismatch {
    let summary = match before {
        Some(before) => format!(
            "{} does not follow {}",
            phrase::quoted(words),
            phrase::quoted(before)
        ),
        None => format!("{} is not in the text", phrase::quoted(words)),
    };
    let earlier = text.find(words);
    let near = near::in_text(words, &text[from..]);
    let (at, hint) = match (earlier, near) {
        (Some(at), _) => (
            at,
            Some(format!("it stands before that, at {}", place(text, at))),
        ),
        (None, Some(near)) => (from + near.at, Some(near.hint)),
        (None, None) => (from, None),
    };
    Mismatch {
        actual: shown(text, at),
        hint,
        ..ask.miss(summary)
    }
}

/// `matches_regex`
pub(super) fn ask_matches(wanted: &[&Pattern]) -> Ask {
    let patterns: Vec<&str> = wanted.iter().map(|pattern| pattern.written()).collect();
    Ask::new(
        "matches_regex",
        format!("the text to match {}", phrase::list(&patterns, "and")),
    )
}

/// `matches_regex`: each of these patterns is found in the text.
pub(super) fn matches_regex(wanted: &[Pattern], seen: &Observation) -> Verdict {
    let whole = ask_matches(&wanted.iter().collect::<Vec<_>>());
    view::with_reply(seen, &whole, |reply| {
        wanted
            .iter()
            .enumerate()
            .filter(|(_, pattern)| !pattern.is_match(&reply.text))
            .map(|(index, pattern)| {
                let near = near::of_pattern(pattern, &reply.text);
                let at = near.as_ref().map_or(0, |near| near.at);
                let summary = if reply.text.is_empty() {
                    "the text is empty"
                } else {
                    "nothing in the text does"
                };
                Mismatch {
                    actual: shown(&reply.text, at),
                    hint: near.map(|near| near.hint),
                    ..ask_matches(&[pattern]).miss(summary)
                }
                .within(Part::Item(index))
            })
            .collect()
    })
}
