//! The expectations of texts, one after another.

use serde_json::Value;

use super::{hidden, near};
use crate::{ask::Ask, outcome::verdict::Mismatch, phrase};
use mcp::{
    observation::{Proof, answer::Reply},
    script::pattern::Pattern,
};
use suite::written::Part;
use text::count;

/// The longest wanted or seen text of `equals` that is shown whole, in bytes.
const WHOLE: usize = 16 * 1024;

/// Mismatches of one expectation that are explained in full; looking for near places costs time.
const EXPLAINED: usize = 8;

/// `not_empty`: text that is not blank, `null`, `[]` or `{}`, or any other content.
pub(super) fn not_empty(ask: &Ask, wanted: bool, reply: &Reply) -> Vec<Mismatch> {
    match (wanted, emptiness(reply)) {
        (true, Some(what)) => vec![Mismatch {
            actual: shown(&reply.text, 0),
            ..ask.miss(what)
        }],
        (false, None) => vec![Mismatch {
            actual: if is_hollow(&reply.text) {
                Some(phrase::laid_out(&reply.raw))
            } else {
                shown(&reply.text, 0)
            },
            ..ask.miss("there is content")
        }],
        (true, None) | (false, Some(_)) => Vec::new(),
    }
}

/// What the content is when it is empty; `None` when there is something.
fn emptiness(reply: &Reply) -> Option<&'static str> {
    let is_text = |block: &Value| block.get("type").and_then(Value::as_str) == Some("text");
    let structured = reply.structured.as_ref();
    if !reply.content.iter().all(is_text)
        || structured.is_some_and(|it| !is_hollow(&it.to_string()))
    {
        return None;
    }
    match (reply.text.as_str(), reply.text.trim()) {
        ("", _) => Some("there is no text and no other content"),
        (_, "") => Some("the text is only white space"),
        (_, text) => is_hollow(text).then_some("the text is only an empty JSON value"),
    }
}

/// Whether a text is `null`, `[]` or `{}`, white space aside.
fn is_hollow(text: &str) -> bool {
    const LONGEST: usize = 64;
    if text.len() > LONGEST {
        return false;
    }
    let bare: String = text.split_whitespace().collect();
    matches!(bare.as_str(), "" | "null" | "[]" | "{}")
}

/// `equals`: the text is this, surrounding white space aside.
pub(super) fn equals(ask: &Ask, wanted: &str, reply: &Reply) -> Vec<Mismatch> {
    let (wanted, text) = (wanted.trim(), reply.text.trim());
    if wanted == text {
        return Vec::new();
    }
    let seen = if is_short(text) {
        summary(text)
    } else {
        let pairs = wanted.bytes().zip(text.bytes());
        let common = pairs.take_while(|(one, other)| one == other).count();
        let at = text.floor_char_boundary(common);
        format!("the text differs from {}", place(text, at))
    };
    let (expected, actual) = whole_or_around(wanted, text);
    vec![Mismatch {
        expected: Some(expected),
        actual: Some(actual),
        hint: near::same_but(wanted, text),
        ..ask.miss(seen)
    }]
}

/// `line 3, column 7`, for people.
fn place(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
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

pub(super) fn ask_contains<S: AsRef<str>>(wanted: &[S]) -> Ask {
    let words = phrase::list(wanted, "and");
    Ask::new("contains", format!("the text to contain {words}"))
}

/// `contains`: the text holds each of these.
pub(super) fn contains(wanted: &[String], reply: &Reply) -> Vec<Mismatch> {
    let words = wanted.iter().enumerate();
    let missing = words.filter(|(_, words)| !reply.text.contains(words.as_str()));
    let mismatch = |(missing, (index, words)): (usize, (usize, &String))| {
        let ask = ask_contains(&[words]);
        let mismatch = if missing < EXPLAINED {
            absent(&ask, words, reply)
        } else {
            ask.miss("it is not there either")
        };
        mismatch.within(Part::Item(index))
    };
    missing.enumerate().map(mismatch).collect()
}

/// The mismatch for a text that was looked for in vain.
fn absent(ask: &Ask, words: &str, reply: &Reply) -> Mismatch {
    let near = near::in_text(words, &reply.text);
    let comparable = near.is_some() && is_short(&reply.text);
    Mismatch {
        expected: comparable.then(|| words.to_owned()),
        actual: shown(&reply.text, near.as_ref().map_or(0, |near| near.at)),
        hint: near
            .map(|near| near.hint)
            .or_else(|| near::elsewhere(words, reply)),
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

/// `contains_any`: the text holds at least one of these; an empty list holds.
pub(super) fn contains_any(ask: &Ask, wanted: &[String], reply: &Reply) -> Vec<Mismatch> {
    let text = reply.text.as_str();
    if wanted.is_empty() || wanted.iter().any(|words| text.contains(words.as_str())) {
        return Vec::new();
    }
    let near = wanted.iter().find_map(|words| near::in_text(words, text));
    let elsewhere = || {
        wanted
            .iter()
            .find_map(|words| near::elsewhere(words, reply))
    };
    vec![Mismatch {
        actual: shown(text, near.as_ref().map_or(0, |near| near.at)),
        hint: near.map(|near| near.hint).or_else(elsewhere),
        ..ask.miss(if text.is_empty() {
            "the text is empty"
        } else {
            "none of them is there"
        })
    }]
}

pub(super) fn ask_not_contains<S: AsRef<str>>(wanted: &[S]) -> Ask {
    let words = phrase::list(wanted, "or");
    Ask::new("not_contains", format!("no content to contain {words}"))
}

/// `not_contains`: none of these occurs in any content, structured content included.
pub(super) fn not_contains(wanted: &[String], reply: &Reply, proof: Proof) -> Vec<Mismatch> {
    let hidden = hidden::all(reply, proof);
    let look = |(index, words): (usize, &String)| {
        present(words, reply, &hidden).map(|found| found.within(Part::Item(index)))
    };
    wanted.iter().enumerate().filter_map(look).collect()
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
    let mut found = hidden.iter().map(|part| (part, part.find(words)));
    let (part, (text, at)) = found.find_map(|(part, found)| Some((part, found?)))?;
    let hint = match part.form {
        hidden::Form::Escaped => "the text has it as JSON escapes it; `not_contains` looks at both",
        hidden::Form::Plain | hidden::Form::Encoded => {
            "`not_contains` looks at all content, not only at the text"
        }
    };
    Some(Mismatch {
        path: Some(part.path.clone()),
        actual: shown(&text, at),
        hint: Some(hint.to_owned()),
        ..ask.miss("it is there")
    })
}

/// `in_order`: the text holds these one after another.
pub(super) fn in_order(ask: &Ask, wanted: &[String], reply: &Reply) -> Vec<Mismatch> {
    let text = reply.text.as_str();
    let mut from = 0;
    for (index, words) in wanted.iter().enumerate() {
        let Some(at) = text[from..].find(words.as_str()) else {
            let before = index.checked_sub(1).and_then(|index| wanted.get(index));
            let mismatch = out_of_order(ask, words, before, (text, from));
            return vec![mismatch.within(Part::Item(index))];
        };
        from += at + words.len();
    }
    Vec::new()
}

/// The mismatch for the first text that does not follow the one before it.
fn out_of_order(
    ask: &Ask,
    words: &str,
    before: Option<&String>,
    (text, from): (&str, usize),
) -> Mismatch {
    let named = phrase::quoted(words);
    let seen = match before {
        Some(before) => format!("{named} does not follow {}", phrase::quoted(before)),
        None => format!("{named} is not in the text"),
    };
    let near = near::in_text(words, &text[from..]);
    let (at, hint) = match (text.find(words), near) {
        (Some(at), _) => {
            let hint = format!("it stands before that, at {}", place(text, at));
            (at, Some(hint))
        }
        (None, Some(near)) => (from + near.at, Some(near.hint)),
        (None, None) => (from, None),
    };
    Mismatch {
        actual: shown(text, at),
        hint,
        ..ask.miss(seen)
    }
}

pub(super) fn ask_matches(patterns: &[&str]) -> Ask {
    let patterns = phrase::list(patterns, "and");
    Ask::new("matches_regex", format!("the text to match {patterns}"))
}

/// `matches_regex`: each of these patterns is found in the text.
pub(super) fn matches_regex(wanted: &[Pattern], reply: &Reply) -> Vec<Mismatch> {
    let patterns = wanted.iter().enumerate();
    let missing = patterns.filter(|(_, pattern)| !pattern.is_match(&reply.text));
    let mismatch = |(index, pattern): (usize, &Pattern)| {
        let near = near::of_pattern(pattern, &reply.text);
        let mismatch = Mismatch {
            actual: shown(&reply.text, near.as_ref().map_or(0, |near| near.at)),
            hint: near.map(|near| near.hint),
            ..ask_matches(&[pattern.written()]).miss(if reply.text.is_empty() {
                "the text is empty"
            } else {
                "nothing in the text does"
            })
        };
        mismatch.within(Part::Item(index))
    };
    missing.map(mismatch).collect()
}
