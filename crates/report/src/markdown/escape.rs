//! The two ways text from outside enters Markdown: on a line, and as a block. Nothing else of it may reach the
//! page.

use text::{clean, clean_prose};

/// A text on one line, as code: no cell, tag, link, mention, issue number or comment can arise from it.
pub fn inline(text: &str, limit: usize) -> String {
    code(&head(&clean(text.trim()), limit))
}

/// A sentence on one line: plain words stay prose; what is between backticks, and each other word, is code.
pub fn prose(text: &str, limit: usize) -> String {
    let text = head(&clean(text.trim()), limit);
    let mut out = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            out.push_str(&code(part));
            continue;
        }
        for word in part.split_inclusive(char::is_whitespace) {
            let bare = word.trim_end();
            let plain = bare.strip_suffix([',', ':', ';']).unwrap_or(bare);
            let is_plain = |it: char| it.is_ascii_alphanumeric() || "→…%'".contains(it);
            if plain.chars().all(is_plain) {
                out.push_str(bare);
            } else {
                out.push_str(&code(bare));
            }
            if bare.len() < word.len() && !out.ends_with(' ') {
                out.push(' ');
            }
        }
    }
    out.replace("</code> <code>", " ")
        .replace("<code></code>", "")
}

/// The first characters of a text.
fn head(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A clean text as code. Characters that Markdown or GitHub could act on there are entities.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 13);
    out.push_str("<code>");
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let next = characters.peek().copied();
        match character {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '@' => out.push_str("&#64;<wbr>"),
            sign if acts(sign, before, next) => {
                out.push_str("&#");
                out.push_str(&u32::from(sign).to_string());
                out.push(';');
            }
            other => out.push(other),
        }
        before = Some(character);
    }
    out.push_str("</code>");
    out
}

/// Whether a sign between two characters could be more than text on a line of Markdown.
fn acts(sign: char, before: Option<char>, next: Option<char>) -> bool {
    let is_word = |it: Option<char>| it.is_some_and(|it| it.is_ascii_alphanumeric());
    match sign {
        '`' | '*' | '~' | '[' | ']' | '\\' | '|' | '$' | '#' => true,
        // Inside a word it is no emphasis.
        '_' => !(is_word(before) && is_word(next)),
        // `:name:`, and the `://` of an address.
        ':' => next.is_some_and(|it| !it.is_whitespace()),
        // `www.`
        '.' => before.is_some_and(|it| it.eq_ignore_ascii_case(&'w')),
        _ => false,
    }
}

/// A text of several lines between fences that it cannot close, with empty lines around. Lines that begin with `-` and `+`
/// are coloured.
pub fn block(text: &str) -> String {
    let text = clean_prose(text);
    let longest = text
        .split(|character| character != '`')
        .map(str::len)
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!(
        "\n{fence}diff\n{}\n{fence}\n\n",
        text.trim_end_matches('\n')
    )
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use proptest::prelude::*;
    use regex::Regex;

    use super::{block, inline, prose};
    use crate::sample::UGLY;

    static ENTITY: LazyLock<Regex> = LazyLock::new(|| Regex::new("&#[0-9]+;").unwrap());

    /// Signs that act with their neighbours.
    static ACTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i):[^\s⏎]|www\.|(^|[^a-z0-9])_|_([^a-z0-9]|$)").unwrap());

    /// Whether a GitHub page could find anything but text in it.
    fn is_inert(line: &str) -> bool {
        let bare = ["<code>", "</code>", "<wbr>", "&amp;", "&lt;", "&gt;"];
        let bare = bare
            .iter()
            .fold(line.to_owned(), |line, it| line.replace(it, " "));
        let bare = ENTITY.replace_all(&bare, " ");
        !bare.contains([
            '&', '<', '>', '`', '*', '~', '[', ']', '\\', '|', '$', '#', '@', '\n', '\r',
        ]) && !ACTS.is_match(&bare)
    }

    /// Whether the block's text stays between its fences.
    fn is_closed(block: &str) -> bool {
        let lines: Vec<&str> = block.split('\n').collect();
        let fence = lines[1].trim_end_matches("diff");
        let closing: Vec<usize> = (2..lines.len())
            .filter(|index| lines[*index].trim_start().starts_with(fence))
            .collect();
        lines[0].is_empty() && closing == [lines.len() - 3] && block.ends_with("\n\n")
    }

    #[test]
    fn ugly_text_is_only_text() {
        assert!(is_inert(&inline(UGLY, 200)), "{}", inline(UGLY, 200));
        assert!(is_closed(&block(UGLY)), "{}", block(UGLY));
        assert_eq!(inline("@a|b", 3), "<code>&#64;<wbr>a&#124;…</code>");
        assert_eq!(
            inline("a.b: read_note, 5-6 (x)", 99),
            "<code>a.b: read_note, 5-6 (x)</code>"
        );
    }

    #[test]
    fn plain_words_are_prose_and_all_others_code() {
        let case = |text: &str, wanted: &str| assert_eq!(prose(text, 99), wanted);
        case(
            "contains: expected `a`, the text is `b c`",
            "contains: expected <code>a</code>, the text is <code>b c</code>",
        );
        case(
            "json_path: $.a: found `1`",
            "<code>json_path: &#36;.a:</code> found <code>1</code>",
        );
        case("see #1 @me now", "see <code>&#35;1 &#64;<wbr>me</code> now");
        case(":x: a:b", "<code>&#58;x: a&#58;b</code>");
        case("it doesn't hold", "it doesn't hold");
        case("", "");
        case("odd ` one", "odd <code> one</code>");
    }

    proptest! {
        #[test]
        fn any_text_is_only_text(text in any::<String>(), ticks in "[`\n a~|<@#]{0,40}") {
            for text in [&text, &ticks, &format!("{ticks}{text}{ticks}")] {
                prop_assert!(is_inert(&inline(text, 200)), "{text:?}");
                prop_assert!(is_inert(&prose(text, 200)), "{text:?}");
                prop_assert!(is_closed(&block(text)), "{text:?}");
            }
        }
    }
}
