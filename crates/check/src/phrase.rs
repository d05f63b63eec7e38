//! How values and texts are put into a sentence: one line, in backticks, never longer than a line can bear.

use std::io;

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
    let mut page = Page::new(4 * IN_A_SENTENCE);
    let is_whole = serde_json::to_writer(&mut page, value).is_ok();
    let text = page.text();
    if is_whole {
        return quoted(&text);
    }
    let beginning: String = text.chars().take(IN_A_SENTENCE).collect();
    in_backticks(&format!("{beginning}{}", text::CUT))
}

/// A place for so many bytes of JSON and no more: writing out what nobody reads would cost more than the check.
struct Page {
    bytes: Vec<u8>,
    limit: usize,
}

impl Page {
    fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            limit,
        }
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        text.trim_end_matches('\u{fffd}').to_owned()
    }
}

impl io::Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.limit - self.bytes.len();
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            return Err(io::Error::other("the page is full"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
    let mut page = Page::new(4 * BY_ITSELF);
    if serde_json::to_writer_pretty(&mut page, value).is_ok() {
        return page.text();
    }
    let mut page = Page::new(BY_ITSELF);
    match serde_json::to_writer(&mut page, value) {
        Ok(()) => page.text(),
        Err(_) => format!("{}{}", page.text(), text::CUT),
    }
}
