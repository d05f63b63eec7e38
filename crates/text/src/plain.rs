//! Counting, cutting and cleaning text. What a server sent is shown only after `clean`.

use std::{error::Error, fmt::Display, ops::Range, time::Duration};

/// The mark of a cut. A text that is not masked yet must be cut with it: the mask recognises a partial secret by the mark.
pub const CUT: &str = "…";

/// `1 assertion`, `2 assertions`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(number: N, singular: &str) -> String {
    if number == N::from(1) {
        format!("1 {singular}")
    } else {
        format!("{number} {singular}s")
    }
}

/// A length of time: `173 ms`, `1.7 s`, `30 s`.
pub fn time(length: Duration) -> String {
    let (whole, tenth) = (length.as_secs(), length.subsec_millis() / 100);
    match (whole, tenth) {
        (0, _) => format!("{} ms", length.as_millis()),
        (_, 0) => format!("{whole} s"),
        (_, _) => format!("{whole}.{tenth} s"),
    }
}

/// The cause of the causes of an error: those around it often say only that something failed.
pub fn innermost(error: &dyn Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// The valid name that was probably meant: the closest by edit distance, if it is close at all.
pub fn nearest<'a>(found: &str, valid: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = found.chars().count();
    let limit = (length / 3).max(1) + 1;
    valid
        .into_iter()
        .map(|name| {
            (
                strsim::damerau_levenshtein(&found.to_lowercase(), &name.to_lowercase()),
                name,
            )
        })
        // As many changes as signs: the two share nothing.
        .filter(|(distance, name)| {
            *distance <= limit && *distance < length.max(name.chars().count())
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The text with everything that a terminal, a log viewer or a bidi-aware editor would interpret made visible:
/// control characters (line feed and tab stay), ANSI sequences by their escape character, bidi and
/// default-ignorable characters, code points that are no characters, all as `\u{…}`.
pub fn clean(text: &str) -> String {
    cleaned(text, |_, character| is_interpreted(character))
}

/// The same for what is shown to be read and compared with nothing: a sign may ask for its picture.
pub fn clean_prose(text: &str) -> String {
    cleaned(text, is_interpreted_in_prose)
}

fn cleaned(text: &str, is_interpreted: impl Fn(Option<char>, char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    for character in text.chars() {
        if is_interpreted(before, character) {
            out.extend(character.escape_unicode());
        } else {
            out.push(character);
        }
        before = Some(character);
    }
    out
}

/// A name of the user's, of a file or an assertion: harmless on one line, and otherwise whole, because it identifies.
pub fn name(name: &str) -> String {
    clean(name.trim_end())
        .replace('\n', " ⏎ ")
        .replace('\t', " ")
}

/// The text with one sign in the place of each character that [`clean`] would write out: its columns stay. Line ends
/// stay too, whatever they are made of.
pub fn veiled(text: &str) -> String {
    let mut characters = text.chars().peekable();
    let mut out = String::with_capacity(text.len());
    while let Some(character) = characters.next() {
        let ends_line = character == '\r' && characters.peek() == Some(&'\n');
        out.push(if is_interpreted(character) && !ends_line {
            char::REPLACEMENT_CHARACTER
        } else {
            character
        });
    }
    out
}

/// Whether [`clean`] would change nothing.
#[cfg(test)]
pub(crate) fn is_clean(text: &str) -> bool {
    !text.chars().any(is_interpreted)
}

/// Whether [`clean_prose`] would change nothing.
pub fn is_clean_prose(text: &str) -> bool {
    let before = [None].into_iter().chain(text.chars().map(Some));
    !before
        .zip(text.chars())
        .any(|(before, character)| is_interpreted_in_prose(before, character))
}

/// Whether a reader's program might act on a character behind another one. That a sign is to be shown as a picture
/// (U+FE0F) changes nothing else; behind a sign of ASCII, of which commands are made, and where nobody sees what it
/// belongs to, it is not left alone.
fn is_interpreted_in_prose(before: Option<char>, character: char) -> bool {
    const AS_A_PICTURE: char = '\u{fe0f}';
    let is_sign = |sign: char| !sign.is_ascii() && !sign.is_whitespace() && !is_interpreted(sign);
    let is_of_a_sign = character == AS_A_PICTURE && before.is_some_and(is_sign);
    !is_of_a_sign && is_interpreted(character)
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

/// At most `limit` characters of a text, cut at the end with the number of characters left out; the whole where that
/// is no longer.
pub fn head(text: &str, limit: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return text.to_owned();
    };
    let more = text[end..].chars().count();
    let note = note_behind(more);
    // The note would be longer than what it stands for.
    if more <= note.chars().count() {
        return text.to_owned();
    }
    format!("{}{note}", &text[..end])
}

/// The note behind a cut.
fn note_behind(left_out: usize) -> String {
    format!("{CUT} ({})", count(left_out, "more character"))
}

/// Characters that are shown of a line.
pub const LINE_SHOWN: usize = 400;

/// Lines that are shown of a text of several lines.
pub const LINES_SHOWN: usize = 40;

/// Characters round the place that matters where more of them would hide it: with the notes on both sides they fit on
/// one line that is shown.
const NARROW: usize = 320;

/// Lines before the place there.
const LINES_BEFORE: usize = LINES_SHOWN / 2;

/// Characters that are seen of what stands at the place.
const SEEN: usize = 60;

/// About `limit` characters of a text round the byte offset `at`, so that the place that matters is seen: it lies within
/// the lines, and the part of its line, that are shown of the result.
pub fn around(text: &str, at: usize, limit: usize) -> String {
    let total = text.chars().count();
    let at = text.floor_char_boundary(at);
    let centre = text[..at].chars().count();
    let start = |limit: usize| {
        let latest = total.saturating_sub(limit);
        centre.saturating_sub(limit / 2).min(latest)
    };
    let wide = start(limit);
    let before: String = text[..at].chars().skip(wide).collect();
    if total <= limit && is_seen_behind(&before) {
        return text.to_owned();
    }
    if total > limit && is_seen_behind(&before) {
        return window(text, total, wide..wide + limit);
    }
    let start = start(NARROW).max(centre - length_of_last_lines(&text[..at]));
    window(text, total, start..(start + NARROW).min(total))
}

/// About `limit` characters of each of two texts round the place where they part, from the same character on.
pub fn around_both(one: &str, other: &str, limit: usize) -> (String, String) {
    let pairs = one.chars().zip(other.chars());
    let centre = pairs.take_while(|(left, right)| left == right).count();
    let from = |limit: usize| centre.saturating_sub(limit / 2);
    let before: String = one.chars().take(centre).skip(from(limit)).collect();
    let (start, limit) = if is_seen_behind(&before) {
        (from(limit), limit)
    } else {
        let lines = length_of_last_lines(&before);
        (from(NARROW).max(centre - lines), NARROW)
    };
    let part = |text: &str| {
        let total = text.chars().count();
        window(text, total, start.min(total)..(start + limit).min(total))
    };
    (part(one), part(other))
}

/// The characters of the lines before a place that are shown with it.
fn length_of_last_lines(before: &str) -> usize {
    let mut line_ends = before.rmatch_indices('\n');
    let first = line_ends.nth(LINES_BEFORE).map_or(0, |(end, _)| end + 1);
    before[first..].chars().count()
}

/// Whether what follows a text is seen where the text is shown.
fn is_seen_behind(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    before.matches('\n').count() < LINES_SHOWN && line.chars().count() + SEEN <= LINE_SHOWN
}

/// Some characters of a text that has `total`, and how many are left out on both sides.
fn window(text: &str, total: usize, shown: Range<usize>) -> String {
    let kept: String = text.chars().skip(shown.start).take(shown.len()).collect();
    let before = match shown.start {
        0 => String::new(),
        left_out => format!("({}) {CUT}", count(left_out, "character")),
    };
    let after = match total - shown.end {
        0 => String::new(),
        left_out => note_behind(left_out),
    };
    format!("{before}{kept}{after}")
}

#[cfg(test)]
mod tests {
    use super::{LINE_SHOWN, LINES_SHOWN, around, around_both, clean, count, head, nearest};

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
        assert_eq!(nearest("y", ["[", "ab"]), None);
        assert_eq!(nearest("y", ["x", "yq"]), Some("yq"));
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
    fn two_texts_are_cut_at_the_same_place() {
        let text = |middle: &str| format!("{}{middle}{}", "x".repeat(900), "y".repeat(900));
        let (one, other) = around_both(&text("zzz"), &text("z"), 100);
        for (part, (middle, after)) in [(one, ("zzz", 852)), (other, ("z", 850))] {
            let begins = format!("(851 characters) …{}{middle}", "x".repeat(49));
            assert!(part.starts_with(&begins), "{part}");
            let ends = format!("… ({after} more characters)");
            assert!(part.ends_with(&ends), "{part}");
        }
        let (short, long) = around_both("abc", &"abc".repeat(100), 50);
        assert_eq!(short, "abc");
        assert!(long.ends_with("… (250 more characters)"), "{long}");
    }

    #[test]
    fn cuts_say_what_is_missing() {
        let long = "x".repeat(33);
        assert_eq!(head(&long, 10), "xxxxxxxxxx… (23 more characters)");
        // The note would take as much as what it stands for.
        assert_eq!(head(&long, 11), long);
        assert_eq!(
            around("0123456789", 5, 4),
            "(3 characters) …3456… (3 more characters)"
        );
        assert_eq!(around("abc", 0, 9), "abc");
    }

    #[test]
    fn the_place_that_matters_is_within_what_is_shown() {
        let case = |text: &str| {
            let cut = around(text, text.find("HERE").unwrap(), 800);
            let lines = cut.lines().take(LINES_SHOWN);
            let seen = lines
                .map(|line| head(line, LINE_SHOWN))
                .any(|line| line.contains("HERE"));
            assert!(seen, "{cut}");
            cut
        };
        for before in [0, 39, 300, 390, 420, 700, 5_000] {
            for after in [0, 10, 300, 5_000] {
                for filling in ["x", "\n", "ab\n", "seven c\n", "ä"] {
                    case(&format!(
                        "{}HERE{}",
                        filling.repeat(before),
                        filling.repeat(after)
                    ));
                }
            }
        }
        let short = format!("{}HERE", "x".repeat(300));
        assert_eq!(case(&short), short);
        let lines = format!("{}HERE\n{}", "line\n".repeat(500), "line\n".repeat(500));
        assert_eq!(case(&lines).lines().filter(|it| *it == "line").count(), 62);
    }

    #[test]
    fn a_second_cut_at_the_same_place_changes_nothing() {
        let once = head(&"x".repeat(40), 10);
        assert_eq!(once, "xxxxxxxxxx… (30 more characters)");
        assert_eq!(head(&once, 10), once);
    }
}
