//! One received line: JSON, or what else it is. Repairs what can be read all the same (a byte-order mark, bytes
//! that are not UTF-8, lone surrogates) and says so. Knows nothing of requests and answers.

use std::borrow::Cow;

use serde_json::Value;

use super::record::brief_name;
use crate::{
    json::{json_text::without_lone_surrogates, outside::outside_strings},
    observation::finding::FindingCode,
    protocol::{frame::MOST_VALUES, members},
};
use text::CUT;

/// The kind of a line.
#[derive(Debug)]
pub(super) enum Line {
    /// White space, or nothing.
    Blank,
    /// A JSON value.
    Json(Value),
    /// No JSON, and not meant as a message: text that belongs on stderr.
    Noise,
    /// A header of the Language Server Protocol's framing.
    LspHeader,
    /// Meant as a message (it holds `"jsonrpc"`), and no JSON; with the reason.
    Broken(String),
    /// A message nested deeper than can be read.
    TooDeep,
    /// Text that would be more JSON values than are read.
    TooMany,
    /// Text of two bytes a letter.
    Utf16,
}

/// A line and the deviations that were mended to read it.
#[derive(Debug)]
pub(super) struct Reading {
    /// What it is.
    pub(super) line: Line,
    /// What was mended, and how to say it.
    pub(super) mended: Vec<Mended>,
}

/// A deviation that was mended to read a line.
pub(super) type Mended = (FindingCode, Cow<'static, str>);

const ORDER_MARK: Mended = (
    FindingCode::ByteOrderMark,
    Cow::Borrowed("a byte-order mark before a frame"),
);
const NOT_UTF8: Mended = (
    FindingCode::NotUtf8,
    Cow::Borrowed("bytes that are not UTF-8 were read as U+FFFD"),
);
const LONE_SURROGATE: Mended = (
    FindingCode::LoneSurrogate,
    Cow::Borrowed("an escape of half a character was read as U+FFFD"),
);

const DEEP_SCHEMA: Mended = (
    FindingCode::TooDeep,
    Cow::Borrowed("a list is nested deeper than 100 levels; what lies deeper was left out"),
);

/// Levels of a list of tools that are kept when it is nested too deeply to be read whole.
const KEPT_LEVELS: usize = 100;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a line. The first attempt takes the bytes as they are, so a clean line is parsed once.
pub(super) fn read(bytes: &[u8]) -> Reading {
    if holds_more_than(MOST_VALUES, bytes) {
        return Reading {
            line: Line::TooMany,
            mended: Vec::new(),
        };
    }
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Reading {
            mended: named_twice(bytes).into_iter().collect(),
            line: Line::Json(value),
        };
    }
    let mut mended = Vec::new();
    let bytes = match bytes.strip_prefix(BYTE_ORDER_MARK) {
        Some(rest) => {
            mended.push(ORDER_MARK);
            rest
        }
        None => bytes,
    };
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let line = Line::Blank;
        return Reading { line, mended };
    }
    if is_utf16(bytes) {
        let line = Line::Utf16;
        return Reading { line, mended };
    }
    let text = String::from_utf8_lossy(bytes);
    if let Cow::Owned(_) = text {
        mended.push(NOT_UTF8);
    }
    let text = match without_lone_surrogates(&text) {
        Some(repaired) => {
            mended.push(LONE_SURROGATE);
            repaired
        }
        None => text.into_owned(),
    };
    let line = match serde_json::from_str(&text) {
        Ok(value) => {
            mended.extend(named_twice(text.as_bytes()));
            Line::Json(value)
        }
        Err(error) => unreadable(&text, &error),
    };
    let line = match without_deep_schemas(&line, &text) {
        Some(value) => {
            mended.push(DEEP_SCHEMA);
            Line::Json(value)
        }
        None => line,
    };
    if !matches!(line, Line::Json(_)) {
        // Noise may hold any bytes; only what was read as a message needed mending.
        mended.retain(|(code, _)| *code == FindingCode::ByteOrderMark);
    }
    Reading { line, mended }
}

/// What is said of two members of one name.
fn named_twice(text: &[u8]) -> Option<Mended> {
    let name = members::named_twice(text)?;
    let message = format!(
        "an object has two members `{}`, and the last one was read",
        brief_name(&name)
    );
    Some((FindingCode::DuplicateMember, message.into()))
}

/// Whether a JSON text holds more values than so many. Each takes two bytes at least, so that few texts are looked at.
fn holds_more_than(most: usize, bytes: &[u8]) -> bool {
    if bytes.len() / 2 <= most {
        return false;
    }
    // The text itself; then one for each comma, and one for the first of each container that has any.
    let mut values = 1_usize;
    let mut opened = false;
    outside_strings(bytes)
        .filter(|(_, byte)| !byte.is_ascii_whitespace())
        .any(|(_, byte)| {
            let is_first = opened && !matches!(byte, b']' | b'}');
            values += usize::from(is_first || byte == b',');
            opened = matches!(byte, b'[' | b'{');
            values > most
        })
}

/// Whether a message begins in UTF-16: with its order mark or a brace, in either order of bytes.
fn is_utf16(bytes: &[u8]) -> bool {
    let beginnings: [&[u8]; 4] = [b"\xFF\xFE", b"\xFE\xFF", b"{\0", b"\0{"];
    beginnings
        .iter()
        .any(|beginning| bytes.starts_with(beginning))
        && bytes.contains(&0)
}

fn unreadable(text: &str, error: &serde_json::Error) -> Line {
    if is_lsp_header(text) {
        return Line::LspHeader;
    }
    if !text.contains("\"jsonrpc\"") {
        return Line::Noise;
    }
    let reason = error.to_string();
    if reason.starts_with("recursion limit exceeded") {
        return Line::TooDeep;
    }
    if text.trim_start().starts_with('"') {
        return Line::Broken(
            "it is a part of a message that is laid out over several lines; a message is one line"
                .into(),
        );
    }
    if error.is_eof() {
        return Line::Broken("the line ends in the middle of the JSON text".into());
    }
    let (before, rest) = text
        .split_at_checked(error.column().saturating_sub(1))
        .unwrap_or_default();
    let left = if before.is_empty() { "" } else { CUT };
    let rest = match rest.char_indices().nth(24) {
        Some((end, _)) => format!("{left}{}{CUT}", &rest[..end]),
        None => format!("{left}{rest}"),
    };
    let reason = reason
        .split(" at line ")
        .next()
        .unwrap_or_default()
        .to_owned();
    Line::Broken(format!(
        "{reason} at column {} near `{rest}`",
        error.column()
    ))
}

/// A list of tools that is nested too deeply, read without what lies too deep: the rest of such a list is as usable as ever, since only its
/// schemas can nest. Other frames are left alone, because what is left out there may be what is asserted.
fn without_deep_schemas(line: &Line, text: &str) -> Option<Value> {
    let listed = matches!(line, Line::TooDeep) && text.contains("\"inputSchema\"");
    if !listed {
        return None;
    }
    serde_json::from_str(&pruned(text)?).ok()
}

/// A JSON text whose containers end at [`KEPT_LEVELS`]; `None` when its brackets do not close.
fn pruned(text: &str) -> Option<String> {
    let mut kept = String::new();
    let mut depth = 0_usize;
    let mut from = 0;
    for (at, byte) in outside_strings(text.as_bytes()) {
        match byte {
            b'{' | b'[' => {
                depth += 1;
                if depth == KEPT_LEVELS + 1 {
                    kept.push_str(&text[from..=at]);
                }
            }
            b'}' | b']' => {
                if depth == KEPT_LEVELS + 1 {
                    from = at;
                }
                depth = depth.saturating_sub(1);
            }
            _ => {}
        }
    }
    kept.push_str(&text[from..]);
    (depth == 0).then_some(kept)
}

/// Whether a line is a header that precedes a message in LSP's framing.
pub(super) fn is_lsp_header(text: &str) -> bool {
    ["content-length:", "content-type:"].iter().any(|header| {
        text.get(..header.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(header))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FindingCode, Line, MOST_VALUES, holds_more_than, read};

    fn word(line: &Line) -> &'static str {
        match line {
            Line::Blank => "blank",
            Line::Json(_) => "json",
            Line::Noise => "noise",
            Line::LspHeader => "lsp",
            Line::Broken(_) => "broken",
            Line::TooDeep => "deep",
            Line::TooMany => "many",
            Line::Utf16 => "utf16",
        }
    }

    #[test]
    fn lines_are_told_apart() {
        let case = |bytes: &[u8], wanted: &str, mended: &[FindingCode]| {
            let reading = read(bytes);
            let shown = String::from_utf8_lossy(bytes);
            assert_eq!(word(&reading.line), wanted, "{shown}");
            let codes: Vec<_> = reading.mended.iter().map(|(code, _)| *code).collect();
            assert_eq!(codes, mended, "{shown}");
        };
        case(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "json", &[]);
        case(
            br#"{"jsonrpc":"2.0","id":1,"result":{"isError":true,"isError":false}}"#,
            "json",
            &[FindingCode::DuplicateMember],
        );
        case(b"", "blank", &[]);
        case(b"  \t\r", "blank", &[]);
        case(
            b"\xEF\xBB\xBF{\"a\":1}",
            "json",
            &[FindingCode::ByteOrderMark],
        );
        case(b"\xEF\xBB\xBF", "blank", &[FindingCode::ByteOrderMark]);
        case(b"Server listening", "noise", &[]);
        case(b"\0", "noise", &[]);
        case(b"\x1b[2Jhello \xFF", "noise", &[]);
        case(b"{", "noise", &[]);
        case(br#"  "jsonrpc": "2.0","#, "broken", &[]);
        case(b"{\0\"\0j\0", "utf16", &[]);
        case(b"\0{\0\"\0j", "utf16", &[]);
        case(b"\xFF\xFE{\0\"\0", "utf16", &[]);
        case(b"\0{x", "utf16", &[]);
        case(b"\xFF\xFEhello", "noise", &[]);
        case(br#"{"jsonrpc":"2.0","id":1,"resu"#, "broken", &[]);
        case(br#"{"jsonrpc":"2.0","result":NaN}"#, "broken", &[]);
        case(b"Content-Length: 120\r", "lsp", &[]);
        case(b"content-type: application/json", "lsp", &[]);
        case(b"{\"a\":\"\xFF\"}", "json", &[FindingCode::NotUtf8]);
        case(
            br#"{"a":"\ud800 \\ud800 \ud83d\ude00"}"#,
            "json",
            &[FindingCode::LoneSurrogate],
        );
    }

    #[test]
    fn what_cannot_be_read_becomes_the_replacement_character() {
        let case = |bytes: &[u8], wanted: &str| {
            let Line::Json(value) = read(bytes).line else {
                panic!("no JSON")
            };
            assert_eq!(value["a"], wanted);
        };
        case(b"{\"a\":\"x\xFFy\"}", "x\u{FFFD}y");
        case(br#"{"a":"\ud800"}"#, "\u{FFFD}");
        case(br#"{"a":"\udc00\ud800x"}"#, "\u{FFFD}\u{FFFD}x");
        case(
            br#"{"a":"\\\ud800 \\ud800 \ud83d\ude00"}"#,
            "\\\u{FFFD} \\ud800 \u{1F600}",
        );
    }

    #[test]
    fn depth_is_bounded_and_digits_are_kept() {
        let nested = |levels: usize| {
            format!(
                r#"{{"jsonrpc":"2.0","result":{}{}}}"#,
                "[".repeat(levels),
                "]".repeat(levels)
            )
        };
        assert_eq!(word(&read(nested(100).as_bytes()).line), "json");
        assert_eq!(word(&read(nested(10_000).as_bytes()).line), "deep");
        let Line::Json(value) = read(b"[9223372036854775809, 12345678901234567890.10]").line else {
            panic!("no JSON")
        };
        assert_eq!(
            value.to_string(),
            "[9223372036854775809,12345678901234567890.10]"
        );
    }

    #[test]
    fn values_are_counted_however_they_are_written() {
        let case = |text: &str, values: usize| {
            // White space is no value, and has the text looked at.
            let text = format!("{text}{}", " ".repeat(99));
            assert!(!holds_more_than(values, text.as_bytes()), "{text}");
            assert!(holds_more_than(values - 1, text.as_bytes()), "{text}");
        };
        case("1", 1);
        case("[]", 1);
        case("[ {}, [ ] ]", 3);
        case(r#"{"a": [1, 2], "b": {"c": "[1,2,3]"}}"#, 6);
        case(r#"["\\", "\",[", 1]"#, 4);
    }

    #[test]
    fn more_values_than_a_frame_may_hold_are_not_read() {
        let frame = |items: usize| {
            let items = vec!["0"; items].join(",");
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":[{items}]}}"#)
        };
        assert_eq!(word(&read(frame(MOST_VALUES - 4).as_bytes()).line), "json");
        assert_eq!(word(&read(frame(MOST_VALUES - 3).as_bytes()).line), "many");
    }

    #[test]
    fn a_deep_schema_does_not_hide_the_tools_beside_it() {
        let (open, close) = (r#"{"properties":{"}]\\":"#, "}}");
        let schema = format!("{}{{}}{}", open.repeat(2_000), close.repeat(2_000));
        let frame = format!(
            r#"{{"jsonrpc":"2.0","result":{{"tools":[{{"inputSchema":{schema}}},{{"name":"b"}}]}}}}"#
        );
        let reading = read(frame.as_bytes());
        let Line::Json(value) = reading.line else {
            panic!("no JSON")
        };
        assert_eq!(value["result"]["tools"][1]["name"], "b");
        assert_eq!(reading.mended[0].0, FindingCode::TooDeep);
    }

    #[test]
    fn a_message_over_several_lines_is_called_that() {
        let Line::Broken(reason) = read(br#"  "jsonrpc": "2.0","#).line else {
            panic!("not broken")
        };
        assert!(reason.ends_with("a message is one line"), "{reason}");
    }

    #[test]
    fn a_broken_frame_says_where() {
        let Line::Broken(reason) = read(br#"{"jsonrpc":"2.0","result":NaN}"#).line else {
            panic!("not broken")
        };
        assert_eq!(reason, "expected value at column 27 near `…NaN}`");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            read(&bytes);
        }

        #[test]
        fn any_text_around_escapes_is_read(text in r#"\{"jsonrpc":"(\\u[dD][89abcdefABCDEF]0[0-9]|\\\\|\\|ä|"){0,8}"?\}?"#) {
            read(text.as_bytes());
        }
    }
}
