//! What a line says at its top when the whole of it cannot be read, because it is too long or nested too deep: enough to
//! answer the request in it. The text is looked at byte by byte and only its outline is kept.

use serde_json::Value;

/// Containers inside of this many others are kept empty: arguments are, the name of the tool is not.
const DEEPEST: usize = 2;

/// A text with more bytes is kept empty.
const LONGEST_TEXT: usize = 1024;

/// An outline with more bytes is given up.
const LONGEST: usize = 64 * 1024;

/// The outline of one line.
#[derive(Debug, Default)]
pub(super) struct Outline {
    kept: Vec<u8>,
    depth: usize,
    /// Where the text that is being read began.
    text: Option<usize>,
    /// Whether that text is too long to be kept.
    long: bool,
    escaped: bool,
    size: usize,
}

impl Outline {
    /// The next bytes of the line.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.size += bytes.len();
        for &byte in bytes {
            if self.kept.len() > LONGEST {
                return;
            }
            match self.text {
                Some(start) => self.inside(start, byte),
                None => self.outside(byte),
            }
        }
    }

    /// Bytes of the line so far.
    pub(super) const fn size(&self) -> usize {
        self.size
    }

    /// The outline as JSON, as far as it is any.
    pub(super) fn read(&self) -> Option<Value> {
        serde_json::from_slice(&self.kept).ok()
    }

    fn inside(&mut self, start: usize, byte: u8) {
        let ends = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        if self.depth <= DEEPEST && (ends || !self.long) {
            self.kept.push(byte);
        }
        if ends {
            self.text = None;
            self.long = false;
        } else if self.kept.len() - start > LONGEST_TEXT {
            self.kept.truncate(start);
            self.long = true;
        }
    }

    fn outside(&mut self, byte: u8) {
        if matches!(byte, b'}' | b']') {
            self.depth = self.depth.saturating_sub(1);
        }
        if self.depth <= DEEPEST {
            self.kept.push(byte);
        }
        match byte {
            b'{' | b'[' => self.depth += 1,
            b'"' => self.text = Some(self.kept.len()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outlined(line: &str) -> Option<Value> {
        let mut outline = Outline::default();
        // Wherever the line is divided, the outline is the same.
        for piece in line.as_bytes().chunks(7) {
            outline.push(piece);
        }
        assert_eq!(outline.size(), line.len());
        outline.read()
    }

    #[test]
    fn what_answers_a_request_is_kept() {
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for arguments in [
            "{\"a\": \"}]\\\"{\"}".to_owned(),
            format!("{{\"a\": {deep}}}"),
        ] {
            let line = format!(
                "{{\"method\": \"tools/call\", \"params\": {{\"arguments\": {arguments}, \"name\": \"echo\"}}, \"jsonrpc\": \"2.0\", \"id\": \"a\\\"b\\\\\"}}"
            );
            let wanted = json!({"method": "tools/call", "params": {"arguments": {}, "name": "echo"},
                "jsonrpc": "2.0", "id": "a\"b\\"});
            assert_eq!(outlined(&line), Some(wanted), "{line}");
        }
    }

    #[test]
    fn an_outline_is_short() {
        let long = "é\\u00e9".repeat(LONGEST_TEXT);
        let line = json!({"id": 3, "method": "x"}).to_string();
        let line = line.replace("\"x\"", &format!("\"{long}\""));
        assert_eq!(outlined(&line), Some(json!({"id": 3, "method": ""})));
        let wide = "[1],".repeat(LONGEST);
        assert_eq!(outlined(&format!("[{wide}[1]]")), None);
    }

    #[test]
    fn what_is_not_json_has_no_outline() {
        for line in ["", "xxx", "}]{", "{\"id\": 1", "\"\\", "[[["] {
            assert_eq!(outlined(line), None, "{line}");
        }
    }
}
