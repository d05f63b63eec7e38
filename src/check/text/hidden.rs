//! What an answer holds beside its text: embedded resources, links, data, structured content. `not_contains`
//! looks at all of it; `contains` names it in a hint.

use base64::Engine as _;
use serde_json::Value;

use crate::{check::content::BASE64, observation::answer::Reply};

/// A text of the answer that is not part of the text under test.
pub(super) struct Part<'a> {
    /// Where it stands in the result.
    pub(super) path: String,
    /// The expectation that looks there.
    pub(super) looked_at_with: &'static str,
    form: Form<'a>,
}

enum Form<'a> {
    /// Text as it is.
    Plain(&'a str),
    /// Text of our making: a value as compact JSON.
    Written(String),
    /// Base64.
    Encoded(&'a str),
}

impl Part<'_> {
    /// Whether the words are all of it, white space around it aside.
    pub(super) fn is(&self, words: &str) -> bool {
        match &self.form {
            Form::Plain(text) => text.trim() == words,
            Form::Written(text) => text == words,
            Form::Encoded(data) => {
                *data == words
                    || BASE64
                        .decode(data)
                        .is_ok_and(|bytes| bytes.trim_ascii() == words.as_bytes())
            }
        }
    }

    /// The text in which the words occur, and where.
    pub(super) fn find(&self, words: &str) -> Option<(String, usize)> {
        match &self.form {
            Form::Plain(text) => text.find(words).map(|at| ((*text).to_owned(), at)),
            Form::Written(text) => text.find(words).map(|at| (text.clone(), at)),
            Form::Encoded(data) => find_encoded(data, words),
        }
    }
}

/// Base64 holds any few letters by chance, which says nothing: such words are looked for in what it decodes
/// to, if that is text, and longer ones in the data too.
fn find_encoded(data: &str, words: &str) -> Option<(String, usize)> {
    let chance = (0..words.len()).try_fold(1_u64, |all, _| all.checked_mul(64));
    let telling = chance.is_none_or(|all| all / 1000 > data.len() as u64) || data == words;
    if telling && let Some(at) = data.find(words) {
        return Some((data.to_owned(), at));
    }
    let text = String::from_utf8(BASE64.decode(data).ok()?).ok()?;
    let at = text.find(words)?;
    Some((text, at))
}

/// Every text of an answer beside its text under test.
pub(super) fn content(reply: &Reply) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for (index, block) in reply.content.iter().enumerate() {
        if block.get("type").and_then(Value::as_str) != Some("text") {
            leaves(block, format!("content[{index}]"), "content", &mut parts);
        }
    }
    if let Some(structured) = &reply.structured {
        leaves(
            structured,
            "structuredContent".to_owned(),
            "structured",
            &mut parts,
        );
        parts.push(Part {
            path: "structuredContent".to_owned(),
            looked_at_with: "structured",
            form: Form::Written(structured.to_string()),
        });
    }
    let contents = reply.raw.get("contents").and_then(Value::as_array);
    for (index, item) in contents.into_iter().flatten().enumerate() {
        if let Some(blob) = item.get("blob").and_then(Value::as_str) {
            parts.push(Part {
                path: format!("contents[{index}].blob"),
                looked_at_with: "content",
                form: Form::Encoded(blob),
            });
        }
    }
    parts
}

/// The strings in a value, but for members that describe the content instead of being it.
fn leaves<'a>(
    value: &'a Value,
    path: String,
    looked_at_with: &'static str,
    parts: &mut Vec<Part<'a>>,
) {
    const DESCRIBING: [&str; 5] = ["type", "mimeType", "annotations", "_meta", "icons"];
    let in_blocks = looked_at_with == "content";
    let mut open = vec![(value, path, "")];
    while let Some((value, path, name)) = open.pop() {
        match value {
            Value::String(text) => parts.push(Part {
                path,
                looked_at_with,
                form: if in_blocks && matches!(name, "data" | "blob") {
                    Form::Encoded(text)
                } else {
                    Form::Plain(text)
                },
            }),
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (item, format!("{path}[{index}]"), name)),
            ),
            Value::Object(members) => open.extend(
                members
                    .iter()
                    .filter(|(name, _)| !in_blocks || !DESCRIBING.contains(&name.as_str()))
                    .map(|(name, item)| (item, format!("{path}.{name}"), name.as_str())),
            ),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
