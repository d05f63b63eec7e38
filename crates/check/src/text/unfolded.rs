//! What JSON in the text of a tool or a resource says with escapes: `M\u00fcller`. The server wrote that text, so which
//! letters it escapes is its choice. Read as `json_path` reads it, so that what one finds the other does not miss.

use crate::text::hidden::{self, Part};
use mcp::{
    json::json_text,
    observation::answer::{Rendering, Reply},
};

/// The strings and names that may stand in the text with escapes. A text without a backslash, as most are, costs
/// nothing.
pub(super) fn parts(reply: &Reply) -> Vec<Part<'static>> {
    let Some(escapes) = Escapes::of(&reply.text) else {
        return Vec::new();
    };
    let texts = texts(reply);
    let mut parts = Vec::new();
    let mut add = |value: &_, root: String| {
        parts.extend(hidden::unfold(value, root, |text| escapes.may_be_in(text)));
    };
    let document = json_text::document(&reply.text).ok();
    if let Some(document) = &document {
        add(document, "$".to_owned());
    }
    // `json_path` looks at the first value only; each text is read by itself too, so that none hides the next.
    for (path, text) in texts {
        let is_read = usize::from(document.is_some() && text == reply.text);
        for value in json_text::values(text).iter().skip(is_read) {
            add(value, path.clone());
        }
    }
    parts
}

/// The texts that make up the text under test and have a backslash, with their places in the result.
fn texts(reply: &Reply) -> Vec<(String, &str)> {
    let (name, items) = match &reply.rendering {
        Rendering::Blocks => ("content", reply.content.as_slice()),
        Rendering::Contents { .. } => {
            let contents = reply.raw.get("contents");
            let contents = contents.and_then(|contents| contents.as_array());
            ("contents", contents.map_or(&[][..], Vec::as_slice))
        }
        // Those are written by us, and their parts are known without reading them.
        Rendering::Messages | Rendering::Json => return Vec::new(),
    };
    let texts = items.iter().enumerate().filter_map(|(index, item)| {
        let text = item.get("text")?.as_str()?;
        Some((format!("{name}[{index}].text"), text))
    });
    texts.filter(|(_, text)| text.contains('\\')).collect()
}

/// Which letters a text has as JSON escapes them. What it cannot escape stands in it as it is, and must not be found
/// apart from what is around it.
struct Escapes {
    /// Whether `\u0041` or the like is there, which any letter may hide behind.
    ascii: bool,
    /// Whether `\/` is there.
    slash: bool,
    /// Whether any `\u` is there.
    unicode: bool,
}

impl Escapes {
    /// Those of a text; `None` when it has none.
    fn of(text: &str) -> Option<Self> {
        if !text.contains('\\') {
            return None;
        }
        let bytes = text.as_bytes();
        let mut low = text.match_indices("\\u00");
        Some(Self {
            ascii: low.any(|(at, _)| matches!(bytes.get(at + 4), Some(b'2'..=b'7'))),
            slash: text.contains("\\/"),
            unicode: text.contains("\\u"),
        })
    }

    fn may_be_in(&self, text: &str) -> bool {
        self.ascii
            || text.contains(|letter: char| {
                letter.is_control()
                    || matches!(letter, '"' | '\\')
                    || (self.slash && letter == '/')
                    || (self.unicode && !letter.is_ascii())
            })
    }
}
