//! What an answer holds beside its text, or in it but written as JSON: embedded resources, links, data, structured
//! content, the strings of lists. `not_contains` looks at all of it; `contains` names it in a hint.

use base64::Engine as _;
use serde_json::Value;

use crate::{
    check::content::BASE64,
    observation::answer::{Rendering, Reply},
};

/// A text of the answer that the text under test does not have, or not as it is.
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
    /// Text as it is, which the text under test has as JSON writes it.
    Escaped(&'a str),
    /// Text of our making: a value as compact JSON.
    Written(String),
    /// Base64.
    Encoded(&'a str),
}

impl Part<'_> {
    /// Whether the words are all of it, white space around it aside.
    pub(super) fn is(&self, words: &str) -> bool {
        match &self.form {
            Form::Plain(text) | Form::Escaped(text) => text.trim() == words,
            Form::Written(text) => text == words,
            Form::Encoded(data) => {
                *data == words
                    || BASE64
                        .decode(data)
                        .is_ok_and(|bytes| bytes.trim_ascii() == words.as_bytes())
            }
        }
    }

    /// The text, where the text under test has it too, as JSON writes it.
    pub(super) fn unescaped(&self) -> Option<&str> {
        match &self.form {
            Form::Escaped(text) => Some(text),
            Form::Plain(_) | Form::Written(_) | Form::Encoded(_) => None,
        }
    }

    /// The text in which the words occur, and where.
    pub(super) fn find(&self, words: &str) -> Option<(String, usize)> {
        match &self.form {
            Form::Plain(text) | Form::Escaped(text) => {
                text.find(words).map(|at| ((*text).to_owned(), at))
            }
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

/// Every text of an answer that does not stand in its text under test as it is.
pub(super) fn content(reply: &Reply) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    match &reply.rendering {
        Rendering::Blocks => of_tool(reply, &mut parts),
        Rendering::Contents { asked } => {
            of_resources(&reply.raw, asked.as_deref(), &mut parts);
        }
        Rendering::Messages => of_messages(&reply.raw, &mut parts),
        Rendering::Json => {
            let root = if reply.frames.is_some() {
                "frames"
            } else {
                "$"
            };
            leaves(&reply.raw, root.to_owned(), Kind::Json, &mut parts);
        }
    }
    parts
}

fn of_tool<'a>(reply: &'a Reply, parts: &mut Vec<Part<'a>>) {
    for (index, block) in reply.content.iter().enumerate() {
        if block.get("type").and_then(Value::as_str) != Some("text") {
            leaves(block, format!("content[{index}]"), Kind::Block, parts);
        }
    }
    if let Some(structured) = &reply.structured {
        let path = "structuredContent".to_owned();
        leaves(structured, path.clone(), Kind::Structured, parts);
        parts.push(Part {
            path,
            looked_at_with: "structured",
            form: Form::Written(structured.to_string()),
        });
    }
}

/// What resources are beside their texts. The URI that was asked for is the author's own word.
fn of_resources<'a>(raw: &'a Value, asked: Option<&str>, parts: &mut Vec<Part<'a>>) {
    let contents = raw.get("contents").and_then(Value::as_array);
    for (index, item) in contents.into_iter().flatten().enumerate() {
        for (name, value) in item.as_object().into_iter().flatten() {
            let Value::String(text) = value else {
                continue;
            };
            let form = match name.as_str() {
                "blob" => Form::Encoded(text),
                "uri" if asked == Some(text) => continue,
                _ => Form::Plain(text),
            };
            parts.push(Part {
                path: format!("contents[{index}].{name}"),
                looked_at_with: "content",
                form,
            });
        }
    }
}

fn of_messages<'a>(raw: &'a Value, parts: &mut Vec<Part<'a>>) {
    let messages = raw.get("messages").and_then(Value::as_array);
    for (index, message) in messages.into_iter().flatten().enumerate() {
        if let Some(content) = message.get("content") {
            let path = format!("messages[{index}].content");
            leaves(content, path, Kind::Message, parts);
        }
    }
}

/// What a value with strings in it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A content block of a tool result: the text under test has nothing of it.
    Block,
    /// Structured content.
    Structured,
    /// The content of a prompt's message, which is written into the text under test.
    Message,
    /// A value that is written as the text under test.
    Json,
}

impl Kind {
    /// Whether a member describes the content instead of being it.
    fn leaves_out(self, name: &str) -> bool {
        const DESCRIBING: [&str; 5] = ["type", "mimeType", "annotations", "_meta", "icons"];
        self == Self::Block && DESCRIBING.contains(&name)
    }

    /// The form of a string that is the value of a member.
    fn form<'a>(self, name: &str, text: &'a str) -> Form<'a> {
        let is_data = matches!(name, "data" | "blob");
        match self {
            Self::Block | Self::Message if is_data => Form::Encoded(text),
            Self::Message | Self::Json => Form::Escaped(text),
            Self::Block | Self::Structured => Form::Plain(text),
        }
    }

    fn looked_at_with(self) -> &'static str {
        match self {
            Self::Block | Self::Message => "content",
            Self::Structured => "structured",
            Self::Json => "json_path",
        }
    }
}

/// The strings in a value: those that stand in it, and the names of members that JSON cannot write as they are.
fn leaves<'a>(value: &'a Value, path: String, kind: Kind, parts: &mut Vec<Part<'a>>) {
    let looked_at_with = kind.looked_at_with();
    let mut open = vec![(value, path, "")];
    while let Some((value, path, name)) = open.pop() {
        match value {
            Value::String(text) => parts.push(Part {
                path,
                looked_at_with,
                form: kind.form(name, text),
            }),
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (item, format!("{path}[{index}]"), name)),
            ),
            Value::Object(members) => {
                let kept = members.iter().filter(|(name, _)| !kind.leaves_out(name));
                for (name, item) in kept {
                    if is_escaped(name) {
                        parts.push(Part {
                            path: path.clone(),
                            looked_at_with,
                            form: kind.form("", name),
                        });
                    }
                    open.push((item, format!("{path}.{name}"), name.as_str()));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Whether JSON writes a text in another way than it is.
fn is_escaped(text: &str) -> bool {
    text.contains(|letter: char| letter.is_control() || matches!(letter, '"' | '\\'))
}
