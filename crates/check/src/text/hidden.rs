//! What an answer holds beside its text, or in it but written as JSON: embedded resources, links, data, structured
//! content, the strings of lists. `not_contains` looks at all of it; `contains` names it in a hint.

use std::borrow::Cow;

use serde_json::Value;

use crate::{content::decoded, files, text::unfolded};
use mcp::observation::{
    Proof,
    answer::{Rendering, Reply},
};

/// A text of the answer that the text under test does not have, or not as it is.
pub(super) struct Part<'a> {
    /// Where it stands in the result.
    pub(super) path: String,
    /// The expectation that looks there.
    pub(super) looked_at_with: &'static str,
    text: Cow<'a, str>,
    form: Form,
}

/// How a text stands in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As it is, or as a value written by us.
    Plain,
    /// As it is, which the text under test has as JSON writes it.
    Escaped,
    /// Base64.
    Encoded,
}

impl Part<'_> {
    /// The text, where the text under test has it too, as JSON writes it.
    pub(super) fn unescaped(&self) -> Option<&str> {
        (self.form == Form::Escaped).then_some(&*self.text)
    }

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

/// Base64 and bytes that are no text hold any few letters by chance, which says nothing: such words are looked for
/// only in what it decodes to, if that is text.
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
        (
            format!("{before}{}", String::from_utf8_lossy(rest)),
            before.len(),
        )
    })
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

/// The same, and what a JSON text of the server's writing escapes, where that is no proof of an absence.
pub(super) fn all(reply: &Reply, proof: Proof) -> Vec<Part<'_>> {
    let mut parts = content(reply);
    match proof {
        Proof::Strict => parts.extend(unfolded::parts(reply)),
        Proof::AsWritten => {}
    }
    parts
}

/// What a value of JSON has that its text escapes; `may_escape` says of which strings that is possible.
pub(super) fn unfold(
    value: &Value,
    root: String,
    may_escape: impl Fn(&str) -> bool,
) -> Vec<Part<'static>> {
    let mut parts = Vec::new();
    leaves(value, root, Kind::Unfolded, &mut parts);
    let escaped = parts.into_iter().filter(|part| may_escape(&part.text));
    let owned = escaped.map(|part| Part {
        text: Cow::Owned(part.text.into_owned()),
        ..part
    });
    owned.collect()
}

fn of_tool<'a>(reply: &'a Reply, parts: &mut Vec<Part<'a>>) {
    for (index, block) in reply.content.iter().enumerate() {
        of_block(block, format!("content[{index}]"), parts);
    }
    if let Some(structured) = &reply.structured {
        let path = "structuredContent".to_owned();
        leaves(structured, path.clone(), Kind::Structured, parts);
        parts.push(Part {
            path,
            looked_at_with: "structured",
            text: structured.to_string().into(),
            form: Form::Plain,
        });
    }
}

/// What a content block holds beside the text that is under test already. A text that is no string is not under test.
fn of_block<'a>(block: &'a Value, path: String, parts: &mut Vec<Part<'a>>) {
    let kind = Kind::Block;
    let Some(text) = block.get("text").filter(|_| is_text(block)) else {
        return leaves(block, path, kind, parts);
    };
    for (name, value) in block.as_object().into_iter().flatten() {
        if name != "text" && !kind.leaves_out("", name) {
            name_of(name, ("", &path), kind, parts);
            leaves_of((value, format!("{path}.{name}"), name), kind, parts);
        }
    }
    if !text.is_string() {
        let path = format!("{path}.text");
        leaves(text, path.clone(), kind, parts);
        parts.push(Part {
            path,
            looked_at_with: kind.looked_at_with(),
            text: text.to_string().into(),
            form: Form::Plain,
        });
    }
}

/// What resources are beside their texts. The URI that was asked for is the author's own word.
fn of_resources<'a>(raw: &'a Value, asked: Option<&str>, parts: &mut Vec<Part<'a>>) {
    let contents = raw.get("contents").and_then(Value::as_array);
    for (index, item) in contents.into_iter().flatten().enumerate() {
        for (name, value) in item.as_object().into_iter().flatten() {
            let at = format!("contents[{index}]");
            if !Kind::Block.leaves_out("", name) {
                name_of(name, ("", &at), Kind::Block, parts);
            }
            let path = format!("{at}.{name}");
            let Value::String(text) = value else {
                if !Kind::Block.leaves_out("", name) {
                    leaves_of((value, path, name), Kind::Block, parts);
                }
                continue;
            };
            let form = match name.as_str() {
                "blob" => Form::Encoded,
                "uri" if asked == Some(text) => continue,
                _ => Form::Plain,
            };
            parts.push(Part {
                path,
                looked_at_with: "content",
                text: text.into(),
                form,
            });
        }
    }
}

fn of_messages<'a>(raw: &'a Value, parts: &mut Vec<Part<'a>>) {
    let messages = raw.get("messages").and_then(Value::as_array);
    for (index, message) in messages.into_iter().flatten().enumerate() {
        let Some(content) = message.get("content") else {
            continue;
        };
        let path = format!("messages[{index}].content");
        // Of a text the text under test has nothing else.
        if is_text(content) && content.get("text").is_some_and(Value::is_string) {
            of_block(content, path, parts);
        } else {
            leaves(content, path, Kind::Message, parts);
        }
    }
}

/// Whether a content block says that it is text.
fn is_text(block: &Value) -> bool {
    block.get("type").and_then(Value::as_str) == Some("text")
}

/// The members of content blocks that describe the content.
const DESCRIBING: [&str; 5] = ["type", "mimeType", "annotations", "_meta", "icons"];

/// The other members that the protocol gives to content blocks and the resources in them.
const MEMBERS: [&str; 10] = [
    "text",
    "data",
    "blob",
    "uri",
    "name",
    "title",
    "description",
    "size",
    "resource",
    "content",
];

/// Whether the members of what stands under this name are those of the protocol: in a block itself, which has no name,
/// in its resource, and in blocks within it.
fn is_of_protocol(under: &str) -> bool {
    matches!(under, "" | "resource" | "content")
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
    /// A value that the text under test has as the server wrote it: any letter may be escaped.
    Unfolded,
}

impl Kind {
    /// Whether a member of an object, which is itself the value of another member, describes the content instead of
    /// being it.
    fn leaves_out(self, under: &str, name: &str) -> bool {
        self == Self::Block && is_of_protocol(under) && DESCRIBING.contains(&name)
    }

    /// Whether the name of such a member is content: that it has these members is no word of a block, what others it has
    /// is.
    fn has_name(self, under: &str, name: &str) -> bool {
        let is_told = self == Self::Block && !(is_of_protocol(under) && MEMBERS.contains(&name));
        is_told || self == Self::Unfolded || is_escaped(name)
    }

    /// The form of a string that is the value of a member.
    fn form(self, name: &str) -> Form {
        let is_data = matches!(name, "data" | "blob");
        match self {
            Self::Block | Self::Message if is_data => Form::Encoded,
            Self::Message | Self::Json | Self::Unfolded => Form::Escaped,
            Self::Block | Self::Structured => Form::Plain,
        }
    }

    fn looked_at_with(self) -> &'static str {
        match self {
            Self::Block | Self::Message => "content",
            Self::Structured => "structured",
            Self::Json | Self::Unfolded => "json_path",
        }
    }
}

/// The strings in a value: those that stand in it, and the names of members that JSON cannot write as they are. Of a block
/// its other names, numbers and booleans too: nothing else has them.
fn leaves<'a>(value: &'a Value, path: String, kind: Kind, parts: &mut Vec<Part<'a>>) {
    leaves_of((value, path, ""), kind, parts);
}

/// The same of the value of a member, which has a path and a name.
fn leaves_of<'a>(top: (&'a Value, String, &'a str), kind: Kind, parts: &mut Vec<Part<'a>>) {
    let looked_at_with = kind.looked_at_with();
    let mut open = vec![top];
    while let Some((value, path, name)) = open.pop() {
        match value {
            Value::String(text) => parts.push(Part {
                path,
                looked_at_with,
                text: text.into(),
                form: kind.form(name),
            }),
            Value::Array(items) => open.extend(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (item, format!("{path}[{index}]"), name)),
            ),
            Value::Object(members) => {
                let under = name;
                let kept = members
                    .iter()
                    .filter(|(name, _)| !kind.leaves_out(under, name));
                for (name, item) in kept {
                    name_of(name, (under, &path), kind, parts);
                    open.push((item, format!("{path}.{name}"), name.as_str()));
                }
            }
            Value::Number(_) | Value::Bool(_) if kind == Kind::Block => parts.push(Part {
                path,
                looked_at_with,
                text: value.to_string().into(),
                form: Form::Plain,
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The name of a member of an object, which stands under another name at a path, where it is content.
fn name_of<'a>(name: &'a str, (under, path): (&str, &str), kind: Kind, parts: &mut Vec<Part<'a>>) {
    if kind.has_name(under, name) {
        parts.push(Part {
            path: path.to_owned(),
            looked_at_with: kind.looked_at_with(),
            text: name.into(),
            form: kind.form(""),
        });
    }
}

/// Whether JSON writes a text in another way than it is.
fn is_escaped(text: &str) -> bool {
    text.contains(|letter: char| letter.is_control() || matches!(letter, '"' | '\\'))
}
