//! Counting, cutting and cleaning text. What a server sent is shown only after `clean`.

/// `1 assertion`, `2 assertions`.
pub(crate) fn count(number: usize, singular: &str) -> String {
    if number == 1 {
        format!("1 {singular}")
    } else {
        format!("{number} {singular}s")
    }
}

/// The valid name that was probably meant: the closest by edit distance, if it is close at all.
pub(crate) fn nearest<'a>(
    found: &str,
    valid: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let limit = (found.chars().count() / 3).max(1) + 1;
    valid
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&found.to_lowercase(), &name.to_lowercase()),
                name,
            )
        })
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The text with everything that a terminal, a log viewer or a bidi-aware editor would interpret made visible:
/// control characters (line feed and tab stay), ANSI sequences by their escape character, bidi and
/// default-ignorable characters, code points that are no characters, all as `\u{…}`.
pub(crate) fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if is_interpreted(character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
    }
    out
}

/// Whether [`clean`] would change nothing.
pub(crate) fn is_clean(text: &str) -> bool {
    !text.chars().any(is_interpreted)
}

/// Whether a reader's program might act on the character instead of showing it.
fn is_interpreted(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        _ if character.is_control() => true,
        '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{e0000}'..='\u{e0fff}' => true,
        // The last two code points of each plane are no characters; XML cannot hold them.
        _ => u32::from(character) & 0xfffe == 0xfffe,
    }
}

/// At most `limit` characters of a text, cut at the end with the number of characters left out.
pub(crate) fn head(text: &str, limit: usize) -> String {
    let total = text.chars().count();
    if total <= limit {
        return text.to_owned();
    }
    let kept: String = text.chars().take(limit).collect();
    format!("{kept}… ({} more characters)", total - limit)
}

/// About `limit` characters of a text round the byte offset `at`, so that the place that matters is seen.
pub(crate) fn around(text: &str, at: usize, limit: usize) -> String {
    let total = text.chars().count();
    if total <= limit {
        return text.to_owned();
    }
    let centre = text
        .char_indices()
        .take_while(|(offset, _)| *offset < at)
        .count();
    let start = centre.saturating_sub(limit / 2).min(total - limit);
    let kept: String = text.chars().skip(start).take(limit).collect();
    let before = if start > 0 {
        format!("({start} characters) …")
    } else {
        String::new()
    };
    let after = total - limit - start;
    let after = if after > 0 {
        format!("… ({after} more characters)")
    } else {
        String::new()
    };
    format!("{before}{kept}{after}")
}

#[cfg(test)]
mod tests {
    use super::{around, clean, count, head, nearest};

    #[test]
    fn counts_have_their_plural() {
        assert_eq!(count(1, "assertion"), "1 assertion");
        assert_eq!(count(0, "assertion"), "0 assertions");
    }

    #[test]
    fn the_nearest_name_is_close_or_none() {
        let valid = ["contains", "contains_any", "equals"];
        assert_eq!(nearest("containz", valid), Some("contains"));
        assert_eq!(nearest("Equals", valid), Some("equals"));
        assert_eq!(nearest("zzz", valid), None);
    }

    #[test]
    fn nothing_interpreted_is_left() {
        assert_eq!(
            clean("a\u{1b}[2Jb\r\u{202e}c\td\n"),
            "a\\u{1b}[2Jb\\u{d}\\u{202e}c\td\n"
        );
        assert_eq!(clean("é 漢 🦀"), "é 漢 🦀");
    }

    #[test]
    fn cuts_say_what_is_missing() {
        assert_eq!(head("abcdef", 3), "abc… (3 more characters)");
        assert_eq!(
            around("0123456789", 5, 4),
            "(3 characters) …3456… (3 more characters)"
        );
        assert_eq!(around("abc", 0, 9), "abc");
    }
}
