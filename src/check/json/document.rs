//! The JSON document in a text: the whole text, or the first JSON value that stands on lines of its own
//! (servers put a sentence before it or a hint after it).

use std::borrow::Cow;

use serde_json::{Value, error::Category};

use crate::{
    check::{ask::Ask, phrase},
    observation::answer::Reply,
    outcome::verdict::Mismatch,
};

/// Values over several lines that are tried to be read before giving up: a hostile text could make each
/// attempt read all of it.
const ATTEMPTS: usize = 16;

/// Why a text holds no JSON document.
#[derive(Debug)]
pub(in crate::check) struct NoDocument {
    reason: String,
    at: usize,
}

impl NoDocument {
    /// The mismatch, with a hint to the structured content where there is some.
    pub(in crate::check) fn mismatch(&self, ask: &Ask, reply: &Reply) -> Box<Mismatch> {
        Box::new(Mismatch {
            actual: (!reply.text.is_empty()).then(|| phrase::cut(&reply.text, self.at)),
            hint: reply
                .structured
                .as_ref()
                .map(|_| "the answer has structured content: `structured` looks there".to_owned()),
            ..ask.miss(self.reason.clone())
        })
    }
}

/// The JSON document in a text.
pub(in crate::check) fn document(text: &str) -> Result<Value, NoDocument> {
    if text.trim().is_empty() {
        return Err(NoDocument {
            reason: "the text is empty".to_owned(),
            at: 0,
        });
    }
    let error = match serde_json::from_str(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    among_lines(text).ok_or_else(|| {
        let cut_off = match error.classify() {
            Category::Eof => ", as if it were cut off",
            Category::Io | Category::Syntax | Category::Data => "",
        };
        let is_deep = error.to_string().starts_with("recursion limit exceeded");
        NoDocument {
            reason: if is_deep {
                "the text is nested deeper than 127 levels, the bound of this tool".to_owned()
            } else {
                format!("the text is no JSON{cut_off} ({error})")
            },
            at: offset(text, error.line(), error.column()),
        }
    })
}

/// The JSON document in the text, else the structured content.
pub(in crate::check) fn document_or_structured(
    reply: &Reply,
) -> Result<Cow<'_, Value>, NoDocument> {
    document(&reply.text)
        .map(Cow::Owned)
        .or_else(|none| reply.structured.as_ref().map(Cow::Borrowed).ok_or(none))
}

/// The first JSON value that begins and ends with a line.
fn among_lines(text: &str) -> Option<Value> {
    let mut attempts = ATTEMPTS;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let begin = start + (line.len() - line.trim_start().len());
        start += line.len();
        if !could_begin(trimmed) {
            continue;
        }
        if let Ok(value) = serde_json::from_str(trimmed) {
            return Some(value);
        }
        if attempts > 0 && trimmed.starts_with(['{', '[']) {
            attempts -= 1;
            if let Some(value) = leading_value(&text[begin..]) {
                return Some(value);
            }
        }
    }
    None
}

/// Whether JSON can begin like this.
fn could_begin(line: &str) -> bool {
    line.starts_with(|first: char| {
        matches!(first, '{' | '[' | '"' | '-' | 't' | 'f' | 'n') || first.is_ascii_digit()
    })
}

/// The JSON value at the beginning of a text, if its line ends with it.
fn leading_value(text: &str) -> Option<Value> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let rest = text.get(values.byte_offset()..)?;
    let line = rest.split('\n').next().unwrap_or_default();
    line.trim().is_empty().then_some(value)
}

/// The byte of a line and column, both counted from 1; columns are bytes.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();
    (before + column.saturating_sub(1)).min(text.len())
}

#[cfg(test)]
mod tests {
    use super::document;

    #[test]
    fn json_is_found_alone_or_on_lines_of_its_own() {
        let case = |text: &str, wanted: Option<&str>| {
            let found = document(text).ok().map(|value| value.to_string());
            assert_eq!(found.as_deref(), wanted, "{text}");
        };
        case("{\"a\":1}", Some("{\"a\":1}"));
        case(" 42 ", Some("42"));
        case("Answer:\n{\"a\":1}\nbye", Some("{\"a\":1}"));
        case("Answer:\n42", Some("42"));
        case(
            "{\n  \"a\": [\n    1\n  ]\n}\n\nHint: look",
            Some("{\"a\":[1]}"),
        );
        case("[\n1,\n2\n]\nHint", Some("[1,2]"));
        case("```json\n{\n\"a\": 1\n}\n```", Some("{\"a\":1}"));
        case("{\"a\":1} and more", None);
        case("no json", None);
        case("", None);
        case("{\"a\": [1, 2", None);
    }

    #[test]
    fn a_hostile_text_is_read_in_a_moment() {
        let lines = "[[[[1,\n".repeat(50_000);
        assert!(document(&lines).is_err());
        let open = format!("{}{}x", "[\n".repeat(100), "[1],\n".repeat(20_000));
        assert!(document(&open).is_err());
    }
}
