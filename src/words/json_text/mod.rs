//! The JSON document in a text: the whole text, or the first JSON value that stands on lines of its own
//! (servers put a sentence before it or a hint after it). Knows nothing of answers and of what is wanted of them.

mod surrogates;

use serde_json::{Value, error::Category};

pub(crate) use self::surrogates::without_lone_surrogates;

/// Why a text holds no JSON document.
#[derive(Debug)]
pub(crate) struct NoDocument {
    /// In a clause.
    pub(crate) reason: String,
    /// The byte where reading came to its end.
    pub(crate) at: usize,
}

/// The JSON document in a text.
pub(crate) fn document(text: &str) -> Result<Value, NoDocument> {
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

/// The first JSON value that begins and ends with a line.
fn among_lines(text: &str) -> Option<Value> {
    scan(text).first
}

/// The JSON values of a text that is not one itself.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// The first that stands on lines of its own: the document.
    pub(crate) first: Option<Value>,
    /// All that begin a line.
    pub(crate) values: usize,
    /// Where the one after the first begins.
    pub(crate) next: usize,
}

impl Scan {
    fn count(&mut self, at: usize) {
        self.values += 1;
        if self.values == 2 {
            self.next = at;
        }
    }
}

/// Looks for JSON values among the lines of a text. However many attempts fail, each part of the text is read a
/// few times at most.
pub(crate) fn scan(text: &str) -> Scan {
    let mut found = Scan::default();
    let mut open: Vec<usize> = Vec::new();
    let (mut start, mut past) = (0, 0);
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let begin = start + (line.len() - line.trim_start().len());
        start += line.len();
        if begin < past || !could_begin(trimmed) || open.contains(&begin) {
            continue;
        }
        if let Ok(value) = serde_json::from_str(trimmed) {
            found.count(begin);
            found.first.get_or_insert(value);
            continue;
        }
        if !trimmed.starts_with(['{', '[']) {
            continue;
        }
        let leading = match leading_value(&text[begin..]) {
            Ok(leading) => leading,
            // Whatever follows is part of it.
            Err(NoValue::CutOff) => {
                found.count(begin);
                break;
            }
            Err(NoValue::Other { read }) => {
                open = left_open(&text[begin..begin + read]);
                for at in &mut open {
                    *at += begin;
                }
                continue;
            }
        };
        past = begin + leading.length;
        if leading.ends_its_line {
            found.count(begin);
            found.first.get_or_insert(leading.value);
        } else if !is_mark(&leading.value) {
            found.count(begin);
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

/// The JSON value at the beginning of a text.
struct Leading {
    value: Value,
    /// In bytes.
    length: usize,
    ends_its_line: bool,
}

/// Why there is no JSON value at the beginning of a text.
enum NoValue {
    /// The text ends before the value does.
    CutOff,
    /// It is no JSON.
    Other {
        /// How long the lines are that were read in vain before the one that is none.
        read: usize,
    },
}

/// Reads the value.
fn leading_value(text: &str) -> Result<Leading, NoValue> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) if error.is_eof() => return Err(NoValue::CutOff),
        Some(Err(error)) => {
            let read = offset(text, error.line(), 1);
            return Err(NoValue::Other { read });
        }
        None => return Err(NoValue::Other { read: 0 }),
    };
    let length = values.byte_offset();
    let rest = text.get(length..).unwrap_or_default();
    let line = rest.split('\n').next().unwrap_or_default();
    Ok(Leading {
        value,
        length,
        ends_its_line: line.trim().is_empty(),
    })
}

/// Where the arrays and objects begin that are still open at the end of lines that were read as part of a value.
/// As no string goes over the end of a line, each of them would be read alike from where it begins, and end at the
/// same place that is no JSON: they need not be tried, which would take time without bound in nested ones.
fn left_open(lines: &str) -> Vec<usize> {
    let mut open = Vec::new();
    let mut bytes = lines.bytes().enumerate();
    let mut in_string = false;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' => {
                bytes.next();
            }
            b'[' | b'{' if !in_string => open.push(at),
            b']' | b'}' if !in_string => {
                open.pop();
            }
            _ => {}
        }
    }
    open
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
        case("[\n[\n\"]\",\n{\n}\n, oops", Some("{}"));
        case("[\n[\n1\n]\n, oops", Some("[1]"));
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
        for first in ["[INFO] x\n", "{x}\n", "[\n", "[ERROR] \"x\n"] {
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
        assert!(scan(&nested).values > 49_000);
        let apart = format!("[\n\"{}\",\n", "x".repeat(1_000)).repeat(2_000);
        assert!(document(&apart).is_err());
    }
}
