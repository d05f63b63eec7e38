//! Neutralises workflow commands in text. The runner obeys `::name::` at the start of a line and `##[name]` anywhere in it,
//! and its search ignores invisible characters.

use crate::clean_prose;

/// Text behind an escape character is looked at this far for the end of its sequence, in characters.
const LONGEST_SEQUENCE: usize = 4_096;

/// The characters that end a line for the runner, or for a viewer of its log.
pub const LINE_ENDS: [char; 5] = ['\r', '\n', '\u{85}', '\u{2028}', '\u{2029}'];

/// The lines of a text, each harmless and with a line feed behind it.
pub fn lines(text: &str) -> String {
    each_line(text, push_line)
}

/// The same, but a line keeps its colours where nothing else of it had to be changed. Text from outside has none: it is
/// cleaned before.
pub fn coloured_lines(text: &str) -> String {
    each_line(text, |line, out| {
        let start = out.len();
        push_line(line, out);
        // Between two signs of a command, a sequence would be passed over.
        let is_harmless =
            out[start..].trim_end_matches('\n') == without_sequences(line) && !line.contains('#');
        if is_harmless && has_only_colours(line) {
            out.truncate(start);
            out.extend([line, "\n"]);
        }
    })
}

fn each_line(text: &str, push: impl Fn(&str, &mut String)) -> String {
    let mut out = String::with_capacity(text.len() + 1);
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find(LINE_ENDS).unwrap_or(rest.len());
        push(&rest[..end], &mut out);
        rest = &rest[end..];
        rest = rest.strip_prefix("\r\n").unwrap_or_else(|| {
            let mut characters = rest.chars();
            characters.next();
            characters.as_str()
        });
    }
    out
}

/// Whether all escape sequences of a line are colours.
fn has_only_colours(line: &str) -> bool {
    let sequences = line.split('\u{1b}').skip(1);
    let mut ends = sequences.map(|it| {
        let parameters = it.strip_prefix('[').unwrap_or_default();
        parameters.trim_start_matches(|it: char| it.is_ascii_digit() || it == ';')
    });
    ends.all(|end| end.starts_with('m'))
}

/// A text of JSON in which no string holds a command: of the signs that begin one, the second is written as an escape.
/// That a line begins as one cannot be: in JSON no line begins with a colon.
pub fn json(text: String) -> String {
    if !text.contains('#') {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut rest = text.as_str();
    while let Some(at) = rest.find('#') {
        let (before, behind) = rest.split_at(at + 1);
        out.push_str(before);
        rest = behind;
        let begins = pass(behind, '#').is_some_and(|behind| pass(behind, '[').is_some());
        if let Some((between, behind)) = behind.split_once('#').filter(|_| begins) {
            out.extend([between, "\\u0023"]);
            rest = behind;
        }
    }
    out.push_str(rest);
    out
}

/// One line without its end.
fn push_line(line: &str, out: &mut String) {
    let line = clean_prose(&without_sequences(line));
    if would_be_command(&line) {
        out.push_str("| ");
    }
    let mut rest = line.as_str();
    while let Some(at) = rest.find('#') {
        let behind = &rest[at + 1..];
        out.push_str(&rest[..=at]);
        if pass(behind, '#').is_some_and(|behind| pass(behind, '[').is_some()) {
            out.push(' ');
        }
        rest = behind;
    }
    out.push_str(rest);
    out.push('\n');
}

/// Whether the line begins as a command, as far as the runner can see.
fn would_be_command(line: &str) -> bool {
    pass(line.trim_start(), ':').is_some_and(|behind| pass(behind, ':').is_some())
}

/// What follows a sign that comes next, or comes next but for characters that a search may pass over.
fn pass(text: &str, sign: char) -> Option<&str> {
    text.trim_start_matches(|character: char| !character.is_ascii() && !character.is_alphanumeric())
        .strip_prefix(sign)
}

/// A line without the escape sequences of a terminal; an unfinished one stays.
fn without_sequences(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\u{1b}') {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        rest = if let Some(after) = after_sequence(behind) {
            after
        } else {
            out.push('\u{1b}');
            behind
        };
    }
    out.push_str(rest);
    out
}

/// What follows the sequence whose escape character stands before `text`.
fn after_sequence(text: &str) -> Option<&str> {
    let mut characters = text.char_indices().take(LONGEST_SEQUENCE);
    match characters.next()?.1 {
        // A control sequence: parameters, and a final letter.
        '[' => {
            let (end, last) =
                characters.find(|(_, character)| !matches!(character, '\u{20}'..='\u{3f}'))?;
            matches!(last, '\u{40}'..='\u{7e}').then(|| &text[end + 1..])
        }
        // A command of the operating system, such as a link: up to a bell, or to the sign that ends strings.
        ']' => {
            let (end, last) = characters.find(|(_, character)| character.is_control())?;
            match last {
                '\u{7}' => Some(&text[end + 1..]),
                _ => text[end..].strip_prefix("\u{1b}\\"),
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{coloured_lines, json, lines};

    #[test]
    fn json_stays_what_it_was_and_holds_no_command() {
        let case = |text: &str, shown: &str| {
            let value = serde_json::Value::from(text);
            let made = json(value.to_string());
            assert_eq!(made, format!("\"{shown}\""));
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&made).unwrap(),
                value
            );
            assert!(!lines(&made).contains("# #["), "{made}");
        };
        case("plain", "plain");
        case("# a ## b #[c", "# a ## b #[c");
        case("##[error]x", "#\\u0023[error]x");
        case("###[a]##[b]", "##\\u0023[a]#\\u0023[b]");
        case("#\u{200d}#[a]", "#\u{200d}\\u0023[a]");
    }

    #[test]
    fn commands_are_shown_and_not_obeyed() {
        let case = |text: &str, shown: &str| assert_eq!(lines(text), shown, "{text:?}");
        case("", "");
        case("PASS  a\n", "PASS  a\n");
        case("a\n\nb", "a\n\nb\n");
        case("::error::x", "| ::error::x\n");
        case(
            " \t::set-env name=A::b\nnext",
            "|  \t::set-env name=A::b\nnext\n",
        );
        case("a #\u{200d}#[add-mask]b", "a #\\u{200d}#[add-mask]b\n");
        case("a ###[add-mask]b", "a ## #[add-mask]b\n");
        case("##[a]##[b]", "# #[a]# #[b]\n");
        case("\u{feff}::error::x", "\\u{feff}::error::x\n");
        case("a # # [ b :: c", "a # # [ b :: c\n");
    }

    #[test]
    fn a_harmless_line_keeps_its_colours() {
        let case = |text: &str, shown: &str| assert_eq!(coloured_lines(text), shown, "{text:?}");
        let red = "\u{1b}[1;31mFAIL\u{1b}[0m a";
        case(red, &format!("{red}\n"));
        case(&format!("{red}\nb\n"), &format!("{red}\nb\n"));
        case("a\r\nb", "a\nb\n");
        case("\u{1b}[31m::error::x", "| ::error::x\n");
        case(":\u{1b}[31m:error::x", "| ::error::x\n");
        case("#\u{1b}[31m#[error]x", "# #[error]x\n");
        case("##\u{1b}[0m x", "## x\n");
        case("\u{1b}[31ma\u{1b}[2J", "a\n");
        case("\u{1b}[31ma\u{202e}", "a\\u{202e}\n");
        case("\u{1b}[31", "\\u{1b}[31\n");
    }

    #[test]
    fn every_end_of_a_line_ends_it() {
        assert_eq!(
            lines("a\r::b::\r\nc\u{85}::d::\u{2028}e\u{2029}f"),
            "a\n| ::b::\nc\n| ::d::\ne\nf\n"
        );
    }

    #[test]
    fn sequences_go_and_what_is_none_is_seen() {
        let case = |text: &str, shown: &str| assert_eq!(lines(text), shown, "{text:?}");
        case("\u{1b}[1;31mred\u{1b}[0m", "red\n");
        case("\u{1b}]8;;https://a.b\u{1b}\\link\u{1b}]8;;\u{7}", "link\n");
        case("\u{1b}[31", "\\u{1b}[31\n");
        case("#\u{1b}[0m#[group]", "# #[group]\n");
        case("\u{1b}]never ends", "\\u{1b}]never ends\n");
        case(":\u{1b}[0m:error::x", "| ::error::x\n");
        case(
            "a\u{0}b\u{202e}c\u{2764}\u{fe0f}",
            "a\\u{0}b\\u{202e}c\u{2764}\u{fe0f}\n",
        );
        case(
            "\u{2764}\u{fe0f}:\u{fe0f}:error::x",
            "\u{2764}\u{fe0f}:\\u{fe0f}:error::x\n",
        );
    }
}
