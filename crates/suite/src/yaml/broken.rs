//! Where the YAML parser's complaints are told: it says where it stopped, which can be far behind what is wrong.

use serde_saphyr::granit_parser::{ErrorKind, ScanError};

/// The byte that a complaint is about, and the complaint.
pub(super) fn complaint(text: &str, error: &ScanError) -> (usize, String) {
    let kind = error.kind();
    let offset = error.marker().byte_offset().unwrap_or(text.len());
    let is_over = text
        .get(offset..)
        .is_some_and(|rest| rest.trim().is_empty());
    // What has no indentation is the end of the text, and no line of it.
    if is_over
        && *kind == ErrorKind::InvalidQuotedScalarIndent
        && let Some(quote) = opening_quote(text)
    {
        return (quote, ErrorKind::UnclosedQuotedScalar.to_string());
    }
    let message = kind.to_string();
    let offset = if message.contains("tab") {
        tab_behind(text, offset).unwrap_or(offset)
    } else if is_over {
        offset.min(text.trim_end().len())
    } else {
        offset
    };
    (offset, message)
}

/// Where the quote stands that nothing closes up to the end of a text.
fn opening_quote(text: &str) -> Option<usize> {
    let mut end = text.len();
    text.split_inclusive('\n').rev().find_map(|line| {
        end -= line.len();
        Some(end + open_in_line(line)?)
    })
}

/// Where the quote stands that a line opens and does not close.
fn open_in_line(line: &str) -> Option<usize> {
    let mut signs = line.char_indices();
    let mut before = ' ';
    while let Some((at, sign)) = signs.next() {
        let begins = matches!(before, ' ' | '\t' | '[' | '{' | ',' | ':');
        match sign {
            '#' if matches!(before, ' ' | '\t') => return None,
            '"' | '\'' if begins => loop {
                match signs.next() {
                    None => return Some(at),
                    Some((_, '\\')) if sign == '"' => {
                        signs.next();
                    }
                    // Doubled it stands for itself.
                    Some((at, '\'')) if sign == '\'' && line[at + 1..].starts_with('\'') => {
                        signs.next();
                    }
                    Some((_, other)) if other == sign => break,
                    Some(_) => {}
                }
            },
            _ => {}
        }
        before = sign;
    }
    None
}

/// Where the first line behind a place that is indented with a tab has it. It is told at the text before it.
fn tab_behind(text: &str, offset: usize) -> Option<usize> {
    let rest = text.get(offset..)?;
    let lines = rest.match_indices('\n');
    let mut tabs = lines.filter_map(|(end, _)| {
        let line = &rest[end + 1..];
        let indent = line.len() - line.trim_start_matches(' ').len();
        line[indent..]
            .starts_with('\t')
            .then_some(offset + end + 1 + indent)
    });
    tabs.next()
}

#[cfg(test)]
mod tests {
    use super::opening_quote;

    #[test]
    fn the_quote_that_nothing_closes_is_found() {
        let case = |text: &str, wanted: Option<usize>| {
            assert_eq!(opening_quote(text), wanted, "{text}");
        };
        case("a: \"b\n", Some(3));
        case("a: 'b", Some(3));
        case("a: \"b\n  c\n\n", Some(3));
        case("a: \"b\"\nc: 'it''s\n", Some(10));
        case("a: [x, 'b\n", Some(7));
        case("\"b\\\" c\n", Some(0));
        case("a: it's # \"no\n", None);
        case("a: \"b\"\n", None);
    }
}
