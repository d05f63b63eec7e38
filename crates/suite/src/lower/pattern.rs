//! Regular expressions as the Go tool's suites write them, compiled at load. Go's RE2 has ASCII classes for
//! `\d \w \s \b`, literal braces and `\Q…\E`; the pattern is rewritten so that it means the
//! same here.

use regex::RegexBuilder;

use super::{Compiled, Lowering};
use crate::{problems, raw::value::Text, yaml::At};
use mcp::script::pattern::{Pattern, reason};

/// The most memory one compiled pattern may take, in bytes.
const LARGEST: usize = 4 * 1024 * 1024;

/// The most memory the automaton made of a pattern while searching may take, in bytes.
const LARGEST_CACHE: usize = 256 * 1024;

impl Compiled {
    /// The compiled pattern, or why it is invalid.
    pub(super) fn pattern(&self, text: &str) -> Result<Pattern, String> {
        if let Some(known) = self.patterns.borrow().get(text) {
            return Ok(known.clone());
        }
        let compiled = RegexBuilder::new(&translate(text)?)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST_CACHE)
            .build()
            .map_err(|error| reason(&error))?;
        let pattern = Pattern::new(text, compiled);
        let mut patterns = self.patterns.borrow_mut();
        patterns.insert(text.to_owned(), pattern.clone());
        Ok(pattern)
    }
}

impl Lowering<'_> {
    /// The compiled pattern of a text.
    pub(super) fn pattern(&mut self, text: &str, at: At) -> Option<Pattern> {
        let text = self.as_pattern(text, at);
        self.compile(&text, at)
    }

    /// The compiled pattern of a text without data.
    pub(super) fn compile(&mut self, text: &str, at: At) -> Option<Pattern> {
        let compiled = self.compiled.pattern(text);
        compiled
            .map_err(|reason| self.problem(at, problems::bad_regex(text, &reason)))
            .ok()
    }

    /// The compiled patterns of several texts.
    pub(super) fn patterns(&mut self, texts: Vec<Text>) -> Vec<Pattern> {
        let texts = texts.into_iter();
        let patterns = texts.filter_map(|text| self.pattern(&text.text, text.at));
        patterns.collect()
    }
}

/// The pattern in the syntax of the `regex` crate, or why it is invalid.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut rest = pattern;
    let mut class = Class::Outside;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        rest = match (character, class) {
            ('\\', _) => escape(after, class, &mut out),
            ('[', Class::Outside) => open_class(after, &mut class, &mut out),
            ('[', Class::Inside) => bracket_in_class(rest, &mut out)?,
            (']', Class::Inside) => {
                class = Class::Outside;
                out.push(']');
                after
            }
            ('&' | '~' | '-', Class::Inside) if after.starts_with(character) => {
                out.push(character);
                out.push('\\');
                out.push(character);
                &after[1..]
            }
            ('{', Class::Outside) if !is_repetition(rest) => {
                out.push_str("\\{");
                after
            }
            (other, Class::Outside | Class::Inside) => {
                out.push(other);
                after
            }
        };
    }
    Ok(out)
}

/// Whether a place in a pattern lies in `[…]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// It does not.
    Outside,
    /// It does.
    Inside,
}

/// `[`, with `^` and a literal `]` right after it.
fn open_class<'a>(after: &'a str, class: &mut Class, out: &mut String) -> &'a str {
    *class = Class::Inside;
    out.push('[');
    let after = match after.strip_prefix('^') {
        Some(rest) => {
            out.push('^');
            rest
        }
        None => after,
    };
    // A first `]` or `-` is itself, also where it begins a range.
    match after.chars().next() {
        Some(first @ (']' | '-')) => {
            out.push('\\');
            out.push(first);
            &after[1..]
        }
        Some(_) | None => after,
    }
}

/// The names of POSIX classes.
const POSIX: &str =
    "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit";

/// `[` in a class: a POSIX class such as `[:alpha:]`, or itself. An unknown class would be one of the letters of its
/// name.
fn bracket_in_class<'a>(rest: &'a str, out: &mut String) -> Result<&'a str, String> {
    let named = rest.strip_prefix("[:").and_then(|it| it.split_once(":]"));
    let Some((name, after)) = named else {
        out.push_str("\\[");
        return Ok(&rest[1..]);
    };
    let bare = name.strip_prefix('^').unwrap_or(name);
    if !POSIX.split(' ').any(|known| known == bare) {
        return Err(format!("unknown class `[:{name}:]`"));
    }
    out.extend(["[:", name, ":]"]);
    Ok(after)
}

/// Whether a text begins with `{2}`, `{2,}` or `{2,3}`.
fn is_repetition(text: &str) -> bool {
    let Some((inner, _)) = text[1..].split_once('}') else {
        return false;
    };
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    !least.is_empty() && digits(least) && digits(most)
}

/// The rest of an escape after the backslash.
fn escape<'a>(after: &'a str, class: Class, out: &mut String) -> &'a str {
    let Some(character) = after.chars().next() else {
        out.push('\\');
        return after;
    };
    let rest = &after[character.len_utf8()..];
    let word = match (character, class) {
        ('d', Class::Outside | Class::Inside) => "[0-9]",
        ('D', Class::Outside | Class::Inside) => "[^0-9]",
        ('w', Class::Outside | Class::Inside) => "[0-9A-Za-z_]",
        ('W', Class::Outside | Class::Inside) => "[^0-9A-Za-z_]",
        ('s', Class::Outside | Class::Inside) => r"[\t\n\f\r\x20]",
        ('S', Class::Outside | Class::Inside) => r"[^\t\n\f\r\x20]",
        ('b', Class::Outside) => r"(?-u:\b)",
        ('B', Class::Outside) => r"(?-u:\B)",
        ('<', Class::Outside | Class::Inside) => "<",
        ('>', Class::Outside | Class::Inside) => ">",
        ('Q', Class::Outside) => {
            let (literal, rest) = rest.split_once(r"\E").unwrap_or((rest, ""));
            out.push_str(&regex::escape(literal));
            return rest;
        }
        ('p' | 'P' | 'x', Class::Outside | Class::Inside) if rest.starts_with('{') => {
            let end = rest.find('}').map_or(rest.len(), |end| end + 1);
            out.extend(["\\", &after[..character.len_utf8() + end]]);
            return &rest[end..];
        }
        (other, Class::Outside | Class::Inside) => {
            out.push('\\');
            out.push(other);
            return rest;
        }
    };
    out.push_str(word);
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, prop_assert, proptest};

    use super::{Compiled, translate};
    use mcp::script::{quoting, template::Part};

    /// The parts of a pattern in which `@` stands for the data.
    fn parts(written: &str, data: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, text) in written.split('@').enumerate() {
            if index > 0 {
                parts.push(Part::Data(data.to_owned()));
            }
            parts.push(Part::Written(text.to_owned()));
        }
        parts
    }

    #[test]
    fn patterns_mean_what_they_mean_in_go() {
        let case = |pattern: &str, text: &str, expected: bool| {
            let compiled = Compiled::default().pattern(pattern);
            let found = compiled.map(|compiled| compiled.is_match(text));
            assert_eq!(found, Ok(expected), "{pattern} in {text}");
        };
        case(r"^\d+$", "123", true);
        case(r"^\d+$", "\u{663}", false);
        case(r"^\w+$", "é", false);
        case(r"\bé", "é", false);
        case(r"a\b", "a é", true);
        case(r"\B\.", "..", true);
        case(r"[\d\s]x", "1x", true);
        case(r"[^\w]", "é", true);
        case(r"[\W]", "é", true);
        case(r"[\w-z]", "-", true);
        case(r#"{"a": {"#, r#"{"a": {"#, true);
        case("a{2}", "aa", true);
        case("a{2,}", "a", false);
        case("a{,2}", "a{,2}", true);
        case(r"\Qa.b(\E+", "a.b((", true);
        case(r"\Qa.b", "axb", false);
        case(r"a\z", "a\n", false);
        case("a$", "a\n", false);
        case("[[a]", "[", true);
        case("[a&&b]", "&", true);
        case("[]a]", "]", true);
        case("[^]a]", "]", false);
        case("[[:digit:]]", "7", true);
        case("^[x[:^digit:]]+$", "7", false);
        case("^[[:word:][:space:]]+$", "a b", true);
        case("^[[:a]+$", "a:[", true);
        case(r"\<b\>", "<b>", true);
        case("(?i)ABC", "xabcx", true);
        case(r"[a\-z]", "-", true);
        case(r"[+--]", ",", true);
        case(r"[--a]", "5", true);
        case(r"[^-a]", "-", false);
        case(r"\s", "\u{b}", false);
        case(r"\p{Greek}", "α", true);
    }

    #[test]
    fn a_pattern_is_shown_as_it_was_written() {
        for written in [r"thre\b", r"^\d+$", r"\Qa.b\E", r"{x"] {
            let pattern = Compiled::default().pattern(written).unwrap();
            assert_eq!(pattern.written(), written);
            assert_ne!(pattern.compiled(), written);
        }
    }

    #[test]
    fn what_re2_does_not_have_is_told() {
        let case = |pattern: &str, reason: &str| {
            assert_eq!(
                Compiled::default().pattern(pattern).map(|_| ()),
                Err(reason.to_owned()),
                "{pattern}"
            );
        };
        case(
            "(?=a)",
            "look-around, including look-ahead and look-behind, is not supported",
        );
        case(r"(a)\1", "backreferences are not supported");
        case("(", "unclosed group");
        case("^[[:alhpa:]]+$", "unknown class `[:alhpa:]`");
        case("[[:Digit:]]", "unknown class `[:Digit:]`");
        case("[^x[:^a-f:]]", "unknown class `[:^a-f:]`");
        case("*", "repetition operator missing expression");
        case(
            r"(?:x{1000}){1000}",
            "compiled it would be larger than 4194304 bytes",
        );
    }

    proptest! {
        #[test]
        fn any_text_compiles_or_is_told(pattern in any::<String>(), near in r"[\[\]\\{}()a1dQE^&~-]{0,20}") {
            let _ = (translate(&pattern), Compiled::default().pattern(&near));
        }

        #[test]
        fn any_data_is_found_and_nothing_else(
            data in r"[a-dEQ\\.+*?()|{}^$:&~# \[\]-]{0,8}",
            other in r"[a-dEQ\\.+*?()|{}^$:&~# \[\]-]{0,8}",
        ) {
            for (written, prefix) in [("^@$", ""), ("^(?:@)$", ""), (r"^\Q@\E$", ""), (r"^\@$", r"\"), ("^@{1}$", "")] {
                let pattern = quoting::pattern(&parts(written, &data));
                let compiled = Compiled::default().pattern(&pattern).unwrap();
                let is_found = |text: &str| compiled.is_match(&format!("{prefix}{text}"));
                prop_assert!(is_found(&data), "{} {}", written, data);
                prop_assert!(data == other || !is_found(&other), "{} {} {}", written, data, other);
            }
        }
    }
}
