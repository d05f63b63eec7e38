//! The JSON document in a text: the whole text, or the first JSON value that stands on lines of its own
//! (servers put a sentence before it or a hint after it). What stands within something larger that begins above it
//! is none: of broken JSON no piece is taken for the whole. Knows nothing of answers and of what is wanted of them.

mod brackets;
mod surrogates;

use serde_json::{Error, Value, error::Category};

pub use self::surrogates::without_lone_surrogates;

/// Why a text holds no JSON document.
#[derive(Debug)]
pub struct NoDocument {
    /// In a clause.
    pub reason: String,
    /// The byte where reading came to its end.
    pub at: usize,
}

/// The value of a text that is JSON as a whole. Halves of characters are U+FFFD, as in frames.
pub fn value(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).or_else(|error| match without_lone_surrogates(text) {
        Some(repaired) => serde_json::from_str(&repaired),
        None => Err(error),
    })
}

/// The JSON document in a text.
pub fn document(text: &str) -> Result<Value, NoDocument> {
    if text.trim().is_empty() {
        return Err(NoDocument {
            reason: "the text is empty".to_owned(),
            at: 0,
        });
    }
    let error = match value(text) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if is_too_deep(&error) {
        return Err(no_document(text, 0, &error));
    }
    match scan(text).first {
        Some(First::Value(value)) => Ok(value),
        Some(First::Unreadable { at, error }) => Err(no_document(text, at, &error)),
        None => Err(no_document(text, 0, &error)),
    }
}

/// The JSON values of a text: itself, or all that stand on lines of their own.
pub fn values(text: &str) -> Vec<Value> {
    match value(text) {
        Ok(value) => vec![value],
        Err(error) if is_too_deep(&error) => Vec::new(),
        Err(_) => {
            let mut others = Vec::new();
            let found = scan_with(text, |value| others.push(value));
            let first = found.first.and_then(|first| match first {
                First::Value(value) => Some(value),
                First::Unreadable { .. } => None,
            });
            first.into_iter().chain(others).collect()
        }
    }
}

fn is_too_deep(error: &Error) -> bool {
    error.to_string().starts_with("recursion limit exceeded")
}

/// Why what begins at this byte of the text cannot be read.
fn no_document(text: &str, begin: usize, error: &Error) -> NoDocument {
    let (before, rest) = text.split_at_checked(begin).unwrap_or(("", text));
    let (line, column) = (error.line(), error.column());
    let at = begin + offset(rest, line, column);
    if is_too_deep(error) {
        let reason = "the text is nested deeper than 127 levels, the bound of this tool".to_owned();
        return NoDocument { reason, at };
    }
    let cut_off = match error.classify() {
        Category::Eof => ", as if it were cut off",
        Category::Io | Category::Syntax | Category::Data => "",
    };
    let told = error.to_string();
    let wrong = told.split(" at line ").next().unwrap_or_default();
    // On the first line of what is read the column is counted from where that begins.
    let indent = before.rsplit('\n').next().unwrap_or_default().len();
    let column = column + if line == 1 { indent } else { 0 };
    let line = before.matches('\n').count() + line;
    let reason = format!("the text is not JSON{cut_off} ({wrong} at line {line} column {column})");
    NoDocument { reason, at }
}

/// The JSON values of a text that is not one itself.
#[derive(Debug, Default)]
pub struct Scan {
    /// The first that stands on lines of its own: the document.
    pub first: Option<First>,
    /// All that begin a line.
    pub values: usize,
    /// Where the one after the first begins.
    pub next: usize,
}

/// What stands in the place of the document.
#[derive(Debug)]
pub enum First {
    /// A value.
    Value(Value),
    /// One that is broken, cut off, or nested too deeply to be read.
    Unreadable {
        /// The byte where it begins.
        at: usize,
        /// Why, with the place from there.
        error: Error,
    },
}

impl Scan {
    fn count(&mut self, at: usize) {
        self.values += 1;
        if self.values == 2 {
            self.next = at;
        }
    }

    fn found(&mut self, at: usize, found: First, other: &mut impl FnMut(Value)) {
        self.count(at);
        match (&self.first, found) {
            (None, found) => self.first = Some(found),
            (Some(_), First::Value(value)) => other(value),
            (Some(_), First::Unreadable { .. }) => {}
        }
    }
}

/// Looks for JSON values among the lines of a text. However many attempts fail, each part of the text is read a
/// few times at most.
pub fn scan(text: &str) -> Scan {
    scan_with(text, drop)
}

/// The same, which gives on the values after the first that stand on lines of their own and can be read: a long text has
/// too many to keep them for nobody.
fn scan_with(text: &str, mut other: impl FnMut(Value)) -> Scan {
    // As long as the text, so that places in one are places in the other.
    let repaired = without_lone_surrogates(text);
    let text = repaired.as_deref().unwrap_or(text);
    let mut larger = brackets::over_lines(text).into_iter().peekable();
    let mut found = Scan::default();
    let (mut start, mut past) = (0, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let begin = start + (line.len() - line.trim_start().len());
        start += line.len();
        while larger.next_if(|range| range.end <= begin).is_some() {}
        let is_within = larger.peek().is_some_and(|range| range.start < begin);
        if is_within || begin < past || !could_begin(trimmed) {
            continue;
        }
        if let Ok(value) = serde_json::from_str(trimmed) {
            found.found(begin, First::Value(value), &mut other);
            continue;
        }
        if !trimmed.starts_with(['{', '[']) {
            continue;
        }
        match leading_value(&text[begin..]) {
            Ok(leading) => {
                past = begin + leading.length;
                if leading.ends_its_line {
                    found.found(begin, First::Value(leading.value), &mut other);
                } else if !is_mark(&leading.value) {
                    found.count(begin);
                }
            }
            Err(error) => {
                let is_closed = larger.peek().is_some_and(|range| range.start == begin);
                let is_over_lines = is_closed || error.line() > 1 || error.is_eof();
                if is_too_deep(&error) || is_over_lines && is_meant_as_json(&text[begin..]) {
                    found.found(begin, First::Unreadable { at: begin, error }, &mut other);
                }
                // Whatever follows is part of it.
                if is_over_lines && !is_closed {
                    break;
                }
            }
        }
    }
    found
}

/// Whether JSON can begin like this.
fn could_begin(line: &str) -> bool {
    line.starts_with(|first: char| {
        matches!(first, '{' | '[' | '"' | '-' | 't' | 'f' | 'n') || first.is_ascii_digit()
    })
}

/// Whether a text that begins with a bracket goes on as JSON does, or what is taken for it: with single quotes, with
/// comments, with `NaN`. Code and prose do not: `{ return; }`, `[note: …]`.
fn is_meant_as_json(text: &str) -> bool {
    const WORDS: &str = "true false null NaN Infinity undefined True False None";
    let rest = text[1..].trim_start();
    if text.starts_with('{') {
        return rest.is_empty() || rest.starts_with(['"', '\'', '/', '}']);
    }
    rest.is_empty()
        || rest.starts_with(['"', '\'', '/', ']', '{', '[', '-'])
        || rest.starts_with(|first: char| first.is_ascii_digit())
        || WORDS.split(' ').any(|word| rest.starts_with(word))
}

/// The JSON value at the beginning of a text.
struct Leading {
    value: Value,
    /// In bytes.
    length: usize,
    ends_its_line: bool,
}

/// Reads the value at the beginning of a text that has more than white space.
fn leading_value(text: &str) -> Result<Leading, Error> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next().unwrap_or(Ok(Value::Null))?;
    let length = values.byte_offset();
    let rest = text.get(length..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    Ok(Leading {
        value,
        length,
        ends_its_line: line.trim().is_empty(),
    })
}

/// Whether a value with more text behind it is what log lines begin with: `[1742] started`.
fn is_mark(value: &Value) -> bool {
    match value {
        Value::Array(items) => match items.as_slice() {
            [] => true,
            [only] => !only.is_array() && !only.is_object(),
            [_, _, ..] => false,
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            false
        }
    }
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
    use super::{document, scan};

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
        case("[\n1,\n2\n] and more", None);
        case("{\"a\":1} and more\n{\"a\":2}", Some("{\"a\":2}"));
        case("[0, 1)\n{\"a\":1}\nup to 2", Some("{\"a\":1}"));
        case("\x1b[31mred\x1b[0m\n{\"a\":1}\n\x1b]0;x", Some("{\"a\":1}"));
        case("{\n  return;\n}\n{\"a\":1}", Some("{\"a\":1}"));
        case("[Note: this\nis shown]\n{\"a\":1}", Some("{\"a\":1}"));
    }

    #[test]
    fn no_part_of_something_larger_is_taken_for_the_whole() {
        let inner = "\"items\": [\n{\"id\": 7},\n{\"id\": 9}\n]";
        for broken in [
            format!("{{\n\"score\": NaN,\n{inner}\n}}"),
            format!("{{\n\"score\": -Infinity,\n{inner}\n}}"),
            format!("{{\n{inner},\n}}"),
            format!("{{\n'total': 2,\n{inner}\n}}"),
            format!("{{ 'total': '}}',\n{inner}\n}}"),
            format!("{{ // all\n{inner}\n}}"),
            format!("{{\n/* all */\n{inner}\n}}"),
            format!("{{\n\"error\": undefined,\n{inner}\n}}"),
            format!("{{\n{inner}\n"),
            format!("{{ \"score\": NaN,\n{inner}\n"),
            format!("{{ \"total\": 2,\n\"score\": NaN,\n{inner}\n"),
            format!("Found: {{\n{inner}\n}}"),
            format!("Found: {{\n{inner}"),
            "[\n[\n\"]\",\n{\n}\n, oops".to_owned(),
            "[\n[\n1\n]\n, oops".to_owned(),
        ] {
            for text in [
                &broken,
                &format!("Found\n{broken}"),
                &format!("{broken}\nHint"),
            ] {
                let found = document(text).ok().map(|value| value.to_string());
                assert_eq!(found, None, "{text}");
            }
        }
    }

    #[test]
    fn a_broken_value_over_lines_stands_in_the_place_of_the_document() {
        let case = |text: &str, wanted: &str| {
            let told = document(text).unwrap_err();
            assert_eq!(
                told.reason,
                format!("the text is not JSON{wanted}"),
                "{text}"
            );
            told.at
        };
        let text = "Found:\n{\n  \"id\": NaN\n}\n{\n  \"id\": 2\n}";
        let at = case(text, " (expected value at line 3 column 9)");
        assert!(text[at..].starts_with("NaN"), "{at}");
        case(
            "Found:\n{\n  \"id\": [1",
            ", as if it were cut off (EOF while parsing a list at line 3 column 10)",
        );
        case(
            "{\n{\"a\": 1}\n}",
            " (key must be a string at line 2 column 1)",
        );
        let after = "{\"a\": 1}\n{\n\"error\": NaN\n}";
        assert_eq!(document(after).unwrap().to_string(), "{\"a\":1}");
        assert_eq!(scan(after).values, 2);
    }

    #[test]
    fn half_of_a_character_is_read_as_in_frames() {
        let case = |text: &str, wanted: &str| {
            let found = document(text).map(|value| value.to_string());
            assert_eq!(found.ok().as_deref(), Some(wanted), "{text}");
        };
        case(r#"{"t":"\ud83d"}"#, "{\"t\":\"\u{fffd}\"}");
        case(
            r#"["\ude00\ud83d","\\ud83d"]"#,
            "[\"\u{fffd}\u{fffd}\",\"\\\\ud83d\"]",
        );
        case(
            "{\"id\":1,\"t\":\"\\ud83d\"}\n{\"id\":2}",
            "{\"id\":1,\"t\":\"\u{fffd}\"}",
        );
        let wrong = document("{\"t\": \"\\ud83d\", NaN}").unwrap_err().reason;
        assert!(
            wrong.contains("key must be a string at line 1 column 17"),
            "{wrong}"
        );
    }

    #[test]
    fn no_part_of_what_is_nested_too_deeply_is_taken_for_the_whole() {
        let (open, close) = ("[\n".repeat(200), "\n]".repeat(200));
        let leaf = "{\"id\": 1}";
        for text in [
            format!("{open}{leaf}{close}"),
            format!("{open}{leaf}{close}\n{leaf}"),
            format!("{}{}\n{leaf}", "[".repeat(200), "]".repeat(200)),
            format!("{{\"a\": 1,\n\"b\":\n{open}{leaf}{close}}}"),
            format!("Found:\n{open}{leaf}{close}\nHint"),
            format!("Found:\n{}{}\n{leaf}", "[".repeat(200), "]".repeat(200)),
        ] {
            let told = document(&text).unwrap_err().reason;
            assert!(
                told.contains("nested deeper than 127 levels"),
                "{told}: {text}"
            );
        }
        let after = format!("{leaf}\n{open}{close}");
        assert_eq!(document(&after).unwrap().to_string(), "{\"id\":1}");
        assert_eq!(scan(&after).values, 2);
    }

    #[test]
    fn no_part_of_a_value_that_is_cut_off_is_taken_for_the_whole() {
        for text in [
            "{\n\"a\":\n[\n1\n]",
            "{\n\"a\":\n[\n1",
            "[\n{\"a\": 1},\n2",
            "log\n[\n[1]",
        ] {
            assert!(document(text).is_err(), "{text}");
            assert!(document(&format!("{text}\n")).is_err(), "{text}");
        }
        let both = "{\"a\":1}\n[\n2,\n3";
        assert_eq!(document(both).unwrap().to_string(), "{\"a\":1}");
        assert_eq!(scan(both).values, 2);
    }

    #[test]
    fn no_number_of_lines_that_begin_like_json_hides_a_value() {
        let log = |first: &str| first.repeat(40);
        for first in ["[INFO] x\n", "{x}\n", "[0, 1)\n", "[ERROR] \"x\n"] {
            let text = format!("{}{{\n \"id\": 7\n}}\nend", log(first));
            let found = document(&text).ok().map(|value| value.to_string());
            assert_eq!(found.as_deref(), Some("{\"id\":7}"), "{first}");
            assert_eq!(scan(&format!("1\n{text}")).values, 2, "{first}");
        }
        let list = format!("{}[\n 7,\n 8,\n 9\n]", log("[INFO] x\n"));
        assert_eq!(document(&list).unwrap().to_string(), "[7,8,9]");
    }

    #[test]
    fn values_that_begin_a_line_are_counted() {
        let case = |text: &str, wanted: usize| assert_eq!(scan(text).values, wanted, "{text}");
        case("no json", 0);
        case("started\n{\"a\":1}\n[1742] done {\"a\":2}", 1);
        case("{\"a\":1}\n{\"a\":2}", 2);
        case("1\n\"two\"\nnull", 3);
        case("{\n\"a\": [\n1\n]\n}\n{\n\"a\": 2\n}\nHint", 2);
        case("```json\n[1]\n```\nor\n```json\n[\n1,\n2\n]\n```", 2);
        case("{\"a\":1}\n{\"a\":2} and more", 2);
        case("{\"a\":1}\n[{\"a\":2}] and more", 2);
        assert_eq!(scan("x\n[1]\n [2]").next, 7);
    }

    #[test]
    fn a_hostile_text_is_read_in_a_moment() {
        let lines = "[[[[1,\n".repeat(50_000);
        assert!(document(&lines).is_err());
        let open = format!("{}{}x", "[\n".repeat(100), "[1],\n".repeat(50_000));
        assert!(document(&open).is_err());
        let nested = "[\n[1, 2,\n3],\n".repeat(50_000);
        assert!(document(&nested).is_err());
        let broken = "[\n[1, 2,\n3 4],\n]\n".repeat(50_000);
        assert_eq!(scan(&broken).values, 50_000);
        let apart = format!("[\n\"{}\",\n", "x".repeat(1_000)).repeat(2_000);
        assert!(document(&apart).is_err());
    }
}
