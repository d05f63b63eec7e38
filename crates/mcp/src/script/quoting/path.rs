//! Data in a path into JSON: it is the name of a key, an index or a part of a text in quotes, and never the rest of
//! the path.

use serde_json::{Number, Value};

use crate::script::template::Part;

/// A character of a path, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sign {
    Written(char),
    Data(char),
}

impl Sign {
    fn character(self) -> char {
        match self {
            Self::Written(character) | Self::Data(character) => character,
        }
    }

    fn is_data(self) -> bool {
        matches!(self, Self::Data(_))
    }

    /// Whether the author wrote a character that ends a key outside of brackets.
    fn ends_key(self) -> bool {
        matches!(self, Self::Written('.' | '['))
    }

    /// Whether a name in a filter goes on.
    fn is_of_name(self) -> bool {
        self.is_data() || is_of_name(self.character())
    }
}

/// The path that parts make, or why they make none.
pub fn path(parts: &[Part]) -> Result<String, String> {
    let signs = signs(parts);
    let mut out = String::new();
    let mut rest = signs.as_slice();
    let mut depth = 0_usize;
    while let Some(first) = rest.first() {
        let length = match first {
            Sign::Written('[') => {
                depth += 1;
                plain(rest, 1, &mut out)
            }
            Sign::Written(']') if depth > 0 => {
                depth -= 1;
                plain(rest, 1, &mut out)
            }
            Sign::Written('.') => {
                plain(rest, 1, &mut out);
                let name = rest[1..].iter().take_while(|sign| sign.is_of_name());
                let length = if depth > 0 { name.count() } else { 0 };
                name_or_key(&rest[1..=length], &mut out);
                1 + length
            }
            Sign::Written(_) | Sign::Data(_) if depth == 0 => {
                let length = rest.iter().take_while(|sign| !sign.ends_key()).count();
                name_or_key(&rest[..length], &mut out);
                length
            }
            Sign::Written(quote @ ('\'' | '"')) => quoted(rest, *quote, &mut out),
            Sign::Written(_) => plain(rest, 1, &mut out),
            Sign::Data(_) => literal(rest, &mut out)?,
        };
        rest = &rest[length..];
    }
    Ok(out)
}

/// The characters of the parts, without the author's white space around them.
fn signs(parts: &[Part]) -> Vec<Sign> {
    let mut signs: Vec<Sign> = Vec::new();
    for part in parts {
        match part {
            Part::Written(text) => signs.extend(text.chars().map(Sign::Written)),
            Part::Data(text) => signs.extend(text.chars().map(Sign::Data)),
        }
    }
    let is_blank = |sign: &Sign| matches!(sign, Sign::Written(it) if it.is_whitespace());
    let end = signs.iter().rposition(|sign| !is_blank(sign));
    signs.truncate(end.map_or(0, |end| end + 1));
    let start = signs.iter().position(|sign| !is_blank(sign));
    signs.split_off(start.unwrap_or(0))
}

/// So many signs as they are.
fn plain(signs: &[Sign], length: usize, out: &mut String) -> usize {
    out.extend(signs[..length].iter().map(|sign| sign.character()));
    length
}

/// A key outside of quotes: as it is where it is the author's or a plain name, else in brackets and quotes.
fn name_or_key(signs: &[Sign], out: &mut String) {
    let text: String = signs.iter().map(|sign| sign.character()).collect();
    let is_name = text.chars().all(is_of_name) && !text.starts_with(|it: char| it.is_ascii_digit());
    if is_name || !signs.iter().any(|sign| sign.is_data()) {
        out.push_str(&text);
        return;
    }
    // After `..` brackets follow, instead of `.` they stand.
    if out.ends_with('.') && !out.ends_with("..") {
        out.pop();
    }
    out.push_str("['");
    text.chars().for_each(|it| escape(it, '\'', out));
    out.push_str("']");
}

/// A text in quotes.
fn quoted(signs: &[Sign], quote: char, out: &mut String) -> usize {
    let is_pattern = begins_pattern(out);
    out.push(quote);
    let mut length = 1;
    while let Some(sign) = signs.get(length) {
        length += 1;
        match sign {
            Sign::Data(it) if is_pattern => {
                let escaped = regex::escape(&it.to_string());
                escaped.chars().for_each(|it| escape(it, quote, out));
            }
            Sign::Data(it) => escape(*it, quote, out),
            Sign::Written('\\') => {
                out.push('\\');
                match signs.get(length) {
                    Some(Sign::Written(escaped)) => {
                        out.push(*escaped);
                        length += 1;
                    }
                    // It escapes nothing of the author's.
                    Some(Sign::Data(_)) => out.push('\\'),
                    None => {}
                }
            }
            Sign::Written(it) => {
                out.push(*it);
                if *it == quote {
                    break;
                }
            }
        }
    }
    length
}

/// Whether what follows in quotes is the pattern of `match()` or `search()`.
fn begins_pattern(before: &str) -> bool {
    let call = ["match(", "search("]
        .iter()
        .filter_map(|it| before.rfind(it));
    call.max().is_some_and(|at| {
        let call = &before[at..];
        let (open, closed) = (call.matches('(').count(), call.matches(')').count());
        open == closed + 1 && call.trim_end().ends_with(',')
    })
}

/// A character of a text in quotes.
fn escape(character: char, quote: char, out: &mut String) {
    if character == '\\' || character == quote {
        out.push('\\');
    }
    if character.is_ascii_control() && character != '\u{7f}' {
        out.extend(["\\u", &format!("{:04x}", u32::from(character))]);
    } else {
        out.push(character);
    }
}

/// Data in brackets and outside of quotes: an index, or another value that needs no quotes.
fn literal(signs: &[Sign], out: &mut String) -> Result<usize, String> {
    let data = signs.iter().take_while(|sign| sign.is_data());
    let text: String = data.map(|sign| sign.character()).collect();
    let is_number =
        serde_json::from_str::<Number>(&text).is_ok_and(|it| it.to_string() == text.trim());
    let is_value = matches!(
        serde_json::from_str::<Value>(&text),
        Ok(Value::Null | Value::Bool(_))
    );
    if !(is_number || is_value) || text.trim() != text {
        return Err("what is put in there is neither an index nor a number; for a text write quotes around the `{{…}}`".to_owned());
    }
    out.push_str(&text);
    Ok(text.chars().count())
}

/// Whether a character can stand in a name without quotes.
fn is_of_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || !character.is_ascii()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert_eq, proptest};
    use serde_json::json;

    use super::path;
    use crate::script::{path::compile, template::Part};

    /// The path with data where `@@` stands.
    fn with(written: &str, data: &str) -> Result<String, String> {
        let mut parts = Vec::new();
        for (index, text) in written.split("@@").enumerate() {
            if index > 0 {
                parts.push(Part::Data(data.to_owned()));
            }
            parts.push(Part::Written(text.to_owned()));
        }
        path(&parts)
    }

    #[test]
    fn data_is_a_key_an_index_or_a_text() {
        let case = |written: &str, data: &str, expected: &str| {
            assert_eq!(with(written, data).as_deref(), Ok(expected), "{written}");
        };
        case("$.@@", "id", "$.id");
        case("$.@@.n", "a b", "$['a b'].n");
        case("@@.n", "it's", r"['it\'s'].n");
        case("a.@@", "b.c", "a['b.c']");
        case("$..@@", "*", "$..['*']");
        case("$.a_@@", "1", "$.a_1");
        case("$.@@", "0", "$['0']");
        case("$.x-@@-y[0]", "a.b", "$['x-a.b-y'][0]");
        case("$.items[@@].n", "-1", "$.items[-1].n");
        case("$['@@']", "z','a", r"$['z\',\'a']");
        case(r#"$["@@"]"#, "a\\\"\n'", r#"$["a\\\"\u000a'"]"#);
        case(r"$['\@@']", "n", r"$['\\n']");
        case(
            "$[?@.n == '@@'].v",
            "' || '1' == '1",
            r"$[?@.n == '\' || \'1\' == \'1'].v",
        );
        case("$[?@.n == @@].v", "1.5", "$[?@.n == 1.5].v");
        case("$[?@.@@ == 1]", "a b", "$[?@['a b'] == 1]");
        case(
            "$[?search(@.n, '^@@')]",
            "a.b",
            r"$[?search(@.n, '^a\\.b')]",
        );
        case("$[?@.n == '@@']", "a.b", "$[?@.n == 'a.b']");
        case(" $.@@ ", "a ", "$['a ']");
        case("it's.@@.x", "id", "it's.id.x");
    }

    #[test]
    fn what_needs_quotes_is_told() {
        for (written, data) in [
            ("$[@@]", "id"),
            ("$[@@]", "*"),
            ("$[@@]", "'a'"),
            ("$[?@.n == @@]", "1 || true"),
            ("$[?@.n == @@]", "text"),
        ] {
            assert!(with(written, data).is_err(), "{written} {data}");
        }
    }

    proptest! {
        #[test]
        fn any_data_leads_to_its_own_key(data in any::<String>(), near in r"[\[\]'\x22\\.$@*? a0\n-]{1,6}") {
            for key in [data, near] {
                if key.is_empty() {
                    continue;
                }
                let document = json!({ "k": { &key: 1 }, "odd key": { &key: 1 } });
                let texts = json!([{ "n": &key, "v": 1 }, { "n": "other", "v": 1 }]);
                for written in ["$.k.@@", "k.@@", "$.k['@@']", r#"$.k["@@"]"#, "odd key['@@']", "odd key.@@"] {
                    let text = with(written, &key).unwrap();
                    let found = compile(&text).unwrap().query(&document).len();
                    prop_assert_eq!(found, 1, "{} {}", written, text);
                }
                for written in ["$[?@.n == '@@'].v", r#"$[?@.n == "@@"].v"#, "$[?match(@.n, '@@')].v"] {
                    let text = with(written, &key).unwrap();
                    let found = compile(&text).unwrap().query(&texts).len();
                    prop_assert_eq!(found, usize::from(key == "other") + 1, "{} {}", written, text);
                }
            }
        }
    }
}
