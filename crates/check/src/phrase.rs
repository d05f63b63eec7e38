//! How values and texts are put into a sentence: one line, in backticks, never longer than a line can bear.

use serde_json::Value;

/// Characters of a text inside a sentence.
const IN_A_SENTENCE: usize = 100;

/// Characters of a text that stands by itself.
pub(super) const BY_ITSELF: usize = 800;

/// A text in backticks, on one line.
pub(super) fn quoted(words: &str) -> String {
    in_backticks(&text::head(words, IN_A_SENTENCE))
}

fn in_backticks(words: &str) -> String {
    format!("`{}`", words.replace('\n', "\\n").replace('\r', "\\r"))
}

/// Texts in backticks: `` `a`, `b` and `c` ``.
pub(super) fn list<S: AsRef<str>>(items: &[S], last: &str) -> String {
    /// More than this would hide the sentence.
    const MOST: usize = 12;
    let mut shown: Vec<String> = items
        .iter()
        .take(MOST)
        .map(|item| quoted(item.as_ref()))
        .collect();
    if items.len() > MOST {
        shown.push(format!("{} more", items.len() - MOST));
    }
    joined(&shown, last)
}

/// Clauses joined by commas and a last word.
pub(super) fn joined(clauses: &[String], last: &str) -> String {
    match clauses {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A JSON value in backticks, compact, on one line.
pub(super) fn value(value: &Value) -> String {
    let (text, is_whole) = beginning(value, 4 * IN_A_SENTENCE, Layout::Compact);
    if is_whole {
        return quoted(&text);
    }
    let beginning: String = text.chars().take(IN_A_SENTENCE).collect();
    in_backticks(&format!("{beginning}{}", text::CUT))
}

/// How JSON is written.
#[derive(Clone, Copy)]
enum Layout {
    Compact,
    Indented,
}

/// The first bytes of a value as JSON, and whether that is all of it: more would cost more than the check.
fn beginning(value: &Value, limit: usize, layout: Layout) -> (String, bool) {
    let mut bytes = vec![0; limit];
    let mut room = &mut bytes[..];
    let written = match layout {
        Layout::Compact => serde_json::to_writer(&mut room, value),
        Layout::Indented => serde_json::to_writer_pretty(&mut room, value),
    };
    let length = limit - room.len();
    let text = String::from_utf8_lossy(&bytes[..length]);
    let text = text.trim_end_matches('\u{fffd}').to_owned();
    (text, written.is_ok())
}

/// What kind of value it is, with its article: `a string`.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if mcp::json::number::is_integer(number) => "an integer",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// A value and its kind: `` the string `"5"` ``.
pub(super) fn found(seen: &Value) -> String {
    let shown = value(seen);
    match seen {
        Value::Null => "found `null`".to_owned(),
        Value::Bool(_) => format!("found the boolean {shown}"),
        Value::Number(_) => format!("found the number {shown}"),
        Value::String(_) => format!("found the string {shown}"),
        Value::Array(items) => format!(
            "found an array of {}, {shown}",
            text::count(items.len(), "item")
        ),
        Value::Object(_) => format!("found the object {shown}"),
    }
}

/// A text cut round the byte that matters.
pub(super) fn cut(words: &str, at: usize) -> String {
    text::around(words, at, BY_ITSELF)
}

/// Two texts cut round the place where they part.
pub(super) fn cut_both(wanted: &str, seen: &str) -> (String, String) {
    text::around_both(wanted, seen, BY_ITSELF)
}

/// The value as indented JSON when it is short enough to be read, else compact and cut.
pub(super) fn laid_out(value: &Value) -> String {
    match beginning(value, 4 * BY_ITSELF, Layout::Indented) {
        (text, true) => text,
        (_, false) => match beginning(value, BY_ITSELF, Layout::Compact) {
            (text, true) => text,
            (text, false) => text + text::CUT,
        },
    }
}
