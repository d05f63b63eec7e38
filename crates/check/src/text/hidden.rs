//! What an answer holds beside its text, or in it but written as JSON: embedded resources, links, data, structured
//! content, escaped strings. `not_contains` looks at all of it; `contains` names it in a hint.

use std::borrow::Cow;

use serde_json::Value;

use crate::{content::decoded, files};
use mcp::{
    json::json_text,
    observation::{
        Proof,
        answer::{Rendering, Reply},
    },
};

/// A text of the answer that the text under test does not have, or not as it is.
pub(super) struct Part<'a> {
    /// Where it stands in the result.
    pub(super) path: String,
    /// The expectation that looks there.
    pub(super) looked_at_with: &'static str,
    /// How it stands there.
    pub(super) form: Form,
    text: Cow<'a, str>,
}

/// How a text stands in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As it is.
    Plain,
    /// In the text under test, as JSON escapes it.
    Escaped,
    /// Base64.
    Encoded,
}

impl Part<'_> {
    /// The text in which the words occur, and where.
    pub(super) fn find(&self, words: &str) -> Option<(String, usize)> {
        match self.form {
            Form::Plain | Form::Escaped => {
                let at = self.text.find(words)?;
                Some((self.text.to_string(), at))
            }
            Form::Encoded => find_encoded(&self.text, words),
        }
    }
}

/// Base64 and binary data hold any few letters by chance: such words are only looked for in data that decodes to text.
fn find_encoded(data: &str, words: &str) -> Option<(String, usize)> {
    let telling = |signs: u64, length: usize| {
        let chance = (0..words.len()).try_fold(1_u64, |all, _| all.checked_mul(signs));
        chance.is_none_or(|all| all / 1000 > length as u64)
    };
    if (telling(64, data.len()) || data == words)
        && let Some(at) = data.find(words)
    {
        return Some((data.to_owned(), at));
    }
    let bytes = decoded(data)?;
    let at = files::find(&bytes, words.as_bytes())?;
    let is_text = std::str::from_utf8(&bytes).is_ok();
    (is_text || telling(256, bytes.len())).then(|| {
        let (before, rest) = bytes.split_at(at);
        let before = String::from_utf8_lossy(before);
        let whole = format!("{before}{}", String::from_utf8_lossy(rest));
        (whole, before.len())
    })
}

/// Every text of an answer that does not stand in its text under test as it is.
pub(super) fn content(reply: &Reply) -> Vec<Part<'_>> {
    let mut parts = Parts(Vec::new());
    match &reply.rendering {
        Rendering::Blocks => {
            for (index, block) in reply.content.iter().enumerate() {
                parts.add_block(block, &format!("content[{index}]"), None);
            }
            if let Some(structured) = &reply.structured {
                parts.add_any(structured, "structuredContent".to_owned(), "structured");
            }
        }
        Rendering::Contents { asked } => {
            for (index, item) in items(&reply.raw, "contents") {
                parts.add_block(item, &format!("contents[{index}]"), asked.as_deref());
            }
        }
        Rendering::Messages => {
            for (index, message) in items(&reply.raw, "messages") {
                let path = format!("messages[{index}].content");
                match message.get("content") {
                    Some(block) if is_under_test(block) => parts.add_block(block, &path, None),
                    Some(content) => {
                        parts.add_strings(content, (path, ""), "content", Form::Escaped);
                    }
                    None => {}
                }
            }
        }
        Rendering::Json => {
            let root = if reply.frames.is_some() {
                "frames"
            } else {
                "$"
            };
            parts.add_strings(
                &reply.raw,
                (root.to_owned(), ""),
                "json_path",
                Form::Escaped,
            );
        }
    }
    parts.0
}

/// The same, and what JSON of the server's writing in the text escapes. Under the Go tool's rules that is not there.
pub(super) fn all(reply: &Reply, proof: Proof) -> Vec<Part<'_>> {
    let mut parts = content(reply);
    let (name, list) = match (&reply.rendering, proof) {
        (Rendering::Blocks, Proof::Strict) => ("content", &reply.content[..]),
        (Rendering::Contents { .. }, Proof::Strict) => {
            let contents = reply.raw.get("contents").and_then(Value::as_array);
            ("contents", contents.map_or(&[][..], Vec::as_slice))
        }
        (Rendering::Messages | Rendering::Json, _) | (_, Proof::AsWritten) => return parts,
    };
    for (index, item) in list.iter().enumerate() {
        let text = item.get("text").and_then(Value::as_str);
        let text = text.filter(|text| text.contains('\\')).unwrap_or_default();
        for value in json_text::values(text) {
            let mut own = Parts(Vec::new());
            let path = format!("{name}[{index}].text");
            own.add_strings(&value, (path, ""), "json_path", Form::Escaped);
            parts.extend(own.0.into_iter().map(|part| Part {
                text: Cow::Owned(part.text.into_owned()),
                ..part
            }));
        }
    }
    parts
}

fn items<'a>(raw: &'a Value, name: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    let items = raw.get(name).and_then(Value::as_array);
    items.into_iter().flatten().enumerate()
}

/// Whether a block is a text, which stands in the text under test.
fn is_under_test(block: &Value) -> bool {
    let is_text = block.get("type").and_then(Value::as_str) == Some("text");
    is_text && block.get("text").is_some_and(Value::is_string)
}

/// The members of content blocks that describe the content.
const DESCRIBING: [&str; 5] = ["type", "mimeType", "annotations", "_meta", "icons"];

/// The other members that the protocol gives to content blocks and the resources in them.
const MEMBERS: &str = "text data blob uri name title description size resource content";

struct Parts<'a>(Vec<Part<'a>>);

impl<'a> Parts<'a> {
    fn add(&mut self, text: impl Into<Cow<'a, str>>, path: String, with: &'static str, form: Form) {
        let text = text.into();
        self.0.push(Part {
            path,
            looked_at_with: with,
            form,
            text,
        });
    }

    /// A content block, or a resource in one; the URI that was asked for is the author's own word.
    fn add_block(&mut self, block: &'a Value, path: &str, asked: Option<&str>) {
        let is_read = is_under_test(block) || path.starts_with("contents[");
        for (name, value) in block.as_object().into_iter().flatten() {
            let at = format!("{path}.{name}");
            match (name.as_str(), value) {
                ("text", Value::String(_)) if is_read => {}
                ("uri", Value::String(uri)) if asked == Some(uri) => {}
                ("data" | "blob", Value::String(data)) => {
                    self.add(data, at, "content", Form::Encoded);
                }
                ("resource", Value::Object(_)) => self.add_block(value, &at, None),
                ("content", Value::Array(blocks)) => {
                    for (index, block) in blocks.iter().enumerate() {
                        self.add_block(block, &format!("{at}[{index}]"), None);
                    }
                }
                (name, _) if DESCRIBING.contains(&name) => {}
                (name, value) => {
                    if !MEMBERS.split(' ').any(|member| member == name) {
                        self.add(name, path.to_owned(), "content", Form::Plain);
                    }
                    self.add_any(value, at, "content");
                }
            }
        }
    }

    /// A value as JSON, and the strings in it as they are.
    fn add_any(&mut self, value: &'a Value, path: String, with: &'static str) {
        self.add_strings(value, (path.clone(), ""), with, Form::Plain);
        if !value.is_string() && !value.is_null() {
            self.add(value.to_string(), path, with, Form::Plain);
        }
    }

    /// The strings in the value of a member, and the names that JSON cannot write as they are.
    fn add_strings(
        &mut self,
        value: &'a Value,
        (path, name): (String, &str),
        with: &'static str,
        form: Form,
    ) {
        match value {
            Value::String(data) if with == "content" && matches!(name, "data" | "blob") => {
                self.add(data, path, with, Form::Encoded);
            }
            Value::String(text) => self.add(text, path, with, form),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.add_strings(item, (format!("{path}[{index}]"), name), with, form);
                }
            }
            Value::Object(members) => {
                for (name, item) in members {
                    if name.contains(|letter: char| {
                        letter.is_control() || !letter.is_ascii() || "\"\\/".contains(letter)
                    }) {
                        self.add(name, path.clone(), with, form);
                    }
                    self.add_strings(item, (format!("{path}.{name}"), name), with, form);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}
