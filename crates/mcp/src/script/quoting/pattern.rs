//! Data in a regular expression: it means itself, as one piece, wherever the author's text puts it.

use crate::script::template::Part;

/// Where a place in a pattern lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In none of the others.
    Outside,
    /// In `[…]`.
    Class,
    /// In `\Q…\E`, where a backslash is nothing but itself.
    Quotation,
}

/// The pattern that parts make.
pub fn pattern(parts: &[Part]) -> String {
    let mut out = String::new();
    for (index, part) in parts.iter().enumerate() {
        match part {
            Part::Written(text) => out.push_str(text),
            // What was put in before is escaped, so that it is read like the author's text.
            Part::Data(text) => match followed(&out) {
                (Place::Outside, is_open) => {
                    let next = parts.get(index + 1);
                    put(text, is_open, next, &mut out);
                }
                (Place::Class, is_open) => put_in_class(text, is_open, &mut out),
                (Place::Quotation, _) => put_in_quotation(text, &mut out),
            },
        }
    }
    out
}

/// Data outside of classes and quotations, perhaps behind a backslash that escapes nothing of the author's. What
/// counts how often counts the whole of it.
fn put(data: &str, is_open: bool, next: Option<&Part>, out: &mut String) {
    let is_counted =
        matches!(next, Some(Part::Written(text)) if text.starts_with(['*', '+', '?', '{']));
    if is_open {
        out.push('\\');
    }
    let escaped = escaped(data);
    if is_counted && data.chars().count() != 1 {
        out.extend(["(?:", &escaped, ")"]);
    } else {
        out.push_str(&escaped);
    }
}

/// Data in a class: each of its characters.
fn put_in_class(data: &str, is_open: bool, out: &mut String) {
    let is_name = out.ends_with('[') && data.starts_with(':');
    if is_open || is_name {
        out.push('\\');
    }
    out.push_str(&escaped(data));
}

/// Data in a quotation, which it must not end, not even together with what stands beside it.
fn put_in_quotation(data: &str, out: &mut String) {
    if data.contains('\\') || out.ends_with('\\') {
        out.extend([r"\E", &escaped(data), r"\Q"]);
    } else {
        out.push_str(data);
    }
}

/// Data as a pattern of itself. White space is escaped too, because it means nothing behind `(?x)`.
fn escaped(data: &str) -> String {
    let mut out = String::new();
    for sign in regex::escape(data).chars() {
        if sign.is_whitespace() {
            out.extend(["\\x{", &format!("{:x}", u32::from(sign)), "}"]);
        } else {
            out.push(sign);
        }
    }
    out
}

/// Where one is after a text, and whether it ends in a backslash that escapes nothing.
fn followed(text: &str) -> (Place, bool) {
    let mut now = Place::Outside;
    let mut rest = text;
    while let Some(sign) = rest.chars().next() {
        let after = &rest[sign.len_utf8()..];
        rest = match (now, sign) {
            (Place::Quotation, '\\') => match after.strip_prefix('E') {
                Some(after) => {
                    now = Place::Outside;
                    after
                }
                None => after,
            },
            (Place::Outside | Place::Class, '\\') => {
                let Some(escaped) = after.chars().next() else {
                    return (now, true);
                };
                if (now, escaped) == (Place::Outside, 'Q') {
                    now = Place::Quotation;
                }
                &after[escaped.len_utf8()..]
            }
            (Place::Outside, '[') => {
                now = Place::Class;
                let after = after.strip_prefix('^').unwrap_or(after);
                // A first `]` is itself.
                after.strip_prefix(']').unwrap_or(after)
            }
            // `[:alpha:]`
            (Place::Class, '[') if after.starts_with(':') => {
                after.split_once(":]").map_or(after, |(_, after)| after)
            }
            (Place::Class, ']') => {
                now = Place::Outside;
                after
            }
            (Place::Outside | Place::Class | Place::Quotation, _) => after,
        };
    }
    (now, false)
}

#[cfg(test)]
mod tests {
    use super::pattern;
    use crate::script::template::Part;

    /// The parts of a pattern in which `@` stands for the data.
    fn parts(written: &str, data: &str) -> Vec<Part> {
        let mut parts = Vec::new();
        for (index, text) in written.split('@').enumerate() {
            if index > 0 {
                parts.push(Part::Data(data.to_owned()));
            }
            if !text.is_empty() {
                parts.push(Part::Written(text.to_owned()));
            }
        }
        parts
    }

    #[test]
    fn data_means_itself_in_a_pattern() {
        let case = |data: &str, written: &str, expected: &str| {
            assert_eq!(pattern(&parts(written, data)), expected, "{written}");
        };
        case("a.b", "^id=@.*$", r"^id=a\.b.*$");
        case("C++", r"\w+ @", r"\w+ C\+\+");
        case("a.b", r"\Qid @\E@", r"\Qid a.b\Ea\.b");
        case(r"a\E.", r"\Q@\E", r"\Q\Ea\\E\.\Q\E");
        case("Ex", r"\Qa\@\E", r"\Qa\\EEx\Q\E");
        case("a.b", r"\\Q@", r"\\Qa\.b");
        case("ab", "^@+$", "^(?:ab)+$");
        case("a", "^@{2}$", "^a{2}$");
        case("", "^x@*$", "^x(?:)*$");
        case("3", "^a{@}$", "^a{3}$");
        case("d", r"^\@$", r"^\\d$");
        case("d", r"^\\@$", r"^\\d$");
        case("a]^-b", "[^@]+", r"[^a\]\^\-b]+");
        case(":alpha:", "[[@]]", r"[[\:alpha:]]");
        case("ab", "[]@]*", "[]ab]*");
        case("ab", "[[:digit:]@]@+", "[[:digit:]ab](?:ab)+");
        case("a b", "(?ix)^ @ $", r"(?ix)^ a\x{20}b $");
    }
}
