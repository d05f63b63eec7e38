//! Paths into JSON: RFC 9535, and the Go tool's short form (`a.b[0]`, no `$.`, any characters in a key).

use serde_json_path::JsonPath;

use super::filter_patterns;
use crate::json::json_path::end_of_quotes;

/// A path in the form of RFC 9535, as far as that takes no more than its beginning.
pub fn full(path: &str) -> String {
    if path.starts_with('$') && !is_dollar_key(path) {
        path.to_owned()
    } else if path.starts_with('[') {
        format!("${path}")
    } else {
        format!("$.{path}")
    }
}

/// Compiles a path in either form.
pub fn compile(text: &str) -> Result<JsonPath, String> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err("it is empty".into());
    }
    let source = ["structured:", "text:"]
        .into_iter()
        .find(|source| trimmed.strip_prefix(*source).is_some_and(is_path));
    if let Some(source) = source {
        return Err(format!(
            "`{source}` chooses what is read for `capture` only"
        ));
    }
    let prefixed = trimmed.split_once(':').filter(|(word, path)| {
        let is_word = !word.is_empty() && word.bytes().all(|it| it.is_ascii_alphabetic());
        is_word && (*path == "$" || path.starts_with("$.") || path.starts_with("$["))
    });
    if let Some((word, _)) = prefixed {
        return Err(format!(
            "`{word}:` is not a source: `structured:` and `text:` are, for `capture`"
        ));
    }
    let full = full(without_blanks(text));
    let (path, written) = match JsonPath::parse(&full) {
        Ok(path) => (path, full),
        Err(error) => {
            let short = translate(&full[1..])?;
            let path = JsonPath::parse(&short).map_err(|_| error.to_string())?;
            (path, short)
        }
    };
    filter_patterns::wrong(&written).map_or(Ok(path), Err)
}

/// The path without the blanks round it, except for those that the first or the last key of the short form has.
fn without_blanks(text: &str) -> &str {
    let text = text.trim_matches(['\n', '\r']);
    let (begun, ended) = (text.trim_start(), text.trim_end());
    let text = if is_path(begun) { begun } else { text };
    if ended.ends_with([']', '*', '$']) {
        text.trim_end()
    } else {
        text
    }
}

/// Whether a text can only be a path, not a part of a key.
fn is_path(text: &str) -> bool {
    text.starts_with(['$', '['])
}

/// Whether a text that begins with `$` begins with a key such as `$ref`.
fn is_dollar_key(text: &str) -> bool {
    text[1..].starts_with(|character: char| character.is_alphanumeric() || character == '_')
}

/// What follows the `$`, from the short form to RFC 9535.
fn translate(rest: &str) -> Result<String, String> {
    let mut out = String::from("$");
    let mut rest = rest;
    while !rest.is_empty() {
        rest = match rest.strip_prefix('.') {
            Some(after) => key(after, &mut out)?,
            None => match rest.strip_prefix('[') {
                Some(after) => index(after, &mut out)?,
                None => return Err(format!("`{rest}` follows without `.`")),
            },
        };
    }
    Ok(out)
}

/// A key up to the next `.` or `[`.
fn key<'a>(after: &'a str, out: &mut String) -> Result<&'a str, String> {
    let end = after.find(['.', '[']).unwrap_or(after.len());
    let (key, rest) = after.split_at(end);
    match key {
        "" => return Err("a key is empty".into()),
        "*" => out.push_str("[*]"),
        _ if key.contains(']') => return Err(format!("`{key}` has a `]` too many")),
        _ => {
            out.push_str("['");
            for character in key.chars() {
                if matches!(character, '\'' | '\\') {
                    out.push('\\');
                }
                out.push(character);
            }
            out.push_str("']");
        }
    }
    Ok(rest)
}

/// What stands in brackets: an index, `*`, a key in quotes.
fn index<'a>(after: &'a str, out: &mut String) -> Result<&'a str, String> {
    let end = match after.chars().next() {
        Some(quote @ ('\'' | '"')) => end_of_quotes(after, quote),
        _ => after.find(']'),
    };
    let end = end.ok_or("a `[` is not closed")?;
    let (inner, rest) = after.split_at(end);
    let rest = rest
        .strip_prefix(']')
        .ok_or_else(|| format!("`[{inner}` is not closed"))?;
    let is_index = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = inner.strip_prefix('-').unwrap_or(inner);
    if inner == "*"
        || is_index(unsigned)
        || inner.starts_with(['\'', '"', '?'])
        || inner.contains(':')
    {
        out.push('[');
        out.push_str(inner);
        out.push(']');
        return Ok(rest);
    }
    Err(format!("`[{inner}]` is not an index"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use serde_json::{Value, json};

    use super::compile;

    #[test]
    fn what_chooses_a_source_is_no_path() {
        for text in ["structured:$.x", "structured:[0]", "text:$"] {
            let reason = compile(text).unwrap_err();
            assert!(reason.ends_with("for `capture` only"), "{text}: {reason}");
        }
        for text in ["structure:$.x", "foo:$", "Text:$[0]"] {
            let reason = compile(text).unwrap_err();
            assert!(reason.contains("is not a source"), "{text}: {reason}");
        }
        for key in ["structured:x", "xmlns:a.b", "a:[0]", "a.b:$c"] {
            assert!(compile(key).is_ok(), "it may be a key");
        }
    }

    #[test]
    fn both_forms_find_their_values() {
        let document = json!({
            "a": {"b": [1, [2, 3]], "my key": 4, "x-y": 5, "@type": 6, "$ref": 7, "ü": 8, "it's": 9, "0": 10},
            "$top": 11,
            "list": [{"n": 1}, {"n": 2}],
        });
        let case = |path: &str, expected: Value| {
            let found = compile(path).map(|path| {
                Value::Array(
                    path.query(&document)
                        .iter()
                        .map(|node| (*node).clone())
                        .collect(),
                )
            });
            assert_eq!(found, Ok(expected), "{path}");
        };
        case("$.a.b[0]", json!([1]));
        case("a.b[0]", json!([1]));
        case("a.b[1][1]", json!([3]));
        case("a.b[-1][0]", json!([2]));
        case("a.my key", json!([4]));
        case("$.a.x-y", json!([5]));
        case("a.@type", json!([6]));
        case("a.$ref", json!([7]));
        case("$top", json!([11]));
        case("a.ü", json!([8]));
        case("a.it's", json!([9]));
        case("a['my key']", json!([4]));
        case("a.x-y", json!([5]));
        case("a.0", json!([10]));
        case("$.list[*].n", json!([1, 2]));
        case("list[*].n", json!([1, 2]));
        case("$..n", json!([1, 2]));
        case("$.list[?@.n > 1].n", json!([2]));
        case("$['a']['b'][0]", json!([1]));
        case("missing.b", json!([]));
    }

    #[test]
    fn a_key_keeps_its_blanks() {
        let document = json!({"a ": 1, " b": {"c ": [2]}, "d": [3]});
        let case = |path: &str, expected: Value| {
            let path = compile(path).unwrap();
            assert_eq!(path.query(&document).first(), Some(&expected), "{path}");
        };
        case("a ", json!(1));
        case("$.a ", json!(1));
        case(" b.c [0]", json!(2));
        case("$. b.c ", json!([2]));
        case(" $.d[0] ", json!(3));
        case(" $['d'][0]", json!(3));
        case("d[0] ", json!(3));
        case("d.* ", json!(3));
        case(" $ ", document.clone());
        case("$.d\n", json!([3]));
    }

    #[test]
    fn the_root_can_be_meant() {
        let case = |path: &str, expected: Value| {
            let found = compile(path).map(|path| {
                let document = json!([{"id": 1}]);
                Value::Array(
                    path.query(&document)
                        .iter()
                        .map(|node| (*node).clone())
                        .collect(),
                )
            });
            assert_eq!(found, Ok(expected), "{path}");
        };
        case("$", json!([[{"id": 1}]]));
        case("$[0].id", json!([1]));
        case("[0].id", json!([1]));
    }

    #[test]
    fn nonsense_is_told() {
        let case = |path: &str, reason: &str| {
            assert_eq!(compile(path).map(|_| ()), Err(reason.to_owned()), "{path}");
        };
        case("a[1abc]", "`[1abc]` is not an index");
        case("a[", "a `[` is not closed");
        case("a..", "a key is empty");
        case("", "it is empty");
        case("a[0]b", "`b` follows without `.`");
        case("a]", "`a]` has a `]` too many");
        case("$.", "a key is empty");
        case(
            "l[?search(@.n, '(secret')].n",
            "the pattern `(secret` of `search` is not a regular expression: unclosed group",
        );
    }

    proptest! {
        #[test]
        fn any_text_is_a_path_or_not(text in any::<String>(), near in r"[$.a\['0\]*?@-]{0,12}") {
            let _ = (compile(&text), compile(&near));
        }
    }
}
