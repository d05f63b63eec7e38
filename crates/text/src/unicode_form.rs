//! Texts that look the same and are composed of other code points. What is said of them to a reader is `check`'s.

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// The text in the form in which equal characters are equal code points (NFC of Unicode Annex 15).
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// The first characters that are composed otherwise, by code point; `None` where none are.
pub fn difference(wanted: &str, seen: &str) -> Option<String> {
    let same = wanted
        .char_indices()
        .zip(seen.chars())
        .find(|((_, wanted), seen)| wanted != seen);
    let at = same.map_or(wanted.len().min(seen.len()), |((at, _), _)| at);
    // A mark belongs to the character before it.
    let is_start = |text: &str| !text.chars().next().is_some_and(is_combining_mark);
    let start = (0..=at).rev().find(|at| {
        wanted.is_char_boundary(*at) && is_start(&wanted[*at..]) && is_start(&seen[*at..])
    })?;
    let points = |text: &str| {
        let mut chars = text[start..].chars();
        let first = chars.next().into_iter();
        let points: Vec<String> = first
            .chain(chars.take_while(|it| is_combining_mark(*it)))
            .take(4)
            .map(|it| format!("U+{:04X}", u32::from(it)))
            .collect();
        points.join(" ")
    };
    let (wanted, seen) = (points(wanted), points(seen));
    (wanted != seen).then(|| format!("{wanted} is expected, it has {seen}"))
}

/// The first difference of two texts that differ in nothing but how characters are composed.
pub fn only_difference(wanted: &str, seen: &str) -> Option<String> {
    (wanted != seen && composed(wanted) == composed(seen))
        .then(|| difference(wanted, seen))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::{difference, only_difference};

    #[test]
    fn the_code_points_that_differ_are_named() {
        let case = |wanted: &str, seen: &str, expected: Option<&str>| {
            assert_eq!(only_difference(wanted, seen).as_deref(), expected);
        };
        let accent = "U+00E9 is expected, it has U+0065 U+0301";
        case("caf\u{e9}", "cafe\u{301}", Some(accent));
        let composed = "U+0065 U+0301 is expected, it has U+00E9";
        case("cafe\u{301} au lait", "caf\u{e9} au lait", Some(composed));
        case(
            "\u{212b}",
            "\u{c5}",
            Some("U+212B is expected, it has U+00C5"),
        );
        let order = "U+0061 U+0323 U+0301 is expected, it has U+0061 U+0301 U+0323";
        case("a\u{323}\u{301}", "a\u{301}\u{323}", Some(order));
        case("a", "a", None);
        case("a", "b", None);
        assert_eq!(difference("", ""), None);
    }
}
