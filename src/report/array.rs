//! A long array in JSON, written one element after the other: the tree of all of them, and their text, would be many
//! times what they are made of. What the elements say is made by the formats.

use std::io::{self, Write};

use serde_json::Value;

use crate::words::workflow::neutral;

/// Writes an array whose elements stand on lines of their own, this far from the margin and two spaces more.
pub(super) fn write(
    elements: impl Iterator<Item = Value>,
    margin: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut before = "[";
    for element in elements {
        write!(out, "{before}\n{margin}  ")?;
        for (at, line) in format!("{element:#}").lines().enumerate() {
            if at > 0 {
                write!(out, "\n{margin}  ")?;
            }
            // A workflow's log would take `##[` for a command, even inside a string.
            out.write_all(neutral::json(line.to_owned()).as_bytes())?;
        }
        before = ",";
    }
    if before == "[" {
        return out.write_all(b"[]");
    }
    write!(out, "\n{margin}]")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::write;

    #[test]
    fn it_reads_as_if_it_had_been_written_at_once() {
        for elements in [
            json!([]),
            json!([1]),
            json!([{"a": [1, {"b": "x\ny"}]}, [], {}, "z"]),
        ] {
            let mut bytes = Vec::new();
            let each = elements.as_array().unwrap().iter().cloned();
            write(each, "  ", &mut bytes).unwrap();
            let text = String::from_utf8(bytes).unwrap();
            assert_eq!(
                format!("{{\n  \"a\": {text}\n}}"),
                format!("{:#}", json!({ "a": elements }))
            );
        }
    }

    #[test]
    fn no_line_of_it_is_a_command() {
        let mut bytes = Vec::new();
        write([json!("##[error]x")].into_iter(), "", &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(!text.contains("##["), "{text}");
        assert_eq!(
            serde_json::from_str::<Value>(&text).unwrap(),
            json!(["##[error]x"])
        );
    }
}
